//! Access patterns of projects.

pub(super) mod copy;
pub(super) mod counts;
pub(super) mod questionnaire;

use std::collections::BTreeSet;

use super::company::counts::CompanyCount;
use super::table::handle::Store;
use super::table::item::{self, StoredEntity, VersionedItem};
use super::table::keys::{self, ItemKey};
use super::table::read::batch::ItemBatch;
use super::table::read::page::{ListSource, Page, PageRequest};
use super::table::write::condition::IS_ACTIVE;
use super::table::write::transaction::Transaction;
use crate::domain::history::{ResourceChange, ResourceRef};
use crate::domain::id::{CompanyId, CustomerId, ProjectId};
use crate::domain::project::{CandidateRequirement, Project, ProjectStatus};
use crate::domain::questionnaire::QUESTIONS_IN_USE;
use crate::domain::transition::project_counts::ProjectCounts;
use crate::error::{Error, Result};

use counts::{CountShards, shards};

impl StoredEntity for Project {
    const INTERNAL_FIELDS: &'static [&'static str] = &["closed_at", "evaluator_index"];
    const MERGED_MAPS: &'static [&'static str] = &["settings", "staff"];

    fn history_change(before: Option<&Self>, after: Option<&Self>) -> Option<ResourceChange> {
        ResourceChange::of(before, after)
    }

    fn key(&self) -> ItemKey {
        keys::project(&self.company, self.id)
    }

    fn by_status(&self) -> Option<(String, String)> {
        Some((keys::projects_by_status(&self.company, self.status), self.id.to_string()))
    }
}

#[derive(Debug)]
pub struct CountedProject {
    pub project: VersionedItem<Project>,
    /// The counts of the project's candidates.
    pub counts: ProjectCounts,
}

impl Store {
    /// Reads these projects. Those that do not exist or cannot be read are missing.
    pub async fn projects(
        &self,
        company: &CompanyId,
        ids: impl IntoIterator<Item = ProjectId>,
    ) -> Result<Vec<VersionedItem<Project>>> {
        self.listed(ids.into_iter().map(|id| keys::project(company, id)).collect()).await
    }

    pub async fn project(
        &self,
        company: &CompanyId,
        id: ProjectId,
    ) -> Result<Option<VersionedItem<Project>>> {
        self.one(keys::project(company, id)).await
    }

    /// Creates a project with its counts and memberships. Fails with a message on each field with a reference that does
    /// not exist, and with [`Error::ExternalIdTaken`].
    pub fn create_project(&self, project: &Project) -> Transaction {
        let mut transaction = self.transaction();
        transaction.new_project(project);
        transaction.attachments(None, project);
        transaction
    }

    /// Replaces `before` by `after`, which must have the same status. Fails also with a message on each field with a
    /// new reference that does not exist, with [`Error::ExternalIdTaken`], and with `QUESTIONS_IN_USE` if the interview
    /// platform changes after a candidate has begun.
    pub fn update_project(&self, before: &VersionedItem<Project>, after: &Project) -> Transaction {
        let mut transaction = self.replacing(before, after);
        if before.settings.interview_platform != after.settings.interview_platform {
            transaction.require_not_begun(after, || QUESTIONS_IN_USE.into());
        }
        transaction.attachments(Some(before), after);
        transaction.memberships(Some(before), after);
        transaction.project_external_id(Some(before), Some(after));
        transaction.begin_reminders(Some(before), after);
        transaction
    }

    /// Replaces `before` by `after`, in which one customer has other roles. Fails also with a message on `customer` if they do not exist.
    pub fn change_roles(&self, before: &VersionedItem<Project>, after: &Project) -> Transaction {
        let mut transaction = self.replacing(before, after);
        transaction.memberships(Some(before), after);
        // The client has sent the field `customer`, not one of the project's lists.
        transaction.prefix_errors("customer");
        transaction
    }

