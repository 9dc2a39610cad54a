//! POST /api-token-invalidate/ and /api-session-invalidate/.

use shared::Result;
use shared::auth::access::{Admitted, AnyCaller, OwnAccount};
use shared::http::exchange::respond::NoContent;

use crate::view::{WithCookie, expired_cookie};

/// Revokes the session of the request.
pub(crate) async fn token(access: Admitted<OwnAccount, AnyCaller>) -> Result<NoContent> {
    access.end_session().await?;
    Ok(NoContent)
}

/// Revokes the session of the request, and deletes the cookie.
pub(crate) async fn session(access: Admitted<OwnAccount, AnyCaller>) -> Result<WithCookie<NoContent>> {
    access.end_session().await?;
    Ok(WithCookie(expired_cookie(access.config()), NoContent))
}
