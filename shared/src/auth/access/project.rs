//! Guards of a project and of the roles in it.

use std::marker::PhantomData;

use super::request::PathIds;
use super::{AdmittedRequest, AuthenticatedRequest, RequestGuard, UnauthenticatedRequest, extract};
use crate::domain::company::Company;
use crate::domain::id::{InvalidId, ProjectId, RoleId};
use crate::domain::policy::{Action, ActionGrant, CallerRelation};
use crate::domain::project::Project;
use crate::domain::project_counts::ProjectCounts;
use crate::domain::staff::HeldRole;
use crate::error::{Error, Result};
use crate::store::{CountShards, ItemKey, VersionedItem, shards};

/// A caller who may do `A` in the project of the path.
pub struct ProjectAccess<A> {
    /// The company.
    pub company: VersionedItem<Company>,
    /// The project.
    pub project: VersionedItem<Project>,
    /// What the caller is in the project.
    pub standing: CallerRelation,
    context: AdmittedRequest,
    action: PhantomData<A>,
}

impl<A: ActionGrant> RequestGuard for ProjectAccess<A> {
    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        vec![request.path.company(), request.path.project()]
    }

    async fn load(mut request: AuthenticatedRequest) -> Result<Self> {
        let company = request.take(PathIds::company)?;
        let project: VersionedItem<Project> = request.take(PathIds::project)?;
        let standing = request.caller().in_project(&project.staff);
        let context = request.authorise_reader(Action::ReadProject, A::ACTION, &standing)?.about(&project);
        Ok(Self { company, project, standing, context, action: PhantomData })
    }
}

/// A caller who may do `A` with the project of the path, and the counts of its candidates.
pub struct CountedProjectAccess<A> {
    /// The company, whose defaults the project falls back on.
    pub company: VersionedItem<Company>,
    /// The project.
    pub project: VersionedItem<Project>,
    /// What the caller is in the project.
    pub standing: CallerRelation,
    /// The counts of the project's candidates.
    pub counts: ProjectCounts,
    /// The shards that hold the counts.
    pub shards: CountShards,
    context: AdmittedRequest,
    action: PhantomData<A>,
}

impl<A: ActionGrant> RequestGuard for CountedProjectAccess<A> {
    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        let path = &request.path;
        let shards = path.company_id().and_then(|company| {
            let project: ProjectId = path.id("projectId")?;
            Ok(shards(&company, project).collect::<Vec<_>>())
        });
        ProjectAccess::<A>::keys(request).into_iter().chain(shards.into_iter().flatten().map(Ok)).collect()
    }

    async fn load(mut request: AuthenticatedRequest) -> Result<Self> {
        let shards = match (request.path.company_id(), request.path.id("projectId")) {
            (Ok(company), Ok(project)) => request.batch.take_shards(&company, project),
            _ => return Err(Error::NotFound),
        };
        let ProjectAccess { company, project, standing, context, .. } =
            ProjectAccess::<A>::load(request).await?;
        let counts = shards.sum();
        Ok(Self { company, project, standing, counts, shards, context, action: PhantomData })
    }
}

/// A caller who may do `A` in the project of the path, and the role of the path.
pub struct RoleAccess<A> {
    /// The project.
    pub project: VersionedItem<Project>,
    /// The role, and the customer who holds it.
    pub held: HeldRole,
    context: AdmittedRequest,
    action: PhantomData<A>,
}

impl<A: ActionGrant> RequestGuard for RoleAccess<A> {
    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        ProjectAccess::<A>::keys(request)
    }

    async fn load(request: AuthenticatedRequest) -> Result<Self> {
        let id = request.path.id::<RoleId>("roleId");
        let ProjectAccess { project, context, .. } = ProjectAccess::<A>::load(request).await?;
        let held = project.staff.roles().into_iter().find(|held| id == Ok(held.id()));
        let held = held.ok_or(Error::NotFound)?;
        Ok(Self {
            project,
            held,
            context: context.about_revision(AdmittedRequest::UNCHANGING),
            action: PhantomData,
        })
    }
}

extract!(ProjectAccess<A: ActionGrant>);
extract!(CountedProjectAccess<A: ActionGrant>);
extract!(RoleAccess<A: ActionGrant>);
