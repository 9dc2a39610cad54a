//! Logging in, logging out, and who is calling.

mod account;
mod document;
mod login;
mod logout;
mod token_rights;
mod view;
mod whoami;

use shared::RouteReader;
use shared::app::App;
use shared::http::{HttpService, RouteGroup};

/// Answers the requests of this group.
pub fn service(app: App) -> HttpService {
    routes(RouteGroup::new()).into_service(app)
}

/// The routes of this group.
pub fn routes<R: RouteReader>(routes: R) -> R {
    routes
        .group("Authentication", "Logging in and out, passwords, and the caller.")
        // None of these records a response for an Idempotency-Key: their responses are secrets or empty, and the
        // sender is not authenticated yet.
        .post("/api-token-auth/", login::token, "Log in", document::log_in)
        .post("/api-token-invalidate/", logout::token, "Log out", document::log_out)
        .post("/api-session-auth/", login::session, "Log in by cookie", document::log_in_by_cookie)
        .post("/api-session-invalidate/", logout::session, "Log out by cookie", document::log_out_by_cookie)
        .post("/whoami/key/", account::show_holder, "Get key holder", document::get_key_holder)
        .post("/candidate-links/", account::send_link, "Send latest link", document::send_link)
        .post("/api-activate/", account::activate, "Activate account", document::activate_account)
        .post("/api-password-reset/", account::forget_password, "Forget password", document::forget_password)
        .post(
            "/api-password-reset/confirm/",
            account::reset_password,
            "Reset password",
            document::reset_password,
        )
        .post("/api-email-confirm/", account::confirm_email, "Confirm email address", document::confirm_email)
        .post("/api-email-restore/", account::restore_email, "Restore email address", document::restore_email)
        .get("/whoami/", whoami::whoami, "Get caller", document::get_caller)
        .get(
            "/whoami/candidate/",
            whoami::candidate,
            "Get calling candidate",
            document::get_calling_candidate,
        )
}
