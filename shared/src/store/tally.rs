//! Counts as items: a project's in four shards, a company's in one.

use std::collections::BTreeMap;

use super::Store;
use super::table::batch::FoundItems;
use super::table::condition::{AttributeUpdate, WriteCondition};
use super::table::item::{self, Item, StoredEntity, VersionedItem, number, number_in, string};
use super::table::keys::{self, ItemKey};
use super::table::page::{ListSource, Page, PageRequest};
use super::table::transaction::Transaction;
use crate::domain::candidate::CandidateStatus;
use crate::domain::customer::LAST_OWNER;
use crate::domain::id::{CompanyId, ProjectId};
use crate::domain::named_token::{MAX_TOKENS, TOO_MANY_TOKENS};
use crate::domain::parse_enum;
use crate::domain::project::{CandidatesMust, Project, ProjectStatus};
use crate::domain::roster::EvaluatorSet;
use crate::domain::tally::{CounterName, OPEN, ProjectCounts, SHARDS};
use crate::domain::transition::PROJECT_NOT_RUNNING;
use crate::domain::webhook::{MAX_WEBHOOKS, TOO_MANY_WEBHOOKS};
use crate::error::{Error, Result};

/// The attribute of a shard that repeats its project's status, for conditions on candidates' steps.
pub(super) const PROJECT_STATUS: &str = "project_status";

/// The attribute of a shard that counts the writes of its [`CounterName::EvaluatedBy`]. Closing a project depends on all of
/// these, and requires by this one number that none has changed.
pub(super) const EVALUATIONS_VERSION: &str = "evaluations_version";

/// The attribute of a shard that is set once one of its candidates has begun the interview, and stays.
pub(super) const HAS_BEGUN: &str = "has_begun";

pub(super) fn attribute(counter: CounterName) -> String {
    match counter {
        CounterName::Status(status) => format!("status:{}", status.as_str()),
        // All sets of 14 people take 330 of an item's 400 KB. With 40 people, a shard holds some 15,000 sets.
        CounterName::EvaluatedBy { completed, vetoed } if vetoed == EvaluatorSet::default() => {
            format!("evaluated_by:{completed}")
        }
        CounterName::EvaluatedBy { completed, vetoed } => format!("evaluated_by:{completed}:{vetoed}"),
    }
}

/// The counter of an attribute; none for other attributes, and for counters that only newer code knows.
pub(super) fn counter(attribute: &str) -> Option<CounterName> {
    let (kind, value) = attribute.split_once(':')?;
    match kind {
        "status" => parse_enum(value).ok().map(CounterName::Status),
        "evaluated_by" => {
            let (completed, vetoed) = value.split_once(':').unwrap_or((value, "0"));
            Some(CounterName::EvaluatedBy {
                completed: completed.parse().ok()?,
                vetoed: vetoed.parse().ok()?,
            })
        }
        _ => None,
    }
}

pub(crate) fn shards(company: &CompanyId, project: ProjectId) -> impl Iterator<Item = ItemKey> {
    (0..SHARDS).map(move |shard| keys::tally_shard(company, project, shard))
}

/// The shards of a project's tally, in their order.
#[derive(Debug, Clone)]
pub struct CountShards(Vec<Item>);

impl CountShards {
    /// The sum of the shards.
    pub fn tally(&self) -> ProjectCounts {
        self.0.iter().flat_map(counts_in).collect()
    }

    /// Whether a candidate has ever begun the interview.
    pub fn have_begun(&self) -> bool {
        // The counts tell of those who began before there was the mark.
        self.0.iter().any(|shard| shard.contains_key(HAS_BEGUN)) || self.tally().has_begun()
    }
}

impl FoundItems {
    pub(crate) fn take_shards(&mut self, company: &CompanyId, project: ProjectId) -> CountShards {
        CountShards(shards(company, project).map(|key| self.take_item(&key).unwrap_or_default()).collect())
    }

    pub(crate) fn take_tally(&mut self, company: &CompanyId, project: ProjectId) -> ProjectCounts {
        self.take_shards(company, project).tally()
    }
}

pub(super) fn counts_in(item: &Item) -> Vec<(CounterName, i64)> {
    item.keys().filter_map(|name| Some((counter(name)?, number_in(item, name)?))).collect()
}

