//! What has changed in a company, in order and without gaps.

mod document;
mod feed;
mod view;

use shared::Routes;

/// The routes of this group.
pub fn routes<R: Routes>(routes: R) -> R {
    routes
        .group("Events", "What has changed in a company, in order and without gaps.")
        .under("/companies/{companyId}/events/")
        .get("", feed::list, document::list_events)
        .get("{eventId}/", feed::read, document::get_event)
}
