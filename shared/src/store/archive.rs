//! What an archive of a company holds, as it is stored, without what an archive leaves out.
//!
//! Everything about a candidate is read as of one moment. Evaluations, guest links and answers are written in a transaction with
//! the candidate's item, so they belong together if that item has the same version before and after they are read.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::Store;
use super::history::EntryKey;
use super::project::counts::{self, HAS_BEGUN};
use super::table::item::{
    self, BOOKKEEPING_ATTRIBUTES, EVENT_VERSION, Item, StoredEntity, VersionedItem, string,
};
use super::table::keys::{self, ItemCollection, TABLE};
use super::table::read::query::Query;
use crate::domain::answers::{Answers, WrittenAnswer};
use crate::domain::archive::RecordKind;
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
use crate::domain::transition::project_counts::CounterName;
use crate::domain::webhook::Webhook;
use crate::error::{Error, Result};

/// The candidates that are read together.
const CANDIDATES_TOGETHER: usize = 25;
/// How often what has changed while it was read is read again.
const ATTEMPTS: usize = 10;
/// Follows every character of an identifier, so that a range ends behind everything that begins with one.
const END: char = '~';

/// A record of an archive.
#[derive(Debug, Clone, PartialEq)]
pub struct ArchiveRecord {
    pub kind: RecordKind,
    /// Unique in its kind. The order of the records of a file is that of their identifiers.
    pub id: String,
    /// `id`, `version` and `value`: what is stored.
    pub content: Value,
    /// The entry of the last event of it, if it has a history.
    pub last_event: Option<EntryKey>,
}

/// Records of some candidates of a project.
#[derive(Debug)]
pub struct ArchivePage {
    pub records: Vec<ArchiveRecord>,
    /// The last candidate that was read; `None` after the last of the project.
    pub reached: Option<CandidateId>,
}

impl ArchiveRecord {
    /// A record of something that is not stored as it is shown.
    pub fn new(kind: RecordKind, id: String, value: Value) -> Self {
        let content = json!({ "id": id, "value": value });
        Self { kind, id, content, last_event: None }
    }

    fn of<T: StoredEntity>(kind: RecordKind, id: String, item: &VersionedItem<T>) -> Result<Self> {
        Self::with_value(kind, id, item, item)
    }

    /// The record of `item` with this value. Fails with [`Error::Unreadable`] if the item has an attribute that this release does
    /// not know, which may be a secret.
    fn with_value<T: StoredEntity>(
        kind: RecordKind,
        id: String,
        item: &VersionedItem<T>,
        value: &T,
    ) -> Result<Self> {
        let known = item::attributes_of(value)?;
        let is_known = |name: &str| {
            known.contains_key(name) || BOOKKEEPING_ATTRIBUTES.contains(&name) || name == EVENT_VERSION
        };
        if let Some(name) = item.stored().keys().find(|name| !is_known(name)) {
            let problem = format!("an item of {} has an unknown attribute: {name}", kind.name());
            return Err(Error::Unreadable(problem.into()));
        }
        let mut stored: Value = serde_dynamo::from_item(known).map_err(Error::internal)?;
        for path in kind.left_out() {
            remove(&mut stored, path);
        }
        let mut content = json!({ "id": id, "version": item.version(), "value": stored });
        if item.revision() != item.version() {
            content["revision"] = item.revision().into();
        }
        let mut last_event = None;
        if let Some(version) = item.event_version() {
            content["event_version"] = version.into();
            last_event = T::history_change(None, Some(value)).map(|change| EntryKey {
                history: change.resource.history_id(&change.company),
                company: change.company,
                version,
            });
        }
        Ok(Self { kind, id, content, last_event })
    }
}

/// Removes what is at a path whose parts are separated by dots.
fn remove(value: &mut Value, path: &str) {
    let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
    match (rest, value.as_object_mut()) {
        (None, Some(object)) => drop(object.remove(first)),
        (Some(rest), Some(object)) => {
            if let Some(inner) = object.get_mut(first) {
                remove(inner, rest);
            }
        }
        (_, None) => {}
    }
}

impl Store {
    /// The records of a company that belong to none of its projects; `None` if there is no such company. Fails with
    /// [`Error::Unreadable`] if an item cannot be read.
    pub async fn archive_company(&self, company: &CompanyId) -> Result<Option<Vec<ArchiveRecord>>> {
        let Some(found) = self.one::<Company>(keys::company(company)).await? else { return Ok(None) };
        let mut records = vec![ArchiveRecord::of(RecordKind::Company, company.to_string(), &found)?];
        if let Some(policy) = self.one::<RetentionPolicy>(keys::retention_policy(company)).await? {
            records.push(ArchiveRecord::of(RecordKind::Retention, company.to_string(), &policy)?);
        }
        records
            .extend(self.archive_all::<LegalText>(RecordKind::LegalTexts, keys::legal_texts(company)).await?);
        records.extend(self.archive_all::<Logo>(RecordKind::Logos, keys::logos(company)).await?);
        records.extend(self.archive_all::<Label>(RecordKind::Labels, keys::labels(company)).await?);
        records.extend(self.archive_all::<Customer>(RecordKind::Customers, keys::customers(company)).await?);
        records.extend(self.archive_all::<Video>(RecordKind::Videos, keys::videos(company)).await?);
        records
            .extend(self.archive_all::<Captions>(RecordKind::Captions, keys::all_captions(company)).await?);
        records.extend(self.archive_all::<Webhook>(RecordKind::Webhooks, keys::webhooks(company)).await?);
        records.extend(self.archive_tokens(company).await?);
        Ok(Some(records))
    }

