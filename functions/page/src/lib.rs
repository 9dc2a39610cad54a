//! Four pages. Links in mails lead to the first one: candidates take their interview there, and staff activate
//! accounts, reset passwords, and confirm or restore addresses. On the second one, guests without an account watch a
//! candidate's answers through a link that a manager has made. On the third one, staff log in, watch answers and judge
//! them. The fourth one describes how accessible the pages are, and names a contact.
//!
//! Each page is a script that calls the API, and loads files only from this service and the bucket. All pages are made
//! of the files in `assets`: `main.js` imports the modules of the candidate's page, `guest.js` those of the guests',
//! `staff.js` those of the staff's, `accessibility.js` those of the fourth one. `page.css` comes before each page's own
//! styles. No page loads files that only another page needs. The modules in `player/` show a question with its answer
//! and do not depend on a page.
//!
//! The function also serves files that programs expect at fixed paths.

mod files;
mod index;
mod well_known;

use shared::app::App;
use shared::http::{HttpService, RouteGroup};

/// The HTTP service that answers the requests of this group.
pub fn service(app: App) -> HttpService {
    routes(RouteGroup::new()).into_service(app)
}

/// The routes of this group. They are outside `/api/v3`, because the pages are not part of the API.
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
        // Truncated links, and links with text that a mail program has appended.
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