impl Transaction {
    /// Adds `change` to one shard of a project's tally. Fails with `PROJECT_NOT_RUNNING` if the project `must_run` and
    /// does not.
    pub(super) fn tally(
        &mut self,
        (company, project, shard): (&CompanyId, ProjectId, u8),
        change: &ProjectCounts,
        must_run: bool,
    ) {
        if change.is_empty() {
            return;
        }
        let touches_evaluations =
            change.iter().any(|(counter, _)| matches!(counter, CounterName::EvaluatedBy { .. }));
        // A counter of a set that no candidate has any more stays at 0 until `recount`: DynamoDB cannot remove it by
        // its value while others add to it.
        let counters = change.iter().map(|(counter, count)| (attribute(counter), count));
        let noted = touches_evaluations.then(|| (EVALUATIONS_VERSION.to_owned(), 1));
        let mut update = AttributeUpdate::add(counters.chain(noted));
        if change.has_begun() {
            // This shard is written anyway. Of a change of the questions and a candidate who begins, one comes first.
            update = update.marking(HAS_BEGUN);
        }
        let mut refusal = Error::internal("a counter refused to count");
        if must_run {
            let running = string(ProjectStatus::Running.as_str());
            update = update.when(format!("{PROJECT_STATUS} = :running")).with(":running", running);
            refusal = PROJECT_NOT_RUNNING.into();
        }
        self.update(keys::tally_shard(company, project, shard), update, refusal);
    }

    /// Creates the shards of a new project, all zero.
    pub(super) fn create_shards(&mut self, project: &Project) {
        for key in shards(&project.company, project.id) {
            let shard = item::bare([(PROJECT_STATUS, string(project.status.as_str()))]);
            self.put(
                key,
                shard,
                WriteCondition::Absent,
                Error::internal("a new project has a tally already"),
            );
        }
    }

    /// Writes a project's new status to its shards. Fails with [`Error::Changed`] if its candidates are not what they
    /// `must` be, and, for closing, if evaluations have changed since the shards were `seen`.
    pub(super) fn move_shards(
        &mut self,
        project: &Project,
        must: CandidatesMust,
        CountShards(seen): &CountShards,
    ) {
        let is_zero = must_be_absent(must).into_iter().map(|status| attribute(CounterName::Status(status)));
        let names: Vec<_> = is_zero.enumerate().map(|(index, name)| (format!("#n{index}"), name)).collect();
        let absent =
            names.iter().map(|(name, _)| format!("(attribute_not_exists({name}) OR {name} = :zero)"));
        let absent: Vec<String> = absent.collect();
        // Conditions in the write itself: a candidate who moves between the read and the write makes it fail.
        for (key, seen) in shards(&project.company, project.id).zip(seen) {
            let status = (":status", string(project.status.as_str()));
            let mut change = AttributeUpdate::set(&format!("SET {PROJECT_STATUS} = :status"), [status]);
            let mut conditions = absent.clone();
            if !conditions.is_empty() {
                change = change.with(":zero", number(0));
            }
            // One number for all evaluations, because a condition cannot name counters that do not exist yet.
            if must == CandidatesMust::BeArchivable {
                if let Some(seen) = number_in::<u64>(seen, EVALUATIONS_VERSION) {
                    conditions.push(format!("{EVALUATIONS_VERSION} = :seen"));
                    change = change.with(":seen", number(seen));
                } else {
                    conditions.push(format!("attribute_not_exists({EVALUATIONS_VERSION})"));
                }
            }
            change.condition = (!conditions.is_empty()).then(|| conditions.join(" AND "));
            change.names.clone_from(&names);
            self.update(key, change, Error::Changed);
        }
    }

    /// Adds to the counts of what a company owns. Fails with `LAST_OWNER` if no owner would be left, with
    /// `TOO_MANY_TOKENS` and with `TOO_MANY_WEBHOOKS`.
    pub(super) fn company_tally(&mut self, company: &CompanyId, changes: &[(CompanyCount, i64)]) {
        let mut counters = BTreeMap::<String, i64>::new();
        for (owned, count) in changes {
            *counters.entry(owned.attribute()).or_default() += count;
        }
        counters.retain(|_, count| *count != 0);
        if counters.is_empty() {
            return;
        }
        let added: Vec<String> =
            counters.iter().filter(|(_, count)| **count > 0).map(|(name, _)| name.clone()).collect();
        let owners_lost = -counters.get(&CompanyCount::Owners.attribute()).copied().unwrap_or(0);
        let mut change = AttributeUpdate::add(counters);
        let mut refusal = Error::internal("a counter refused to count");
        if owners_lost > 0 {
            let condition = format!("{} > :lost", CompanyCount::Owners.attribute());
            change = change.when(condition).with(":lost", number(owners_lost));
            refusal = LAST_OWNER.into();
        }
        // A count that was read before would let concurrent requests exceed the limit, and each token is a credential
        // that never expires.
        for (owned, most, too_many) in [
            (CompanyCount::NamedTokens, MAX_TOKENS, TOO_MANY_TOKENS),
            (CompanyCount::Webhooks, MAX_WEBHOOKS, TOO_MANY_WEBHOOKS),
        ] {
            let name = owned.attribute();
            if added.contains(&name) {
                let condition = format!("attribute_not_exists({name}) OR {name} < :most");
                change = change.when(condition).with(":most", number(most));
                refusal = too_many.into();
            }
        }
        self.update(keys::company_tally(company), change, refusal);
    }
}

