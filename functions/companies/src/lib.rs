//! The company itself, its labels and its named tokens, and what its people share with each other.

mod changes;
mod company;
mod document;
mod labels;
mod shares;
mod tokens;
mod view;

pub use document::group;
use shared::http::Routes;

/// The routes of this group.
pub fn routes() -> Routes {
    const COMPANY: &str = "/companies/{companyId}/";
    const LABELS: &str = "/companies/{companyId}/labels/";
    const LABEL: &str = "/companies/{companyId}/labels/{labelId}/";
    const TOKENS: &str = "/companies/{companyId}/tokens/";
    const TOKEN: &str = "/companies/{companyId}/tokens/{tokenId}/";
    const SHARES: &str = "/companies/{companyId}/shares/";
    Routes::new()
        .get(COMPANY, company::read)
        .patch(COMPANY, company::update)
        .get(LABELS, labels::list)
        .post(LABELS, labels::create)
        .get(LABEL, labels::read)
        .patch(LABEL, labels::update)
        .delete(LABEL, labels::delete)
        .get(SHARES, shares::list)
        .get(TOKENS, tokens::list)
        .post(TOKENS, tokens::create)
        .get(TOKEN, tokens::read)
        .delete(TOKEN, tokens::delete)
}
