//! Reads a company as records of an archive.
//!
//! Everything about a candidate is read as of one moment. Evaluations, guest links and answers are written in a transaction with
//! the candidate's item, so they belong together if that item has the same version before and after they are read.

use std::collections::{HashMap, HashSet};

use super::counts::ArchivedCounts;
use super::{ArchiveRecord, ArchivedEntity};
use crate::domain::answers::{AnswerCaptions, Answers, WrittenAnswer};
use crate::domain::candidate::{Candidate, GuestLink};
use crate::domain::company::Company;
use crate::domain::company::label::Label;
use crate::domain::company::logo::Logo;
use crate::domain::evaluation::Evaluation;
use crate::domain::history::HistoryEntry;
use crate::domain::id::{CandidateId, CompanyId, ProjectId};
use crate::domain::media::captions::Captions;
use crate::domain::media::video::Video;
use crate::domain::privacy::legal::LegalText;
use crate::domain::project::Project;
use crate::domain::questionnaire::Questionnaire;
use crate::domain::retention::RetentionPolicy;
use crate::domain::staff::customer::Customer;
use crate::domain::staff::named_token::NamedToken;
use crate::domain::staff::sign_in::SignInSettings;
use crate::domain::webhook::Webhook;
use crate::error::{Error, Result};
use crate::store::history::EntryKey;
use crate::store::project::counts::shards;
use crate::store::table::handle::Store;
use crate::store::table::item::{self, Item, StoredEntity, VersionedItem, string};
use crate::store::table::keys::{self, ItemCollection, TABLE};
use crate::store::table::read::query::Query;

/// The maximum number of candidates in an [`ArchivePage`], whose records are read as of one moment.
const CANDIDATES_TOGETHER: usize = 25;
/// How often what has changed while it was read is read again.
const ATTEMPTS: usize = 10;
/// Follows every character of an identifier, so that a range ends behind everything that begins with one.
const END: char = '~';

/// Records of some candidates of a project.
#[derive(Debug)]
pub struct ArchivePage {
    pub records: Vec<ArchiveRecord>,
    /// The last candidate that was read; `None` after the last of the project.
    pub reached: Option<CandidateId>,
}

impl Store {
    /// The records of a company that belong to none of its projects; `None` if there is no such company. Fails with
    /// [`Error::Unreadable`] if an item cannot be read.
    pub async fn archive_company(&self, company: &CompanyId) -> Result<Option<Vec<ArchiveRecord>>> {
        let Some(found) = self.one::<Company>(keys::company(company)).await? else { return Ok(None) };
        let mut records = vec![ArchiveRecord::of(&found)?];
        if let Some(policy) = self.one::<RetentionPolicy>(keys::retention_policy(company)).await? {
            records.push(ArchiveRecord::of(&policy)?);
        }
        if let Some(settings) = self.one::<SignInSettings>(keys::sign_in_settings(company)).await? {
            records.push(ArchiveRecord::of(&settings)?);
        }
        records.extend(self.archive_all::<LegalText>(keys::legal_texts(company)).await?);
        records.extend(self.archive_all::<Logo>(keys::logos(company)).await?);
        records.extend(self.archive_all::<Label>(keys::labels(company)).await?);
        records.extend(self.archive_all::<Customer>(keys::customers(company)).await?);
        records.extend(self.archive_all::<Video>(keys::videos(company)).await?);
        records.extend(self.archive_all::<Captions>(keys::all_captions(company)).await?);
        records.extend(self.archive_all::<Webhook>(keys::webhooks(company)).await?);
        records.extend(self.archive_tokens(company).await?);
        Ok(Some(records))
    }

    async fn archive_tokens(&self, company: &CompanyId) -> Result<Vec<ArchiveRecord>> {
        let tokens: Vec<VersionedItem<NamedToken>> = self.all_wanted(keys::tokens(company), |_| true).await?;
        let uses = self.last_token_uses(tokens.iter().map(|token| &**token)).await?;
        let record = |token: &VersionedItem<NamedToken>| {
            let uses = uses.get(&token.id).copied().unwrap_or(token.uses);
            let used = NamedToken { uses, ..NamedToken::clone(token) };
            ArchiveRecord::with_value(token, &used)
        };
        tokens.iter().map(record).collect()
    }

