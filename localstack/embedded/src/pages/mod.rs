//! Pages of the local run: a start page, and under `/_local/` mails, receivers of webhooks, an issuer of identities, a
//! provider for sign-in, clock, schedules, event bus and operator commands.

mod control;
mod home;
mod hooks;
mod inbox;
mod issuer;
pub(crate) mod provider;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{any, get, post};
use chrono::{DateTime, SecondsFormat, Utc};
use shared::app::App;

use crate::issuer::LocalIssuer;
use crate::provider::LocalProvider;
use crate::receivers::Receivers;
use crate::{Demo, Events, Mailbox, OffsetClock, watch};

/// The content security policy of a page that loads and runs nothing.
const PAGE_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

#[derive(Clone)]
pub(crate) struct Pages {
    pub(crate) mailbox: Mailbox,
    pub(crate) receivers: Receivers,
    pub(crate) issuer: LocalIssuer,
    pub(crate) provider: LocalProvider,
    pub(crate) events: Events,
    pub(crate) clock: OffsetClock,
    pub(crate) app: App,
    pub(crate) demo: Demo,
    /// The environment variables of a function in another process, without its own URL.
    pub(crate) environment: Arc<BTreeMap<&'static str, String>>,
}

/// The routes, with absolute paths.
pub(crate) fn router(pages: Pages) -> Router {
    let provider = pages.provider.router();
    Router::new()
        .route("/", get(home::show))
        .route("/_local", get(inbox::to_inbox))
        .route("/_local/", get(inbox::to_inbox))
        .route("/_local/inbox", get(inbox::to_inbox))
        .route("/_local/inbox/", get(inbox::show))
        .route("/_local/mails", get(inbox::mails))
        .route("/_local/mails/{id}/html", get(inbox::mail_html))
        .route("/_local/hooks/{name}", get(hooks::show).post(hooks::receive).put(hooks::change))
        .route("/_local/hooks/{name}/settings", post(hooks::change_by_form))
        .route("/_local/hooks/{name}/deliveries", get(hooks::deliveries))
        .route("/_local/issuer/.well-known/openid-configuration", get(issuer::configuration))
        .route("/_local/issuer/keys", get(issuer::keys))
        .route("/_local/issuer/token", post(issuer::sign))
        .route("/_local/environment", get(control::environment))
        .route("/_local/watch.toml", get(async || watch::settings()))
        .route("/_local/clock", get(control::clock).post(control::advance_clock))
        .route("/_local/sweep", post(control::sweep))
        .route("/_local/events", post(control::put_event))
        .route("/_local/admin", post(control::operate))
        .route("/_local/{*unknown}", any(async || StatusCode::NOT_FOUND))
        .with_state(pages)
        .merge(provider)
}

fn written(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Secs, true)
}

fn rendered(template: &impl Template, policy: &'static str) -> Response {
    match template.render() {
        Ok(html) => page(html, policy),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

fn page(html: String, policy: &'static str) -> Response {
    let mut response = Html(html).into_response();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}
