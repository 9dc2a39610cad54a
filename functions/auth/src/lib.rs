//! Logging in, logging out, and who is calling.

mod account;
mod document;
mod login;
mod logout;
mod view;
mod whoami;

pub use document::group;
use shared::http::Routes;

/// The routes of this group.
pub fn routes() -> Routes {
    Routes::new()
        .post_repeatable("/api-token-auth/", login::token)
        .post_repeatable("/api-token-invalidate/", logout::token)
        .post_repeatable("/api-session-auth/", login::session)
        .post_repeatable("/api-session-invalidate/", logout::session)
        .post_repeatable("/api-activate/", account::activate)
        .post_repeatable("/api-password-reset/", account::forget_password)
        .post_repeatable("/api-password-reset/confirm/", account::reset_password)
        .get("/whoami/", whoami::whoami)
        .get("/whoami/candidate/", whoami::candidate)
}
