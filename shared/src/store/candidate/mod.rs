//! Access patterns of candidates.

mod answer_captions;
pub(super) mod answers;
pub(super) mod evaluation;
mod guests;
mod help_request;
mod judged;
pub(super) mod matches;
pub(super) mod report;
pub(super) mod search_entries;
mod selection;
pub(super) mod share;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::due::DueQueue;
use super::external_id::marker_of_candidate;
use super::login::taken_username;
use super::media::upload::OwnedFiles;
use super::table::handle::Store;
use super::table::item::{self, DueEntry, StoredEntity, VersionedItem};
use super::table::keys::{self, ItemKey};
use super::table::read::page::{ListSource, Page, PageRequest};
use super::table::retry::RetryPolicy;
use super::table::write::condition::WriteCondition;
use super::table::write::transaction::Transaction;
use crate::domain::account::Account;
use crate::domain::candidate::{Candidate, CandidateStatus};
use crate::domain::effect::Effect;
use crate::domain::history::erasure::{ErasedItem, ErasureCause, ErasureReason};
use crate::domain::history::{ResourceChange, ResourceRef};
use crate::domain::id::{CandidateId, CompanyId, ProjectId};
use crate::domain::media::upload::ARRIVAL;
use crate::domain::project::Project;
use crate::domain::text::{Email, fold_case, is_login};
use crate::domain::transition::CandidateChange;
use crate::domain::transition::project_counts::ProjectCounts;
use crate::error::{Error, Result};

impl StoredEntity for Candidate {
    const INTERNAL_FIELDS: &'static [&'static str] = &[
        "aborted_at",
        "email_keys",
        "expired_at",
        "former_keys",
        "guest_links",
        "help_asked",
        "interview",
        "is_key_mailed",
        "links_mailed",
        "mail_rate",
        "mailed_at",
        "one_time_key",
        // Managers see it, but a candidate who opens the interview must not make a manager's `If-Match` fail.
        "opened_at",
        "own_changes",
        "password_hash",
        "reminded_at",
        "reminders",
        "scores",
        "session_epoch",
        "skipped_at",
        "started_at",
    ];
    const MERGED_MAPS: &'static [&'static str] = &["consents", "evaluations", "profile", "scores"];

    fn history_change(before: Option<&Self>, after: Option<&Self>) -> Option<ResourceChange> {
        ResourceChange::of(before, after)
    }

    fn key(&self) -> ItemKey {
        keys::candidate(&self.company, self.project, self.id)
    }

    fn by_status(&self) -> Option<(String, String)> {
        Some((keys::candidates_by_status(&self.company, self.project, self.status), self.id.to_string()))
    }

    fn due(&self) -> Option<DueEntry<'_>> {
        let place =
            |queue: DueQueue, at| DueEntry { shard: queue.shard_of(self.id), at, company: &self.company };
        let next = self.due_at().map(|at| place(DueQueue::Candidates, at));
        let erasure = self.erasure_request.map(|request| place(DueQueue::Erasures, request.due_at));
        // An item has only one place in the index, that of its earliest date. The write that handles this date moves the item to the next.
        next.into_iter().chain(erasure).min_by_key(|due| due.at)
    }
}

#[derive(Debug)]
pub struct CandidateWithProject {
    pub candidate: VersionedItem<Candidate>,
    pub project: Arc<VersionedItem<Project>>,
}

impl Store {
    /// The transaction that creates the candidate. Its commit fails with [`Error::Changed`] (the identifier exists), a
    /// message on `username` (it is taken), [`Error::ExternalIdTaken`], or `PROJECT_NOT_RUNNING` (the change needs a
    /// running project).
    pub fn create_candidate(&self, change: &CandidateChange, now: DateTime<Utc>) -> Transaction {
        let mut transaction = self.transaction();
        // An import fixes its identifiers in advance, so a concurrent repeat of it may have created the candidate.
        transaction.create_unless(&change.candidate, || Error::Changed);
        transaction.write_derived_items(None, Some(&change.candidate), change.needs_running_project, now);
        transaction.effect(Effect::of_change(change, 1, now));
        transaction
    }

