//! Counting again what is counted, and mending what does not agree. It always should: every change counts itself in the
//! transaction that makes it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::{Value, json};

use super::Store;
use super::item::{Item, VERSION, Versioned, number, number_in, string};
use super::keys::{self, Key};
use super::tally::{self, Owned, PROJECT_STATUS};
use super::transaction::Change;
use crate::domain::candidate::Candidate;
use crate::domain::customer::{AccountType, Customer};
use crate::domain::id::{CompanyId, ProjectId};
use crate::domain::label::Label;
use crate::domain::named_token::NamedToken;
use crate::domain::project::Project;
use crate::domain::tally::{SHARDS, Tally, shard_of};
use crate::domain::video::Video;
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
            self.for_each(keys::projects(company), |project: Versioned<Project>| {
                projects.push(project.id);
            })
            .await?;
        }
        let mut recount = Recount::default();
        for id in projects {
            match self.recount_project(company, id).await? {
                Some((candidates, drift)) => {
                    recount.projects += 1;
                    recount.candidates += candidates;
                    recount.drift.extend(drift);
                }
                None if only.is_some() => return Err(Error::field("project", "There is no such project.")),
                None => {}
            }
        }
        recount.drift.extend(self.recount_company(company).await?);
        Ok(recount)
    }

    /// Counts the candidates of a project; none when it is gone.
    async fn recount_project(
        &self,
        company: &CompanyId,
        id: ProjectId,
    ) -> Result<Option<(usize, Vec<Drift>)>> {
        let mut open: BTreeSet<u8> = (0..SHARDS).collect();
        let mut drift = Vec::new();
        for _ in 0..TRIES {
            let keys: Vec<Key> = tally::shards(company, id).collect();
            let before = self.items(&keys).await?;
            // Between the two looks at the tally, so that what did not move it was so all the while.
            let Some(project) = self.project(company, id).await? else { return Ok(None) };
            let (mut candidates, mut counted) = (0, vec![Tally::default(); usize::from(SHARDS)]);
            self.for_each(keys::candidates(company, id), |candidate: Versioned<Candidate>| {
                candidates += 1;
                for (counter, count) in Tally::change(None, Some(&candidate)).iter() {
                    counted[usize::from(shard_of(candidate.id))].add(counter, count);
                }
            })
            .await?;
            let after = self.items(&keys).await?;
            for shard in open.clone() {
                let place = usize::from(shard);
                if version_of(&before[place]) != version_of(&after[place]) {
                    continue;
                }
                let stored = after[place].as_ref();
                let counts = counted[place].iter().map(|(counter, count)| (tally::attribute(counter), count));
                let said = stored.map(tally::counts_in).unwrap_or_default();
                let said = said.into_iter().map(|(counter, count)| (tally::attribute(counter), count));
                let mut found = compare(said.collect(), counts.collect());
                let status = stored.and_then(|item| item.get(PROJECT_STATUS)?.as_s().ok());
                let is_status_told = status.is_some_and(|status| status == project.status.as_str());
                if !is_status_told {
                    let (stored, counted) = (json!(status), json!(project.status.as_str()));
                    found.push(Drift::new(PROJECT_STATUS.to_owned(), stored, counted));
                }
                let told = (!is_status_told).then(|| project.status.as_str());
                match self.mend(&keys[place], stored, &found, told).await {
                    Err(Error::Changed | Error::NotFound) => continue,
                    outcome => outcome?,
                }
                let of_shard = |found: Drift| Drift { project: Some(id), shard: Some(shard), ..found };
                drift.extend(found.into_iter().map(of_shard));
                open.remove(&shard);
            }
            if open.is_empty() {
                return Ok(Some((candidates, drift)));
            }
        }
        Err(Error::Changed)
    }

    /// Counts what a company owns.
    async fn recount_company(&self, company: &CompanyId) -> Result<Vec<Drift>> {
        let key = [keys::company_tally(company)];
        for _ in 0..TRIES {
            let before = self.items(&key).await?;
            let counted = self.count_all_owned(company).await?;
            let after = self.items(&key).await?;
            let ([before], [after]) = (&before[..], &after[..]) else { continue };
            if version_of(before) != version_of(after) {
                continue;
            }
            let said = Owned::all().map(Owned::attribute);
            let said = said.filter_map(|name| Some((name.clone(), number_in(after.as_ref()?, &name)?)));
            let found = compare(said.collect(), counted);
            match self.mend(&key[0], after.as_ref(), &found, None).await {
                Err(Error::Changed | Error::NotFound) => {}
                outcome => return outcome.map(|()| found),
            }
        }
        Err(Error::Changed)
    }

    async fn count_all_owned(&self, company: &CompanyId) -> Result<Counts> {
        let (mut customers, mut owners, mut labels, mut videos, mut tokens) = (0, 0, 0, 0, 0);
        let mut projects = Counts::new();
        tokio::try_join!(
            self.for_each(keys::customers(company), |customer: Versioned<Customer>| {
                customers += 1;
                owners += i64::from(customer.account_type == AccountType::Owner && customer.is_at_work());
            }),
            self.for_each(keys::projects(company), |project: Versioned<Project>| {
                *projects.entry(Owned::Projects(project.status).attribute()).or_default() += 1;
            }),
            self.for_each(keys::labels(company), |_: Versioned<Label>| labels += 1),
            self.for_each(keys::videos(company), |_: Versioned<Video>| videos += 1),
            self.for_each(keys::tokens(company), |_: Versioned<NamedToken>| tokens += 1),
        )?;
        let others = [
            (Owned::Customers, customers),
            (Owned::Owners, owners),
            (Owned::Labels, labels),
            (Owned::Videos, videos),
            (Owned::NamedTokens, tokens),
        ];
        projects.extend(others.map(|(owned, count)| (owned.attribute(), count)));
        Ok(projects)
    }

    /// What stands under each of `keys`.
    async fn items(&self, keys: &[Key]) -> Result<Vec<Option<Item>>> {
        let mut batch = self.get(keys.iter().cloned()).await?;
        Ok(keys.iter().map(|key| batch.take_item(key)).collect())
    }

    /// Adds what is missing to the tally `seen` under `key`, and tells it its project's status if it does not know.
    ///
    /// # Errors
    /// [`Error::Changed`] when the tally counted something since it was seen.
    async fn mend(
        &self,
        key: &Key,
        seen: Option<&Item>,
        drift: &[Drift],
        status: Option<&'static str>,
    ) -> Result<()> {
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
        if let Some(status) = status {
            change.expression = format!("SET {PROJECT_STATUS} = :status {}", change.expression);
            change.values.push((":status".to_owned(), string(status)));
        }
        let mut transaction = self.transaction();
        transaction.update(key.clone(), change, Error::Changed)?;
        self.commit(transaction).await
    }
}

impl Drift {
    fn new(counter: String, stored: Value, counted: Value) -> Self {
        Self { project: None, shard: None, counter, stored, counted }
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
