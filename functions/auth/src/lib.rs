//! Logging in, logging out, and who is calling.

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
        .get("/whoami/", whoami::whoami)
        .get("/whoami/candidate/", whoami::candidate)
}
