//! The candidates of a project, their files, and with whom they are shared.

mod changes;
mod crud;
mod deadline;
mod document;
mod files;
mod import;
mod list;
mod reminder;
mod shares;
mod status;
mod view;

pub use document::group;
use shared::http::Routes;

/// The routes of this group.
pub fn routes() -> Routes {
    const LIST: &str = "/companies/{companyId}/projects/{projectId}/candidates/";
    const IMPORT: &str = "/companies/{companyId}/projects/{projectId}/candidates/import/";
    const ONE: &str = "/companies/{companyId}/projects/{projectId}/candidates/{candidateId}/";
    const DEADLINE: &str = "/companies/{companyId}/projects/{projectId}/candidates/{candidateId}/deadline/";
    const ADVANCE: &str =
        "/companies/{companyId}/projects/{projectId}/candidates/{candidateId}/status/advance/";
    const SKIP: &str = "/companies/{companyId}/projects/{projectId}/candidates/{candidateId}/status/skip/";
    const REMINDER: &str = "/companies/{companyId}/projects/{projectId}/candidates/{candidateId}/reminder/";
    const SHARES: &str = "/companies/{companyId}/projects/{projectId}/candidates/{candidateId}/shares/";
    const SHARE: &str =
        "/companies/{companyId}/projects/{projectId}/candidates/{candidateId}/shares/{shareId}/";
    const PHOTO: &str = "/companies/{companyId}/projects/{projectId}/candidates/{candidateId}/photo/{token}/";
    const CV: &str = "/companies/{companyId}/projects/{projectId}/candidates/{candidateId}/cv/{token}/";
    const UPLOADS: &str = "/companies/{companyId}/projects/{projectId}/candidates/{candidateId}/uploads/";
    const UPLOAD: &str =
        "/companies/{companyId}/projects/{projectId}/candidates/{candidateId}/uploads/{uploadId}/";
    Routes::new()
        .get(LIST, list::list)
        .post(LIST, crud::create)
        .post(IMPORT, import::create)
        .get(ONE, crud::read)
        .patch(ONE, crud::update)
        .delete(ONE, crud::delete)
        .patch(DEADLINE, deadline::update)
        .patch(ADVANCE, status::advance)
        .patch(SKIP, status::skip)
        .post(REMINDER, reminder::create)
        .get(PHOTO, files::photo)
        .get(CV, files::cv)
        .post(UPLOADS, files::announce)
        .get(UPLOAD, files::upload)
        .get(SHARES, shares::list)
        .post(SHARES, shares::create)
        .get(SHARE, shares::read)
        .delete(SHARE, shares::delete)
}
