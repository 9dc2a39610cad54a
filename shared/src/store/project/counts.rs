//! Counts of a project's candidates, in four shards: see [`project_counts`](crate::domain::transition::project_counts).

use crate::domain::candidate::Candidate;
use crate::domain::evaluation::evaluator_index::EvaluatorIndex;
use crate::domain::id::{CompanyId, ProjectId};
use crate::domain::project::{CandidateRequirement, Project, ProjectStatus};
use crate::domain::transition::PROJECT_NOT_RUNNING;
use crate::domain::transition::project_counts::{
    CounterName, ProjectCounts, SHARDS, forbidden_statuses, shard_of,
};
use crate::error::{Error, Result};
use crate::store::table::handle::Store;
use crate::store::table::item::{self, Item, VersionedItem, number, number_in, string};
use crate::store::table::keys::{self, ItemKey};
use crate::store::table::read::batch::ItemBatch;
use crate::store::table::retry::RetryPolicy;
use crate::store::table::write::condition::{AttributeUpdate, WriteCondition};
use crate::store::table::write::transaction::Transaction;

/// The attribute of a shard with a copy of the project's status, for conditions on moves of candidates.
pub(in crate::store) const PROJECT_STATUS: &str = "project_status";

/// The attribute of a shard that counts the writes of all its [`CounterName::EvaluatedBy`] counters.
// Closing a project depends on all these counters, and a condition cannot name counters that do not exist yet.
pub(in crate::store) const EVALUATIONS_VERSION: &str = "evaluations_version";

/// The attribute of a shard that is set once one of its candidates has begun the interview. It is never removed.
// The counts are not enough: candidates who have begun may have been deleted.
pub(in crate::store) const HAS_BEGUN: &str = "has_begun";

/// The attribute of the first shard that counts the ratings added to its [`CounterName::ShownRating`] counters.
pub(in crate::store) const RATINGS_SHOWN: &str = "ratings_shown";

pub(crate) fn shards(company: &CompanyId, project: ProjectId) -> impl Iterator<Item = ItemKey> {
    (0..SHARDS).map(move |shard| keys::counts_shard(company, project, shard))
}

/// The shards of a project's counts, in their order.
#[derive(Debug, Clone)]
pub struct CountShards(Vec<Item>);

impl CountShards {
    /// Whether a candidate of the project has ever begun the interview.
    pub fn has_begun(&self) -> bool {
        self.0.iter().any(|shard| shard.contains_key(HAS_BEGUN))
    }

    /// The sum of the shards.
    pub fn sum(&self) -> ProjectCounts {
        self.0.iter().flat_map(counts_in).collect()
    }
}

impl ItemBatch {
    pub(crate) fn take_shards(&mut self, company: &CompanyId, project: ProjectId) -> CountShards {
        CountShards(shards(company, project).map(|key| self.take_item(&key).unwrap_or_default()).collect())
    }
}

pub(in crate::store) fn counts_in(item: &Item) -> impl Iterator<Item = (CounterName, i64)> {
    item.keys().filter_map(|name| Some((name.parse().ok()?, number_in(item, name)?)))
}

impl Store {
    /// Adds ratings of erased candidates to those that statistics show, once at least ten are not shown yet.
    pub async fn show_erased_ratings(&self, company: &CompanyId, project: ProjectId) -> Result<()> {
        self.retry_on_conflict(RetryPolicy::CHANGE, || self.show_ratings_once(company, project)).await
    }

    async fn show_ratings_once(&self, company: &CompanyId, project: ProjectId) -> Result<()> {
        let found = self.get(shards(company, project)).await?.take_shards(company, project);
        let ratings = found.sum().ratings_to_show(self.app.entropy());
        if ratings.is_empty() {
            return Ok(());
        }
        let mut counters: Vec<_> =
            ratings.iter().map(|(counter, count)| (counter.to_string(), count)).collect();
        counters.push((RATINGS_SHOWN.to_owned(), counters.iter().map(|(_, count)| count).sum()));
        let update = AttributeUpdate::add(counters);
        // Of two effects that would add the same ratings, only the first may succeed. The condition also prevents the
        // update from creating the shard of a project that was deleted in the meantime.
        let update = match found.0.first().and_then(|shard| number_in::<u64>(shard, RATINGS_SHOWN)) {
            Some(seen) => update.when(format!("{RATINGS_SHOWN} = :seen")).with(":seen", number(seen)),
            None => update.when(format!("attribute_exists(pk) AND attribute_not_exists({RATINGS_SHOWN})")),
        };
        let mut transaction = self.transaction();
        transaction.update(keys::counts_shard(company, project, 0), update, Error::Changed);
        self.commit(transaction).await
    }
}

