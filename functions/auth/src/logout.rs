//! POST /api-token-invalidate/ and /api-session-invalidate/.

use shared::Result;
use shared::auth::access::CallerAccess;
use shared::http::respond::Done;

use crate::view::{WithCookie, expired_cookie};

/// Ends the session that the request came with.
pub(crate) async fn token(access: CallerAccess) -> Result<Done> {
    access.end_session().await?;
    Ok(Done)
}

/// Ends the session that the request came with, and lets the browser forget the cookie.
pub(crate) async fn session(access: CallerAccess) -> Result<WithCookie<Done>> {
    access.end_session().await?;
    Ok(WithCookie(expired_cookie(access.config()), Done))
}
