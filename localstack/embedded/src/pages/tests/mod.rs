mod hooks;
mod provider;

use std::collections::HashMap;

use axum::body::{Body, to_bytes};
use axum::http::{Request, header};
use serde_json::{Value, json};
use shared::clock::{Clock, SystemEntropy};
use shared::config::Config;
use tower::ServiceExt;

use super::control::MAX_BODY;
use super::*;
use crate::{Backend, Mail, Storage, in_process_event};

const TEMPLATE: &str = r"
Resources:
  Bus: {Type: AWS::Events::EventBus}
  GoodFunction:
    Type: AWS::Serverless::Function
    Properties:
      Events:
        Minute: {Type: Schedule, Properties: {Schedule: rate(1 minute)}}
        All: {Type: EventBridgeRule, Properties: {EventBusName: !Ref Bus, Pattern: {source: [platform]}}}
  BadFunction:
    Type: AWS::Serverless::Function
    Properties:
      Events:
        Minute: {Type: Schedule, Properties: {Schedule: rate(1 minute)}}
";

/// Pages in front of two functions: one returns its event's time, the other fails on every event.
fn pages(mailbox: &Mailbox) -> Pages {
    pages_before(&Backend::start(&Storage::Memory).unwrap(), mailbox)
}

fn pages_before(backend: &Backend, mailbox: &Mailbox) -> Pages {
    let environment = backend.environment("http://localhost/api/v3", "pages-test");
    let config = Config::from_variables(|name| environment.get(name).cloned()).unwrap();
    let clock = backend.clock().clone();
    let app = App::new(config, Arc::new(clock.clone()), Arc::new(SystemEntropy));
    let functions = HashMap::from([
        (
            "GoodFunction".to_owned(),
            in_process_event(&app, async |_, event: Value| Ok(event["time"].clone())),
        ),
        ("BadFunction".to_owned(), in_process_event(&app, async |_, (): ()| Ok(Value::Null))),
    ]);
    let template = crate::Template::parse(TEMPLATE).unwrap();
    let events = Events::new(&template, &functions, backend, &app).unwrap();
    let environment = Arc::new(BTreeMap::from([("TABLE_NAME", "interviews".to_owned())]));
    let [company, username, password] = ["demo", "dana", "secret"].map(str::to_owned);
    let demo = Demo { company, username, password };
    let issuer = LocalIssuer::new("http://localhost/_local/issuer".to_owned()).unwrap();
    let provider = LocalProvider::new("http://localhost", Arc::new(clock.clone())).unwrap();
    let (mailbox, receivers) = (mailbox.clone(), Receivers::default());
    Pages { mailbox, receivers, issuer, provider, events, clock, app, demo, environment }
}

async fn get(mailbox: &Mailbox, path: &str) -> (StatusCode, String, String) {
    let request = Request::get(path).body(Body::empty()).unwrap();
    let response = router(pages(mailbox)).oneshot(request).await.unwrap();
    let status = response.status();
    let policy = response.headers().get(header::CONTENT_SECURITY_POLICY).cloned();
    let policy = policy.map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default();
    let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, policy, String::from_utf8(body.to_vec()).unwrap())
}

async fn post(pages: &Pages, path: &str, kind: &str, body: &str) -> (u16, Value) {
    let request = Request::post(path).header(header::CONTENT_TYPE, kind).body(Body::from(body.to_owned()));
    let response = router(pages.clone()).oneshot(request.unwrap()).await.unwrap();
    let status = response.status().as_u16();
    let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, serde_json::from_slice(&body).unwrap())
}

async fn post_json(pages: &Pages, path: &str, body: &str) -> (u16, Value) {
    post(pages, path, "application/json; charset=utf-8", body).await
}

#[tokio::test]
async fn the_environment_is_a_line_for_each_variable() {
    let (status, _, body) = get(&Mailbox::default(), "/_local/environment").await;
    assert_eq!((status, body.as_str()), (StatusCode::OK, "TABLE_NAME=interviews\n"));
}

