//! Targets for a project, its status, the counts of its candidates, and its roles.

use crate::auth::access::{AdmittedRequest, AuthenticatedRequest, RequestTarget, UnauthenticatedRequest};
use crate::domain::company::Company;
use crate::domain::id::{InvalidId, ProjectId, RoleId};
use crate::domain::policy::{Action, CallerRelation};
use crate::domain::project::{Project, ProjectStatus};
use crate::domain::questionnaire::Questionnaire;
use crate::domain::staff::HeldRole;
use crate::domain::transition::project_counts::ProjectCounts;
use crate::error::{Error, Result};
use crate::http::exchange::UNCHANGING;
use crate::store::{CountShards, ItemKey, VersionedItem, shards};

/// A project with its company.
pub struct ProjectTarget {
    pub company: VersionedItem<Company>,
    pub project: VersionedItem<Project>,
    /// The caller's relation to the project.
    pub relation: CallerRelation,
}

impl RequestTarget for Project {
    type Loaded = ProjectTarget;

    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        vec![request.path.company(), request.path.project()]
    }

    async fn load(mut request: AuthenticatedRequest) -> Result<(AdmittedRequest, ProjectTarget)> {
        let company = request.take(request.path.company())?;
        let project = request.take::<Project>(request.path.project())?;
        let relation = request.caller().in_project(project.id, &project.staff);
        let request = request.authorise_or_hide(Action::ReadProject, &relation)?.about(&project);
        Ok((request, ProjectTarget { company, project, relation }))
    }
}

/// A project with the counts of its candidates.
pub struct CountedTarget {
    /// The company, whose settings are the project's defaults.
    pub company: VersionedItem<Company>,
    pub project: VersionedItem<Project>,
    /// The caller's relation to the project.
    pub relation: CallerRelation,
    /// The counts of the project's candidates.
    pub counts: ProjectCounts,
    /// The shards from which the counts are summed up.
    pub shards: CountShards,
}

impl RequestTarget for ProjectCounts {
    type Loaded = CountedTarget;

    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        let mut keys = Project::keys(request);
        if let (Ok(company), Ok(project)) = (request.path.company_id(), request.path.id("projectId")) {
            keys.extend(shards(&company, project).map(Ok));
        }
        keys
    }

    async fn load(mut request: AuthenticatedRequest) -> Result<(AdmittedRequest, CountedTarget)> {
        let project: ProjectId = request.path.id("projectId").map_err(|_| Error::NotFound)?;
        let company = request.caller().company().clone();
        let shards = request.batch.take_shards(&company, project);
        let (request, ProjectTarget { company, project, relation }) = Project::load(request).await?;
        let counts = shards.sum();
        Ok((request, CountedTarget { company, project, relation, counts, shards }))
    }
}

/// A project whose status is changed.
pub struct ProjectStatusTarget {
    pub project: VersionedItem<Project>,
    /// The counts of the project's candidates.
    pub counts: ProjectCounts,
    /// The shards from which the counts are summed up.
    pub shards: CountShards,
    /// The project's questions and criteria.
    pub questionnaire: VersionedItem<Questionnaire>,
}

impl RequestTarget for ProjectStatus {
    type Loaded = ProjectStatusTarget;

    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        let mut keys = ProjectCounts::keys(request);
        keys.push(request.path.questionnaire());
        keys
    }

    async fn load(mut request: AuthenticatedRequest) -> Result<(AdmittedRequest, ProjectStatusTarget)> {
        let questionnaire = request.take_questionnaire()?;
        let (request, counted) = ProjectCounts::load(request).await?;
        let CountedTarget { project, counts, shards, .. } = counted;
        Ok((request, ProjectStatusTarget { project, counts, shards, questionnaire }))
    }
}

/// A role in a project.
pub struct RoleTarget {
    pub project: VersionedItem<Project>,
    /// The role, and the customer who holds it.
    pub held: HeldRole,
}

impl RequestTarget for HeldRole {
    type Loaded = RoleTarget;

    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        Project::keys(request)
    }

    async fn load(request: AuthenticatedRequest) -> Result<(AdmittedRequest, RoleTarget)> {
        let id = request.path.id::<RoleId>("roleId");
        let (request, ProjectTarget { project, .. }) = Project::load(request).await?;
        let held = project.staff.roles().into_iter().find(|held| id == Ok(held.id()));
        let held = held.ok_or(Error::NotFound)?;
        Ok((request.about_revision(UNCHANGING), RoleTarget { project, held }))
    }
}
