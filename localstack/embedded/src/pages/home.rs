//! The start page.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use shared::clock::Clock;

use super::{PAGE_POLICY, Pages, rendered, written};

#[derive(Template)]
#[template(path = "home.html")]
struct Home {
    origin: String,
    api: String,
    company: String,
    username: String,
    mails: usize,
    now: String,
    is_ahead: bool,
}

pub(super) async fn show(State(pages): State<Pages>) -> Response {
    let api = pages.app.config().base_url.as_str().trim_end_matches('/').to_owned();
    let home = Home {
        origin: api.trim_end_matches("/api/v3").to_owned(),
        api,
        company: pages.demo.company,
        username: pages.demo.username,
        mails: pages.mailbox.all().len(),
        now: written(pages.clock.now()),
        is_ahead: !pages.clock.offset().is_zero(),
    };
    rendered(&home, PAGE_POLICY)
}
