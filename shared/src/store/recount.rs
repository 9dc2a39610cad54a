//! Recounts tallies and corrects wrong counts. There should be none: each change is counted in its own transaction.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::{Value, json};

use super::Store;
use super::customer;
use super::table::amend::ATTEMPTS;
use super::table::condition::{AttributeUpdate, WriteCondition};
use super::table::item::{Item, VERSION, VersionedItem, number, number_in, string};
use super::table::keys::{self, ItemKey};
use super::tally::{self, CompanyCount, EVALUATIONS_VERSION, PROJECT_STATUS};
use crate::domain::candidate::Candidate;
use crate::domain::customer::Customer;
use crate::domain::id::{CompanyId, ProjectId};
use crate::domain::outcome::ResultSummary;
use crate::domain::project::Project;
use crate::domain::tally::{CounterName, ProjectCounts, SHARDS, shard_of};
use crate::error::{Error, Result};

/// The result of a recount.
#[derive(Debug, Default, Serialize)]
pub struct RecountResult {
    /// The number of projects.
    pub projects: usize,
    /// The number of their candidates.
    pub candidates: usize,
    /// The number of summaries of results that were missing or wrong, and are corrected.
    pub results: usize,
    /// The counts that were wrong, and are corrected.
    pub drift: Vec<WrongCount>,
    /// Sort keys of items that cannot be read. Their counts stay as they are.
    pub unreadable: BTreeSet<String>,
}

/// A count that was wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WrongCount {
    /// The project of the tally; none for the company's tally.
    pub project: Option<ProjectId>,
    /// The shard of the project's tally.
    pub shard: Option<u8>,
    /// The counter.
    pub counter: String,
    /// The value in the tally.
    pub stored: Value,
    /// The correct value.
    pub counted: Value,
}

/// Counts by their attributes. Zeros may be missing.
type CountsByAttribute = BTreeMap<String, i64>;

impl Store {
    /// Recounts the candidates of all projects, or of one, and what the company owns. Fails with messages on `company`
    /// and `project` if there is none, and with [`Error::Changed`] if what is counted keeps changing.
    pub(crate) async fn recount(
        &self,
        company: &CompanyId,
        only: Option<ProjectId>,
    ) -> Result<RecountResult> {
        if self.company(company).await?.is_none() {
            return Err(Error::field("company", "There is no such company."));
        }
        let projects = match only {
            Some(only) => vec![only],
            // The recount of the company reports those that cannot be read.
            None => self.all::<Project>(&keys::projects(company)).await?.iter().map(|one| one.id).collect(),
        };
        let mut recount = RecountResult::default();
        for id in projects {
            let is_there = self.recount_project(company, id, &mut recount).await?;
            if !is_there && only.is_some() {
                return Err(Error::field("project", "There is no such project."));
            }
        }
        let (drift, unreadable) = self.retry_on_conflict(|| self.recount_company(company)).await?;
        recount.drift.extend(drift);
        recount.unreadable.extend(unreadable);
        Ok(recount)
    }

