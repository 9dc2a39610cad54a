//! Projects, their status and the roles in them.

mod changes;
mod crud;
mod document;
mod expand;
mod roles;
mod status;
mod view;

use shared::RouteReader;

/// The routes of this group.
pub fn routes<R: RouteReader>(routes: R) -> R {
    routes
        .group("Projects", "Projects, their status and roles.")
        .under("/companies/{companyId}/customers/{customerId}/projects/")
        .get("", crud::list_of_customer, document::list_projects_of_customer)
        .under("/companies/{companyId}/projects/")
        .get("", crud::list, document::list_projects)
        .post("", crud::create, document::create_project)
        .get("{projectId}/", crud::read, document::get_project)
        .patch("{projectId}/", crud::update, document::change_project)
        .get("{projectId}/status/", status::read, document::get_project_status)
        .patch("{projectId}/status/", status::update, document::change_project_status)
        .get("{projectId}/roles/", roles::list, document::list_roles)
        .post("{projectId}/roles/", roles::create, document::give_role)
        .get("{projectId}/roles/{roleId}/", roles::read, document::get_role)
        .delete("{projectId}/roles/{roleId}/", roles::delete, document::take_role)
}