#[tokio::test]
async fn the_clock_moves_ahead_and_events_go_by_it() {
    let pages = pages(&Mailbox::default());
    let before = pages.clock.now();
    let (status, answer) = post_json(&pages, "/_local/clock", r#"{"advance_seconds": 86400}"#).await;
    let now: DateTime<Utc> = answer["now"].as_str().unwrap().parse().unwrap();
    assert_eq!(status, 200);
    assert!((now - before - chrono::TimeDelta::days(1)).abs() < chrono::TimeDelta::minutes(1), "{now}");

    let event = r#"{"source": "platform", "detail-type": "any", "detail": {}}"#;
    let (status, answer) = post_json(&pages, "/_local/events", event).await;
    assert_eq!(status, 200, "{answer}");
    assert!(answer["GoodFunction"].as_str().unwrap().parse::<DateTime<Utc>>().unwrap() >= now, "{answer}");

    let request = Request::get("/_local/inbox/").body(Body::empty()).unwrap();
    let response = router(pages.clone()).oneshot(request).await.unwrap();
    let page = String::from_utf8(to_bytes(response.into_body(), usize::MAX).await.unwrap().to_vec()).unwrap();
    assert!(page.contains("moved ahead") && page.contains(&written(now)[..10]), "{page}");
}

#[tokio::test]
async fn the_clock_is_not_moved_by_anything_else() {
    let pages = pages(&Mailbox::default());
    for body in [
        "",
        "[]",
        "{",
        "1",
        "{}",
        r#"{"advance_seconds": -1}"#,
        r#"{"advance_seconds": 1.5}"#,
        r#"{"advance_seconds": "1"}"#,
        r#"{"advance_seconds": 315360001}"#,
        r#"{"advance_seconds": 1, "back": true}"#,
        r#"{"seconds": 1}"#,
    ] {
        let (status, answer) = post_json(&pages, "/_local/clock", body).await;
        assert_eq!(status, 400, "{body}");
        assert!(answer["error"].as_str().unwrap().starts_with("the body "), "{answer}");
    }
    assert!(pages.clock.offset().is_zero());
    assert_eq!(post_json(&pages, "/_local/clock", r#"{"advance_seconds": 0}"#).await.0, 200);
    for _ in 0..97 {
        post_json(&pages, "/_local/clock", r#"{"advance_seconds": 315360000}"#).await;
    }
    let (status, answer) = post_json(&pages, "/_local/clock", r#"{"advance_seconds": 315360000}"#).await;
    assert_eq!((status, &answer["error"]), (400, &json!("the clock does not go beyond the year 2999")));
}

#[tokio::test]
async fn a_sweep_returns_results_and_failures_by_function() {
    let pages = pages(&Mailbox::default());
    for body in ["", "{}"] {
        let (status, answer) = post_json(&pages, "/_local/sweep", body).await;
        assert_eq!(status, 502);
        assert!(answer["GoodFunction"].is_string(), "{answer}");
        let error = answer["BadFunction"]["errorMessage"].as_str().unwrap();
        assert!(error.starts_with("the function failed: "), "{error}");
    }
    assert_eq!(post_json(&pages, "/_local/sweep", "[1]").await.0, 400);
}

#[tokio::test]
async fn events_that_go_nowhere_are_refused() {
    let pages = pages(&Mailbox::default());
    let event = r#"{"source": "elsewhere", "detail-type": "any", "detail": {}}"#;
    for (body, named) in [(event, "no rule"), ("{}", "source"), ("[]", "object"), ("nonsense", "not JSON")] {
        let (status, answer) = post_json(&pages, "/_local/events", body).await;
        assert_eq!(status, 400, "{body}");
        assert!(answer["error"].as_str().unwrap().contains(named), "{answer}");
    }
}

#[tokio::test]
async fn the_operators_commands_are_taken_as_the_function_takes_them() {
    let backend = Backend::start(&Storage::Memory).unwrap();
    backend.create_table("pages-test").unwrap();
    let pages = pages_before(&backend, &Mailbox::default());
    let create = r#"{"command": "create-company", "company": "acme", "name": "Acme", "owner":
            {"first_name": "Ada", "last_name": "Byron", "email": "ada@acme.example"}}"#;
    let (status, created) = post_json(&pages, "/_local/admin", create).await;
    assert_eq!((status, &created["company"]), (200, &json!("acme")), "{created}");
    let link = created["activation_link"].as_str().unwrap();
    assert!(link.starts_with("http://localhost/activate/ivo_"), "{link}");
    let (status, list) = post_json(&pages, "/_local/admin", r#"{"command": "list-companies"}"#).await;
    let companies = json!([{ "company": "acme", "name": "Acme" }]);
    assert_eq!((status, list), (200, json!({ "companies": companies, "imports": [] })));

    let (status, refused) =
        post_json(&pages, "/_local/admin", r#"{"command": "recount", "company": "x"}"#).await;
    assert_eq!(status, 400);
    assert!(refused["error"].as_str().unwrap().contains("Use 2 to 63 characters of"), "{refused}");
    let (status, refused) = post_json(&pages, "/_local/admin", r#"{"command": "recount"}"#).await;
    assert_eq!((status, &refused["error"]), (400, &json!(r#"{"company":["This field is required."]}"#)));
    for body in ["", "{}", "[]", r#"{"command": "drop-table"}"#] {
        let (status, answer) = post_json(&pages, "/_local/admin", body).await;
        assert_eq!(status, 400, "{body}");
        assert!(answer["error"].as_str().unwrap().starts_with("the body is no command: "), "{answer}");
    }
}

#[tokio::test]
async fn requests_that_another_sites_page_could_send_are_refused() {
    let pages = pages(&Mailbox::default());
    for path in ["/_local/clock", "/_local/sweep", "/_local/events", "/_local/admin"] {
        for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""]
        {
            let (status, answer) = post(&pages, path, kind, r#"{"advance_seconds": 1}"#).await;
            assert_eq!(status, 415, "{path} {kind}");
            assert!(answer["error"].as_str().unwrap().contains("application/json"), "{answer}");
        }
        let long = format!("{{\"advance_seconds\": {}1}}", " ".repeat(MAX_BODY));
        assert_eq!(post_json(&pages, path, &long).await.0, 413, "{path}");
        // A preflight request from another site.
        let ask = Request::options(path).header(header::ORIGIN, "https://elsewhere.example");
        let answer = router(pages.clone()).oneshot(ask.body(Body::empty()).unwrap()).await.unwrap();
        assert!(!answer.headers().contains_key(header::ACCESS_CONTROL_ALLOW_ORIGIN), "{path}");
    }
    assert!(pages.clock.offset().is_zero());
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
            configuration_set: None,
            tags: BTreeMap::new(),
            subject: "<script>alert(1)</script>".to_owned(),
            text: Some("1 < 2 & \"three\"".to_owned()),
            html: (id == "2").then(|| "<head></head><p>Hello <b>Ann</b></p>".to_owned()),
            headers: vec![("Auto-Submitted".to_owned(), "auto-generated".to_owned())],
            raw: None,
        };
        mailbox.add(mail).unwrap();
    }
    mailbox
}

#[tokio::test]
async fn the_root_leads_to_the_other_pages() {
    let (status, policy, page) = get(&mailbox(), "/").await;
    assert_eq!((status, policy.as_str()), (StatusCode::OK, PAGE_POLICY));
    for target in [
        "/api/v3/docs/",
        "/_local/inbox/",
        "/_local/hooks/demo",
        "/_local/clock",
        "/_local/provider/",
        "/interview/demo/",
        "/staff/demo/",
    ] {
        assert!(page.contains(&format!("href=\"{target}\"")), "{target}: {page}");
    }
    for reader in ["Candidates", "Guests", "Staff"] {
        assert!(page.contains(&format!("{reader}</")), "{reader}: {page}");
    }
    assert!(page.contains("sent: 2<") && page.contains("<code>dana</code>"), "{page}");
    assert!(!page.contains("secret"), "{page}");
}

#[tokio::test]
async fn mails_are_listed_newest_first() {
    let (_, _, body) = get(&mailbox(), "/_local/mails").await;
    let mails: Vec<Mail> = serde_json::from_str(&body).unwrap();
    assert_eq!(mails.iter().map(|mail| mail.id.as_str()).collect::<Vec<_>>(), ["2", "1"]);
}

#[tokio::test]
async fn the_inbox_escapes_texts_and_frames_html() {
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
    assert!(page.contains("Auto-Submitted: auto-generated"), "{page}");
    assert_eq!(page.matches("<iframe sandbox=").count(), 1);
    assert!(get(&Mailbox::default(), "/_local/inbox/").await.2.contains("No mail"));
}

#[tokio::test]
async fn a_mails_own_page_is_sandboxed() {
    let (status, policy, page) = get(&mailbox(), "/_local/mails/2/html").await;
    let framed = r#"<head><base target="_blank"></head><p>Hello <b>Ann</b></p>"#;
    assert_eq!((status, page.as_str()), (StatusCode::OK, framed));
    assert!(policy.starts_with("sandbox") && policy.contains("default-src 'none'"));
    for path in ["/_local/mails/1/html", "/_local/mails/3/html", "/_local/clockwork"] {
        assert_eq!(get(&mailbox(), path).await.0, StatusCode::NOT_FOUND, "{path}");
    }
}
