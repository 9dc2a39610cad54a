//! Making the search entries of a company's candidates again, and erasing those that lead nowhere. There should be
//! nothing to do: entries are written in the transactions that write their candidates.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use aws_sdk_dynamodb::types::ReturnConsumedCapacity;
use serde::Serialize;

use super::Store;
use super::item::{self, Item, Versioned, string};
use super::keys::{self, Key};
use super::retry::Failure;
use super::search::entry;
use crate::domain::candidate::Candidate;
use crate::domain::id::{CandidateId, CompanyId, ProjectId};
use crate::domain::project::Project;
use crate::domain::search::words_of;
use crate::error::{Error, Result};

/// How often a candidate is looked at again that others change at the same time.
const TRIES: usize = 10;
/// How many entries of one candidate are erased in one go: with all that one may have, they fit in a transaction.
const MAX_ENTRIES: usize = 60;

/// What was found and done.
#[derive(Debug, Default, Serialize)]
pub struct Reindexed {
    /// How many candidates there are.
    pub candidates: usize,
    /// How many entries lead to them now.
    pub entries: usize,
    /// How many of those were missing.
    pub added: usize,
    /// How many led nowhere, and are gone.
    pub removed: usize,
}

/// The entries of one candidate: sort keys, and what the items hold besides their keys.
type Entries = BTreeMap<String, Item>;

impl Store {
    /// Makes the search entries of a company what follows from its candidates.
    ///
    /// # Errors
    /// A message on `company` when there is none; [`Error::Changed`] when somebody keeps changing one of the candidates.
    pub(crate) async fn reindex(&self, company: &CompanyId) -> Result<Reindexed> {
        if self.company(company).await?.is_none() {
            return Err(Error::field("company", "There is no such company."));
        }
        let mut projects = Vec::new();
        self.for_each(keys::projects(company), |project: Result<Versioned<Project>, Key>| {
            projects.extend(project.map(|project| project.id));
        })
        .await?;
        let mut done = Reindexed::default();
        for project in projects {
            self.reindex_project(company, project, &mut done).await?;
        }
        Ok(done)
    }

    async fn reindex_project(
        &self,
        company: &CompanyId,
        project: ProjectId,
        done: &mut Reindexed,
    ) -> Result<()> {
        // Entries before candidates: whoever comes meanwhile is then known to exist.
        let mut found = self.search_entries_of(company, project).await?;
        let mut differ = Vec::new();
        self.for_each(keys::candidates(company, project), |candidate: Result<Versioned<Candidate>, Key>| {
            let candidate = match candidate {
                Ok(candidate) => candidate,
                // Its entries stay as they are.
                Err(key) => return drop(keys::candidate_in(&key).and_then(|id| found.remove(&id))),
            };
            let has = found.remove(&candidate.id).unwrap_or_default();
            let needs = entries_of(&candidate);
            done.candidates += 1;
            done.entries += needs.len();
            if has != needs {
                differ.push((candidate, has));
            }
        })
        .await?;
        for (candidate, has) in differ {
            let (added, removed) = self.mend_entries(candidate, has).await?;
            done.added += added;
            done.removed += removed;
        }
        for (candidate, entries) in found {
            done.removed += entries.len();
            self.erase_entries(company, project, candidate, entries.into_keys()).await?;
        }
        Ok(())
    }