    /// The transaction that changes a candidate. Its commit also fails with a message on `username` (a new one is
    /// taken), [`Error::ExternalIdTaken`], a message on `customer` (that of a new share does not exist), or
    /// `PROJECT_NOT_RUNNING` (the change needs a running project).
    pub fn change_candidate(
        &self,
        before: &VersionedItem<Candidate>,
        change: &CandidateChange,
        now: DateTime<Utc>,
    ) -> Transaction {
        let mut transaction = self.transaction();
        transaction.change_candidate(before, change, now);
        transaction
    }

    /// Changes up to [`MAX_TOGETHER`](Self::MAX_TOGETHER) candidates of one project and one shard of its counts, in one
    /// transaction. No change may touch a name, address, `external_id`, share or file: the items derived from them are
    /// not written.
    pub fn change_together(
        &self,
        changes: &[(VersionedItem<Candidate>, CandidateChange)],
        now: DateTime<Utc>,
    ) -> Transaction {
        let mut transaction = self.transaction();
        let Some((first, _)) = changes.first() else { return transaction };
        let mut total = ProjectCounts::default();
        for (before, change) in changes {
            transaction.replace(before, &change.candidate);
            transaction.effect(Effect::of_change(change, before.version() + 1, now));
            for (counter, count) in ProjectCounts::change(Some(before), Some(&change.candidate)).iter() {
                total.add(counter, count);
            }
        }
        transaction.count(first, &total, false);
        transaction
    }

    /// Notes that a candidate has opened the interview at `now`. Does nothing if they had opened it before, or were
    /// withdrawn or deleted. Fails with [`Error::Changed`] after too many conflicts.
    pub(crate) async fn note_opening(
        &self,
        company: &CompanyId,
        project: ProjectId,
        id: CandidateId,
        now: DateTime<Utc>,
    ) -> Result<()> {
        let note = async || {
            let before = self.candidate(company, project, id).await?;
            // The interview may have been cancelled in the meantime.
            let Some(before) = before.filter(|now| now.may_log_in()) else { return Ok(()) };
            let Some(opened) = Candidate::clone(&before).with_opening(now) else { return Ok(()) };
            self.commit(self.change_candidate(&before, &opened.into(), now)).await
        };
        self.retry_on_conflict(RetryPolicy::CHANGE, note).await
    }

    /// The most candidates in one [`change_together`](Self::change_together).
    pub const MAX_TOGETHER: usize = 25;

    /// Deletes a candidate with their logins, search entries, shares and files. Refuses candidates on hold.
    pub fn delete_candidate(
        &self,
        candidate: &VersionedItem<Candidate>,
        reason: ErasureReason,
        now: DateTime<Utc>,
    ) -> Result<Transaction> {
        let mut transaction = self.transaction();
        transaction.candidate_gone(candidate, reason.into(), now)?;
        Ok(transaction)
    }

    pub async fn candidate(
        &self,
        company: &CompanyId,
        project: ProjectId,
        id: CandidateId,
    ) -> Result<Option<VersionedItem<Candidate>>> {
        self.one(keys::candidate(company, project, id)).await
    }

    /// Reads these candidates of a project. Those that do not exist are missing.
    pub async fn candidates(
        &self,
        company: &CompanyId,
        project: ProjectId,
        ids: impl IntoIterator<Item = CandidateId>,
    ) -> Result<HashMap<CandidateId, VersionedItem<Candidate>>> {
        let keys = ids.into_iter().map(|id| keys::candidate(company, project, id)).collect();
        let found: Vec<VersionedItem<Candidate>> = self.listed(keys).await?;
        Ok(found.into_iter().map(|candidate| (candidate.id, candidate)).collect())
    }

