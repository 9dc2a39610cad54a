//! The answers that a guest watches.

use axum::Json;
use shared::Result;
use shared::auth::access::GuestReview;

use super::view::ReviewView;

/// GET /review/
pub(crate) async fn read(guest: GuestReview) -> Result<Json<ReviewView>> {
    let texts = guest.store.written_answers(&guest.answers, guest.answers.written()).await?;
    // Without a tag: the URLs of recordings are new in each answer.
    Ok(Json(ReviewView::new(&guest, &texts)))
}