    /// Recounts the candidates of a project; false if it is gone.
    async fn recount_project(
        &self,
        company: &CompanyId,
        id: ProjectId,
        recount: &mut RecountResult,
    ) -> Result<bool> {
        let mut open: BTreeSet<u8> = (0..SHARDS).collect();
        for _ in 0..ATTEMPTS {
            let keys: Vec<ItemKey> = tally::shards(company, id).collect();
            let before = self.items(&keys).await?;
            // Between two reads of the tally: shards that were not written in between hold the counts of this moment.
            let Some(project) = self.project(company, id).await? else { return Ok(false) };
            let (mut candidates, mut counted) = (0, vec![ProjectCounts::default(); usize::from(SHARDS)]);
            let mut summaries = BTreeMap::new();
            self.for_each(
                keys::candidates(company, id),
                |candidate: Result<VersionedItem<Candidate>, ItemKey>| {
                    candidates += 1;
                    match candidate {
                        Ok(candidate) => {
                            summaries
                                .insert(candidate.id, (candidate.version(), ResultSummary::of(&candidate)));
                            for (counter, count) in ProjectCounts::change(None, Some(&candidate)).iter() {
                                counted[usize::from(shard_of(candidate.id))].add(counter, count);
                            }
                        }
                        Err(key) => {
                            keys::candidate_in(&key).map(|id| open.remove(&shard_of(id)));
                            recount.unreadable.insert(key.sk);
                        }
                    }
                },
            )
            .await?;
            let after = self.items(&keys).await?;
            for shard in open.clone() {
                let place = usize::from(shard);
                // Trusted only if nothing was written in between, so that a company can be recounted while it is in
                // use.
                if version_of(&before[place]) != version_of(&after[place]) {
                    continue;
                }
                let counts = counted[place].iter().map(|(counter, count)| (tally::attribute(counter), count));
                match self.mend_shard(&keys[place], after[place].as_ref(), &project, counts.collect()).await {
                    Err(Error::Changed | Error::NotFound) => continue,
                    found => recount.drift.extend(found?.into_iter().map(|found| found.of(id, shard))),
                }
                open.remove(&shard);
            }
            if open.is_empty() {
                recount.projects += 1;
                recount.results += self.mend_summaries(company, id, summaries).await?;
                recount.candidates += candidates;
                return Ok(true);
            }
        }
        Err(Error::Changed)
    }

    /// Counts what a company owns and mends its tally, unless something cannot be read. Returns the differences and the
    /// sort keys of unreadable items. Fails with [`Error::Changed`] if the tally changed meanwhile.
    async fn recount_company(&self, company: &CompanyId) -> Result<(Vec<WrongCount>, Vec<String>)> {
        let key = keys::company_tally(company);
        let before = self.item(&key).await?;
        let (counted, unreadable) = self.count_all_owned(company).await?;
        if !unreadable.is_empty() {
            return Ok((Vec::new(), unreadable));
        }
        let after = self.item(&key).await?;
        if version_of(&before) != version_of(&after) {
            return Err(Error::Changed);
        }
        let stored = CompanyCount::all().map(CompanyCount::attribute);
        let stored = stored.filter_map(|name| Some((name.clone(), number_in(after.as_ref()?, &name)?)));
        let drift = compare(stored.collect(), counted);
        self.mend(&key, after.as_ref(), &drift).await?;
        Ok((drift, Vec::new()))
    }

    /// Counts what a company owns. Returns also the sort keys of unreadable items.
    async fn count_all_owned(&self, company: &CompanyId) -> Result<(CountsByAttribute, Vec<String>)> {
        let (mut counts, mut unreadable) = (CountsByAttribute::new(), Vec::new());
        let mut add =
            |(owned, count): (CompanyCount, i64)| *counts.entry(owned.attribute()).or_default() += count;
        self.for_each(keys::customers(company), |row: Result<VersionedItem<Customer>, ItemKey>| match row {
            Ok(customer) => customer::counts(None, Some(&customer)).into_iter().for_each(&mut add),
            Err(key) => unreadable.push(key.sk),
        })
        .await?;
        self.for_each(keys::projects(company), |row: Result<VersionedItem<Project>, ItemKey>| match row {
            Ok(project) => add((CompanyCount::Projects(project.status), 1)),
            Err(key) => unreadable.push(key.sk),
        })
        .await?;
        for (owned, collection) in [
            (CompanyCount::Labels, keys::labels(company)),
            (CompanyCount::Videos, keys::videos(company)),
            (CompanyCount::NamedTokens, keys::tokens(company)),
            (CompanyCount::Webhooks, keys::webhooks(company)),
        ] {
            // Unreadable items count as well.
            add((owned, self.all_items(&collection).await?.len() as i64));
        }
        Ok((counts, unreadable))
    }