    /// Reads candidates with their projects, in the order of `ids`, in one round trip.
    pub async fn candidates_with_projects(
        &self,
        company: &CompanyId,
        ids: &[(ProjectId, CandidateId)],
    ) -> Result<Vec<CandidateWithProject>> {
        let candidates = ids.iter().map(|(project, id)| keys::candidate(company, *project, *id));
        let project_ids: HashSet<ProjectId> = ids.iter().map(|(project, _)| *project).collect();
        let keys = candidates.chain(project_ids.iter().map(|id| keys::project(company, *id)));
        let mut batch = self.get(keys).await?;
        let mut projects = HashMap::with_capacity(project_ids.len());
        for id in project_ids {
            let project = batch.take_listed::<Project>(&keys::project(company, id))?;
            projects.extend(project.map(|project| (id, Arc::new(project))));
        }
        let mut found = Vec::with_capacity(ids.len());
        for (of, id) in ids {
            let candidate: Option<VersionedItem<Candidate>> =
                batch.take_listed(&keys::candidate(company, *of, *id))?;
            let placed = candidate.zip(projects.get(of).cloned());
            found.extend(placed.map(|(candidate, project)| CandidateWithProject { candidate, project }));
        }
        Ok(found)
    }

    /// A page of a project's candidates with `status`, or of all of them. `among` are the statuses that they have.
    pub async fn list_candidates(
        &self,
        company: &CompanyId,
        project: ProjectId,
        status: Option<CandidateStatus>,
        among: &[CandidateStatus],
        request: &PageRequest,
    ) -> Result<Page<VersionedItem<Candidate>>> {
        let collection = keys::candidates(company, project);
        let partition = |status: CandidateStatus| keys::candidates_by_status(company, project, status);
        let listing = match status {
            None => ListSource::AllIndexed(collection, among.iter().copied().map(partition).collect()),
            Some(status) => ListSource::WithStatus(collection, partition(status)),
        };
        self.page(&listing, request).await
    }

    /// All candidates of a project with this email address, in any case, oldest first.
    pub async fn candidates_by_email(
        &self,
        company: &CompanyId,
        project: ProjectId,
        email: &str,
    ) -> Result<Vec<VersionedItem<Candidate>>> {
        let ids = self.candidate_ids_by_email(company, email).await?.into_iter();
        let keys = ids.filter(|(of, _)| *of == project).map(|(of, id)| keys::candidate(company, of, id));
        let mut candidates: Vec<VersionedItem<Candidate>> = self.listed(keys.collect()).await?;
        // The address may have changed between the two reads.
        candidates.retain(|candidate| candidate.account_email().holds(email));
        Ok(candidates)
    }

    /// The projects and identifiers of all candidates of a company with this email address, in any case, oldest first.
    /// Some may have changed their address or been deleted since.
    pub async fn candidate_ids_by_email(
        &self,
        company: &CompanyId,
        email: &str,
    ) -> Result<Vec<(ProjectId, CandidateId)>> {
        if !is_login(email) {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        for row in self.all_items(&keys::login_candidates(company, email)).await? {
            let account = item::or_skipped(item::value_in::<Account>(&row))?;
            if let Some(Account::Candidate { project, candidate }) = account {
                found.push((project, candidate));
            }
        }
        Ok(found)
    }
}

impl Transaction {
    pub(super) fn change_candidate(
        &mut self,
        before: &VersionedItem<Candidate>,
        change: &CandidateChange,
        now: DateTime<Utc>,
    ) {
        self.replace(before, &change.candidate);
        self.write_derived_items(Some(before), Some(&change.candidate), change.needs_running_project, now);
        let version = before.version() + 1;
        self.effect(Effect::of_change(change, version, now));
        self.address_mails(before.account_email(), change.candidate.account_email(), version, now);
    }

    pub(super) fn candidate_gone(
        &mut self,
        candidate: &VersionedItem<Candidate>,
        cause: ErasureCause,
        now: DateTime<Utc>,
    ) -> Result<()> {
        // Every erasure of a candidate passes here. If a hold is set after the candidate was read, the version has
        // changed and the commit fails.
        candidate.may_be_erased(now)?;
        self.delete(candidate);
        self.write_derived_items(Some(candidate), None, false, now);
        let erased = ErasedItem::Candidate { project: candidate.project, candidate: candidate.id };
        // Signed URLs for uploading parts still work for a while after the interview has ended.
        let settles_at = candidate.interview.map(|_| now + ARRIVAL);
        let cause = ErasureCause { settles_at, ..cause };
        self.erased(&candidate.company, erased, cause, now);
        Ok(())
    }