fn must_be_absent(must: CandidatesMust) -> Vec<CandidateStatus> {
    match must {
        CandidatesMust::BeAnything => Vec::new(),
        CandidatesMust::BeArchivable => OPEN.to_vec(),
        CandidatesMust::BeNew => {
            CandidateStatus::ALL.into_iter().filter(|status| *status != CandidateStatus::New).collect()
        }
    }
}

/// Something that a company owns and its tally counts.
#[derive(Debug, Clone, Copy)]
pub(super) enum CompanyCount {
    Customers,
    /// Owners who can log in; never none.
    Owners,
    Projects(ProjectStatus),
    Labels,
    Videos,
    /// Named tokens; never more than [`MAX_TOKENS`].
    NamedTokens,
    /// Webhooks; never more than [`MAX_WEBHOOKS`].
    Webhooks,
}

impl CompanyCount {
    pub(super) fn all() -> impl Iterator<Item = Self> {
        let others =
            [Self::Customers, Self::Owners, Self::Labels, Self::Videos, Self::NamedTokens, Self::Webhooks];
        others.into_iter().chain(ProjectStatus::ALL.into_iter().map(Self::Projects))
    }

    pub(super) fn attribute(self) -> String {
        match self {
            Self::Customers => "customers".to_owned(),
            Self::Owners => "owners".to_owned(),
            Self::Projects(status) => format!("projects:{}", status.as_str()),
            Self::Labels => "labels".to_owned(),
            Self::Videos => "videos".to_owned(),
            Self::NamedTokens => "named_tokens".to_owned(),
            Self::Webhooks => "webhooks".to_owned(),
        }
    }
}

impl Store {
    /// A page of a company's resources, and the number of those that are `counted`.
    pub(super) async fn list_owned<T: StoredEntity>(
        &self,
        company: &CompanyId,
        listing: &ListSource,
        counted: &[CompanyCount],
        request: &PageRequest,
    ) -> Result<(Page<VersionedItem<T>>, u64)> {
        let count = async {
            let tally = self.item(&keys::company_tally(company)).await?.unwrap_or_default();
            let count = |owned: &CompanyCount| number_in::<u64>(&tally, &owned.attribute()).unwrap_or(0);
            Ok(counted.iter().map(count).sum())
        };
        tokio::try_join!(self.page(listing, request), count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id::Id;
    use crate::domain::roster::EvaluatorIndex;
    use crate::store::table::item::VERSION;

    #[test]
    fn every_counter_has_an_attribute_of_its_own() {
        let mut roster = EvaluatorIndex::default();
        let [one, two] = [7, 8].map(|byte| Id::from_bytes([byte; 16]));
        roster.take_seat(one).unwrap();
        roster.take_seat(two).unwrap();
        let sets = [roster.seats_of(&[]), roster.seats_of(&[two]), roster.seats_of(&[one, two])];
        let all = CandidateStatus::ALL.into_iter().map(CounterName::Status);
        let none = EvaluatorSet::default();
        let plain = sets.map(|completed| CounterName::EvaluatedBy { completed, vetoed: none });
        let with_vetos = [CounterName::EvaluatedBy { completed: sets[2], vetoed: sets[1] }];
        for one in all.chain(plain).chain(with_vetos) {
            assert_eq!(counter(&attribute(one)), Some(one));
        }
        for other in [PROJECT_STATUS, VERSION, EVALUATIONS_VERSION, "pk", "status:unknown"] {
            assert_eq!(counter(other), None);
        }
        let item = Item::from([("status:new".to_owned(), number(3)), ("sk".to_owned(), string("TALLY#0"))]);
        assert_eq!(counts_in(&item), [(CounterName::Status(CandidateStatus::New), 3)]);
    }
}
