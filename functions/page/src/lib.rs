//! The page where candidates take their interview, and staff activate accounts and reset passwords. Links in
//! mails lead to it. Beside it, files that programs look for at fixed paths.
//!
//! The page is a script of this project, which calls the API. It loads nothing from other hosts than this service and the
//! bucket.

mod files;
mod index;
mod well_known;

use shared::http::RouteGroup;

/// The routes of this group, which stand beside the version segment: the page is no part of the API.
pub fn routes(routes: RouteGroup) -> RouteGroup {
    routes
        .page("/register/{key}/", index::show)
        .page("/interview/{company}/{key}/", index::show)
        .page("/interview/{company}/", index::show)
        .page("/reset-password/{key}/", index::show)
        .page("/activate/{key}/", index::show)
        // Parts of links, and what a mail program has added to one.
        .page("/register/", index::show_wrong)
        .page("/register/{key}/{*rest}", index::show_wrong)
        .page("/interview/", index::show_wrong)
        .page("/interview/{company}/{key}/{*rest}", index::show_wrong)
        .page("/reset-password/", index::show_wrong)
        .page("/reset-password/{key}/{*rest}", index::show_wrong)
        .page("/activate/", index::show_wrong)
        .page("/activate/{key}/{*rest}", index::show_wrong)
        .page("/page/{version}/{*path}", files::show)
        .page("/.well-known/security.txt/", well_known::show_security_contact)
        .page("/llms.txt/", well_known::show_guide_to_documents)
}
