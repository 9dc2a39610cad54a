//! Listing, creating, reading and changing projects.

use axum::Json;
use shared::auth::access::{Admitted, AdmittedRequest};
use shared::domain::company::Company;
use shared::domain::history::ResourceRef;
use shared::domain::parse_enum;
use shared::domain::policy::{Action, ChangeProject, CreateProject, ListProjects, ReadProject};
use shared::domain::project::{InterviewPlatform, Project};
use shared::domain::staff::ProjectStaff;
use shared::domain::staff::customer::Customer;
use shared::domain::text::ExternalId;
use shared::domain::transition::project_counts::ProjectCounts;
use shared::http::exchange::respond::{CommittedResponse, Created, TaggedBy};
use shared::http::page::PageView;
use shared::http::{BodyFields, QueryParameters};
use shared::store::CountedProject;
use shared::{Error, Result};

use crate::changes::{NewProject, apply, read_changes, read_new};
use crate::copy::ProjectCopy;
use crate::expand::{EVALUATORS, ExpandedResources, INTERVIEW_MANAGERS, NAMES, REVIEWERS};
use crate::view::{ListedProjectView, NewProjectView, ProjectView, ProjectViewer};

/// The error if a named token creates a project without managers: its own list of projects never changes, so it could
/// not manage the new one.
const NO_MANAGER: &str = "A named token cannot manage projects. Name at least one customer as manager.";

/// GET …/projects/
pub(crate) async fn list(
    access: Admitted<Company, ListProjects>,
    mut query: QueryParameters,
) -> Result<PageView<ListedProjectView>> {
    let expand = query.expand(NAMES);
    let status = query.filter("status", parse_enum);
    let external_id = query.unique_filter("external_id", ExternalId::parse);
    let query = query.finish_list()?;
    let store = &access.store;
    let company = access.company_id();
    let (page, total) = if let Some(external_id) = external_id {
        let found = store.project_by_external_id(company, &external_id).await?;
        let found = found.filter(|CountedProject { project, .. }| {
            is_seen(&access, project) && status.is_none_or(|status| project.status == status)
        });
        query.slice(found.into_iter().collect(), |counted| counted.project.id.to_string())
    } else if let Some(visible) = access.visible_projects().await? {
        let projects = store.counted_projects(company, visible, status).await?;
        query.slice(projects, |counted| counted.project.id.to_string())
    } else {
        store.list_projects(company, status, query.page()).await?
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
    mut query: QueryParameters,
) -> Result<PageView<ListedProjectView>> {
    let expand = query.expand(NAMES);
    let status = query.filter("status", parse_enum);
    let query = query.finish_list()?;
    let mut projects =
        access.store.projects_of(access.company_id(), access.target.customer.id, status).await?;
    projects.retain(|counted| is_seen(&access, &counted.project));
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
) -> Result<CommittedResponse<TaggedBy<Created<NewProjectView>, ProjectView>>> {
    let is_local = access.config().is_local;
    let NewProject { name, copy_of, changes } =
        read_new(body, access.company_id(), access.references(), is_local)?;
    let copy = match copy_of {
        Some(source) => Some(ProjectCopy::read(&access, source).await?),
        None => None,
    };
    let id = access.store.next_id(access.now);
    let mut project = Project::new(id, &access.target, name, access.now);
    match &copy {
        Some(copy) => project = copy.apply_to(project),
        // Without an external interview application (`SUITE_URL`), this service conducts the interviews.
        None if !access.config().has_suite => {
            project.settings.interview_platform = InterviewPlatform::Builtin;
        }
        None => {}
    }
    apply(changes, &mut project)?;
    // The customer who creates a project becomes its manager.
    project.staff.interview_managers.extend(access.caller.customer());
    // A named token holds no role, and a project without managers is visible only to owners and admins.
    if project.staff.interview_managers.is_empty() {
        return Err(Error::field("interview_managers", NO_MANAGER));
    }
    let viewer = ProjectViewer::of(&access, &access.target);
    let view = || ProjectView::new(&project, &ProjectCounts::default(), &viewer);
    let not_copied = copy.as_ref().map(ProjectCopy::not_copied);
    let created = TaggedBy(Created(NewProjectView::new(view(), not_copied)), view());
    let writes = match &copy {
        Some(copy) => copy.create(&access, &project),
        None => access.store.create_project(&project),
    };
    match access.commit(writes, created).await {
        // A part of the original was deleted in the meantime, so retry with what is left.
        Err(Error::NotFound) if copy.is_some() => Err(Error::Changed),
        Err(error) => Err(name_visible_holder(&access, error).await?),
        committed => committed,
    }
}

/// GET …/projects/{projectId}/
pub(crate) async fn read(
    access: Admitted<ProjectCounts, ReadProject>,
    mut query: QueryParameters,
) -> Result<CommittedResponse<Json<ProjectView>>> {
    let expand = query.expand(NAMES);
    query.finish()?;
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
    let ProjectStaff { evaluators, interview_managers, reviewers } = &after.staff;
    let named = [(EVALUATORS, evaluators), (INTERVIEW_MANAGERS, interview_managers), (REVIEWERS, reviewers)];
    let named = named.into_iter().flat_map(|(name, all)| all.iter().map(move |customer| (name, *customer)));
    access.require_visible(&named.collect::<Vec<_>>()).await?;
    let view =
        ProjectView::new(&after, &access.target.counts, &ProjectViewer::of(&access, &access.target.company));
    match access.commit(access.store.update_project(&access.target.project, &after), Json(view)).await {
        Err(error) => Err(name_visible_holder(&access, error).await?),
        committed => committed,
    }
}

/// Adds the project that has the `external_id` to the error if the caller may see it; returns other errors unchanged.
async fn name_visible_holder(access: &AdmittedRequest, error: Error) -> Result<Error> {
    let Error::ExternalIdTaken { holder: Some(ResourceRef::Project { project }), .. } = error else {
        return Ok(error);
    };
    // Callers without a role in the project must not learn that it exists.
    let holder = access.store.project(access.company_id(), project).await?;
    let is_seen = holder.is_some_and(|holder| is_seen(access, &holder));
    Ok(if is_seen { access.name_holder(error) } else { error })
}

/// Whether the caller may see the project.
fn is_seen(access: &AdmittedRequest, project: &Project) -> bool {
    Action::ReadProject.is_allowed(&access.caller.in_project(project.id, &project.staff))
}
