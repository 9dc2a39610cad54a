//! The view of a guest link.

use axum::Json;
use shared::Result;
use shared::auth::access::{GuestOpening, GuestReview};
use shared::http::exchange::respond::NoContent;

use super::view::{ReviewView, ShownItems};

/// GET /review/
pub(crate) async fn read(guest: GuestReview) -> Result<Json<ReviewView>> {
    let texts = guest.store.written_answers(&guest.answers, guest.answers.written()).await?;
    let videos = match &guest.questionnaire {
        Some(questionnaire) => guest.store.question_videos(questionnaire).await?,
        None => Vec::new(),
    };
    // No `ETag`: every response has new URLs of recordings.
    Ok(Json(ReviewView::new(&guest, &ShownItems { texts, videos })))
}

/// POST /review/opening/
pub(crate) async fn open(guest: GuestOpening) -> Result<NoContent> {
    guest.note().await?;
    Ok(NoContent)
}
