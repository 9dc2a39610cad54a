//! Access patterns of candidates.

use std::collections::HashMap;

use chrono::{DateTime, Utc};

use super::Store;
use super::due::{Due, DueCursor};
use super::item::{self, Entity, Versioned};
use super::keys::{self, Key};
use super::login::TAKEN_USERNAME;
use super::page::{Listing, Page, PageRequest};
use super::transaction::Transaction;
use super::upload::FilesOf;
use crate::domain::account::Account;
use crate::domain::candidate::{Candidate, CandidateStatus};
use crate::domain::effect::Effect;
use crate::domain::erasure::Erased;
use crate::domain::id::{CandidateId, CompanyId, ProjectId};
use crate::domain::project::Project;
use crate::domain::tally::{Tally, shard_of};
use crate::domain::text::{fold_case, is_login};
use crate::domain::transition::Step;
use crate::error::{Error, Result};

impl Entity for Candidate {
    const UNSHOWN: &'static [&'static str] =
        &["mail_rate", "one_time_key", "password_hash", "reminded_at", "session_epoch", "started_at"];
    const PARTS: &'static [&'static str] = &["evaluations", "profile"];

    fn key(&self) -> Key {
        keys::candidate(&self.company, self.project, self.id)
    }

    fn by_status(&self) -> Option<(String, String)> {
        Some((keys::candidates_by_status(&self.company, self.project, self.status), self.id.to_string()))
    }

    fn due(&self) -> Option<(u8, DateTime<Utc>)> {
        Some((keys::candidate_due_shard(self.id), self.expires_at()?))
    }
}

/// A candidate with its project.
#[derive(Debug)]
pub struct Placed {
    /// The candidate.
    pub candidate: Versioned<Candidate>,
    /// Its project.
    pub project: Versioned<Project>,
}

impl Store {
    /// Creates a candidate as `step` has it, at `now`.
    ///
    /// # Errors
    /// [`Error::Changed`] when there is one with its identifier; a message on `username` when it is taken; [`PROJECT_NOT_RUNNING`] when the step needs that it is.
    ///
    /// [`PROJECT_NOT_RUNNING`]: crate::domain::transition::PROJECT_NOT_RUNNING
    pub fn create_candidate(&self, step: &Step, now: DateTime<Utc>) -> Transaction {
        let mut transaction = self.transaction();
        transaction.create(&step.candidate, Error::Changed);
        transaction.follow(None, Some(&step.candidate), step.needs_running_project, now);
        transaction.effect(Effect::of_step(step, 1, now));
        transaction
    }

    /// Lets a candidate take a step, at `now`.
    ///
    /// # Errors
    /// [`Error::Changed`]; a message on `username` when a new one is taken, on `customer` when a new share leads nowhere;
    /// [`PROJECT_NOT_RUNNING`] when the step needs that it is.
    ///
    /// [`PROJECT_NOT_RUNNING`]: crate::domain::transition::PROJECT_NOT_RUNNING
    pub fn change_candidate(
        &self,
        before: &Versioned<Candidate>,
        step: &Step,
        now: DateTime<Utc>,
    ) -> Transaction {
        let mut transaction = self.transaction();
        transaction.step(before, step, now);
        transaction
    }

    /// Candidates in one shard of the index whose deadline had passed at `now`.
    pub async fn overdue_candidates(
        &self,
        shard: u8,
        now: DateTime<Utc>,
        from: Option<DueCursor>,
    ) -> Result<Due<Candidate>> {
        self.due(shard, now, from).await
    }

    /// Lets candidates of one shard of one project's tally change together, all or none, without telling anybody.
    ///
    /// At most [`MAX_TOGETHER`](Self::MAX_TOGETHER); their names must stay as they are.
    ///
    /// # Errors
    /// [`Error::Changed`].
    pub fn change_together(&self, changes: &[(Versioned<Candidate>, Candidate)]) -> Transaction {
        let mut transaction = self.transaction();
        let Some((first, _)) = changes.first() else { return transaction };
        let mut total = Tally::default();
        for (before, after) in changes {
            transaction.replace(before, after);
            for (counter, count) in Tally::change(Some(before), Some(after)).iter() {
                total.add(counter, count);
            }
        }
        transaction.tally((&first.company, first.project, shard_of(first.id)), &total, false);
        transaction
    }

