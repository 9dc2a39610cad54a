//! Listing, creating, reading and changing projects.

use axum::Json;
use shared::auth::access::Admitted;
use shared::domain::company::Company;
use shared::domain::parse_enum;
use shared::domain::policy::{Action, ChangeProject, CreateProject, ListProjects, ReadProject};
use shared::domain::project::{InterviewPlatform, Project};
use shared::domain::staff::customer::Customer;
use shared::domain::transition::project_counts::ProjectCounts;
use shared::http::exchange::respond::{CommittedResponse, Created};
use shared::http::expand::ExpandFields;
use shared::http::page::{ListQuery, PageView};
use shared::http::{BodyFields, QueryParameters};
use shared::{Error, Result};

use crate::changes::{apply, read_changes, read_new};
use crate::expand::{ExpandedResources, NAMES};
use crate::view::{ListedProjectView, ProjectView, ProjectViewer};

/// A named token cannot run the project that it creates.
const NO_MANAGER: &str = "A named token cannot manage projects. Name at least one customer as manager.";

/// GET …/projects/
pub(crate) async fn list(
    access: Admitted<Company, ListProjects>,
    query: ListQuery,
) -> Result<PageView<ListedProjectView>> {
    let expand = query.expand(NAMES)?;
    let status = query.filter("status", parse_enum)?;
    let sees_all = Action::SeeAllProjects.is_allowed(&access.caller.in_company());
    let (page, total) = match access.caller.customer().filter(|_| !sees_all) {
        None => access.store.list_projects(access.company_id(), status, query.page()).await?,
        Some(customer) => {
            let projects = access.store.projects_of(access.company_id(), customer, status).await?;
            query.slice(projects, |counted| counted.project.id.to_string())
        }
    };
    let loaded =
        ExpandedResources::load(&access, expand, page.rows.iter().map(|counted| &*counted.project)).await?;
    let viewer = ProjectViewer::of(&access, &access.target).with(loaded);
    let page = page.map(|counted| ListedProjectView::new(&counted.project, &counted.counts, &viewer));
    query.answer(page, total)
}

/// GET …/customers/{customerId}/projects/: the customer's projects that the caller may see.
pub(crate) async fn list_of_customer(
    access: Admitted<Customer, ListProjects>,
    query: ListQuery,
) -> Result<PageView<ListedProjectView>> {
    let expand = query.expand(NAMES)?;
    let status = query.filter("status", parse_enum)?;
    let mut projects =
        access.store.projects_of(access.company_id(), access.target.customer.id, status).await?;
    projects
        .retain(|counted| Action::ReadProject.is_allowed(&access.caller.in_project(&counted.project.staff)));
    let (page, total) = query.slice(projects, |counted| counted.project.id.to_string());
    let loaded =
        ExpandedResources::load(&access, expand, page.rows.iter().map(|counted| &*counted.project)).await?;
    let viewer = ProjectViewer::of(&access, &access.target.company).with(loaded);
    let page = page.map(|counted| ListedProjectView::new(&counted.project, &counted.counts, &viewer));
    query.answer(page, total)
}

/// POST …/projects/
pub(crate) async fn create(
    access: Admitted<Company, CreateProject>,
    body: BodyFields,
) -> Result<CommittedResponse<Created<ProjectView>>> {
    let is_local = access.config().is_local;
    let (name, changes) = read_new(body, access.company_id(), access.references(), is_local)?;
    let id = access.store.next_id(access.now);
    let mut project = Project::new(id, &access.target, name, access.now);
    // Without an application of the company's, mails lead to this service.
    if !access.config().has_suite {
        project.settings.interview_platform = InterviewPlatform::Builtin;
    }
    apply(changes, &mut project)?;
    // The user who creates a project runs it.
    project.staff.interview_managers.extend(access.caller.customer());
    // A named token holds no role, and without a manager only owners and admins would see the project.
    if project.staff.interview_managers.is_empty() {
        return Err(Error::field("interview_managers", NO_MANAGER));
    }
    let view =
        ProjectView::new(&project, &ProjectCounts::default(), &ProjectViewer::of(&access, &access.target));
    let created = Created(view);
    access.commit(access.store.create_project(&project), created).await
}

/// GET …/projects/{projectId}/
pub(crate) async fn read(
    access: Admitted<ProjectCounts, ReadProject>,
    query: QueryParameters,
) -> Result<CommittedResponse<Json<ProjectView>>> {
    let expand = ExpandFields::read(&query, NAMES)?;
    let loaded = ExpandedResources::load(&access, expand, std::iter::once(&*access.target.project)).await?;
    let viewer = ProjectViewer::of(&access, &access.target.company).with(loaded);
    access.show(ProjectView::new(&access.target.project, &access.target.counts, &viewer))
}

/// PATCH …/projects/{projectId}/
pub(crate) async fn update(
    access: Admitted<ProjectCounts, ChangeProject>,
    body: BodyFields,
) -> Result<CommittedResponse<Json<ProjectView>>> {
    let mut after = Project::clone(&access.target.project);
    let is_local = access.config().is_local;
    apply(read_changes(body, access.company_id(), access.references(), is_local)?, &mut after)?;
    let view =
        ProjectView::new(&after, &access.target.counts, &ProjectViewer::of(&access, &access.target.company));
    access.commit(access.store.update_project(&access.target.project, &after), Json(view)).await
}
