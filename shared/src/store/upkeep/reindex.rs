//! Corrects the search entries of a company's candidates. There should be nothing to correct: each transaction that
//! writes a candidate also writes their entries.

use std::collections::{BTreeMap, HashMap};

use futures_util::future::try_join_all;
use serde::Serialize;

use crate::domain::candidate::Candidate;
use crate::domain::id::{CandidateId, CompanyId, ProjectId};
use crate::domain::project::Project;
use crate::error::{Error, Result};
use crate::store::candidate::search_entries::{AT_ONCE, entries, hash_of};
use crate::store::table::handle::Store;
use crate::store::table::item::{self, Item, VersionedItem, string};
use crate::store::table::keys::{self, ItemKey, PK, SK, TABLE};
use crate::store::table::read::query::Query;
use crate::store::table::retry::RetryPolicy;
use crate::store::table::write::condition::WriteCondition;

/// The most entries of a candidate that one transaction adds, and the most that it removes.
const MAX_ENTRIES: usize = 49;

#[derive(Debug, Default, Serialize)]
pub struct ReindexResult {
    /// The number of candidates.
    pub candidates: usize,
    /// The number of their entries.
    pub entries: usize,
    /// The number of entries that were missing.
    pub added: usize,
    /// The number of entries without a candidate, now deleted.
    pub removed: usize,
}

/// The entries of one candidate: attributes by keys.
type SearchEntries = BTreeMap<ItemKey, Item>;

impl Store {
    /// Corrects the search entries of a company's candidates. Fails with a message on `company` if it does not exist,
    /// and with [`Error::Changed`] if a candidate keeps changing.
    pub(crate) async fn reindex(&self, company: &CompanyId) -> Result<ReindexResult> {
        if self.company(company).await?.is_none() {
            return Err(Error::field("company", "There is no such company."));
        }
        let mut done = ReindexResult::default();
        for project in self.all::<Project>(&keys::projects(company)).await? {
            self.reindex_project(company, project.id, &mut done).await?;
        }
        Ok(done)
    }

    async fn reindex_project(
        &self,
        company: &CompanyId,
        project: ProjectId,
        done: &mut ReindexResult,
    ) -> Result<()> {
        // Read entries before candidates, so that the candidate of each entry is found if they exist.
        let mut found = self.search_entries_of(company, project).await?;
        self.for_each(
            keys::candidates(company, project),
            |candidate: Result<VersionedItem<Candidate>, ItemKey>| {
                let candidate = match candidate {
                    Ok(candidate) => candidate,
                    // The entries of a candidate who cannot be read stay as they are.
                    Err(key) => return drop(keys::candidate_in(&key).and_then(|id| found.remove(&id))),
                };
                let needs = entries_of(&candidate);
                done.candidates += 1;
                done.entries += needs.len();
                if *found.entry(candidate.id).or_default() == needs {
                    found.remove(&candidate.id);
                }
            },
        )
        .await?;
        // Only candidates whose entries are wrong are left in `found`.
        for (candidate, has) in found {
            let mended = self.retry_on_conflict(RetryPolicy::CHANGE, || {
                self.mend_entries(company, project, candidate, &has)
            });
            let (added, removed) = mended.await?;
            done.added += added;
            done.removed += removed;
        }
        Ok(())
    }

    /// Replaces the search entries that a candidate `has` by those that they need. Returns how many were added and
    /// removed. Fails with [`Error::Changed`] if the candidate changes in the meantime. That change also writes
    /// entries; writing them again is harmless.
    async fn mend_entries(
        &self,
        company: &CompanyId,
        project: ProjectId,
        candidate: CandidateId,
        has: &SearchEntries,
    ) -> Result<(usize, usize)> {
        let found = self.candidate(company, project, candidate).await?;
        let needs = found.as_ref().map(|found| entries_of(found)).unwrap_or_default();
        let condition =
            found.map_or(WriteCondition::Absent, |found| WriteCondition::Version(found.version()));
        let missing: Vec<_> = needs.iter().filter(|(key, item)| has.get(*key) != Some(item)).collect();
        let stale: Vec<_> = has.keys().filter(|key| !needs.contains_key(*key)).collect();
        for start in (0..missing.len().max(stale.len())).step_by(MAX_ENTRIES) {
            let mut transaction = self.transaction();
            transaction.require(keys::candidate(company, project, candidate), condition, Error::Changed);
            for (key, item) in missing.iter().skip(start).take(MAX_ENTRIES) {
                transaction.put_derived((*key).clone(), (*item).clone());
            }
            for key in stale.iter().skip(start).take(MAX_ENTRIES) {
                transaction.delete_derived((*key).clone());
            }
            self.commit(transaction).await?;
        }
        Ok((missing.len(), stale.len()))
    }

    async fn search_entries_of(
        &self,
        company: &CompanyId,
        project: ProjectId,
    ) -> Result<HashMap<CandidateId, SearchEntries>> {
        let partitions: Vec<String> = keys::search::partitions(company, project).collect();
        let mut entries = HashMap::<_, SearchEntries>::new();
        for together in partitions.chunks(AT_ONCE) {
            let reads = together
                .iter()
                .map(|partition| self.query_rows(Query::new(TABLE, string(partition)), usize::MAX));
            for mut item in try_join_all(reads).await?.into_iter().flatten() {
                let key = item::key_of(&item)?;
                item.retain(|name, _| name != PK && name != SK);
                match keys::search::in_entry(&key) {
                    Some((.., candidate)) => drop(entries.entry(candidate).or_default().insert(key, item)),
                    None => {
                        let sk = hash_of(&key);
                        tracing::error!(target: "search", sk, "an entry cannot be read");
                    }
                }
            }
        }
        Ok(entries)
    }
}

fn entries_of(candidate: &Candidate) -> SearchEntries {
    entries(candidate, &candidate.words()).into_iter().collect()
}
