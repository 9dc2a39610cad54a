//! Counting again what is counted, and mending what does not agree. It always should: every change counts itself in the
//! transaction that makes it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::{Value, json};

use super::Store;
use super::item::{Item, VERSION, Versioned, number, number_in, string};
use super::keys::{self, Key};
use super::page::{Listing, PageRequest};
use super::tally::{self, EVALUATIONS_VERSION, Owned, PROJECT_STATUS};
use super::transaction::Change;
use crate::domain::candidate::Candidate;
use crate::domain::customer::{AccountType, Customer};
use crate::domain::id::{CompanyId, ProjectId};
use crate::domain::project::Project;
use crate::domain::tally::{Counter, SHARDS, Tally, shard_of};
use crate::error::{Error, Result};

/// How often something is counted again that others change at the same time.
const TRIES: usize = 10;

/// What was counted, and where it was not what the tally said.
#[derive(Debug, Default, Serialize)]
pub struct Recount {
    /// How many projects.
    pub projects: usize,
    /// How many of their candidates.
    pub candidates: usize,
    /// What did not agree, and has been mended.
    pub drift: Vec<Drift>,
    /// Sort keys of items that cannot be read: what they are counted in is left as it is.
    pub unreadable: BTreeSet<String>,
}

/// One count that did not agree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Drift {
    /// The project whose tally it is in; none for that of the company.
    pub project: Option<ProjectId>,
    /// Which part of the project's tally.
    pub shard: Option<u8>,
    /// What is counted.
    pub counter: String,
    /// What the tally said.
    pub stored: Value,
    /// What there is.
    pub counted: Value,
}

/// The attributes of a tally that count something, by their names; zeros are left out.
type Counts = BTreeMap<String, i64>;

impl Store {
    /// Counts the candidates of all projects, or of one, and what the company owns.
    ///
    /// # Errors
    /// Messages on `company` and `project` when there is none; [`Error::Changed`] when somebody keeps changing what is
    /// counted.
    pub(crate) async fn recount(&self, company: &CompanyId, only: Option<ProjectId>) -> Result<Recount> {
        if self.company(company).await?.is_none() {
            return Err(Error::field("company", "There is no such company."));
        }
        let mut projects = Vec::from_iter(only);
        if only.is_none() {
            // Those that cannot be read are told of when the company's own tally is counted.
            self.for_each(keys::projects(company), |project: Result<Versioned<Project>, Key>| {
                projects.extend(project.map(|project| project.id));
            })
            .await?;
        }
        let mut recount = Recount::default();
        for id in projects {
            let is_there = self.recount_project(company, id, &mut recount).await?;
            if !is_there && only.is_some() {
                return Err(Error::field("project", "There is no such project."));
            }
        }
        self.recount_company(company, &mut recount).await?;
        Ok(recount)
    }

    /// Counts the candidates of a project; false when it is gone.
    async fn recount_project(
        &self,
        company: &CompanyId,
        id: ProjectId,
        recount: &mut Recount,
    ) -> Result<bool> {
        let mut open: BTreeSet<u8> = (0..SHARDS).collect();
        for _ in 0..TRIES {
            let keys: Vec<Key> = tally::shards(company, id).collect();
            let before = self.items(&keys).await?;
            // Between the two looks at the tally, so that what did not move it was so all the while.
            let Some(project) = self.project(company, id).await? else { return Ok(false) };
            let (mut candidates, mut counted) = (0, vec![Tally::default(); usize::from(SHARDS)]);
            self.for_each(keys::candidates(company, id), |candidate: Result<Versioned<Candidate>, Key>| {
                candidates += 1;
                match candidate {
                    Ok(candidate) => {
                        for (counter, count) in Tally::change(None, Some(&candidate)).iter() {
                            counted[usize::from(shard_of(candidate.id))].add(counter, count);
                        }
                    }
                    Err(key) => {
                        keys::candidate_in(&key).map(|id| open.remove(&shard_of(id)));
                        recount.unreadable.insert(key.sk);
                    }
                }
            })
            .await?;
            let after = self.items(&keys).await?;
            for shard in open.clone() {
                let place = usize::from(shard);
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
                recount.candidates += candidates;
                return Ok(true);
            }
        }
        Err(Error::Changed)
    }

    /// Counts what a company owns.
    async fn recount_company(&self, company: &CompanyId, recount: &mut Recount) -> Result<()> {
        let key = [keys::company_tally(company)];
        for _ in 0..TRIES {
            let before = self.items(&key).await?;
            let (counted, unreadable) = self.count_all_owned(company).await?;
            if !unreadable.is_empty() {
                recount.unreadable.extend(unreadable);
                return Ok(());
            }
            let after = self.items(&key).await?;
            let ([before], [after]) = (&before[..], &after[..]) else { continue };
            if version_of(before) != version_of(after) {
                continue;
            }
            let said = Owned::all().map(Owned::attribute);
            let said = said.filter_map(|name| Some((name.clone(), number_in(after.as_ref()?, &name)?)));
            let found = compare(said.collect(), counted);
            match self.mend(&key[0], after.as_ref(), &found).await {
                Err(Error::Changed | Error::NotFound) => {}
                outcome => return outcome.map(|()| recount.drift.extend(found)),
            }
        }
        Err(Error::Changed)
    }

