//! Projects, their status, the roles in them and how long they keep candidates.

mod changes;
mod copy;
mod crud;
mod document;
mod expand;
mod retention;
mod roles;
mod statistics;
mod status;
mod view;

use std::convert::identity;

use shared::RouteReader;
use shared::app::App;
use shared::http::{HttpService, RouteGroup};

/// The HTTP service that answers the requests of this group.
pub fn service(app: App) -> HttpService {
    routes(RouteGroup::new()).into_service(app)
}

/// The routes of this group.
pub fn routes<R: RouteReader>(routes: R) -> R {
    routes
        .group("Projects", "Projects, their status, roles, and how long they keep candidates.")
        .under("/companies/{companyId}/customers/{customerId}/projects/")
        .get("", crud::list_of_customer, "List projects of customer", document::list_projects_of_customer)
        .under("/companies/{companyId}/projects/")
        .get("", crud::list, "List projects", document::list_projects)
        .post("", crud::create, "Create project", document::create_project)
        .get("{projectId}/", crud::read, "Get project", document::get_project)
        .patch("{projectId}/", crud::update, "Change project", document::change_project)
        .get("{projectId}/status/", status::read, "Get project status", identity)
        .patch(
            "{projectId}/status/",
            status::update,
            "Change project status",
            document::change_project_status,
        )
        .get(
            "{projectId}/retention/",
            retention::read,
            "Get project retention",
            document::get_project_retention,
        )
        .put(
            "{projectId}/retention/",
            retention::replace,
            "Set project retention",
            document::set_project_retention,
        )
        .delete(
            "{projectId}/retention/",
            retention::delete,
            "Delete project retention",
            document::delete_project_retention,
        )
        .get(
            "{projectId}/statistics/",
            statistics::read,
            "Get statistics of project",
            document::get_statistics_of_project,
        )
        .get("{projectId}/roles/", roles::list, "List roles", document::list_roles)
        .post("{projectId}/roles/", roles::create, "Give role", document::give_role)
        .get("{projectId}/roles/{roleId}/", roles::read, "Get role", identity)
        .delete("{projectId}/roles/{roleId}/", roles::delete, "Take role", identity)
}
