//! The company, its logo, labels, legal texts, retention, exports and usage, and the candidates shared with its staff.

mod changes;
mod company;
mod document;
mod exports;
mod labels;
mod languages;
mod legal;
mod logo;
mod retention;
mod shares;
mod usage;
mod view;

use std::convert::identity;

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
        .group(
            "Companies",
            "A company's settings, labels, legal texts, how long it keeps candidates, the candidates that its staff share, what it \
             uses, and exports of everything.",
        )
        .under("/companies/{companyId}/")
        .get("", company::read, "Get company", identity)
        .patch("", company::update, "Change company", document::change_company)
        .put("logo/", logo::put, "Set logo", document::set_logo)
        .delete("logo/", logo::delete, "Delete logo", document::delete_logo)
        .get("logo/{logoId}/", logo::read, "Get logo", document::get_logo)
        .get("login/", company::show_login, "Get company login", document::get_company_login)
        .get("languages/", languages::list, "List languages", document::list_languages)
        .get("shares/", shares::list, "List shares with caller", document::list_shares_with_caller)
        .get("usage/", usage::read, "Get usage", document::get_usage)
        .under("/companies/{companyId}/retention/")
        .get("", retention::read, "Get retention", document::get_retention)
        .put("", retention::replace, "Set retention", document::set_retention)
        .delete("", retention::delete, "Delete retention", document::delete_retention)
        .get("due/", retention::due::list, "List due candidates", document::list_due)
        .under("/companies/{companyId}/exports/")
        .get("", exports::list, "List exports", document::list_exports)
        .post("", exports::create, "Request export", document::request_export)
        .get("{exportId}/", exports::read, "Get export", document::get_export)
        .delete("{exportId}/", exports::delete, "Delete export", document::delete_export)
        .get("{exportId}/media/", exports::media::list, "List exported media", document::list_exported_media)
        .under("/companies/{companyId}/labels/")
        .get("", labels::list, "List labels", document::list_labels)
        .post("", labels::create, "Create label", document::create_label)
        .get("{labelId}/", labels::read, "Get label", identity)
        .patch("{labelId}/", labels::update, "Change label", document::change_label)
        .delete("{labelId}/", labels::delete, "Delete label", document::delete_label)
        .under("/companies/{companyId}/legal/")
        .get("", legal::list, "List legal texts", document::list_legal_texts)
        .post("", legal::create, "Publish legal text", document::publish_legal_text)
        .get("{documentId}/", legal::read, "Get legal text", document::get_legal_text)
}
