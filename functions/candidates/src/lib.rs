//! The candidates of a project, their files, consents and shares.

mod action;
mod bulk;
mod by_email;
mod cancellation;
mod changes;
mod crud;
mod data;
mod deadline;
mod document;
mod entries;
mod files;
mod help_request;
mod history;
mod import;
mod list;
mod privacy;
mod reminder;
mod shares;
mod status;
mod view;

use std::convert::identity;

use shared::RouteReader;
use shared::app::App;
use shared::http::{HttpService, RouteGroup};

use privacy::{consents, erasure_request, hold};

/// The HTTP service that answers the requests of this group.
pub fn service(app: App) -> HttpService {
    routes(RouteGroup::new()).into_service(app)
}

/// The routes of this group.
pub fn routes<R: RouteReader>(routes: R) -> R {
    routes
        .group(
            "Candidates",
            "The candidates of a project, their files, their way through the interview, what they ask for, their consents and their shares.",
        )
        .get(
            "/companies/{companyId}/candidates/",
            by_email::list,
            "List candidates by email",
            document::list_candidates_by_email,
        )
        .get(
            "/companies/{companyId}/projects/{projectId}/help-requests/",
            help_request::list,
            "List help requests",
            document::list_help_requests,
        )
        .under("/companies/{companyId}/projects/{projectId}/candidates/")
        .get("", list::list, "List candidates", document::list_candidates)
        .post("", crud::create, "Create candidate", document::create_candidate)
        .post("import/", import::create, "Import candidates", entries::document::import_candidates)
        .post("bulk/", bulk::create, "Act on many candidates", entries::document::act_on_many_candidates)
        .under("/companies/{companyId}/projects/{projectId}/candidates/{candidateId}/")
        .get("", crud::read, "Get candidate", identity)
        .patch("", crud::update, "Change candidate", document::change_candidate)
        .delete("", crud::delete, "Delete candidate", document::delete_candidate)
        .patch("deadline/", deadline::update, "Set deadline", document::set_deadline)
        .patch("status/advance/", status::advance, "Advance candidate", document::advance_candidate)
        .patch("status/skip/", status::skip, "Skip candidate", document::skip_candidate)
        .post("cancel/", cancellation::create, "Cancel interview", document::cancel_interview)
        .put("help-request/", help_request::save, "Ask for help", document::ask_for_help)
        .delete("help-request/", help_request::delete, "Take help request back", document::take_help_request_back)
        .post(
            "help-request/answer/",
            help_request::answer,
            "Answer help request",
            document::answer_help_request,
        )
        .post("reminder/", reminder::create, "Remind candidate", document::remind_candidate)
        .get("data/", data::read, "Get candidate data", document::get_candidate_data)
        .get("hold/", hold::read, "Get hold", privacy::document::get_hold)
        .put("hold/", hold::save, "Put candidate on hold", privacy::document::save_hold)
        .delete("hold/", hold::delete, "Delete hold", privacy::document::delete_hold)
        .get("erasure-request/", erasure_request::read, "Get erasure request", privacy::document::get_erasure_request)
        .put("erasure-request/", erasure_request::save, "Request erasure", privacy::document::request_erasure)
        .delete(
            "erasure-request/",
            erasure_request::delete,
            "Withdraw erasure request",
            privacy::document::withdraw_erasure,
        )
        .get("events/", history::list, "List events of candidate", document::list_events_of_candidate)
        .get("photo/{token}/", files::photo, "Get candidate photo", document::get_candidate_photo)
        .get("cv/{token}/", files::cv, "Get candidate CV", document::get_candidate_cv)
        .post("uploads/", files::announce, "Announce candidate file", document::announce_candidate_file)
        .get("uploads/{uploadId}/", files::upload, "Get candidate upload", document::get_candidate_upload)
        .get("consents/", consents::list, "List consents", privacy::document::list_consents)
        .put("consents/{kind}/", consents::record, "Record consent", privacy::document::record_consent)
        .delete("consents/{kind}/", consents::withdraw, "Withdraw consent", privacy::document::withdraw_consent)
        .get("shares/", shares::list, "List shares", document::list_shares)
        .post("shares/", shares::create, "Share candidate", document::share_candidate)
        .get("shares/{shareId}/", shares::read, "Get share", identity)
        .delete("shares/{shareId}/", shares::delete, "Delete share", identity)
}