    /// Writes the items that follow from the change of a candidate from `before` to `after`: counts, logins, key,
    /// search entries, shares, files.
    fn write_derived_items(
        &mut self,
        before: Option<&Candidate>,
        after: Option<&Candidate>,
        needs_running_project: bool,
        now: DateTime<Utc>,
    ) {
        if let Some(one) = after.or(before) {
            self.count(one, &ProjectCounts::change(before, after), needs_running_project);
        }
        self.write_lookup_items(before, after);
        self.shares(before, after);
        if let Some(after) = after {
            self.files(before.map(files_of), files_of(after), now);
        }
    }

    /// Updates the items through which a candidate is found: logins, the client's key, search entries, the summary of
    /// results, and the mark of an open request for help.
    pub(super) fn write_lookup_items(&mut self, before: Option<&Candidate>, after: Option<&Candidate>) {
        self.candidate_logins(before, after);
        // Most changes leave the searched fields alone, and need none of the words.
        if before.map(Candidate::searched_fields) != after.map(Candidate::searched_fields) {
            self.search_entries(before, after);
        }
        self.candidate_external_id(before, after);
        self.summary(before, after);
        self.help_request(before, after);
    }

    fn candidate_external_id(&mut self, before: Option<&Candidate>, after: Option<&Candidate>) {
        let Some(Candidate { project, id, .. }) = after.or(before) else { return };
        let resource = ResourceRef::Candidate { project: *project, candidate: *id };
        let [old, new] = [before, after].map(|candidate| candidate.and_then(marker_of_candidate));
        self.move_external_id(old, new, resource);
    }

    fn candidate_logins(&mut self, before: Option<&Candidate>, after: Option<&Candidate>) {
        let Some(Candidate { project, id, .. }) = after.or(before) else { return };
        let account = Account::Candidate { project: *project, candidate: *id };
        let taken_email = || Error::internal("a candidate's email leads to it already");
        let old = before.and_then(username_of);
        let new = after.and_then(username_of);
        let is_new = old != new;
        self.move_login(old, new, account, taken_username());
        let [old_emails, new_emails] =
            [before, after].map(|candidate| candidate.map(emails_of).unwrap_or_default());
        for (_, key) in old_emails.iter().filter(|(email, _)| !new_emails.contains_key(*email)) {
            self.move_login(Some(key.clone()), None, account, taken_email());
        }
        for (_, key) in new_emails.iter().filter(|(email, _)| !old_emails.contains_key(*email)) {
            self.move_login(None, Some(key.clone()), account, taken_email());
        }
        if let Some(Candidate { company, profile, .. }) = after.filter(|_| is_new)
            && let Some(name) = &profile.username
        {
            // A customer's email address logs the customer in, so no candidate may have it as their username.
            self.require(keys::login_email(company, name.as_str()), WriteCondition::Absent, taken_username());
        }
    }
}

pub(super) fn username_of(candidate: &Candidate) -> Option<ItemKey> {
    let name = candidate.profile.username.as_ref()?;
    Some(keys::login_username(&candidate.company, name.as_str()))
}

/// The markers of the current and the pending address, by the case-folded address.
fn emails_of(candidate: &Candidate) -> BTreeMap<String, ItemKey> {
    let marker = |email: &Email| {
        let key = keys::login_candidates(&candidate.company, email.as_str()).key(candidate.id);
        (fold_case(email.as_str()), key)
    };
    candidate.account_email().held().map(marker).collect()
}

fn files_of(candidate: &Candidate) -> OwnedFiles<'_> {
    let files = candidate.photo.into_iter().chain(candidate.cv).collect();
    OwnedFiles { company: &candidate.company, owner: candidate.account(), files }
}
