//! Access patterns of projects.

use std::collections::BTreeSet;

use super::Store;
use super::batch::Batch;
use super::item::{Entity, Item, VERSION, Versioned, number};
use super::keys::{self, Key};
use super::page::{Listing, Page, PageRequest};
use super::tally::{self, Owned, Shards, projects_in};
use super::transaction::Transaction;
use crate::domain::id::{CompanyId, CustomerId, ProjectId};
use crate::domain::project::{CandidatesMust, Project, ProjectStatus};
use crate::domain::tally::Tally;
use crate::error::{Error, Result};

impl Entity for Project {
    const UNSHOWN: &'static [&'static str] = &["roster"];
    const PARTS: &'static [&'static str] = &["settings", "staff"];

    fn key(&self) -> Key {
        keys::project(&self.company, self.id)
    }

    fn by_status(&self) -> Option<(String, String)> {
        Some((keys::projects_by_status(&self.company, self.status), self.id.to_string()))
    }
}

/// A project with its counts.
#[derive(Debug)]
pub struct Counted {
    /// The project.
    pub project: Versioned<Project>,
    /// What is counted of its candidates.
    pub tally: Tally,
}

impl Store {
    /// The project with this identifier.
    pub async fn project(&self, company: &CompanyId, id: ProjectId) -> Result<Option<Versioned<Project>>> {
        let key = keys::project(company, id);
        self.get([key.clone()]).await?.take(&key)
    }

    /// Creates a project with its tally and the memberships of its staff.
    ///
    /// # Errors
    /// Messages on the fields whose references lead nowhere.
    pub fn create_project(&self, project: &Project) -> Transaction {
        let mut transaction = self.transaction();
        transaction.create(project, Error::internal("a new identifier is taken"));
        transaction.create_shards(project);
        transaction.company_tally(&project.company, &[(Owned::Projects(project.status), 1)]);
        transaction.attachments(None, project);
        transaction.memberships(None, project);
        transaction
    }

    /// Puts `after` in place of `before`; the status may not differ.
    ///
    /// # Errors
    /// [`Error::Changed`]; messages on the fields whose new references lead nowhere.
    pub fn update_project(&self, before: &Versioned<Project>, after: &Project) -> Transaction {
        let mut transaction = self.replacing(before, after);
        transaction.attachments(Some(before), after);
        transaction.memberships(Some(before), after);
        transaction
    }

    /// Puts `after`, in which one customer has other roles, in place of `before`.
    ///
    /// # Errors
    /// [`Error::Changed`]; a message on `customer`, whatever the role, when that leads nowhere.
    pub fn change_roles(&self, before: &Versioned<Project>, after: &Project) -> Transaction {
        let mut transaction = self.replacing(before, after);
        transaction.memberships(Some(before), after);
        transaction.blame("customer");
        transaction
    }

    /// Puts `after`, which differs in its status, in place of `before`; `shards` are those that were read with it.
    ///
    /// # Errors
    /// [`Error::Changed`], also when candidates are no longer what they must be, or, for closing, when evaluations have
    /// changed since the shards were read.
    pub fn move_project(
        &self,
        before: &Versioned<Project>,
        after: &Project,
        must: CandidatesMust,
        shards: &Shards,
    ) -> Transaction {
        let mut transaction = self.transaction();
        transaction.replace(before, after);
        transaction.move_shards(after, must, shards);
        let counts = [(Owned::Projects(before.status), -1), (Owned::Projects(after.status), 1)];
        transaction.company_tally(&after.company, &counts);
        transaction
    }

    /// A page of all of a company's projects, with how many there are in all.
    pub async fn list_projects(
        &self,
        company: &CompanyId,
        status: Option<ProjectStatus>,
        request: &PageRequest,
    ) -> Result<(Page<Counted>, u64)> {
        let collection = keys::projects(company);
        let partition = |status| keys::projects_by_status(company, status);
        let listing = match status {
            None => Listing::AllIndexed(collection, ProjectStatus::ALL.map(partition).to_vec()),
            Some(status) => Listing::WithStatus(collection, partition(status)),
        };
        let (page, tally) = tokio::try_join!(self.page::<Project>(&listing, request), async {
            let key = keys::company_tally(company);
            Ok(self.get([key.clone()]).await?.take_item(&key))
        })?;
        let total = projects_in(tally.as_ref(), status);
        let Page { rows, next, previous } = page;
        let mut batch = self.get(rows.iter().flat_map(|row| tally::shards(company, row.id))).await?;
        let rows = rows.into_iter().map(|project| batch.count(project)).collect();
        Ok((Page { rows, next, previous }, total))
    }

    /// The projects in which `customer` has a role, oldest first.
    pub async fn project_ids_of(&self, company: &CompanyId, customer: CustomerId) -> Result<Vec<ProjectId>> {
        let memberships = Listing::All(keys::memberships(company, customer));
        let mut ids = Vec::new();
        for row in self.page_of_items(&memberships, &PageRequest::everything()).await?.rows {
            ids.push(memberships.id_in(&row)?.parse().map_err(Error::internal)?);
        }
        Ok(ids)
    }