    /// What a company owns, and the sort keys of what cannot be read of it.
    async fn count_all_owned(&self, company: &CompanyId) -> Result<(Counts, Vec<String>)> {
        let (mut counts, mut unreadable) = (Counts::new(), Vec::new());
        let mut add = |owned: Owned, count: bool| {
            *counts.entry(owned.attribute()).or_default() += i64::from(count);
        };
        self.for_each(
            keys::customers(company),
            |customer: Result<Versioned<Customer>, Key>| match customer {
                Ok(one) => {
                    add(Owned::Customers, true);
                    add(Owned::Owners, one.account_type == AccountType::Owner && one.is_at_work());
                }
                Err(key) => unreadable.push(key.sk),
            },
        )
        .await?;
        self.for_each(keys::projects(company), |project: Result<Versioned<Project>, Key>| match project {
            Ok(project) => add(Owned::Projects(project.status), true),
            Err(key) => unreadable.push(key.sk),
        })
        .await?;
        for (owned, collection) in [
            (Owned::Labels, keys::labels(company)),
            (Owned::Videos, keys::videos(company)),
            (Owned::NamedTokens, keys::tokens(company)),
        ] {
            // Each counts, whatever it says.
            let rows = self.page_of_items(&Listing::All(collection), &PageRequest::everything()).await?.rows;
            rows.iter().for_each(|_| add(owned, true));
        }
        Ok((counts, unreadable))
    }

    /// What stands under each of `keys`.
    async fn items(&self, keys: &[Key]) -> Result<Vec<Option<Item>>> {
        let mut batch = self.get(keys.iter().cloned()).await?;
        Ok(keys.iter().map(|key| batch.take_item(key)).collect())
    }

    /// Writes the shard `seen` under `key` anew if it differs from what was counted, or still holds sets of evaluators that
    /// no candidate has any more; tells in what it differed.
    ///
    /// # Errors
    /// [`Error::Changed`] when the shard counted something since it was seen.
    async fn mend_shard(
        &self,
        key: &Key,
        seen: Option<&Item>,
        project: &Project,
        counted: Counts,
    ) -> Result<Vec<Drift>> {
        let mut shard = seen.cloned().unwrap_or_default();
        let said = tally::counts_in(&shard);
        let is_empty_set = |(counter, count)| matches!((counter, count), (Counter::EvaluatedBy(_), 0));
        let holds_empty_sets = said.iter().copied().any(is_empty_set);
        let said = said.into_iter().map(|(counter, count)| (tally::attribute(counter), count));
        let mut drift = compare(said.collect(), counted.clone());
        let status = shard.insert(PROJECT_STATUS.to_owned(), string(project.status.as_str()));
        let status = status.as_ref().and_then(|status| status.as_s().ok());
        if status.is_none_or(|status| status != project.status.as_str()) {
            let counted = json!(project.status.as_str());
            drift.push(Drift::new(PROJECT_STATUS.to_owned(), json!(status), counted));
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
        transaction.replace_item(key.clone(), shard, version);
        self.commit(transaction).await?;
        Ok(drift)
    }

    /// Adds what is missing to the tally `seen` under `key`.
    ///
    /// # Errors
    /// [`Error::Changed`] when the tally counted something since it was seen.
    async fn mend(&self, key: &Key, seen: Option<&Item>, drift: &[Drift]) -> Result<()> {
        if drift.is_empty() {
            return Ok(());
        }
        let missing = |one: &Drift| Some((one.counter.clone(), one.counted.as_i64()? - one.stored.as_i64()?));
        let mut change = Change::add(drift.iter().filter_map(missing));
        match seen.and_then(|item| number_in::<u64>(item, VERSION)) {
            Some(version) => {
                change.condition = Some(format!("{VERSION} = :seen"));
                change.values.push((":seen".to_owned(), number(version)));
            }
            None => change.condition = Some("attribute_not_exists(pk)".to_owned()),
        }
        let mut transaction = self.transaction();
        transaction.update(key.clone(), change, Error::Changed);
        self.commit(transaction).await
    }
}

impl Drift {
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

/// Where the two differ; what is not in one of them is zero there.
fn compare(stored: Counts, counted: Counts) -> Vec<Drift> {
    let names: BTreeSet<&String> = stored.keys().chain(counted.keys()).collect();
    let count = |counts: &Counts, name: &String| counts.get(name).copied().unwrap_or(0);
    let pairs = names.into_iter().map(|name| (name, count(&stored, name), count(&counted, name)));
    let differ = pairs.filter(|(_, stored, counted)| stored != counted);
    differ.map(|(name, stored, counted)| Drift::new(name.clone(), stored.into(), counted.into())).collect()
}