    /// Gives a candidate the entries that it needs in place of those that it `has`; tells how many came and went.
    async fn mend_entries(
        &self,
        mut candidate: Versioned<Candidate>,
        mut has: Entries,
    ) -> Result<(usize, usize)> {
        let (mut added, mut removed) = (0, 0);
        for _ in 0..TRIES {
            let needs = entries_of(&candidate);
            let Candidate { company, project, id, .. } = &*candidate;
            let partition = keys::search_words(company, *project);
            let key = |sk: &String| Key { pk: partition.clone(), sk: sk.clone() };
            let missing: Entries =
                needs.iter().filter(|(sk, item)| has.get(*sk) != Some(item)).map(owned).collect();
            let stale = has.keys().filter(|sk| !needs.contains_key(*sk));
            let stale: BTreeSet<String> = stale.take(MAX_ENTRIES).cloned().collect();
            if missing.is_empty() && stale.is_empty() {
                return Ok((added, removed));
            }
            let mut transaction = self.transaction();
            transaction.require_unchanged(&candidate);
            for (sk, item) in &missing {
                transaction.put_derived(key(sk), item.clone());
            }
            for sk in &stale {
                transaction.delete_derived(key(sk));
            }
            match self.commit(transaction).await {
                Ok(()) => {
                    added += missing.len();
                    removed += stale.len();
                    has.extend(missing);
                    has.retain(|sk, _| !stale.contains(sk));
                    continue;
                }
                Err(Error::Changed | Error::NotFound) => {}
                Err(error) => return Err(error),
            }
            // Whoever changed it has written or erased entries as well; to do that once more does no harm.
            let key = keys::candidate(company, *project, *id);
            match self.get([key.clone()]).await?.take(&key)? {
                Some(now) => candidate = now,
                None => {
                    removed += has.len();
                    self.erase_entries(company, *project, *id, has.into_keys()).await?;
                    return Ok((added, removed));
                }
            }
        }
        Err(Error::Changed)
    }

    /// Erases entries of a candidate that does not exist.
    async fn erase_entries(
        &self,
        company: &CompanyId,
        project: ProjectId,
        candidate: CandidateId,
        sort_keys: impl Iterator<Item = String>,
    ) -> Result<()> {
        let sort_keys: Vec<String> = sort_keys.collect();
        for sort_keys in sort_keys.chunks(MAX_ENTRIES) {
            let mut transaction = self.transaction();
            let there = Error::internal("a candidate that was gone is there");
            transaction.require_absent(keys::candidate(company, project, candidate), there);
            for sk in sort_keys {
                let pk = keys::search_words(company, project);
                transaction.delete_derived(Key { pk, sk: sk.clone() });
            }
            self.commit(transaction).await?;
        }
        Ok(())
    }

    /// The entries of a project by the candidates that they lead to.
    async fn search_entries_of(
        &self,
        company: &CompanyId,
        project: ProjectId,
    ) -> Result<HashMap<CandidateId, Entries>> {
        let partition = keys::search_words(company, project);
        let mut entries = HashMap::<_, Entries>::new();
        let mut start = None;
        loop {
            let (items, last) = self.with_retries(|| self.read_partition(&partition, start.clone())).await?;
            for mut item in items {
                let key = item::key_of(&item)?;
                item.retain(|name, _| name != keys::PK && name != keys::SK);
                match keys::in_search_entry(&key) {
                    Some((.., candidate)) => drop(entries.entry(candidate).or_default().insert(key.sk, item)),
                    None => tracing::error!(target: "search", sk = key.sk, "an entry cannot be read"),
                }
            }
            start = last;
            if start.is_none() {
                return Ok(entries);
            }
        }
    }

    async fn read_partition(
        &self,
        partition: &str,
        start: Option<Item>,
    ) -> Result<(Vec<Item>, Option<Item>), Failure> {
        let response = self
            .client()
            .query()
            .table_name(self.table())
            .key_condition_expression(format!("{} = :pk", keys::PK))
            .expression_attribute_values(":pk", string(partition))
            .set_exclusive_start_key(start)
            .consistent_read(true)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await
            .map_err(Failure::of)?;
        self.usage.count_reads(response.consumed_capacity());
        Ok((response.items.unwrap_or_default(), response.last_evaluated_key))
    }
}

/// The entries that a candidate needs.
fn entries_of(candidate: &Candidate) -> Entries {
    let words = words_of(&candidate.profile);
    let entries = words.iter().map(|(word, source)| entry(candidate, (word, *source), &words));
    entries.map(|(key, item)| (key.sk, item)).collect()
}

fn owned((sk, item): (&String, &Item)) -> (String, Item) {
    (sk.clone(), item.clone())
}