    /// How many candidates may change together.
    pub const MAX_TOGETHER: usize = 25;

    /// Deletes a candidate, at `now`, and has its files deleted.
    ///
    /// # Errors
    /// [`Error::Changed`].
    pub fn delete_candidate(&self, candidate: &Versioned<Candidate>, now: DateTime<Utc>) -> Transaction {
        self.delete_candidate_sparing(candidate, Vec::new(), now)
    }

    /// The same in a table in which its names may lead to somebody else.
    pub(super) async fn erase_candidate(
        &self,
        candidate: &Versioned<Candidate>,
        now: DateTime<Utc>,
    ) -> Result<()> {
        let account = Account::Candidate { project: candidate.project, candidate: candidate.id };
        let others = self.logins_of_others(username_of(candidate), account).await?;
        self.commit(self.delete_candidate_sparing(candidate, others, now)).await
    }

    fn delete_candidate_sparing(
        &self,
        candidate: &Versioned<Candidate>,
        spared: Vec<Key>,
        now: DateTime<Utc>,
    ) -> Transaction {
        let mut transaction = self.transaction().sparing(spared);
        transaction.delete(candidate);
        transaction.follow(Some(candidate), None, false, now);
        transaction
    }

    /// The candidate with this identifier.
    pub async fn candidate(
        &self,
        company: &CompanyId,
        project: ProjectId,
        id: CandidateId,
    ) -> Result<Option<Versioned<Candidate>>> {
        let key = keys::candidate(company, project, id);
        self.get([key.clone()]).await?.take(&key)
    }

    /// Those of a project's candidates that have one of these identifiers.
    pub async fn candidates(
        &self,
        company: &CompanyId,
        project: ProjectId,
        ids: impl IntoIterator<Item = CandidateId>,
    ) -> Result<HashMap<CandidateId, Versioned<Candidate>>> {
        let keys: Vec<Key> = ids.into_iter().map(|id| keys::candidate(company, project, id)).collect();
        let mut batch = self.get(keys.clone()).await?;
        let mut found = HashMap::new();
        for key in &keys {
            let candidate: Option<Versioned<Candidate>> = batch.take_listed(key)?;
            found.extend(candidate.map(|candidate| (candidate.id, candidate)));
        }
        Ok(found)
    }

    /// Those of a company's candidates that have these identifiers, in this order, with their projects; one round trip.
    pub async fn placed_candidates(
        &self,
        company: &CompanyId,
        ids: &[(ProjectId, CandidateId)],
    ) -> Result<Vec<Placed>> {
        let candidates = ids.iter().map(|(project, id)| keys::candidate(company, *project, *id));
        let projects = ids.iter().map(|(project, _)| keys::project(company, *project));
        let mut batch = self.get(candidates.chain(projects)).await?;
        let mut projects = HashMap::new();
        let mut found = Vec::with_capacity(ids.len());
        for (of, id) in ids {
            if let Some(project) = batch.take_listed::<Project>(&keys::project(company, *of))? {
                projects.insert(*of, project);
            }
            let candidate: Option<Versioned<Candidate>> =
                batch.take_listed(&keys::candidate(company, *of, *id))?;
            let placed = candidate.zip(projects.get(of).cloned());
            found.extend(placed.map(|(candidate, project)| Placed { candidate, project }));
        }
        Ok(found)
    }

    /// A page of a project's candidates, who are `among` these statuses, those with one status only if asked for.
    pub async fn list_candidates(
        &self,
        company: &CompanyId,
        project: ProjectId,
        status: Option<CandidateStatus>,
        among: &[CandidateStatus],
        request: &PageRequest,
    ) -> Result<Page<Versioned<Candidate>>> {
        let collection = keys::candidates(company, project);
        let partition = |status: CandidateStatus| keys::candidates_by_status(company, project, status);
        let listing = match status {
            None => Listing::AllIndexed(collection, among.iter().copied().map(partition).collect()),
            Some(status) => Listing::WithStatus(collection, partition(status)),
        };
        self.page(&listing, request).await
    }

