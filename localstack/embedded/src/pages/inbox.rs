//! The mails, as JSON and as pages.

use std::sync::Arc;

use askama::Template;
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use shared::clock::Clock;

use super::{Pages, page, rendered, written};
use crate::Mail;

/// The policy of mails: they may not run scripts or load anything but images, styles and fonts. Links open in windows
/// without these limits.
const MAIL_POLICY: &str = "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; \
    img-src * data:; style-src 'unsafe-inline'; font-src *";
/// The policy of the inbox: it may load only the mails' own pages.
const INBOX_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; frame-src 'self'";

pub(super) async fn to_inbox() -> Redirect {
    Redirect::to("/_local/inbox/")
}

pub(super) async fn mails(State(pages): State<Pages>) -> Response {
    let mails = pages.mailbox.all();
    Json(mails.iter().map(Arc::as_ref).collect::<Vec<_>>()).into_response()
}

pub(super) async fn mail_html(State(pages): State<Pages>, Path(id): Path<String>) -> Response {
    match pages.mailbox.find(&id).and_then(|mail| mail.html.clone()) {
        // Open links in new windows, like mail programs: linked pages refuse to be framed.
        Some(html) => page(html.replacen("<head>", "<head><base target=\"_blank\">", 1), MAIL_POLICY),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

#[derive(Template)]
#[template(path = "inbox.html")]
struct Inbox {
    now: String,
    is_ahead: bool,
    mails: Vec<Arc<Mail>>,
    total: usize,
}

/// The maximum number of mails on the page, which more would slow down. The JSON list has all.
const SHOWN: usize = 100;

pub(super) async fn show(State(pages): State<Pages>) -> Response {
    let (now, is_ahead) = (written(pages.clock.now()), !pages.clock.offset().is_zero());
    let mut mails = pages.mailbox.all();
    let total = mails.len();
    mails.truncate(SHOWN);
    rendered(&Inbox { now, is_ahead, mails, total }, INBOX_POLICY)
}
