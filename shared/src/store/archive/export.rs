//! Reads the data of a company as records of an archive.
//!
//! No read returns several items as of the same time. Items that belong together are written in one transaction with an
//! item that names them: evaluations, guest links and answers with their candidate; texts and captions of takes with
//! the answers; captions of a welcome video with the video; the logo and legal texts with the company. So they are
//! consistent if the item that names them has the same version before and after they are read.

use std::collections::{HashMap, HashSet};
use std::iter;

use super::counts::ArchivedCounts;
use super::{ArchiveRecord, ArchivedEntity};
use crate::domain::answers::{Answers, WrittenAnswer};
use crate::domain::candidate::{Candidate, GuestLink};
use crate::domain::company::Company;
use crate::domain::company::label::Label;
use crate::domain::company::logo::Logo;
use crate::domain::evaluation::Evaluation;
use crate::domain::history::HistoryEntry;
use crate::domain::id::{CandidateId, CompanyId, ProjectId, QuestionId};
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
use crate::store::table::read::batch::ItemBatch;
use crate::store::table::read::query::Query;

/// The maximum number of candidates in an [`ArchivePage`]. Their records are read together.
const CANDIDATES_TOGETHER: usize = 25;
/// How often to read items again that have changed during the read.
const ATTEMPTS: usize = 10;
/// Sorts after every character of an identifier, so that an identifier with this suffix is the end of the range of keys that begin with it.
const END: char = '~';

/// Records of some candidates of a project.
#[derive(Debug)]
pub struct ArchivePage {
    pub records: Vec<ArchiveRecord>,
    /// The last candidate that was read; `None` after the last of the project.
    pub reached: Option<CandidateId>,
}

/// The records by and about some candidates, except the candidates' own.
struct WrittenRecords {
    written: Vec<(CandidateId, ArchiveRecord)>,
    /// The answers that name texts or captions.
    naming: Vec<VersionedItem<Answers>>,
}

impl Store {
    /// Reads the records of a company that belong to none of its projects; `None` if there is no such company. Fails
    /// with [`Error::Unreadable`] if an item cannot be read, and with [`Error::Busy`] if the company or its videos
    /// change during every attempt.
    pub async fn archive_company(&self, company: &CompanyId) -> Result<Option<Vec<ArchiveRecord>>> {
        let Some(mut records) = self.archive_company_and_videos(company).await? else { return Ok(None) };
        if let Some(policy) = self.one::<RetentionPolicy>(keys::retention_policy(company)).await? {
            records.push(ArchiveRecord::of(&policy)?);
        }
        if let Some(settings) = self.one::<SignInSettings>(keys::sign_in_settings(company)).await? {
            records.push(ArchiveRecord::of(&settings)?);
        }
        records.extend(self.archive_all::<Label>(keys::labels(company)).await?);
        records.extend(self.archive_all::<Customer>(keys::customers(company)).await?);
        records.extend(self.archive_all::<Webhook>(keys::webhooks(company)).await?);
        records.extend(self.archive_tokens(company).await?);
        Ok(Some(records))
    }

    /// Reads the records of a company and its welcome videos, and of the items that these name.
    async fn archive_company_and_videos(&self, company: &CompanyId) -> Result<Option<Vec<ArchiveRecord>>> {
        for _ in 0..ATTEMPTS {
            let Some(found) = self.one::<Company>(keys::company(company)).await? else { return Ok(None) };
            let videos: Vec<VersionedItem<Video>> = self.all_wanted(keys::videos(company), |_| true).await?;
            let mut records = self.archive_named_by_company(&found).await?;
            records.extend(self.archive_named_by_videos(company, &videos).await?);
            records.push(ArchiveRecord::of(&found)?);
            for video in &videos {
                records.push(ArchiveRecord::of(video)?);
            }
            let video_keys = videos.iter().map(|video| video.key());
            let mut now = self.get(iter::once(found.key()).chain(video_keys)).await?;
            let mut is_settled = is_unchanged(&found, &mut now)?;
            for video in &videos {
                is_settled &= is_unchanged(video, &mut now)?;
            }
            if is_settled {
                return Ok(Some(records));
            }
        }
        Err(Error::Busy("the company or its videos changed each time they were read".into()))
    }

    /// Reads the records of a company's legal texts and logo.
    async fn archive_named_by_company(&self, company: &Company) -> Result<Vec<ArchiveRecord>> {
        let Company { id, legal, logo, .. } = company;
        let mut records = Vec::new();
        let is_named = |text: &LegalText| text.id.version <= legal.count(text.id.kind);
        for text in self.all_wanted::<LegalText>(keys::legal_texts(id), is_named).await? {
            records.push(ArchiveRecord::of(&text)?);
        }
        if let Some(logo) = logo
            && let Some(found) = self.one::<Logo>(keys::logo(id, logo.id)).await?
        {
            records.push(ArchiveRecord::of(&found)?);
        }
        Ok(records)
    }

