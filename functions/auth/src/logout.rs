//! POST /api-token-invalidate/ and /api-session-invalidate/.

use axum::http::header::SET_COOKIE;
use axum::response::{AppendHeaders, IntoResponse};
use shared::Result;
use shared::auth::guard::WhoAmI;
use shared::http::respond::Done;

use crate::view::expired_cookie;

/// Ends the session that the request came with.
pub(crate) async fn token(guard: WhoAmI) -> Result<Done> {
    guard.end_session().await?;
    Ok(Done)
}

/// Ends the session that the request came with, and lets the browser forget the cookie.
pub(crate) async fn session(guard: WhoAmI) -> Result<impl IntoResponse> {
    guard.end_session().await?;
    Ok((AppendHeaders([(SET_COOKIE, expired_cookie(guard.config()))]), Done))
}
