//! Counts as items: a project's in four shards, a company's in one.

use super::Store;
use super::batch::Batch;
use super::item::{Item, VERSION, number, number_in, string};
use super::keys::{self, Key};
use super::transaction::{Change, Transaction};
use crate::domain::candidate::CandidateStatus;
use crate::domain::choice;
use crate::domain::customer::LAST_OWNER;
use crate::domain::id::{CompanyId, ProjectId};
use crate::domain::named_token::{MAX_TOKENS, TOO_MANY_TOKENS};
use crate::domain::project::{CandidatesMust, Project, ProjectStatus};
use crate::domain::tally::{Counter, OPEN, SHARDS, Tally};
use crate::domain::transition::PROJECT_NOT_RUNNING;
use crate::error::{Error, Result};

/// The attribute of a shard that repeats its project's status, for conditions of a candidate's moves.
pub(super) const PROJECT_STATUS: &str = "project_status";

/// The attribute of a shard that counts the writes of its [`Counter::EvaluatedBy`]. Whoever decides by all of them, as
/// closing a project does, makes sure by this one number that none has changed since.
pub(super) const EVALUATIONS_VERSION: &str = "evaluations_version";

/// The attribute of a counter.
pub(super) fn attribute(counter: Counter) -> String {
    match counter {
        Counter::Status(status) => format!("status:{}", status.as_str()),
        Counter::EvaluatedBy(seats) => format!("evaluated_by:{seats}"),
    }
}

/// The counter of an attribute; none for the others of the item, and for those that only other code knows.
pub(super) fn counter(attribute: &str) -> Option<Counter> {
    let (kind, value) = attribute.split_once(':')?;
    match kind {
        "status" => choice(value).ok().map(Counter::Status),
        "evaluated_by" => value.parse().ok().map(Counter::EvaluatedBy),
        _ => None,
    }
}

/// The keys of all shards of a project's tally.
pub(crate) fn shards(company: &CompanyId, project: ProjectId) -> impl Iterator<Item = Key> {
    (0..SHARDS).map(move |shard| keys::tally_shard(company, project, shard))
}

/// The shards of a project's tally as they were read, in their order.
#[derive(Debug, Clone)]
pub struct Shards(Vec<Item>);

impl Shards {
    /// What they count together.
    pub fn tally(&self) -> Tally {
        self.0.iter().flat_map(counts_in).collect()
    }
}

impl Batch {
    /// The shards of a project's tally among what was read.
    pub(crate) fn take_shards(&mut self, company: &CompanyId, project: ProjectId) -> Shards {
        Shards(shards(company, project).map(|key| self.take_item(&key).unwrap_or_default()).collect())
    }

    /// The tally of a project, from its shards among what was read.
    pub(crate) fn take_tally(&mut self, company: &CompanyId, project: ProjectId) -> Tally {
        self.take_shards(company, project).tally()
    }
}

pub(super) fn counts_in(item: &Item) -> Vec<(Counter, i64)> {
    item.keys().filter_map(|name| Some((counter(name)?, number_in(item, name)?))).collect()
}

impl Transaction {
    /// Counts `change` in one shard of a project's tally; only while the project is running, if it `must_run`.
    pub(super) fn tally(
        &mut self,
        (company, project, shard): (&CompanyId, ProjectId, u8),
        change: &Tally,
        must_run: bool,
    ) {
        if change.is_empty() {
            return;
        }
        let touches_evaluations =
            change.iter().any(|(counter, _)| matches!(counter, Counter::EvaluatedBy(_)));
        let counters = change.iter().map(|(counter, count)| (attribute(counter), count));
        let noted = touches_evaluations.then(|| (EVALUATIONS_VERSION.to_owned(), 1));
        let mut update = Change::add(counters.chain(noted));
        let mut refusal = Error::internal("a counter refused to count");
        if must_run {
            update.condition = Some(format!("{PROJECT_STATUS} = :running"));
            update.values.push((":running".to_owned(), string(ProjectStatus::Running.as_str())));
            refusal = PROJECT_NOT_RUNNING.into();
        }
        self.update(keys::tally_shard(company, project, shard), update, refusal);
    }

    /// Writes the shards of a new project, all zero.
    pub(super) fn create_shards(&mut self, project: &Project) {
        for key in shards(&project.company, project.id) {
            let status = (PROJECT_STATUS.to_owned(), string(project.status.as_str()));
            let item = Item::from([status, (VERSION.to_owned(), number(1))]);
            self.create_item(key, item, Error::internal("a new project has a tally already"));
        }
    }

