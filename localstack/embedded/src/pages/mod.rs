//! What only the local run has, under `/_local/`: the mails that were sent, as JSON and as pages; the clock, the schedules,
//! the event bus and the operator's commands, as JSON.

mod control;
mod inbox;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use axum::routing::{any, get, post};
use chrono::{DateTime, SecondsFormat, Utc};
use shared::app::App;

use crate::{Events, Mailbox, OffsetClock};

/// What the pages are about.
#[derive(Clone)]
pub(crate) struct Pages {
    pub(crate) mailbox: Mailbox,
    pub(crate) events: Events,
    pub(crate) clock: OffsetClock,
    pub(crate) app: App,
    /// Of a function that is to use this back end, but for its own address.
    pub(crate) environment: Arc<BTreeMap<&'static str, String>>,
}

/// The routes, each with its whole path.
pub(crate) fn router(pages: Pages) -> Router {
    Router::new()
        .route("/_local", get(inbox::to_inbox))
        .route("/_local/", get(inbox::to_inbox))
        .route("/_local/inbox", get(inbox::to_inbox))
        .route("/_local/inbox/", get(inbox::show))
        .route("/_local/mails", get(inbox::mails))
        .route("/_local/mails/{id}/html", get(inbox::mail_html))
        .route("/_local/environment", get(control::environment))
        .route("/_local/clock", get(control::clock).post(control::advance_clock))
        .route("/_local/sweep", post(control::sweep))
        .route("/_local/events", post(control::put_event))
        .route("/_local/admin", post(control::operate))
        .route("/_local/{*unknown}", any(async || StatusCode::NOT_FOUND))
        .with_state(pages)
}

fn written(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Secs, true)
}