    async fn items(&self, keys: &[ItemKey]) -> Result<Vec<Option<Item>>> {
        let mut batch = self.get(keys.iter().cloned()).await?;
        Ok(keys.iter().map(|key| batch.take_item(key)).collect())
    }

    /// Corrects a shard that differs from what was counted, or holds sets of evaluators without candidates. Returns the
    /// differences. Fails with [`Error::Changed`] if the shard was written since it was `seen`.
    async fn mend_shard(
        &self,
        key: &ItemKey,
        seen: Option<&Item>,
        project: &Project,
        counted: CountsByAttribute,
    ) -> Result<Vec<WrongCount>> {
        let mut shard = seen.cloned().unwrap_or_default();
        let said = tally::counts_in(&shard);
        let is_empty_set =
            |(counter, count)| matches!((counter, count), (CounterName::EvaluatedBy { .. }, 0));
        let holds_empty_sets = said.iter().copied().any(is_empty_set);
        let said = said.into_iter().map(|(counter, count)| (tally::attribute(counter), count));
        let mut drift = compare(said.collect(), counted.clone());
        let status = shard.insert(PROJECT_STATUS.to_owned(), string(project.status.as_str()));
        let status = status.as_ref().and_then(|status| status.as_s().ok());
        if status.is_none_or(|status| status != project.status.as_str()) {
            let counted = json!(project.status.as_str());
            drift.push(WrongCount::new(PROJECT_STATUS.to_owned(), json!(status), counted));
        }
        if drift.is_empty() && !holds_empty_sets {
            return Ok(drift);
        }
        shard.retain(|name, _| tally::counter(name).is_none());
        shard.extend(counted.into_iter().map(|(name, count)| (name, number(count))));
        let version = number_in::<u64>(&shard, VERSION);
        for name in [VERSION, EVALUATIONS_VERSION] {
            let next = number_in::<u64>(&shard, name).unwrap_or(0) + 1;
            shard.insert(name.to_owned(), number(next));
        }
        let mut transaction = self.transaction();
        let condition = version.map_or(WriteCondition::Absent, WriteCondition::Version);
        transaction.put(key.clone(), shard, condition, Error::Changed);
        self.commit(transaction).await?;
        Ok(drift)
    }

    /// Corrects the tally of a company. Fails with [`Error::Changed`] if it was written since it was `seen`.
    async fn mend(&self, key: &ItemKey, seen: Option<&Item>, drift: &[WrongCount]) -> Result<()> {
        if drift.is_empty() {
            return Ok(());
        }
        let missing =
            |one: &WrongCount| Some((one.counter.clone(), one.counted.as_i64()? - one.stored.as_i64()?));
        let version = seen.and_then(|item| number_in::<u64>(item, VERSION));
        let change = AttributeUpdate::add(drift.iter().filter_map(missing))
            .on(version.map_or(WriteCondition::Absent, WriteCondition::Version));
        let mut transaction = self.transaction();
        transaction.update(key.clone(), change, Error::Changed);
        self.commit(transaction).await
    }
}

impl WrongCount {
    fn new(counter: String, stored: Value, counted: Value) -> Self {
        Self { project: None, shard: None, counter, stored, counted }
    }

    fn of(self, project: ProjectId, shard: u8) -> Self {
        Self { project: Some(project), shard: Some(shard), ..self }
    }
}

fn version_of(item: &Option<Item>) -> Option<u64> {
    number_in(item.as_ref()?, VERSION)
}

fn compare(stored: CountsByAttribute, counted: CountsByAttribute) -> Vec<WrongCount> {
    let names: BTreeSet<&String> = stored.keys().chain(counted.keys()).collect();
    let count = |counts: &CountsByAttribute, name: &String| counts.get(name).copied().unwrap_or(0);
    let pairs = names.into_iter().map(|name| (name, count(&stored, name), count(&counted, name)));
    let differ = pairs.filter(|(_, stored, counted)| stored != counted);
    differ
        .map(|(name, stored, counted)| WrongCount::new(name.clone(), stored.into(), counted.into()))
        .collect()
}
