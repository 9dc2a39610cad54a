//! Counts as items: a project's in four shards, a company's in one.

use super::Store;
use super::batch::Batch;
use super::item::{Item, VERSION, number, number_in, string};
use super::keys::{self, Key};
use super::transaction::{Change, Transaction};
use crate::domain::candidate::CandidateStatus;
use crate::domain::customer::LAST_OWNER;
use crate::domain::id::{CompanyId, ProjectId};
use crate::domain::named_token::{MAX_TOKENS, TOO_MANY_TOKENS};
use crate::domain::project::{CandidatesMust, Project, ProjectStatus};
use crate::domain::tally::{Counter, SHARDS, Tally};
use crate::domain::transition::PROJECT_NOT_RUNNING;
use crate::error::{Error, Result};

/// The attribute of a shard that repeats its project's status, for conditions of a candidate's moves.
pub(super) const PROJECT_STATUS: &str = "project_status";

/// The attribute of a counter.
pub(super) fn attribute(counter: Counter) -> String {
    match counter {
        Counter::Status(status) => format!("status:{}", status.as_str()),
        Counter::Evaluations(count) => format!("evaluations:{count}"),
        Counter::EvaluatedBy(customer) => format!("evaluated_by:{customer}"),
    }
}

/// The counter of an attribute; none for the others of the item.
fn counter(attribute: &str) -> Option<Counter> {
    let (kind, value) = attribute.split_once(':')?;
    match kind {
        "status" => CandidateStatus::parse(value).ok().map(Counter::Status),
        "evaluations" => value.parse().ok().map(Counter::Evaluations),
        "evaluated_by" => value.parse().ok().map(Counter::EvaluatedBy),
        _ => None,
    }
}

/// The keys of all shards of a project's tally.
pub(crate) fn shards(company: &CompanyId, project: ProjectId) -> impl Iterator<Item = Key> {
    (0..SHARDS).map(move |shard| keys::tally_shard(company, project, shard))
}

impl Batch {
    /// The tally of a project, from its shards among what was read.
    pub(crate) fn take_tally(&mut self, company: &CompanyId, project: ProjectId) -> Tally {
        let items = shards(company, project).filter_map(|key| self.take_item(&key));
        items.flat_map(|item| counts_in(&item)).collect()
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
    ) -> Result<()> {
        if change.is_empty() {
            return Ok(());
        }
        let counters = change.iter().map(|(counter, count)| (attribute(counter), count));
        let mut update = Change::add(counters);
        let mut refusal = Error::internal("a counter refused to count");
        if must_run {
            update.condition = Some(format!("{PROJECT_STATUS} = :running"));
            update.values.push((":running".to_owned(), string(ProjectStatus::Running.as_str())));
            refusal = PROJECT_NOT_RUNNING.into();
        }
        self.update(keys::tally_shard(company, project, shard), update, refusal)
    }

    /// Writes the shards of a new project, all zero.
    pub(super) fn create_shards(&mut self, project: &Project) -> Result<()> {
        for key in shards(&project.company, project.id) {
            let status = (PROJECT_STATUS.to_owned(), string(project.status.as_str()));
            let item = Item::from([status, (VERSION.to_owned(), number(1))]);
            self.create_item(key, item, Error::internal("a new project has a tally already"))?;
        }
        Ok(())
    }

    /// Tells every shard the project's new status, if its candidates are what they must be.
    pub(super) fn move_shards(&mut self, project: &Project, must: CandidatesMust) -> Result<()> {
        let zero: Vec<Counter> = match must {
            CandidatesMust::BeAnything => Vec::new(),
            CandidatesMust::BeArchivable { needed } => {
                let open =
                    [CandidateStatus::Invited, CandidateStatus::Confirmed, CandidateStatus::Interviewing];
                open.into_iter().map(Counter::Status).chain((0..needed).map(Counter::Evaluations)).collect()
            }
            CandidatesMust::BeNew => {
                let others =
                    CandidateStatus::ALL.into_iter().filter(|status| *status != CandidateStatus::New);
                others.map(Counter::Status).collect()
            }
        };
        let conditions =
            (0..zero.len()).map(|index| format!("(attribute_not_exists(#n{index}) OR #n{index} = :zero)"));
        let condition = conditions.collect::<Vec<_>>().join(" AND ");
        let names =
            zero.into_iter().enumerate().map(|(index, counter)| (format!("#n{index}"), attribute(counter)));
        let names: Vec<_> = names.collect();
        for key in shards(&project.company, project.id) {
            let mut values =
                vec![(":status".to_owned(), string(project.status.as_str())), (":one".to_owned(), number(1))];
            if !names.is_empty() {
                values.push((":zero".to_owned(), number(0)));
            }
            let change = Change {
                expression: format!("SET {PROJECT_STATUS} = :status ADD {VERSION} :one"),
                condition: (!names.is_empty()).then(|| condition.clone()),
                names: names.clone(),
                values,
            };
            self.update(key, change, must.refusal().into())?;
        }
        Ok(())
    }

    /// Counts things that a company owns; refused when no owner would be left, or when named tokens get too many.
    pub(super) fn company_tally(&mut self, company: &CompanyId, changes: &[(Owned, i64)]) -> Result<()> {
        let counters = changes.iter().filter(|(_, count)| *count != 0);
        let counters: Vec<_> = counters.map(|(owned, count)| (owned.attribute(), *count)).collect();
        if counters.is_empty() {
            return Ok(());
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
        self.update(keys::company_tally(company), change, refusal)
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

    #[test]
    fn every_counter_has_an_attribute_of_its_own() {
        let customer = Id::from_bytes([7; 16]);
        let all = CandidateStatus::ALL.into_iter().map(Counter::Status);
        let all: Vec<_> = all
            .chain([Counter::Evaluations(0), Counter::Evaluations(12), Counter::EvaluatedBy(customer)])
            .collect();
        for one in all {
            assert_eq!(counter(&attribute(one)), Some(one));
        }
        for other in [PROJECT_STATUS, VERSION, "pk", "status:unknown"] {
            assert_eq!(counter(other), None);
        }
        let item = Item::from([("status:new".to_owned(), number(3)), ("sk".to_owned(), string("TALLY#0"))]);
        assert_eq!(counts_in(&item), [(Counter::Status(CandidateStatus::New), 3)]);
    }
}