    /// Reads the records of the captions of welcome videos.
    async fn archive_named_by_videos(
        &self,
        company: &CompanyId,
        videos: &[VersionedItem<Video>],
    ) -> Result<Vec<ArchiveRecord>> {
        let named: HashSet<_> = videos
            .iter()
            .flat_map(|video| video.captions.keys().map(|language| (video.id, *language)))
            .collect();
        let is_named = |captions: &Captions| named.contains(&(captions.video, captions.language));
        let found = self.all_wanted::<Captions>(keys::all_captions(company), is_named).await?;
        found.iter().map(ArchiveRecord::of).collect()
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

    /// Reads the records of a project that belong to none of its candidates; empty if there is no such project.
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

    /// Reads the records of the next candidates of a project after `after`. Fails with [`Error::Busy`] if they change during every attempt.
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

    /// Reads the records of a candidate; empty if there is no such candidate. Fails with [`Error::Busy`] if they change
    /// during every attempt.
    pub async fn archive_candidate(
        &self,
        company: &CompanyId,
        project: ProjectId,
        candidate: CandidateId,
    ) -> Result<Vec<ArchiveRecord>> {
        let found = self.item(&keys::candidate(company, project, candidate)).await?;
        self.archive_together(company, project, found.into_iter().collect()).await
    }

    /// Reads the records of the candidates with the items `rows`, in the order of their keys. Candidates who are
    /// deleted in the meantime are missing.
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
            let WrittenRecords { written, naming } =
                self.archive_written(company, project, first.id, last.id).await?;
            let answers_keys = naming.iter().map(|answers| answers.key());
            let all_keys = candidates.iter().map(|candidate| candidate.key()).chain(answers_keys);
            let mut now = self.get(all_keys).await?;
            // Check the answers too: candidates save them without a write of their own item.
            let mut answering = HashSet::new();
            for answers in &naming {
                if !is_unchanged(answers, &mut now)? {
                    answering.insert(answers.candidate);
                }
            }
            let mut changed = Vec::new();
            let mut settled = HashSet::new();
            for candidate in &candidates {
                match now.take::<Candidate>(&candidate.key())? {
                    Some(after)
                        if after.version() == candidate.version() && !answering.contains(&candidate.id) =>
                    {
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
        // Not `Changed`, which would mean that another worker writes this archive.
        Err(Error::Busy("candidates changed each time they were read".into()))
    }

    /// Reads the records by and about the candidates from `first` to `last`, except their own.
    async fn archive_written(
        &self,
        company: &CompanyId,
        project: ProjectId,
        first: CandidateId,
        last: CandidateId,
    ) -> Result<WrittenRecords> {
        let mut written = Vec::new();
        let mut naming = Vec::new();
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
            let named = self.archive_named_by_answers(&found).await?;
            written.extend(named.into_iter().map(|record| (found.candidate, record)));
            written.push((found.candidate, ArchiveRecord::of(&found)?));
            if found.captions().next().is_some() || found.stored_texts().next().is_some() {
                naming.push(found);
            }
        }
        Ok(WrittenRecords { written, naming })
    }

    /// Reads the records of the captions of a candidate's takes, and of their written answers and drafts.
    async fn archive_named_by_answers(&self, answers: &Answers) -> Result<Vec<ArchiveRecord>> {
        let Answers { company, project, candidate, .. } = answers;
        let mut records = Vec::new();
        for (take, language, _) in answers.captions() {
            if let Some(captions) = self.answer_captions(answers, take, language).await? {
                records.push(ArchiveRecord::of(&captions)?);
            }
        }
        let named: HashSet<QuestionId> = answers.stored_texts().collect();
        if !named.is_empty() {
            let texts = keys::written_answers(company, *project, *candidate);
            let is_named = |text: &WrittenAnswer| named.contains(&text.question);
            for text in self.all_wanted(texts, is_named).await? {
                records.push(ArchiveRecord::of(&text)?);
            }
        }
        Ok(records)
    }

    async fn read_rows<T: StoredEntity>(&self, query: Query) -> Result<Vec<VersionedItem<T>>> {
        self.query_rows(query, usize::MAX).await?.into_iter().map(item::read).collect()
    }

    /// The record of a numbered event. Fails for an event without a number.
    pub fn archive_event(&self, event: &VersionedItem<HistoryEntry>) -> Result<ArchiveRecord> {
        if event.sequence.is_none() {
            return Err(Error::internal("an event of the feed without a number"));
        }
        ArchiveRecord::of(event)
    }

    /// Returns those of the `entries` that have no number yet, or one after `sequence`.
    pub async fn entries_after(&self, entries: &[EntryKey], sequence: u64) -> Result<Vec<EntryKey>> {
        let by_key: HashMap<_, _> = entries
            .iter()
            .map(|entry| (keys::entry(&entry.company, &entry.history_id, entry.version), entry))
            .collect();
        let mut batch = self.get(by_key.keys().cloned()).await?;
        let mut after = Vec::new();
        for (key, entry) in by_key {
            // An entry that is missing has expired, so it comes before `sequence`.
            if let Some(found) = batch.take::<HistoryEntry>(&key)?
                && found.sequence.is_none_or(|number| number > sequence)
            {
                after.push(entry.clone());
            }
        }
        Ok(after)
    }
}

/// Whether an item has the same version in a later read.
fn is_unchanged<T: StoredEntity>(item: &VersionedItem<T>, now: &mut ItemBatch) -> Result<bool> {
    let after = now.take::<T>(&item.key())?;
    Ok(after.is_some_and(|after| after.version() == item.version()))
}

/// The items of a partition with sort keys from `first` to `last` (inclusive).
fn range(pk: &str, first: String, last: String) -> Query {
    Query::new(TABLE, string(pk)).ranging(first, last)
}