    async fn archive_all<T: ArchivedEntity>(&self, collection: ItemCollection) -> Result<Vec<ArchiveRecord>> {
        let rows = self.all_items(&collection).await?;
        rows.into_iter().map(|row| ArchiveRecord::of(&item::read::<T>(row)?)).collect()
    }

    /// The identifiers of the projects of a company, in their order.
    pub async fn archive_projects(&self, company: &CompanyId) -> Result<Vec<ProjectId>> {
        let projects: Vec<VersionedItem<Project>> =
            self.all_wanted(keys::projects(company), |_| true).await?;
        Ok(projects.iter().map(|project| project.id).collect())
    }

    /// The records of a project that belong to none of its candidates. There are none if there is no such project.
    pub async fn archive_project(
        &self,
        company: &CompanyId,
        project: ProjectId,
    ) -> Result<Vec<ArchiveRecord>> {
        let project_key = keys::project(company, project);
        let questionnaire_key = keys::questionnaire(company, project);
        let all_keys =
            [project_key.clone(), questionnaire_key.clone()].into_iter().chain(shards(company, project));
        let mut batch = self.get(all_keys).await?;
        let Some(found) = batch.take::<Project>(&project_key)? else { return Ok(Vec::new()) };
        let mut records = vec![ArchiveRecord::of(&found)?];
        if let Some(questionnaire) = batch.take::<Questionnaire>(&questionnaire_key)? {
            records.push(ArchiveRecord::of(&questionnaire)?);
        }
        for (number, key) in shards(company, project).enumerate() {
            let counted = batch.take_item(&key).unwrap_or_default();
            records.extend(ArchivedCounts::of(project, number, counted)?.map(|counts| counts.to_record()));
        }
        Ok(records)
    }

    /// The records of the next candidates of a project after `after`. Fails with [`Error::Busy`] if they change each time they are
    /// read.
    pub async fn archive_candidates(
        &self,
        company: &CompanyId,
        project: ProjectId,
        after: Option<CandidateId>,
    ) -> Result<ArchivePage> {
        let candidates = keys::candidates(company, project);
        let first = candidates.key(after.map_or_else(String::new, |after| format!("{after}{END}"))).sk;
        let last = candidates.key(END).sk;
        let rows = self.query_rows(range(&candidates.pk, first, last), CANDIDATES_TOGETHER).await?;
        let reached = rows.last().map(item::key_of).transpose()?.and_then(|key| keys::candidate_in(&key));
        let reached = reached.filter(|_| rows.len() == CANDIDATES_TOGETHER);
        let records = self.archive_together(company, project, rows).await?;
        Ok(ArchivePage { records, reached })
    }

    /// The records of a candidate. There are none if there is no such candidate. Fails with [`Error::Busy`] if they change each time
    /// they are read.
    pub async fn archive_candidate(
        &self,
        company: &CompanyId,
        project: ProjectId,
        candidate: CandidateId,
    ) -> Result<Vec<ArchiveRecord>> {
        let found = self.item(&keys::candidate(company, project, candidate)).await?;
        self.archive_together(company, project, found.into_iter().collect()).await
    }

    /// The records of candidates whose items are `rows`, in the order of their keys. Candidates who are deleted in between are
    /// left out.
    async fn archive_together(
        &self,
        company: &CompanyId,
        project: ProjectId,
        rows: Vec<Item>,
    ) -> Result<Vec<ArchiveRecord>> {
        let mut candidates =
            rows.into_iter().map(item::read).collect::<Result<Vec<VersionedItem<Candidate>>>>()?;
        let mut records = Vec::new();
        for _ in 0..ATTEMPTS {
            let (Some(first), Some(last)) = (candidates.first(), candidates.last()) else {
                return Ok(records);
            };
            let written = self.archive_written(company, project, first.id, last.id).await?;
            let all_keys: Vec<_> =
                candidates.iter().map(|candidate| keys::candidate(company, project, candidate.id)).collect();
            let mut now = self.get(all_keys.iter().cloned()).await?;
            let mut changed = Vec::new();
            let mut settled = HashSet::new();
            for (candidate, key) in candidates.iter().zip(&all_keys) {
                match now.take::<Candidate>(key)? {
                    Some(after) if after.version() == candidate.version() => {
                        settled.insert(candidate.id);
                        records.push(ArchiveRecord::of(candidate)?);
                    }
                    Some(after) => changed.push(after),
                    None => {}
                }
            }
            let is_settled = |record: &(CandidateId, ArchiveRecord)| settled.contains(&record.0);
            records.extend(written.into_iter().filter(is_settled).map(|(_, record)| record));
            candidates = changed;
        }
        // The error is not `Changed`: no other worker writes this archive.
        Err(Error::Busy("candidates changed each time they were read".into()))
    }

