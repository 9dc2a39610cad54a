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

use std::convert::identity;

use shared::RouteReader;

/// The routes of this group.
pub fn routes<R: RouteReader>(routes: R) -> R {
    routes
        .group(
            "Candidates",
            "The candidates of a project, their files, their way through the interview, and their shares.",
        )
        .under("/companies/{companyId}/projects/{projectId}/candidates/")
        .get("", list::list, "List candidates", document::list_candidates)
        .post("", crud::create, "Create candidate", document::create_candidate)
        .post("import/", import::create, "Import candidates", document::import_candidates)
        .under("/companies/{companyId}/projects/{projectId}/candidates/{candidateId}/")
        .get("", crud::read, "Get candidate", identity)
        .patch("", crud::update, "Change candidate", document::change_candidate)
        .delete("", crud::delete, "Delete candidate", document::delete_candidate)
        .patch("deadline/", deadline::update, "Set deadline", document::set_deadline)
        .patch("status/advance/", status::advance, "Advance candidate", document::advance_candidate)
        .patch("status/skip/", status::skip, "Skip candidate", document::skip_candidate)
        .post("reminder/", reminder::create, "Remind candidate", document::remind_candidate)
        .get("events/", history::list, "List candidate's events", document::list_candidate_events)
        .get("photo/{token}/", files::photo, "Get candidate photo", document::get_candidate_photo)
        .get("cv/{token}/", files::cv, "Get candidate CV", document::get_candidate_cv)
        .post("uploads/", files::announce, "Announce candidate file", document::announce_candidate_file)
        .get("uploads/{uploadId}/", files::upload, "Get candidate upload", document::get_candidate_upload)
        .get("shares/", shares::list, "List shares", document::list_shares)
        .post("shares/", shares::create, "Share candidate", document::share_candidate)
        .get("shares/{shareId}/", shares::read, "Get share", identity)
        .delete("shares/{shareId}/", shares::delete, "Delete share", identity)
}