    /// All candidates of a project with this email, in any case, oldest first.
    pub async fn candidates_by_email(
        &self,
        company: &CompanyId,
        project: ProjectId,
        email: &str,
    ) -> Result<Vec<Versioned<Candidate>>> {
        if !is_login(email) {
            return Ok(Vec::new());
        }
        let listing = Listing::All(keys::login_candidates(company, email));
        let mut found = Vec::new();
        for row in self.page_of_items(&listing, &PageRequest::everything()).await?.rows {
            let account = item::or_skipped(item::value_in::<Account>(&row))?;
            if let Some(Account::Candidate { project: of, candidate }) = account
                && of == project
            {
                found.push(keys::candidate(company, of, candidate));
            }
        }
        let mut batch = self.get(found.clone()).await?;
        let mut candidates = Vec::with_capacity(found.len());
        for key in found {
            let candidate: Option<Versioned<Candidate>> = batch.take_listed(&key)?;
            // The login may be of a moment ago.
            candidates.extend(candidate.filter(|one| {
                let own = one.profile.email.as_ref().map(|own| fold_case(own.as_str()));
                own == Some(fold_case(email))
            }));
        }
        Ok(candidates)
    }
}

impl Transaction {
    /// Lets a candidate take a step, at `now`.
    pub(super) fn step(&mut self, before: &Versioned<Candidate>, step: &Step, now: DateTime<Utc>) {
        self.replace(before, &step.candidate);
        self.follow(Some(before), Some(&step.candidate), step.needs_running_project, now);
        self.effect(Effect::of_step(step, before.version() + 1, now));
    }

    /// Writes what follows from a candidate `before` becoming `after`: counts, names to log in with, search entries,
    /// shares, files.
    fn follow(
        &mut self,
        before: Option<&Candidate>,
        after: Option<&Candidate>,
        needs_running_project: bool,
        now: DateTime<Utc>,
    ) {
        if let Some(one) = after.or(before) {
            let shard = (&one.company, one.project, shard_of(one.id));
            self.tally(shard, &Tally::change(before, after), needs_running_project);
        }
        self.candidate_logins(before, after);
        self.search_entries(before, after);
        self.shares(before, after);
        match (before, after) {
            (before, Some(after)) => self.files(before.map(files_of), files_of(after), now),
            (Some(gone), None) => {
                let erased = Erased::Candidate { project: gone.project, candidate: gone.id };
                self.erased((&gone.company, erased), files_of(gone).keys(), now)
            }
            (None, None) => (),
        }
    }

    fn candidate_logins(&mut self, before: Option<&Candidate>, after: Option<&Candidate>) {
        let email = |candidate: &Candidate| {
            let email = candidate.profile.email.as_ref()?;
            Some(keys::login_candidate(&candidate.company, email.as_str(), candidate.id))
        };
        let taken_username = || Error::field("username", TAKEN_USERNAME);
        let taken_email = || Error::internal("a candidate's email leads to it already");
        self.move_candidate_login(before, after, username_of, taken_username);
        let name = |candidate: Option<&Candidate>| candidate?.profile.username.clone();
        if let (Some(after), Some(new)) =
            (after, name(after).filter(|new| name(before).as_ref() != Some(new)))
        {
            // Nor may it be the address that a customer logs in with.
            self.require_absent(keys::login_email(&after.company, new.as_str()), taken_username());
        }
        self.move_candidate_login(before, after, email, taken_email);
    }

    fn move_candidate_login(
        &mut self,
        before: Option<&Candidate>,
        after: Option<&Candidate>,
        key: impl Fn(&Candidate) -> Option<Key>,
        taken: impl FnOnce() -> Error,
    ) {
        let (old, new) = (before.and_then(&key), after.and_then(&key));
        if old == new {
            return;
        }
        if let Some(old) = old {
            self.delete_derived(old);
        }
        if let (Some(new), Some(after)) = (new, after) {
            let account = Account::Candidate { project: after.project, candidate: after.id };
            self.create_login(new, &account, taken());
        }
    }
}

/// The login by its user name, if it has one.
fn username_of(candidate: &Candidate) -> Option<Key> {
    let name = candidate.profile.username.as_ref()?;
    Some(keys::login_username(&candidate.company, name.as_str()))
}

fn files_of(candidate: &Candidate) -> FilesOf<'_> {
    let files = candidate.photo.into_iter().chain(candidate.cv).collect();
    FilesOf { company: &candidate.company, owner: candidate.owner(), files }
}
