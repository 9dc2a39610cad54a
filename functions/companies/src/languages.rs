//! The languages of the service's texts.

use schemars::JsonSchema;
use serde::Serialize;
use shared::Result;
use shared::auth::access::Admitted;
use shared::domain::company::Company;
use shared::domain::id::Id;
use shared::domain::language::Language;
use shared::domain::policy::ReadCompany;
use shared::http::page::{ListQuery, PageView};

/// A language.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Language")]
pub(crate) struct LanguageView {
    /// The short code.
    #[schemars(example = &"de")]
    code: Language,
    /// The code with its country.
    #[schemars(example = &"de-DE")]
    iso_code: &'static str,
    /// The language's own name.
    #[schemars(example = &"Deutsch")]
    name: &'static str,
}

/// GET …/languages/
pub(crate) async fn list(
    _: Admitted<Company, ReadCompany>,
    query: ListQuery,
) -> Result<PageView<LanguageView>> {
    // Links to pages need identifiers in list order, which languages lack, so derive them from the index.
    let (page, total) = query.slice(Language::ALL.to_vec(), |language| {
        Id::<Language>::from_bytes([*language as u8; 16]).to_string()
    });
    let page = page.map(|code| LanguageView { code, iso_code: code.iso(), name: code.name() });
    query.answer(page, total)
}