impl Transaction {
    /// Adds `change` to the shard of `candidate`. Fails with `PROJECT_NOT_RUNNING` if `must_run` is set and the project is not running.
    pub(in crate::store) fn count(&mut self, candidate: &Candidate, change: &ProjectCounts, must_run: bool) {
        if change.is_empty() {
            return;
        }
        // The counter of a set of evaluators that no candidate has any more stays at 0 until `recount`.
        let mut counters: Vec<_> =
            change.iter().map(|(counter, count)| (counter.to_string(), count)).collect();
        if change.iter().any(|(counter, _)| matches!(counter, CounterName::EvaluatedBy { .. })) {
            counters.push((EVALUATIONS_VERSION.to_owned(), 1));
        }
        let mut update = AttributeUpdate::add(counters);
        if change.has_begun() {
            // Marking costs no extra write. A change of the questions requires that the mark is missing, so it
            // conflicts with a candidate who begins at the same time.
            update = update.marking(HAS_BEGUN);
        }
        let mut refusal = Error::internal("a counter refused to count");
        if must_run {
            let running = string(ProjectStatus::Running.as_str());
            update = update.when(format!("{PROJECT_STATUS} = :running")).with(":running", running);
            refusal = PROJECT_NOT_RUNNING.into();
        }
        let shard = shard_of(candidate.id);
        self.update(keys::counts_shard(&candidate.company, candidate.project, shard), update, refusal);
    }

    /// Creates the shards of a new project. All counts are zero.
    pub(in crate::store) fn create_shards(&mut self, project: &Project) {
        for key in shards(&project.company, project.id) {
            let shard = item::bare([(PROJECT_STATUS, string(project.status.as_str()))]);
            let taken = Error::internal("a new project has counts already");
            self.put(key, shard, WriteCondition::Absent, taken);
        }
    }

    /// Writes a project's new status to its shards. Fails with [`Error::Changed`] if its candidates do not meet
    /// `requirement` or, for closing, if evaluations have changed since the shards `seen` were read.
    pub(in crate::store) fn move_shards(
        &mut self,
        project: &Project,
        requirement: CandidateRequirement,
        seen: &CountShards,
    ) {
        // The conditions are part of the write: it fails if a candidate moves between the read and the write.
        for (key, seen) in shards(&project.company, project.id).zip(&seen.0) {
            let status = (":status", string(project.status.as_str()));
            let mut update = AttributeUpdate::set(&format!("SET {PROJECT_STATUS} = :status"), [status]);
            let mut conditions = Vec::new();
            for (index, status) in forbidden_statuses(requirement).iter().enumerate() {
                let name = format!("#n{index}");
                conditions.push(format!("(attribute_not_exists({name}) OR {name} = :zero)"));
                update.names.push((name, CounterName::Status(*status).to_string()));
                update.values.insert(":zero".to_owned(), number(0));
            }
            if requirement == CandidateRequirement::Archivable {
                match number_in::<u64>(seen, EVALUATIONS_VERSION) {
                    Some(seen) => {
                        conditions.push(format!("{EVALUATIONS_VERSION} = :seen"));
                        update.values.insert(":seen".to_owned(), number(seen));
                    }
                    None => conditions.push(format!("attribute_not_exists({EVALUATIONS_VERSION})")),
                }
            }
            update.condition = (!conditions.is_empty()).then(|| conditions.join(" AND "));
            self.update(key, update, Error::Changed);
        }
    }

    /// Writes a project's index of evaluators if it has changed.
    pub(in crate::store) fn evaluator_index(
        &mut self,
        project: &VersionedItem<Project>,
        after: EvaluatorIndex,
    ) {
        if after != project.evaluator_index {
            self.replace(project, &Project { evaluator_index: after, ..Project::clone(project) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::candidate::CandidateStatus;
    use crate::domain::evaluation::evaluator_index::EvaluatorSet;
    use crate::domain::id::Id;
    use crate::store::table::item::VERSION;

    #[test]
    fn every_counter_has_an_attribute_of_its_own() {
        let mut index = EvaluatorIndex::default();
        let [one, two] = [7, 8].map(|byte| Id::from_bytes([byte; 16]));
        index.assign_bit(one).unwrap();
        index.assign_bit(two).unwrap();
        let sets = [index.set_of(&[]), index.set_of(&[two]), index.set_of(&[one, two])];
        let all = CandidateStatus::ALL.into_iter().map(CounterName::Status);
        let none = EvaluatorSet::default();
        let plain = sets.map(|completed| CounterName::EvaluatedBy { completed, vetoed: none });
        let with_vetos = [CounterName::EvaluatedBy { completed: sets[2], vetoed: sets[1] }];
        let erased = [
            CounterName::Erased(CandidateStatus::Expired),
            CounterName::ErasedRating(10),
            CounterName::ShownRating(0),
        ];
        for one in all.chain(plain).chain(with_vetos).chain(erased) {
            assert_eq!(one.to_string().parse(), Ok(one));
        }
        for other in [PROJECT_STATUS, VERSION, EVALUATIONS_VERSION, "pk", "status:unknown"] {
            assert_eq!(other.parse::<CounterName>(), Err(()));
        }
        let item = Item::from([("status:new".to_owned(), number(3)), ("sk".to_owned(), string("TALLY#0"))]);
        let counts: Vec<_> = counts_in(&item).collect();
        assert_eq!(counts, [(CounterName::Status(CandidateStatus::New), 3)]);
    }
}
