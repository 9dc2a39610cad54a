//! Listing, creating, reading and changing projects.

use axum::Json;
use axum::extract::RawQuery;
use shared::auth::guard::{Beside, InCompany, OnCustomer, OnProject};
use shared::auth::policy::{Action, ChangeProject, CreateProject, ListProjects, ReadProject};
use shared::domain::company::Company;
use shared::domain::project::{Project, ProjectStatus};
use shared::domain::roster::Roster;
use shared::domain::tally::Tally;
use shared::http::Fields;
use shared::http::page::{Envelope, ListQuery};
use shared::http::respond::Created;
use shared::{Error, Result};

use crate::changes::Changes;
use crate::nested::{Loaded, read_expand};
use crate::view::{ListedProjectView, ProjectView, Viewer};

/// A named token cannot run the project that it creates.
const NO_MANAGER: &str = "A named token cannot manage projects. Name at least one customer as manager.";

/// GET …/projects/
pub(crate) async fn list(
    guard: InCompany<ListProjects>,
    RawQuery(query): RawQuery,
) -> Result<Envelope<ListedProjectView>> {
    let expand = read_expand(query.as_deref())?;
    let query = ListQuery::parse(query.as_deref())?;
    let status = query.filter("status", ProjectStatus::parse)?;
    let sees_all = Action::SeeAllProjects.is_allowed(&guard.caller.in_company());
    let (page, total) = match guard.caller.customer().filter(|_| !sees_all) {
        None => guard.store.list_projects(guard.company(), status, query.page()).await?,
        Some(customer) => {
            let projects = guard.store.projects_of(guard.company(), customer, status).await?;
            query.slice(projects, |counted| counted.project.id.to_string())
        }
    };
    query.check_range(total)?;
    let loaded = Loaded::load(&guard, expand, page.rows.iter().map(|counted| &*counted.project)).await?;
    let viewer = Viewer::of(&guard, &guard.company).with(loaded);
    let page = page.map(|counted| ListedProjectView::new(&counted.project, &counted.tally, &viewer));
    Ok(query.envelope(&guard.references().projects(guard.company()), page, total))
}

/// GET …/customers/{customerId}/projects/: those in which the customer has a role and that the caller may see.
pub(crate) async fn list_of_customer(
    Beside(guard, company): Beside<OnCustomer<ListProjects>, Company>,
    RawQuery(query): RawQuery,
) -> Result<Envelope<ListedProjectView>> {
    let expand = read_expand(query.as_deref())?;
    let query = ListQuery::parse(query.as_deref())?;
    let status = query.filter("status", ProjectStatus::parse)?;
    let mut projects = guard.store.projects_of(guard.company(), guard.customer.id, status).await?;
    projects.retain(|counted| Action::ReadProject.is_allowed(&guard.caller.in_project(&counted.project)));
    let (page, total) = query.slice(projects, |counted| counted.project.id.to_string());
    query.check_range(total)?;
    let loaded = Loaded::load(&guard, expand, page.rows.iter().map(|counted| &*counted.project)).await?;
    let viewer = Viewer::of(&guard, &company).with(loaded);
    let page = page.map(|counted| ListedProjectView::new(&counted.project, &counted.tally, &viewer));
    let address = format!("{}projects/", guard.references().customer(guard.company(), guard.customer.id));
    Ok(query.envelope(&address, page, total))
}

/// POST …/projects/
pub(crate) async fn create(guard: InCompany<CreateProject>, body: Fields) -> Result<Created<ProjectView>> {
    let changes = Changes::read_new(body, guard.company(), guard.references())?;
    let (settings, mut staff) = changes.into_new(&guard.company, guard.now)?;
    // Whoever creates a project runs it.
    staff.interview_managers.extend(guard.caller.customer());
    if staff.interview_managers.is_empty() {
        return Err(Error::field("interview_managers", NO_MANAGER));
    }
    let id = guard.store.next_id(guard.now);
    let company = guard.company().clone();
    let (status, roster) = (ProjectStatus::Incomplete, Roster::default());
    let project = Project { id, company, status, settings, staff, roster };
    guard.store.commit(guard.store.create_project(&project)).await?;
    let view = ProjectView::new(&project, &Tally::default(), &Viewer::of(&guard, &guard.company));
    Ok(Created(guard.references().project(guard.company(), id), view))
}

/// GET …/projects/{projectId}/
pub(crate) async fn read(
    guard: OnProject<ReadProject>,
    RawQuery(query): RawQuery,
) -> Result<Json<ProjectView>> {
    let expand = read_expand(query.as_deref())?;
    let loaded = Loaded::load(&guard, expand, std::iter::once(&*guard.project)).await?;
    let viewer = Viewer::of(&guard, &guard.company).with(loaded);
    Ok(Json(ProjectView::new(&guard.project, &guard.tally, &viewer)))
}

/// PATCH …/projects/{projectId}/
pub(crate) async fn update(guard: OnProject<ChangeProject>, body: Fields) -> Result<Json<ProjectView>> {
    let mut after = Project::clone(&guard.project);
    let changes = Changes::read(body, guard.company(), guard.references())?;
    changes.apply_to(&mut after.settings, &mut after.staff)?;
    if after != *guard.project {
        guard.store.commit(guard.store.update_project(&guard.project, &after)).await?;
    }
    Ok(Json(ProjectView::new(&after, &guard.tally, &Viewer::of(&guard, &guard.company))))
}