    /// Replaces `before` by `after`, which has another status. Fails with [`Error::Changed`] also if candidates no
    /// longer meet `requirement` or, for closing, if evaluations have changed since the `shards` were read.
    pub fn move_project(
        &self,
        before: &VersionedItem<Project>,
        after: &Project,
        requirement: CandidateRequirement,
        shards: &CountShards,
    ) -> Transaction {
        let mut transaction = self.transaction();
        transaction.replace(before, after);
        transaction.move_shards(after, requirement, shards);
        let counts = [(CompanyCount::Projects(before.status), -1), (CompanyCount::Projects(after.status), 1)];
        transaction.change_company_counts(&after.company, &counts);
        transaction
    }

    /// A page of a company's projects with this status, or with any if `None`, and the number of all such projects.
    pub async fn list_projects(
        &self,
        company: &CompanyId,
        status: Option<ProjectStatus>,
        request: &PageRequest,
    ) -> Result<(Page<CountedProject>, u64)> {
        let collection = keys::projects(company);
        let partition = |status| keys::projects_by_status(company, status);
        let listing = match status {
            None => ListSource::AllIndexed(collection, ProjectStatus::ALL.map(partition).to_vec()),
            Some(status) => ListSource::WithStatus(collection, partition(status)),
        };
        let counted =
            ProjectStatus::ALL.into_iter().filter(|counted| status.is_none_or(|wanted| wanted == *counted));
        let counted: Vec<CompanyCount> = counted.map(CompanyCount::Projects).collect();
        let (page, total) = self.list_owned::<Project>(company, &listing, &counted, request).await?;
        let Page { rows, next, previous } = page;
        let mut batch = self.get(rows.iter().flat_map(|row| shards(company, row.id))).await?;
        let rows = rows.into_iter().map(|project| batch.count(project)).collect();
        Ok((Page { rows, next, previous }, total))
    }

    /// Reads a project with the counts of its candidates.
    pub(super) async fn counted_project(
        &self,
        company: &CompanyId,
        id: ProjectId,
    ) -> Result<Option<CountedProject>> {
        let key = keys::project(company, id);
        let mut batch = self.get([key.clone()].into_iter().chain(shards(company, id))).await?;
        let project = batch.take_listed::<Project>(&key)?;
        Ok(project.map(|project| batch.count(project)))
    }

    /// The projects in which a customer has a role, oldest first.
    pub async fn project_ids_of(&self, company: &CompanyId, customer: CustomerId) -> Result<Vec<ProjectId>> {
        let memberships = keys::memberships(company, customer);
        let rows = self.all_items(&memberships).await?;
        rows.iter().map(|row| memberships.id_in(row)?.parse().map_err(Error::internal)).collect()
    }

    /// The projects with this status, or with any if `None`, in which a customer has a role, oldest first.
    pub async fn projects_of(
        &self,
        company: &CompanyId,
        customer: CustomerId,
        status: Option<ProjectStatus>,
    ) -> Result<Vec<CountedProject>> {
        let ids = self.project_ids_of(company, customer).await?;
        self.counted_projects(company, ids, status).await
    }

    /// Reads these projects, in this order. Those that do not exist, or have another status than a given one, are missing.
    pub async fn counted_projects(
        &self,
        company: &CompanyId,
        ids: Vec<ProjectId>,
        status: Option<ProjectStatus>,
    ) -> Result<Vec<CountedProject>> {
        let keys =
            ids.iter().flat_map(|id| [keys::project(company, *id)].into_iter().chain(shards(company, *id)));
        let mut batch = self.get(keys).await?;
        let mut projects = Vec::new();
        for id in ids {
            let project = batch.take_listed::<Project>(&keys::project(company, id))?;
            let wanted = project.filter(|project| status.is_none_or(|status| project.status == status));
            projects.extend(wanted.map(|project| batch.count(project)));
        }
        Ok(projects)
    }

    pub(super) async fn leave_projects(&self, company: &CompanyId, customer: CustomerId) -> Result<()> {
        let ids = self.project_ids_of(company, customer).await?;
        let keys: Vec<ItemKey> = ids.into_iter().map(|id| keys::project(company, id)).collect();
        let mut batch = self.get(keys.iter().cloned()).await?;
        for key in &keys {
            let Some(project) = batch.take(key)? else { continue };
            self.amend_project(project, &|project| project.staff.remove(customer)).await?;
        }
        Ok(())
    }

