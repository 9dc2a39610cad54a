//! What only the local run has, under `/_local/`: the mails that were sent, as JSON and as pages.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Path, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::{any, get};
use axum::{Json, Router};

use crate::{Mail, Mailbox};

/// A mail may not run anything or send anything, and its links leave the frame that it is shown in.
const MAIL_POLICY: &str = "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; \
    img-src * data:; style-src 'unsafe-inline'; font-src *";
/// The inbox loads nothing but the mails' own pages.
const INBOX_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; frame-src 'self'";

/// The routes, each with its whole path.
pub(crate) fn router(mailbox: Mailbox) -> Router {
    Router::new()
        .route("/_local", get(to_inbox))
        .route("/_local/", get(to_inbox))
        .route("/_local/inbox", get(to_inbox))
        .route("/_local/inbox/", get(inbox))
        .route("/_local/mails", get(mails))
        .route("/_local/mails/{id}/html", get(mail_html))
        .route("/_local/{*unknown}", any(async || StatusCode::NOT_FOUND))
        .with_state(mailbox)
}

async fn to_inbox() -> Redirect {
    Redirect::to("/_local/inbox/")
}

async fn mails(State(mailbox): State<Mailbox>) -> Response {
    let mails = mailbox.all();
    Json(mails.iter().map(Arc::as_ref).collect::<Vec<_>>()).into_response()
}

async fn mail_html(State(mailbox): State<Mailbox>, Path(id): Path<String>) -> Response {
    match mailbox.find(&id).and_then(|mail| mail.html.clone()) {
        Some(html) => page(html, MAIL_POLICY),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

#[derive(Template)]
#[template(path = "inbox.html")]
struct Inbox {
    mails: Vec<Arc<Mail>>,
    total: usize,
}

/// More would make the page slow; the JSON list has them all.
const SHOWN: usize = 100;

async fn inbox(State(mailbox): State<Mailbox>) -> Response {
    let mut mails = mailbox.all();
    let total = mails.len();
    mails.truncate(SHOWN);
    match (Inbox { mails, total }).render() {
        Ok(html) => page(html, INBOX_POLICY),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

fn page(html: String, policy: &'static str) -> Response {
    let mut response = Html(html).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use axum::body::{Body, to_bytes};
    use axum::http::Request;
    use tower::ServiceExt;

    use super::*;

    async fn get(mailbox: &Mailbox, path: &str) -> (StatusCode, String, String) {
        let request = Request::get(path).body(Body::empty()).unwrap();
        let response = router(mailbox.clone()).oneshot(request).await.unwrap();
        let status = response.status();
        let policy = response.headers().get(header::CONTENT_SECURITY_POLICY).cloned();
        let policy = policy.map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default();
        let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        (status, policy, String::from_utf8(body.to_vec()).unwrap())
    }

    fn mailbox() -> Mailbox {
        let mailbox = Mailbox::default();
        for id in ["1", "2"] {
            let mail = Mail {
                id: id.to_owned(),
                time: "2030-01-02T03:04:05.678Z".to_owned(),
                source: "Service <service@example.com>".to_owned(),
                to: vec!["ann@example.com".to_owned()],
                cc: vec![],
                bcc: vec![],
                reply_to: vec![],
                subject: "<script>alert(1)</script>".to_owned(),
                text: Some("1 < 2 & \"three\"".to_owned()),
                html: (id == "2").then(|| "<p>Hello <b>Ann</b></p>".to_owned()),
                raw: None,
            };
            mailbox.add(mail).unwrap();
        }
        mailbox
    }

    #[tokio::test]
    async fn mails_are_listed_newest_first() {
        let (_, _, body) = get(&mailbox(), "/_local/mails").await;
        let mails: Vec<Mail> = serde_json::from_str(&body).unwrap();
        assert_eq!(mails.iter().map(|mail| mail.id.as_str()).collect::<Vec<_>>(), ["2", "1"]);
    }

    #[tokio::test]
    async fn the_inbox_escapes_what_a_mail_says_and_frames_its_html() {
        let (status, policy, page) = get(&mailbox(), "/_local/inbox/").await;
        assert_eq!(status, StatusCode::OK);
        assert!(policy.contains("default-src 'none'"));
        assert!(!page.contains("<script>") && !page.contains("<b>Ann</b>"), "{page}");
        assert!(page.contains("Service &#60;service@example.com&#62;"), "{page}");
        assert!(
            page.contains("to ann@example.com ") && page.contains("<dt>To</dt><dd>ann@example.com</dd>"),
            "{page}"
        );
        assert!(page.contains("1 &#60; 2 &#38; &#34;three&#34;"), "{page}");
        assert_eq!(page.matches("<iframe sandbox=").count(), 1);
        assert!(get(&Mailbox::default(), "/_local/inbox/").await.2.contains("No mail"));
    }

    #[tokio::test]
    async fn a_mails_own_page_is_sandboxed() {
        let (status, policy, page) = get(&mailbox(), "/_local/mails/2/html").await;
        assert_eq!((status, page.as_str()), (StatusCode::OK, "<p>Hello <b>Ann</b></p>"));
        assert!(policy.starts_with("sandbox") && policy.contains("default-src 'none'"));
        for path in ["/_local/mails/1/html", "/_local/mails/3/html", "/_local/clockwork"] {
            assert_eq!(get(&mailbox(), path).await.0, StatusCode::NOT_FOUND, "{path}");
        }
    }
}