    /// Every project in which `customer` has a role, oldest first, those with one status only if asked for.
    pub async fn projects_of(
        &self,
        company: &CompanyId,
        customer: CustomerId,
        status: Option<ProjectStatus>,
    ) -> Result<Vec<Counted>> {
        let ids = self.project_ids_of(company, customer).await?;
        let keys = ids
            .iter()
            .flat_map(|id| [keys::project(company, *id)].into_iter().chain(tally::shards(company, *id)));
        let mut batch = self.get(keys).await?;
        let mut projects = Vec::new();
        for id in ids {
            let project = batch.take_listed::<Project>(&keys::project(company, id))?;
            let wanted = project.filter(|project| status.is_none_or(|status| project.status == status));
            projects.extend(wanted.map(|project| batch.count(project)));
        }
        Ok(projects)
    }
}

impl Store {
    /// Takes every role from a customer.
    ///
    /// # Errors
    /// [`Error::Changed`] when somebody keeps changing one of the projects, [`Error::Unreadable`].
    pub(super) async fn leave_projects(&self, company: &CompanyId, customer: CustomerId) -> Result<()> {
        let ids = self.project_ids_of(company, customer).await?;
        let keys: Vec<Key> = ids.into_iter().map(|id| keys::project(company, id)).collect();
        let mut batch = self.get(keys.iter().cloned()).await?;
        for key in &keys {
            let Some(project) = batch.take(key)? else { continue };
            self.insist_on(project, |project| project.staff.remove(customer)).await?;
        }
        Ok(())
    }

    /// Changes a project, again when others change it at the same time, until it is changed or gone.
    ///
    /// # Errors
    /// [`Error::Changed`] when that happens too often.
    pub(super) async fn insist_on<R>(
        &self,
        mut before: Versioned<Project>,
        change: impl Fn(&mut Project) -> R,
    ) -> Result<()> {
        let mut tries = INSIST_TRIES;
        loop {
            let mut after = Project::clone(&before);
            change(&mut after);
            match self.commit(self.update_project(&before, &after)).await {
                Err(Error::Changed) if tries > 0 => tries -= 1,
                Err(Error::NotFound) => return Ok(()),
                outcome => return outcome,
            }
            match self.project(&before.company, before.id).await? {
                Some(now) => before = now,
                None => return Ok(()),
            }
        }
    }
}

/// How often a project is tried again that others change at the same time.
const INSIST_TRIES: usize = 5;

impl Batch {
    fn count(&mut self, project: Versioned<Project>) -> Counted {
        let tally = self.take_tally(&project.company, project.id);
        Counted { project, tally }
    }
}

impl Transaction {
    /// Requires that the labels and videos that `after` has and `before` had not exist.
    fn attachments(&mut self, before: Option<&Project>, after: &Project) {
        let c = &after.company;
        let had = |key: &dyn Fn(&Project) -> bool| before.is_some_and(key);
        for label in after.settings.labels.iter().filter(|label| !had(&|p| p.settings.labels.contains(label)))
        {
            let missing = Error::field("labels", format!("There is no label {label}."));
            self.require_flag(keys::label(c, *label), "is_active", missing);
        }
        for placed in &after.settings.videos {
            if !had(&|p| p.settings.videos.iter().any(|old| old.video == placed.video)) {
                let missing = Error::field("videos", format!("There is no video {}.", placed.video));
                self.require_flag(keys::video(c, placed.video), "is_active", missing);
            }
        }
    }

    /// Makes the memberships those of `after`; whoever joins must exist.
    fn memberships(&mut self, before: Option<&Project>, after: &Project) {
        let c = &after.company;
        let old: BTreeSet<CustomerId> = before.map(|project| project.staff.everybody()).unwrap_or_default();
        let new = after.staff.everybody();
        for joins in new.difference(&old) {
            let missing = format!("There is no customer {joins} who can log in.");
            let missing = Error::field(field_of(after, *joins), missing);
            self.require_flag(keys::customer(c, *joins), "is_active", missing);
            let item = Item::from([(VERSION.to_owned(), number(1))]);
            self.put_derived(keys::memberships(c, *joins).key(after.id), item);
        }
        for leaves in old.difference(&new) {
            self.delete_derived(keys::memberships(c, *leaves).key(after.id));
        }
    }
}

/// The field that names `customer`.
fn field_of(project: &Project, customer: CustomerId) -> &'static str {
    let staff = &project.staff;
    let fields = [
        ("interview_managers", &staff.interview_managers),
        ("evaluators", &staff.evaluators),
        ("reviewers", &staff.reviewers),
    ];
    fields.into_iter().find(|(_, people)| people.contains(&customer)).map_or("evaluators", |(field, _)| field)
}
