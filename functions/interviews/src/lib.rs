//! The interview that this service conducts with a candidate: its state, recorded takes and written answers.

mod answers;
mod captions;
mod document;
mod drafts;
mod files;
mod guests;
mod interview;
mod reopening;
mod takes;
mod view;

use std::convert::identity;

use guests::{links, review};
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
        .group("Interviews", "Answers of candidates in projects whose interviews this service conducts.")
        .under("/companies/{companyId}/projects/{projectId}/candidates/{candidateId}/")
        .get("interview/", interview::read, "Get interview", document::get_interview)
        .post("interview/reopen/", reopening::reopen, "Reopen interview", document::reopen_interview)
        .get("guest-links/", links::list, "List guest links", document::list_guest_links)
        .post("guest-links/", links::create, "Create guest link", document::create_guest_link)
        .get("guest-links/{guestLinkId}/", links::read, "Get guest link", identity)
        .delete("guest-links/{guestLinkId}/", links::delete, "Delete guest link", document::delete_guest_link)
        .under("/companies/{companyId}/projects/{projectId}/candidates/{candidateId}/answers/{questionId}/")
        .get("", answers::read, "Get answer", document::get_answer)
        .put("", answers::write, "Write answer", document::write_answer)
        .delete("", answers::reset, "Reset answer", document::reset_answer)
        .put("draft/", drafts::save, "Save draft", document::save_draft)
        .delete("draft/", drafts::delete, "Delete draft", document::delete_draft)
        .put("captions/{language}/", captions::put, "Set captions of answer", document::set_captions)
        .delete(
            "captions/{language}/",
            captions::delete,
            "Delete captions of answer",
            document::delete_captions,
        )
        .get("captions/{language}/{token}/", captions::read, "Get captions of answer", document::get_captions)
        .post("takes/", takes::begin, "Begin take", document::begin_take)
        .patch("takes/{take}/", takes::finish, "Finish take", document::finish_take)
        .post("takes/{take}/parts/", takes::sign_parts, "Sign parts of take", document::sign_parts)
        .get("takes/{take}/video/{token}/", files::video, "Get recorded answer", document::get_recording)
        .get("takes/{take}/thumb/{token}/", files::thumb, "Get thumbnail of answer", document::get_thumbnail)
        .under("/review/")
        .get("", review::read, "Get review", document::get_review)
        .post("opening/", review::open, "Open review", document::open_review)
}