    /// Tells every shard the project's new status, under the condition that candidates still are what they must be, as
    /// they were in the shards that were `seen`; for closing, that no evaluation has changed since either.
    pub(super) fn move_shards(&mut self, project: &Project, must: CandidatesMust, Shards(seen): &Shards) {
        let is_zero = must_be_absent(must).into_iter().map(|status| attribute(Counter::Status(status)));
        let names: Vec<_> = is_zero.enumerate().map(|(index, name)| (format!("#n{index}"), name)).collect();
        let absent =
            names.iter().map(|(name, _)| format!("(attribute_not_exists({name}) OR {name} = :zero)"));
        let absent: Vec<String> = absent.collect();
        for (key, seen) in shards(&project.company, project.id).zip(seen) {
            let mut values =
                vec![(":status".to_owned(), string(project.status.as_str())), (":one".to_owned(), number(1))];
            let mut conditions = absent.clone();
            if !conditions.is_empty() {
                values.push((":zero".to_owned(), number(0)));
            }
            if must == CandidatesMust::BeArchivable {
                let seen = number_in::<u64>(seen, EVALUATIONS_VERSION);
                conditions.push(match seen {
                    Some(_) => format!("{EVALUATIONS_VERSION} = :seen"),
                    None => format!("attribute_not_exists({EVALUATIONS_VERSION})"),
                });
                values.extend(seen.map(|seen| (":seen".to_owned(), number(seen))));
            }
            let change = Change {
                expression: format!("SET {PROJECT_STATUS} = :status ADD {VERSION} :one"),
                condition: (!conditions.is_empty()).then(|| conditions.join(" AND ")),
                names: names.clone(),
                values,
            };
            self.update(key, change, Error::Changed);
        }
    }

    /// Counts things that a company owns; refused when no owner would be left, or when named tokens get too many.
    pub(super) fn company_tally(&mut self, company: &CompanyId, changes: &[(Owned, i64)]) {
        let counters = changes.iter().filter(|(_, count)| *count != 0);
        let counters: Vec<_> = counters.map(|(owned, count)| (owned.attribute(), *count)).collect();
        if counters.is_empty() {
            return;
        }
        let owners_lost: i64 = changes
            .iter()
            .filter_map(|(owned, count)| matches!(owned, Owned::Owners).then_some(-count))
            .sum();
        let mut change = Change::add(counters);
        let mut refusal = Error::internal("a counter refused to count");
        if owners_lost > 0 {
            change.condition = Some(format!("{} > :lost", Owned::Owners.attribute()));
            change.values.push((":lost".to_owned(), number(owners_lost)));
            refusal = LAST_OWNER.into();
        }
        if changes.iter().any(|(owned, count)| matches!(owned, Owned::NamedTokens) && *count > 0) {
            let tokens = Owned::NamedTokens.attribute();
            change.condition = Some(format!("attribute_not_exists({tokens}) OR {tokens} < :most"));
            change.values.push((":most".to_owned(), number(MAX_TOKENS)));
            refusal = TOO_MANY_TOKENS.into();
        }
        self.update(keys::company_tally(company), change, refusal);
    }
}

/// The statuses that no candidate may have.
fn must_be_absent(must: CandidatesMust) -> Vec<CandidateStatus> {
    match must {
        CandidatesMust::BeAnything => Vec::new(),
        CandidatesMust::BeArchivable => OPEN.to_vec(),
        CandidatesMust::BeNew => {
            CandidateStatus::ALL.into_iter().filter(|status| *status != CandidateStatus::New).collect()
        }
    }
}

/// One thing that is counted of a company.
#[derive(Debug, Clone, Copy)]
pub(super) enum Owned {
    /// Staff users.
    Customers,
    /// Owners who can log in; never none.
    Owners,
    /// Projects with this status.
    Projects(ProjectStatus),
    /// Labels.
    Labels,
    /// Welcome videos.
    Videos,
    /// Named tokens; never more than [`MAX_TOKENS`].
    NamedTokens,
}

impl Owned {
    /// Everything that is counted.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        let others = [Self::Customers, Self::Owners, Self::Labels, Self::Videos, Self::NamedTokens];
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
        }
    }
}

impl Store {
    /// How many things of one kind a company has.
    pub(super) async fn count_owned(&self, company: &CompanyId, owned: Owned) -> Result<u64> {
        let key = keys::company_tally(company);
        let tally = self.get([key.clone()]).await?.take_item(&key);
        Ok(tally.and_then(|item| number_in(&item, &owned.attribute())).unwrap_or(0))
    }
}

/// How many projects a company has, all or those with one status, by the item of its tally.
pub(super) fn projects_in(tally: Option<&Item>, status: Option<ProjectStatus>) -> u64 {
    let count =
        |status| tally.and_then(|item| number_in(item, &Owned::Projects(status).attribute())).unwrap_or(0);
    ProjectStatus::ALL
        .into_iter()
        .filter(|one| status.is_none_or(|wanted| wanted == *one))
        .map(count)
        .sum::<u64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id::Id;
    use crate::domain::roster::Roster;

    #[test]
    fn every_counter_has_an_attribute_of_its_own() {
        let mut roster = Roster::default();
        let [one, two] = [7, 8].map(|byte| Id::from_bytes([byte; 16]));
        roster.take_seat(one).unwrap();
        roster.take_seat(two).unwrap();
        let sets = [roster.seats_of(&[]), roster.seats_of(&[two]), roster.seats_of(&[one, two])];
        let all = CandidateStatus::ALL.into_iter().map(Counter::Status);
        for one in all.chain(sets.map(Counter::EvaluatedBy)) {
            assert_eq!(counter(&attribute(one)), Some(one));
        }
        for other in [PROJECT_STATUS, VERSION, EVALUATIONS_VERSION, "pk", "status:unknown"] {
            assert_eq!(counter(other), None);
        }
        let item = Item::from([("status:new".to_owned(), number(3)), ("sk".to_owned(), string("TALLY#0"))]);
        assert_eq!(counts_in(&item), [(Counter::Status(CandidateStatus::New), 3)]);
    }
}
