//! POST /api-token-auth/ and /api-session-auth/.

use axum::Json;
use shared::auth::login::PublicAccess;
use shared::domain::Refusal;
use shared::http::BodyFields;
use shared::store::SessionKind;
use shared::{Error, Result};

use crate::view::{LoginBody, SessionTokenView, WhoAmIView, WithCookie, cookie};

// The same error for every failed login: it must not reveal what was wrong.
const WRONG: Refusal =
    Refusal { code: "invalid_credentials", detail: "Unable to log in with the provided credentials." };

/// Starts a session whose secret the client sends in a header: for the account with this password or, without a
/// password, for the user on whose behalf the caller acts.
pub(crate) async fn token(access: PublicAccess, body: BodyFields) -> Result<Json<SessionTokenView>> {
    let login = LoginBody::read_for_token(body, access.has_credential())?;
    let logged_in = match login.password {
        Some(password) => {
            let kind = SessionKind::Token;
            access.log_in(&login.company, &login.username, password, kind, login.days).await?
        }
        None => {
            let actor = access.caller().await?;
            // Customers may act only on behalf of users of their own company.
            if login.company == actor.company().as_str() {
                access.log_in_for(&actor, &login.username, login.days).await?
            } else {
                None
            }
        }
    };
    let logged_in = logged_in.ok_or(Error::Unauthenticated(WRONG))?;
    Ok(Json(SessionTokenView { token: logged_in.secret }))
}

/// Starts a session whose secret the client sends as a cookie.
pub(crate) async fn session(access: PublicAccess, body: BodyFields) -> Result<WithCookie<Json<WhoAmIView>>> {
    // Check the origin first: another site must not log a visitor in to an account of its own (login CSRF).
    access.check_csrf()?;
    let login = LoginBody::read(body)?;
    let password = login.password.ok_or(Error::Unauthenticated(WRONG))?;
    let kind = SessionKind::Cookie;
    let logged_in = access.log_in(&login.company, &login.username, password, kind, login.days).await?;
    let logged_in = logged_in.ok_or(Error::Unauthenticated(WRONG))?;
    let ends = logged_in.session.expires_at(access.config().session_idle_minutes);
    let cookie = cookie(&logged_in.secret, access.config());
    let project = access.project_of(&logged_in).await?;
    let session = Some((&logged_in.session, ends));
    let signer = access.signer(&logged_in);
    let references = access.references().signed_by(&signer);
    let keys = access.open_own_key(&logged_in).await?;
    let view = WhoAmIView::new(&logged_in.identity, project.as_deref(), session, references, keys)?;
    Ok(WithCookie(cookie, Json(view)))
}