    /// Changes a project, with retries. Does nothing if it is deleted in the meantime.
    pub(super) async fn amend_project<R>(
        &self,
        project: VersionedItem<Project>,
        change: &impl Fn(&mut Project) -> R,
    ) -> Result<()> {
        self.update_with_retry(project, |before| {
            let mut after = Project::clone(before);
            change(&mut after);
            Some(self.update_project(before, &after))
        })
        .await
    }
}

impl ItemBatch {
    fn count(&mut self, project: VersionedItem<Project>) -> CountedProject {
        let counts = self.take_shards(&project.company, project.id).sum();
        CountedProject { project, counts }
    }
}

impl Transaction {
    /// Creates a project. The caller must require that its labels and videos exist.
    fn new_project(&mut self, project: &Project) {
        self.create(project);
        // Counter shards are created here, because conditional updates need the item to exist.
        self.create_shards(project);
        self.change_company_counts(&project.company, &[(CompanyCount::Projects(project.status), 1)]);
        self.memberships(None, project);
        self.project_external_id(None, Some(project));
        self.begin_reminders(None, project);
    }

    /// Requires that labels and videos exist if only `after` has them.
    fn attachments(&mut self, before: Option<&Project>, after: &Project) {
        let c = &after.company;
        let had = |key: &dyn Fn(&Project) -> bool| before.is_some_and(key);
        for label in after.settings.labels.iter().filter(|label| !had(&|p| p.settings.labels.contains(label)))
        {
            let missing = Error::field("labels", format!("Label {label} does not exist."));
            self.require(keys::label(c, *label), IS_ACTIVE, missing);
        }
        for placed in &after.settings.videos {
            if !had(&|p| p.settings.videos.iter().any(|old| old.video == placed.video)) {
                let missing = Error::field("videos", format!("Video {} does not exist.", placed.video));
                self.require(keys::video(c, placed.video), IS_ACTIVE, missing);
            }
        }
    }

    /// Moves the unique marker of a project's `external_id`.
    pub(in crate::store) fn project_external_id(
        &mut self,
        before: Option<&Project>,
        after: Option<&Project>,
    ) {
        let Some(Project { id, .. }) = after.or(before) else { return };
        let [old, new] = [before, after].map(|project| project.and_then(marker_of_project));
        self.move_external_id(old, new, ResourceRef::Project { project: *id });
    }

    /// Writes and deletes memberships. Customers who join must exist and be active.
    fn memberships(&mut self, before: Option<&Project>, after: &Project) {
        let c = &after.company;
        let old: BTreeSet<CustomerId> = before.map(|project| project.staff.everybody()).unwrap_or_default();
        let new = after.staff.everybody();
        for joins in new.difference(&old) {
            let missing = format!("Customer {joins} does not exist or is inactive.");
            let missing = Error::field(field_of(after, *joins), missing);
            // A customer whose deletion has begun is already inactive, so gets no new roles.
            self.require(keys::customer(c, *joins), IS_ACTIVE, missing);
            self.put_derived(keys::memberships(c, *joins).key(after.id), item::bare([]));
        }
        for leaves in old.difference(&new) {
            self.delete_derived(keys::memberships(c, *leaves).key(after.id));
        }
    }
}

fn field_of(project: &Project, customer: CustomerId) -> &'static str {
    let staff = &project.staff;
    let fields = [
        ("interview_managers", &staff.interview_managers),
        ("evaluators", &staff.evaluators),
        ("reviewers", &staff.reviewers),
    ];
    fields.into_iter().find(|(_, people)| people.contains(&customer)).map_or("evaluators", |(field, _)| field)
}

/// The key of the unique marker of a project's `external_id`; `None` if the project has none.
fn marker_of_project(project: &Project) -> Option<ItemKey> {
    let external_id = project.settings.external_id.as_ref()?;
    Some(keys::project_by_external_id(&project.company, external_id))
}
