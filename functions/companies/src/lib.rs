//! The company itself, its labels and its named tokens, and what its people share with each other.

mod changes;
mod company;
mod document;
mod labels;
mod languages;
mod shares;
mod tokens;
mod view;

use shared::RouteReader;

/// The routes of this group.
pub fn routes<R: RouteReader>(routes: R) -> R {
    routes
        .group(
            "Companies",
            "A company's settings, labels, named tokens, and the candidates that its staff share.",
        )
        .under("/companies/{companyId}/")
        .get("", company::read, document::get_company)
        .patch("", company::update, document::change_company)
        .get("languages/", languages::list, document::list_languages)
        .get("shares/", shares::list, document::list_shares_with_caller)
        .under("/companies/{companyId}/labels/")
        .get("", labels::list, document::list_labels)
        .post("", labels::create, document::create_label)
        .get("{labelId}/", labels::read, document::get_label)
        .patch("{labelId}/", labels::update, document::change_label)
        .delete("{labelId}/", labels::delete, document::delete_label)
        .under("/companies/{companyId}/tokens/")
        .get("", tokens::list, document::list_named_tokens)
        .post("", tokens::create, document::create_named_token)
        .get("{tokenId}/", tokens::read, document::get_named_token)
        .delete("{tokenId}/", tokens::delete, document::delete_named_token)
}
