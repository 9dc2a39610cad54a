//! Recounts candidates and resources, and corrects wrong counts. There should be none: each change is counted in its own transaction.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::{Value, json};

use crate::domain::candidate::Candidate;
use crate::domain::id::{CompanyId, ProjectId};
use crate::domain::project::Project;
use crate::domain::scoring::result::ResultSummary;
use crate::domain::staff::customer::Customer;
use crate::domain::transition::project_counts::{CounterName, ProjectCounts, SHARDS, shard_of};
use crate::error::{Error, Result};
use crate::store::company::counts::CompanyCount;
use crate::store::project::counts::{EVALUATIONS_VERSION, PROJECT_STATUS, counts_in, shards};
use crate::store::staff::customer;
use crate::store::table::handle::Store;
use crate::store::table::item::{Item, VERSION, VersionedItem, number, number_in, string};
use crate::store::table::keys::{self, ItemKey};
use crate::store::table::retry::RetryPolicy;
use crate::store::table::write::condition::WriteCondition;

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

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WrongCount {
    /// The project of the counts; `None` for those of the company.
    pub project: Option<ProjectId>,
    /// The shard of the project's counts.
    pub shard: Option<u8>,
    pub counter: String,
    pub stored: Value,
    /// The correct value.
    pub counted: Value,
}

/// Counts by their attributes. Zeros may be missing.
type CountsByAttribute = BTreeMap<String, i64>;

impl Store {
    /// Recounts the candidates of all projects, or of one, and the resources of the company. Fails with a message on
    /// `company` or `project` if it does not exist, and with [`Error::Changed`] if the counted items keep changing.
    pub(crate) async fn recount(
        &self,
        company: &CompanyId,
        only: Option<ProjectId>,
    ) -> Result<RecountResult> {
        // A company that is being erased is accepted, because a restored table is recounted both before and after
        // companies are erased again.
        if self.company(company).await?.is_none() && self.company_erasure(company).await?.is_none() {
            return Err(Error::field("company", "There is no such company."));
        }
        self.recount_all(company, only).await
    }

    pub(in crate::store) async fn recount_all(
        &self,
        company: &CompanyId,
        only: Option<ProjectId>,
    ) -> Result<RecountResult> {
        let projects = match only {
            Some(only) => vec![only],
            // Projects that cannot be read are missing here; the recount of the company reports them.
            None => self
                .all::<Project>(&keys::projects(company))
                .await?
                .iter()
                .map(|project| project.id)
                .collect(),
        };
        let mut recount = RecountResult::default();
        for id in projects {
            let is_there = self.recount_project(company, id, &mut recount).await?;
            if !is_there && only.is_some() {
                return Err(Error::field("project", "There is no such project."));
            }
        }
        let (drift, unreadable) =
            self.retry_on_conflict(RetryPolicy::CHANGE, || self.recount_company(company)).await?;
        recount.drift.extend(drift);
        recount.unreadable.extend(unreadable);
        Ok(recount)
    }

