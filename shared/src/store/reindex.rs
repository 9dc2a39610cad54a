//! Making the search entries of a company's candidates again, and erasing those that lead nowhere. There should be
//! nothing to do: entries are written in the transactions that write their candidates.

use std::collections::{BTreeSet, HashMap};

use aws_sdk_dynamodb::types::ReturnConsumedCapacity;
use futures_util::future::try_join_all;
use serde::Serialize;

use super::Store;
use super::item::{self, Item, Versioned, string};
use super::keys::{self, Key};
use super::retry::Failure;
use crate::domain::candidate::Candidate;
use crate::domain::id::{CandidateId, CompanyId, ProjectId};
use crate::domain::project::Project;
use crate::domain::search::tokens;
use crate::domain::text::fold_accents;
use crate::error::{Error, Result};

/// How often a candidate is looked at again that others change at the same time.
const TRIES: usize = 10;
/// How many entries of one candidate are erased in one go: with all that one may have, they fit in a transaction.
const MAX_ENTRIES: usize = 60;
/// How many partitions are read at once.
const AT_ONCE: usize = 32;
/// The alphabets whose letters are looked under though no candidate's word begins with them: from Latin to Arabic.
const ALPHABETS: std::ops::RangeInclusive<char> = '!'..='\u{6ff}';

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

/// The words that lead to each candidate.
type Entries = HashMap<(ProjectId, CandidateId), BTreeSet<String>>;

impl Store {
    /// Makes the search entries of a company what follows from its candidates.
    ///
    /// # Errors
    /// A message on `company` when there is none; [`Error::Changed`] when somebody keeps changing one of the candidates.
    pub(crate) async fn reindex(&self, company: &CompanyId) -> Result<Reindexed> {
        if self.company(company).await?.is_none() {
            return Err(Error::field("company", "There is no such company."));
        }
        let mut letters: BTreeSet<String> = ALPHABETS.map(String::from).filter(is_folded).collect();
        self.for_each_candidate(company, |candidate| {
            letters.extend(
                tokens(&candidate.profile).iter().filter_map(|token| Some(token.chars().next()?.into())),
            );
        })
        .await?;
        // Entries before candidates: whoever comes meanwhile is then known to exist.
        let mut found = self.search_entries_of(company, letters.into_iter().collect()).await?;
        let mut done = Reindexed::default();
        let mut differ = Vec::new();
        self.for_each_candidate(company, |candidate| {
            let has = found.remove(&(candidate.project, candidate.id)).unwrap_or_default();
            let needs = tokens(&candidate.profile);
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
        for ((project, candidate), words) in found {
            done.removed += words.len();
            self.erase_entries(company, project, candidate, &words).await?;
        }
        Ok(done)
    }

    /// Gives a candidate the entries that it needs in place of those that it `has`; tells how many came and went.
    async fn mend_entries(
        &self,
        mut candidate: Versioned<Candidate>,
        mut has: BTreeSet<String>,
    ) -> Result<(usize, usize)> {
        let (mut added, mut removed) = (0, 0);
        for _ in 0..TRIES {
            let needs = tokens(&candidate.profile);
            let Candidate { company, project, id, .. } = &*candidate;
            let missing: BTreeSet<String> = needs.difference(&has).cloned().collect();
            let stale: BTreeSet<String> = has.difference(&needs).take(MAX_ENTRIES).cloned().collect();
            if missing.is_empty() && stale.is_empty() {
                return Ok((added, removed));
            }
            let mut transaction = self.transaction();
            transaction.require_unchanged(&candidate)?;
            for word in &missing {
                transaction.put_derived(keys::search_entry(company, word, *project, *id), Item::new())?;
            }
            for word in &stale {
                transaction.delete_derived(keys::search_entry(company, word, *project, *id))?;
            }
            match self.commit(transaction).await {
                Ok(()) => {
                    added += missing.len();
                    removed += stale.len();
                    has.extend(missing);
                    has.retain(|word| !stale.contains(word));
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
                    self.erase_entries(company, *project, *id, &has).await?;
                    return Ok((added, removed + has.len()));
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
        words: &BTreeSet<String>,
    ) -> Result<()> {
        let words: Vec<&String> = words.iter().collect();
        for words in words.chunks(MAX_ENTRIES) {
            let mut transaction = self.transaction();
            let there = Error::internal("a candidate that was gone is there");
            transaction.require_absent(keys::candidate(company, project, candidate), there)?;
            for word in words {
                transaction.delete_derived(keys::search_entry(company, word, project, candidate))?;
            }
            self.commit(transaction).await?;
        }
        Ok(())
    }

    async fn for_each_candidate(
        &self,
        company: &CompanyId,
        mut take: impl FnMut(Versioned<Candidate>),
    ) -> Result<()> {
        let mut projects = Vec::new();
        self.for_each(keys::projects(company), |project: Versioned<Project>| projects.push(project.id))
            .await?;
        for project in projects {
            self.for_each(keys::candidates(company, project), &mut take).await?;
        }
        Ok(())
    }

    /// The entries of words that begin with these letters.
    async fn search_entries_of(&self, company: &CompanyId, letters: Vec<String>) -> Result<Entries> {
        let mut entries = Entries::new();
        for letters in letters.chunks(AT_ONCE) {
            let reads = letters.iter().map(|letter| self.sort_keys(keys::search_partition(company, letter)));
            for sk in try_join_all(reads).await?.into_iter().flatten() {
                match keys::in_search_entry(&sk) {
                    Some((word, project, candidate)) => {
                        entries.entry((project, candidate)).or_default().insert(word.to_owned());
                    }
                    None => tracing::error!(target: "search", sk, "an entry cannot be read"),
                }
            }
        }
        Ok(entries)
    }

    /// The sort keys of everything in a partition.
    async fn sort_keys(&self, partition: String) -> Result<Vec<String>> {
        let mut keys = Vec::new();
        let mut start = None;
        loop {
            let (items, last) = self.with_retries(|| self.read_keys(&partition, start.clone())).await?;
            for item in items {
                let Key { sk, .. } = item::key_of(&item)?;
                keys.push(sk);
            }
            start = last;
            if start.is_none() {
                return Ok(keys);
            }
        }
    }

    async fn read_keys(
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

/// Whether a word can begin with this once it is folded.
fn is_folded(letter: &String) -> bool {
    fold_accents(letter) == *letter
}
