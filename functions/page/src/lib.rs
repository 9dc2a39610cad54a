//! Four pages. Links in mails lead to the one where candidates take their interview, and staff activate accounts, reset
//! passwords, confirm addresses and restore them. On the second one, a guest without an account watches a candidate's answers, by a
//! link that a manager has made. On the third one, staff log in, watch answers and judge them. The
//! fourth one says how far all of them can be used by everyone, and whom to ask for another way.
//!
//! Each page is a script of this project, which calls the API. It loads nothing from other hosts than this service and the
//! bucket. All are made of the files in `assets`: `main.js` imports the modules of the candidate's page, `guest.js` those of the
//! guest's, `staff.js` those of the staff's, `accessibility.js` those of the fourth one, and the styles of all follow those in
//! `page.css`. No page loads what is another's alone. The modules in `player/` show a question with its answer, and know no page.
//!
//! Beside the pages, files that programs look for at fixed paths.

mod files;
mod index;
mod well_known;

use shared::app::App;
use shared::http::{HttpService, RouteGroup};

/// Answers the requests of this group.
pub fn service(app: App) -> HttpService {
    routes(RouteGroup::new()).into_service(app)
}

/// The routes of this group, which stand beside the version segment: the page is no part of the API.
pub fn routes(routes: RouteGroup) -> RouteGroup {
    routes
        .page("/register/{key}/", index::show)
        .page("/interview/{company}/{key}/", index::show)
        .page("/interview/{company}/", index::show)
        .page("/reset-password/{key}/", index::show)
        .page("/activate/{key}/", index::show)
        .page("/confirm-email/{key}/", index::show)
        .page("/restore-email/{key}/", index::show)
        .page("/review/{key}/", index::show_to_guest)
        .page("/staff/{company}/", index::show_to_staff)
        .page("/project/{company}/{project}/", index::show_to_staff)
        .page("/result/{company}/{project}/{candidate}/", index::show_to_staff)
        .page("/sign-in/", index::show_to_staff)
        .page("/accessibility/", index::show_accessibility)
        .page("/accessibility/{company}/", index::show_accessibility)
        // Parts of links, and what a mail program has added to one.
        .page("/register/", index::show_wrong)
        .page("/register/{key}/{*rest}", index::show_wrong)
        .page("/interview/", index::show_wrong)
        .page("/interview/{company}/{key}/{*rest}", index::show_wrong)
        .page("/reset-password/", index::show_wrong)
        .page("/reset-password/{key}/{*rest}", index::show_wrong)
        .page("/activate/", index::show_wrong)
        .page("/activate/{key}/{*rest}", index::show_wrong)
        .page("/confirm-email/", index::show_wrong)
        .page("/confirm-email/{key}/{*rest}", index::show_wrong)
        .page("/restore-email/", index::show_wrong)
        .page("/restore-email/{key}/{*rest}", index::show_wrong)
        .page("/review/", index::show_wrong_to_guest)
        .page("/review/{key}/{*rest}", index::show_wrong_to_guest)
        .page("/staff/", index::show_wrong_to_staff)
        .page("/staff/{company}/{*rest}", index::show_wrong_to_staff)
        .page("/project/", index::show_wrong_to_staff)
        .page("/project/{company}/", index::show_wrong_to_staff)
        .page("/project/{company}/{project}/{*rest}", index::show_wrong_to_staff)
        .page("/result/", index::show_wrong_to_staff)
        .page("/result/{company}/", index::show_wrong_to_staff)
        .page("/result/{company}/{project}/", index::show_wrong_to_staff)
        .page("/result/{company}/{project}/{candidate}/{*rest}", index::show_wrong_to_staff)
        .page("/sign-in/{*rest}", index::show_wrong_to_staff)
        .page("/accessibility/{company}/{*rest}", index::show_wrong_accessibility)
        .page("/page/{version}/{*path}", files::show)
        .page("/.well-known/security.txt/", well_known::show_security_contact)
        .page("/llms.txt/", well_known::show_guide_to_documents)
}