    /// The records written by and about the candidates from `first` to `last`.
    async fn archive_written(
        &self,
        company: &CompanyId,
        project: ProjectId,
        first: CandidateId,
        last: CandidateId,
    ) -> Result<Vec<(CandidateId, ArchiveRecord)>> {
        let mut written = Vec::new();
        let evaluations = keys::evaluations(company, project).pk;
        let all = range(&evaluations, first.to_string(), format!("{last}{END}"));
        for found in self.read_rows::<Evaluation>(all).await? {
            written.push((found.candidate, ArchiveRecord::of(&found)?));
        }
        let end = format!("{}{END}", keys::guest_links_of(project, last));
        let all = range(&keys::guest_links(company).pk, keys::guest_links_of(project, first), end);
        for found in self.read_rows::<GuestLink>(all).await? {
            written.push((found.candidate, ArchiveRecord::of(&found)?));
        }
        let all = range(&keys::all_answers(company, project).pk, first.to_string(), last.to_string());
        for found in self.read_rows::<Answers>(all).await? {
            let candidate = found.candidate;
            let (found, captions) = self.with_captions(found).await?;
            for one in captions {
                written.push((candidate, ArchiveRecord::of(&one)?));
            }
            if found.stored_texts().next().is_some() {
                let texts = keys::written_answers(company, project, candidate);
                for text in self.all_wanted::<WrittenAnswer>(texts, |_| true).await? {
                    written.push((candidate, ArchiveRecord::of(&text)?));
                }
            }
            written.push((candidate, ArchiveRecord::of(&found)?));
        }
        Ok(written)
    }

    /// The answers of a candidate with the captions that they name. Reads both again if they have changed in between. Fails with
    /// [`Error::Busy`] if they change each time they are read.
    async fn with_captions(
        &self,
        mut answers: VersionedItem<Answers>,
    ) -> Result<(VersionedItem<Answers>, Vec<VersionedItem<AnswerCaptions>>)> {
        for _ in 0..ATTEMPTS {
            let mut found = Vec::new();
            let mut is_whole = true;
            for (take, language, digest) in answers.captions() {
                let captions = self.answer_captions(&answers, take, language).await?;
                let named = captions.filter(|captions| captions.text.digest() == digest);
                is_whole &= named.is_some();
                found.extend(named);
            }
            if is_whole {
                return Ok((answers, found));
            }
            let Answers { company, project, candidate, .. } = &*answers;
            match self.answers(company, *project, *candidate).await? {
                Some(again) => answers = again,
                // The candidate is being deleted.
                None => return Ok((answers, Vec::new())),
            }
        }
        Err(Error::Busy("answers changed each time they were read".into()))
    }

    async fn read_rows<T: StoredEntity>(&self, query: Query) -> Result<Vec<VersionedItem<T>>> {
        self.query_rows(query, usize::MAX).await?.into_iter().map(item::read).collect()
    }

    /// The record of an event, which has the number of its place in the feed.
    pub fn archive_event(&self, event: &VersionedItem<HistoryEntry>) -> Result<ArchiveRecord> {
        if event.sequence.is_none() {
            return Err(Error::internal("an event of the feed without a number"));
        }
        ArchiveRecord::of(event)
    }

    /// Returns the entries whose events have no number yet, or one after `sequence`.
    pub async fn entries_after(&self, entries: &[EntryKey], sequence: u64) -> Result<Vec<EntryKey>> {
        let by_key: HashMap<_, _> = entries
            .iter()
            .map(|entry| (keys::entry(&entry.company, &entry.history, entry.version), entry))
            .collect();
        let mut batch = self.get(by_key.keys().cloned()).await?;
        let mut after = Vec::new();
        for (key, entry) in by_key {
            // One that has expired is older than every other.
            if let Some(found) = batch.take::<HistoryEntry>(&key)?
                && found.sequence.is_none_or(|number| number > sequence)
            {
                after.push(entry.clone());
            }
        }
        Ok(after)
    }
}

/// The items of a partition from one sort key to another.
fn range(pk: &str, first: String, last: String) -> Query {
    Query::new(TABLE, string(pk)).ranging(first, last)
}