    /// Recounts the candidates of a project. Returns false if it does not exist.
    async fn recount_project(
        &self,
        company: &CompanyId,
        id: ProjectId,
        recount: &mut RecountResult,
    ) -> Result<bool> {
        let mut open: BTreeSet<u8> = (0..SHARDS).collect();
        for _ in 0..RetryPolicy::CHANGE.attempts {
            let keys: Vec<ItemKey> = shards(company, id).collect();
            let before = self.items(&keys).await?;
            // Count between two reads of the shards: a shard that was not written in between holds the counts of this time.
            let Some(project) = self.project(company, id).await? else { return Ok(false) };
            let mut candidates = 0;
            let mut counted = vec![ProjectCounts::default(); usize::from(SHARDS)];
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
                // Compare only a shard that was not written in between, so that a company can be recounted while it is in use.
                if version_of(&before[place]) != version_of(&after[place]) {
                    continue;
                }
                let counts = counted[place].iter().map(|(counter, count)| (counter.to_string(), count));
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

    /// Counts the resources of a company and corrects its counts, unless an item cannot be read. Returns the
    /// differences and the sort keys of unreadable items. Fails with [`Error::Changed`] if the counts changed in the
    /// meantime.
    async fn recount_company(&self, company: &CompanyId) -> Result<(Vec<WrongCount>, Vec<String>)> {
        let key = keys::company_counts(company);
        let before = self.item(&key).await?;
        let (counted, unreadable) = self.count_all_owned(company).await?;
        if !unreadable.is_empty() {
            return Ok((Vec::new(), unreadable));
        }
        let after = self.item(&key).await?;
        if version_of(&before) != version_of(&after) {
            return Err(Error::Changed);
        }
        let mut counts = after.unwrap_or_default();
        let stored = CompanyCount::all().map(CompanyCount::attribute);
        let stored = stored.filter_map(|name| Some((name.clone(), number_in(&counts, &name)?)));
        let drift = compare(&stored.collect(), &counted);
        if !drift.is_empty() {
            counts.extend(drift.iter().map(|wrong| (wrong.counter.clone(), number(&wrong.counted))));
            self.replace_counts(key, counts).await?;
        }
        Ok((drift, Vec::new()))
    }

    /// Counts the resources of a company. Also returns the sort keys of unreadable items.
    async fn count_all_owned(&self, company: &CompanyId) -> Result<(CountsByAttribute, Vec<String>)> {
        let mut found = Vec::new();
        let mut unreadable = Vec::new();
        self.for_each(keys::customers(company), |row: Result<VersionedItem<Customer>, ItemKey>| match row {
            Ok(customer) => found.extend(customer::counts(None, Some(&customer))),
            Err(key) => unreadable.push(key.sk),
        })
        .await?;
        self.for_each(keys::projects(company), |row: Result<VersionedItem<Project>, ItemKey>| match row {
            Ok(project) => found.push((CompanyCount::Projects(project.status), 1)),
            Err(key) => unreadable.push(key.sk),
        })
        .await?;
        for (count, range) in [
            (CompanyCount::Labels, keys::labels(company)),
            (CompanyCount::Videos, keys::videos(company)),
            (CompanyCount::NamedTokens, keys::tokens(company)),
            (CompanyCount::Trusts, keys::trusting_tokens(company)),
            (CompanyCount::Webhooks, keys::webhooks(company)),
        ] {
            // Unreadable items count as well.
            found.push((count, self.all_items(&range).await?.len() as i64));
        }
        let mut counts = CountsByAttribute::new();
        for (count, number) in found {
            *counts.entry(count.attribute()).or_default() += number;
        }
        Ok((counts, unreadable))
    }

    async fn items(&self, keys: &[ItemKey]) -> Result<Vec<Option<Item>>> {
        let mut batch = self.get(keys.iter().cloned()).await?;
        Ok(keys.iter().map(|key| batch.take_item(key)).collect())
    }

    /// Corrects a shard if it differs from `counted` or holds sets of evaluators without candidates. Returns the
    /// differences. Fails with [`Error::Changed`] if the shard was written after it was `seen`.
    async fn mend_shard(
        &self,
        key: &ItemKey,
        seen: Option<&Item>,
        project: &Project,
        counted: CountsByAttribute,
    ) -> Result<Vec<WrongCount>> {
        let mut shard = seen.cloned().unwrap_or_default();
        let stored: Vec<(CounterName, i64)> = counts_in(&shard).collect();
        let holds_empty_sets =
            stored.iter().any(|count| matches!(count, (CounterName::EvaluatedBy { .. }, 0)));
        // Leave out the counts of erased candidates, which cannot be recounted.
        let stored = stored.into_iter().filter(|(counter, _)| !counter.is_of_erased());
        let stored = stored.map(|(counter, count)| (counter.to_string(), count));
        let mut drift = compare(&stored.collect(), &counted);
        let status = shard.insert(PROJECT_STATUS.to_owned(), string(project.status.as_str()));
        let status = status.as_ref().and_then(|status| status.as_s().ok());
        if status.is_none_or(|status| status != project.status.as_str()) {
            let counted = json!(project.status.as_str());
            drift.push(WrongCount::new(PROJECT_STATUS.to_owned(), json!(status), counted));
        }
        if drift.is_empty() && !holds_empty_sets {
            return Ok(drift);
        }
        // DynamoDB cannot remove a counter by its value while other writes add to it, so only a recount removes empty sets.
        shard.retain(|name, _| name.parse::<CounterName>().map_or(true, CounterName::is_of_erased));
        shard.extend(counted.into_iter().map(|(name, count)| (name, number(count))));
        // Increment this version, so that a concurrent move of the project that has read the former shard fails.
        let version = number_in::<u64>(&shard, EVALUATIONS_VERSION).unwrap_or(0);
        shard.insert(EVALUATIONS_VERSION.to_owned(), number(version + 1));
        self.replace_counts(key.clone(), shard).await?;
        Ok(drift)
    }

    /// Replaces an item of counts. Fails with [`Error::Changed`] if it was written after it was read.
    async fn replace_counts(&self, key: ItemKey, mut item: Item) -> Result<()> {
        let version = number_in::<u64>(&item, VERSION);
        item.insert(VERSION.to_owned(), number(version.unwrap_or(0) + 1));
        let mut transaction = self.transaction();
        let condition = version.map_or(WriteCondition::Absent, WriteCondition::Version);
        transaction.put(key, item, condition, Error::Changed);
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

fn compare(stored: &CountsByAttribute, counted: &CountsByAttribute) -> Vec<WrongCount> {
    let mut wrong = Vec::new();
    for name in stored.keys().chain(counted.keys()).collect::<BTreeSet<_>>() {
        let [stored, counted] = [stored, counted].map(|counts| counts.get(name).copied().unwrap_or(0));
        if stored != counted {
            wrong.push(WrongCount::new(name.clone(), stored.into(), counted.into()));
        }
    }
    wrong
}
