//! Guards of a project and of the roles in it.

use std::marker::PhantomData;

use super::request::Path;
use super::{Authenticated, Context, Guard, Request, extract};
use crate::domain::company::Company;
use crate::domain::id::{InvalidId, ProjectId, RoleId};
use crate::domain::policy::{Action, Grant, Standing};
use crate::domain::project::Project;
use crate::domain::staff::HeldRole;
use crate::domain::tally::Tally;
use crate::error::{Error, Result};
use crate::store::{Key, Shards, Versioned, shards};

/// A caller who may do `A` in the project of the path.
pub struct ProjectAccess<A> {
    /// The company.
    pub company: Versioned<Company>,
    /// The project.
    pub project: Versioned<Project>,
    /// What the caller is in the project.
    pub standing: Standing,
    context: Context,
    action: PhantomData<A>,
}

impl<A: Grant> Guard for ProjectAccess<A> {
    fn keys(request: &Request<'_>) -> Vec<Result<Key, InvalidId>> {
        vec![request.path.company(), request.path.project()]
    }

    async fn load(mut request: Authenticated) -> Result<Self> {
        let company = request.take(Path::company)?;
        let project: Versioned<Project> = request.take(Path::project)?;
        let standing = request.caller().in_project(&project.staff);
        let context = request.authorise_reader(Action::ReadProject, A::ACTION, &standing)?.about(&project);
        Ok(Self { company, project, standing, context, action: PhantomData })
    }
}

/// A caller who may do `A` with the project of the path, and the counts of its candidates.
pub struct CountedProjectAccess<A> {
    /// The company, whose defaults the project falls back on.
    pub company: Versioned<Company>,
    /// The project.
    pub project: Versioned<Project>,
    /// What the caller is in the project.
    pub standing: Standing,
    /// The counts of the project's candidates.
    pub tally: Tally,
    /// The shards that hold the counts.
    pub shards: Shards,
    context: Context,
    action: PhantomData<A>,
}

impl<A: Grant> Guard for CountedProjectAccess<A> {
    fn keys(request: &Request<'_>) -> Vec<Result<Key, InvalidId>> {
        let path = &request.path;
        let shards = path.company_id().and_then(|company| {
            let project: ProjectId = path.id("projectId")?;
            Ok(shards(&company, project).collect::<Vec<_>>())
        });
        ProjectAccess::<A>::keys(request).into_iter().chain(shards.into_iter().flatten().map(Ok)).collect()
    }

    async fn load(mut request: Authenticated) -> Result<Self> {
        let shards = match (request.path.company_id(), request.path.id("projectId")) {
            (Ok(company), Ok(project)) => request.batch.take_shards(&company, project),
            _ => return Err(Error::NotFound),
        };
        let ProjectAccess { company, project, standing, context, .. } =
            ProjectAccess::<A>::load(request).await?;
        let tally = shards.tally();
        Ok(Self { company, project, standing, tally, shards, context, action: PhantomData })
    }
}

/// A caller who may do `A` in the project of the path, and the role of the path.
pub struct RoleAccess<A> {
    /// The project.
    pub project: Versioned<Project>,
    /// The role, and the customer who holds it.
    pub held: HeldRole,
    context: Context,
    action: PhantomData<A>,
}

impl<A: Grant> Guard for RoleAccess<A> {
    fn keys(request: &Request<'_>) -> Vec<Result<Key, InvalidId>> {
        ProjectAccess::<A>::keys(request)
    }

    async fn load(request: Authenticated) -> Result<Self> {
        let id = request.path.id::<RoleId>("roleId");
        let ProjectAccess { project, context, .. } = ProjectAccess::<A>::load(request).await?;
        let held = project.staff.roles().into_iter().find(|held| id == Ok(held.id()));
        let held = held.ok_or(Error::NotFound)?;
        Ok(Self { project, held, context: context.about_revision(Context::UNCHANGING), action: PhantomData })
    }
}

extract!(ProjectAccess<A: Grant>);
extract!(CountedProjectAccess<A: Grant>);
extract!(RoleAccess<A: Grant>);
