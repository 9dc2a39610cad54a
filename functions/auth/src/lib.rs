//! Login, logout, named tokens and exchanges for them, and the caller's identity.

mod account;
mod document;
mod exchange;
mod login;
mod logout;
mod sign_in;
mod token_rights;
mod tokens;
mod view;
mod whoami;

use shared::RouteReader;
use shared::app::App;
use shared::http::{HttpService, RouteGroup};

/// The HTTP service that answers the requests of this group.
pub fn service(app: App) -> HttpService {
    routes(RouteGroup::new()).into_service(app)
}

/// The routes of this group.
pub fn routes<R: RouteReader>(routes: R) -> R {
    routes
        .group("Authentication", "Logging in and out, passwords, and the caller.")
        // None of these routes stores a response for an `Idempotency-Key`: the responses are secret or empty, and the
        // caller is not authenticated yet.
        .post("/api-token-auth/", login::token, "Log in", document::log_in)
        .post("/api-token-exchange/", exchange::exchange, "Exchange token", document::exchange_token)
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
        .group("Sign-in", "Staff sign in by their company's provider (OpenID Connect).")
        .get("/sign-in/{companyId}/", sign_in::flow::begin, "Sign in by provider", sign_in::document::begin_sign_in)
        .get("/sign-in/{companyId}/callback/", sign_in::flow::end, "End sign-in by provider", sign_in::document::end_sign_in)
        .under("/companies/{companyId}/sign-in/")
        .get("", sign_in::read, "Get sign-in", sign_in::document::get_sign_in)
        .put("", sign_in::replace, "Set sign-in", sign_in::document::set_sign_in)
        .delete("", sign_in::delete, "Delete sign-in", sign_in::document::delete_sign_in)
        .under("/companies/{companyId}/customers/{customerId}/sign-in/")
        .get("", sign_in::links::read, "Get sign-in of customer", sign_in::document::get_link)
        .put("", sign_in::links::replace, "Set sign-in of customer", sign_in::document::set_link)
        .delete("", sign_in::links::delete, "Delete sign-in of customer", sign_in::document::delete_link)
        .group(
            "Named tokens",
            "Credentials of services that act for a company: by a value, or without a secret, by trust in the platform where they run.",
        )
        .under("/companies/{companyId}/tokens/")
        .get("", tokens::list, "List named tokens", tokens::document::list_named_tokens)
        .post("", tokens::create, "Create named token", tokens::document::create_named_token)
        .get("{tokenId}/", tokens::read, "Get named token", tokens::document::get_named_token)
        .delete("{tokenId}/", tokens::delete, "Delete named token", tokens::document::delete_named_token)
}
