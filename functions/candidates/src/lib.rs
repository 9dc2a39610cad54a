//! The candidates of a project, their files, and with whom they are shared.

mod changes;
mod crud;
mod deadline;
mod document;
mod files;
mod history;
mod import;
mod list;
mod reminder;
mod shares;
mod status;
mod view;

use shared::RouteReader;

/// The routes of this group.
pub fn routes<R: RouteReader>(routes: R) -> R {
    routes
        .group(
            "Candidates",
            "The candidates of a project, their files, their way through the interview, and their shares.",
        )
        .under("/companies/{companyId}/projects/{projectId}/candidates/")
        .get("", list::list, document::list_candidates)
        .post("", crud::create, document::create_candidate)
        .post("import/", import::create, document::import_candidates)
        .under("/companies/{companyId}/projects/{projectId}/candidates/{candidateId}/")
        .get("", crud::read, document::get_candidate)
        .patch("", crud::update, document::change_candidate)
        .delete("", crud::delete, document::delete_candidate)
        .patch("deadline/", deadline::update, document::set_deadline)
        .patch("status/advance/", status::advance, document::advance_candidate)
        .patch("status/skip/", status::skip, document::skip_candidate)
        .post("reminder/", reminder::create, document::remind_candidate)
        .get("events/", history::list, document::list_candidate_events)
        .get("photo/{token}/", files::photo, document::get_candidate_photo)
        .get("cv/{token}/", files::cv, document::get_candidate_cv)
        .post("uploads/", files::announce, document::announce_candidate_file)
        .get("uploads/{uploadId}/", files::upload, document::get_candidate_upload)
        .get("shares/", shares::list, document::list_shares)
        .post("shares/", shares::create, document::share_candidate)
        .get("shares/{shareId}/", shares::read, document::get_share)
        .delete("shares/{shareId}/", shares::delete, document::delete_share)
}
