//! POST /api-token-auth/ and /api-session-auth/.

use axum::Json;
use axum::http::header::SET_COOKIE;
use axum::response::{AppendHeaders, IntoResponse};
use shared::auth::guard::{LoggedIn, Public};
use shared::domain::Refusal;
use shared::http::Fields;
use shared::store::SessionKind;
use shared::{Error, Result};

use crate::view::{Login, TokenView, WhoAmIView, cookie};

/// The one answer to every failed login, so that it does not tell what failed.
const WRONG: Refusal =
    Refusal { code: "invalid_credentials", detail: "Unable to log in with the provided credentials." };

/// Begins a session whose secret is sent in a header.
pub(crate) async fn token(guard: Public, body: Fields) -> Result<Json<TokenView>> {
    let logged_in = log_in(&guard, Login::read_for_token(body)?, SessionKind::Token).await?;
    Ok(Json(TokenView { token: logged_in.secret }))
}

/// Begins a session whose secret is sent as a cookie.
pub(crate) async fn session(guard: Public, body: Fields) -> Result<impl IntoResponse> {
    guard.check_csrf()?;
    let logged_in = log_in(&guard, Login::read(body)?, SessionKind::Cookie).await?;
    let ends = logged_in.session.expires_at(guard.config().session_idle_minutes);
    let cookie = cookie(&logged_in.secret, guard.config());
    let project = guard.project_of(&logged_in).await?;
    let session = Some((logged_in.session.kind, ends));
    let view = WhoAmIView::new(&logged_in.identity, project.as_deref(), session, guard.references())?;
    Ok((AppendHeaders([(SET_COOKIE, cookie)]), Json(view)))
}

async fn log_in(guard: &Public, login: Login, kind: SessionKind) -> Result<LoggedIn> {
    // A company that cannot exist is as unknown as one that does not.
    let company = login.company.parse().ok();
    let logged_in = guard.log_in(company.as_ref(), &login.username, login.password, kind, login.days).await?;
    logged_in.ok_or(Error::Unauthenticated(WRONG))
}
