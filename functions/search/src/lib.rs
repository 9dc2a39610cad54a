//! The search of candidates by name and email.

mod document;
mod find;
mod view;

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
        .group("Search", "Search of candidates by name and email, in all projects that the caller may read.")
        .get("/companies/{companyId}/search/", find::list, "Search candidates", document::search_candidates)
}
