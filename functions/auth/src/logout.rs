//! POST /api-token-invalidate/ and /api-session-invalidate/.

use shared::Result;
use shared::auth::guard::WhoAmI;
use shared::http::respond::Done;

use crate::view::{WithCookie, expired_cookie};

/// Ends the session that the request came with.
pub(crate) async fn token(guard: WhoAmI) -> Result<Done> {
    guard.end_session().await?;
    Ok(Done)
}

/// Ends the session that the request came with, and lets the browser forget the cookie.
pub(crate) async fn session(guard: WhoAmI) -> Result<WithCookie<Done>> {
    guard.end_session().await?;
    Ok(WithCookie(expired_cookie(guard.config()), Done))
}
