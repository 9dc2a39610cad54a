//! Logging in, logging out, and who is calling.

mod account;
mod login;
mod logout;
mod view;
mod whoami;

use shared::http::Routes;

/// The routes of this group.
pub fn routes() -> Routes {
    Routes::new()
        .post("/api-token-auth/", login::token)
        .post("/api-token-invalidate/", logout::token)
        .post("/api-session-auth/", login::session)
        .post("/api-session-invalidate/", logout::session)
        .post("/api-activate/", account::activate)
        .post("/api-password-reset/", account::forget_password)
        .post("/api-password-reset/confirm/", account::reset_password)
        .get("/whoami/", whoami::whoami)
        .get("/whoami/candidate/", whoami::candidate)
}
