//! The legal texts of a company. They are public, because candidates read them before they have a credential.

use axum::Json;
use shared::auth::access::{Admitted, PublishedTexts};
use shared::domain::company::Company;
use shared::domain::parse_enum;
use shared::domain::policy::ManagePrivacy;
use shared::domain::privacy::legal::{LegalDraft, LegalKind, LegalWording};
use shared::http::exchange::respond::{CommittedResponse, Created};
use shared::http::page::PageView;
use shared::http::{BodyFields, QueryParameters};
use shared::{Error, Result};

use crate::view::LegalTextView;

/// GET …/legal/
pub(crate) async fn list(
    access: PublishedTexts,
    mut query: QueryParameters,
) -> Result<PageView<LegalTextView>> {
    let kind: Option<LegalKind> = query.filter("kind", parse_enum);
    let language = query.filter("language", parse_enum);
    let only_current =
        query.filter("current", |text| text.parse().map_err(|_| "Must be a valid boolean.".to_owned()));
    let only_current = only_current.unwrap_or(false);
    let query = query.finish_list()?;
    let mut ids = access.listed(only_current).await?;
    ids.retain(|id| kind.is_none_or(|kind| id.kind == kind));
    let (page, total) = query.slice_unsorted(ids, |id| id.to_string());
    let mut texts = access.texts(&page.rows).await?;
    let page = page.filter_map(|id| texts.remove(&id));
    query.answer(page.map(|text| LegalTextView::new(&text, language, access.references())), total)
}

/// POST …/legal/
pub(crate) async fn create(
    access: Admitted<Company, ManagePrivacy>,
    body: BodyFields,
) -> Result<CommittedResponse<Created<LegalTextView>>> {
    let before = &access.target;
    let published = Company::clone(before).publish(read_new(body)?, access.now);
    let (after, text) = published.ok_or_else(|| Error::field("texts", "This kind has no text to retire."))?;
    let created = Created(LegalTextView::new(&text, None, access.references()));
    access.commit(access.store.publish_legal_text(before, &after, &text), created).await
}

/// Reads a new legal text.
pub(crate) fn read_new(mut body: BodyFields) -> Result<LegalDraft> {
    let kind = body.required("kind", parse_enum);
    body.require("texts");
    let texts = body.map("texts", LegalWording::parse);
    let is_required = body.flag("is_required").unwrap_or(false);
    if is_required && texts.as_ref().is_some_and(|texts| texts.is_empty()) {
        body.refuse("is_required", "A kind without texts cannot be required.");
    }
    body.finish(|| Some(LegalDraft { kind: kind?, texts: texts?, is_required }))
}

/// GET …/legal/{documentId}/
pub(crate) async fn read(access: PublishedTexts) -> Result<CommittedResponse<Json<LegalTextView>>> {
    let text = access.text().await?;
    access.show(&LegalTextView::new(&text, None, access.references()))
}