    async fn archive_tokens(&self, company: &CompanyId) -> Result<Vec<ArchiveRecord>> {
        let tokens: Vec<VersionedItem<NamedToken>> = self.all_wanted(keys::tokens(company), |_| true).await?;
        let uses = self.last_token_uses(tokens.iter().map(|token| &**token)).await?;
        let record = |token: &VersionedItem<NamedToken>| {
            let used = NamedToken { last_used_at: uses.get(&token.id).copied(), ..NamedToken::clone(token) };
            ArchiveRecord::with_value(RecordKind::Tokens, token.id.to_string(), token, &used)
        };
        tokens.iter().map(record).collect()
    }

    /// Records with the identifiers that their items have in the collection.
    async fn archive_all<T: StoredEntity>(
        &self,
        kind: RecordKind,
        collection: ItemCollection,
    ) -> Result<Vec<ArchiveRecord>> {
        let rows = self.all_items(&collection).await?;
        let record = |row: Item| {
            let id = collection.id_in(&row)?.replace('#', "/");
            ArchiveRecord::of(kind, id, &item::read::<T>(row)?)
        };
        rows.into_iter().map(record).collect()
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
        let shards = counts::shards(company, project);
        let all_keys = [project_key.clone(), questionnaire_key.clone()].into_iter().chain(shards);
        let mut batch = self.get(all_keys).await?;
        let Some(found) = batch.take::<Project>(&project_key)? else { return Ok(Vec::new()) };
        let mut records = vec![ArchiveRecord::of(RecordKind::Projects, project.to_string(), &found)?];
        if let Some(questionnaire) = batch.take::<Questionnaire>(&questionnaire_key)? {
            records.push(ArchiveRecord::of(RecordKind::Questionnaires, project.to_string(), &questionnaire)?);
        }
        for (number, key) in counts::shards(company, project).enumerate() {
            let mut counted = batch.take_item(&key).unwrap_or_default();
            // Everything else can be counted again.
            counted.retain(|name, _| {
                name == HAS_BEGUN || name.parse::<CounterName>().is_ok_and(CounterName::is_of_erased)
            });
            if !counted.is_empty() {
                let counted = serde_dynamo::from_item(counted).map_err(Error::internal)?;
                records.push(ArchiveRecord::new(
                    RecordKind::Statistics,
                    format!("{project}/{number}"),
                    counted,
                ));
            }
        }
        Ok(records)
    }

    /// The records of the next candidates of a project after `after`.
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

    /// The records of a candidate. There are none if there is no such candidate.
    pub async fn archive_candidate(
        &self,
        company: &CompanyId,
        project: ProjectId,
        candidate: CandidateId,
    ) -> Result<Vec<ArchiveRecord>> {
        let found = self.item(&keys::candidate(company, project, candidate)).await?;
        self.archive_together(company, project, found.into_iter().collect()).await
    }

    /// The records of candidates whose items are `rows`, in the order of their keys. Who is deleted in between is left out.
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
                        let id = format!("{project}/{}", candidate.id);
                        records.push(ArchiveRecord::of(RecordKind::Candidates, id, candidate)?);
                    }
                    Some(after) => changed.push(after),
                    None => {}
                }
            }
            let is_settled = |record: &(CandidateId, ArchiveRecord)| settled.contains(&record.0);
            records.extend(written.into_iter().filter(is_settled).map(|(_, record)| record));
            candidates = changed;
        }
        Err(Error::Changed)
    }

    /// What was written by and about the candidates from `first` to `last`.
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
            let id = format!("{project}/{}/{}", found.candidate, found.evaluator);
            written.push((found.candidate, ArchiveRecord::of(RecordKind::Evaluations, id, &found)?));
        }
        let end = format!("{}{END}", keys::guest_links_of(project, last));
        let all = range(&keys::guest_links(company).pk, keys::guest_links_of(project, first), end);
        for found in self.read_rows::<GuestLink>(all).await? {
            let id = format!("{project}/{}/{}", found.candidate, found.id);
            written.push((found.candidate, ArchiveRecord::of(RecordKind::GuestLinks, id, &found)?));
        }
        let all = range(&keys::all_answers(company, project).pk, first.to_string(), last.to_string());
        for found in self.read_rows::<Answers>(all).await? {
            let candidate = found.candidate;
            if found.written().next().is_some() {
                let texts = keys::written_answers(company, project, candidate);
                for text in self.all_wanted::<WrittenAnswer>(texts, |_| true).await? {
                    let id = format!("{project}/{candidate}/{}", text.question);
                    written.push((candidate, ArchiveRecord::of(RecordKind::WrittenAnswers, id, &text)?));
                }
            }
            let id = format!("{project}/{candidate}");
            written.push((candidate, ArchiveRecord::of(RecordKind::Answers, id, &found)?));
        }
        Ok(written)
    }

    async fn read_rows<T: StoredEntity>(&self, query: Query) -> Result<Vec<VersionedItem<T>>> {
        self.query_rows(query, usize::MAX).await?.into_iter().map(item::read).collect()
    }

    /// The record of an event, which has the number of its place in the feed.
    pub fn archive_event(&self, event: &VersionedItem<HistoryEntry>) -> Result<ArchiveRecord> {
        let number =
            event.sequence.ok_or_else(|| Error::internal("an event of the feed without a number"))?;
        ArchiveRecord::of(RecordKind::Events, keys::event_number(number), event)
    }

    /// Those of these entries whose events have no number yet, or one after `sequence`.
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
