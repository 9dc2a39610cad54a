//! The answers that a guest watches.

use std::collections::BTreeMap;

use axum::Json;
use shared::Result;
use shared::auth::access::GuestReview;

use super::view::ReviewView;

/// GET /review/
pub(crate) async fn read(guest: GuestReview) -> Result<Json<ReviewView>> {
    let written: Vec<_> = guest.answers.written().collect();
    let texts = match written.is_empty() {
        true => BTreeMap::new(),
        false => guest.store.answer_texts(&guest.answers, written).await?,
    };
    // Without a tag: the URLs of recordings are new in each answer.
    Ok(Json(ReviewView::new(&guest, &texts)))
}
