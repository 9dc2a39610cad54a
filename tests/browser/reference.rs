//! The reference: all of it is shown, requests can be tried on it, and it fits on a phone.

use axum::Router;
use axum::extract::Request as Incoming;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, PASSWORD};
use tests::document::document;
use tokio::net::TcpListener;

use crate::devtools::Page;

/// The service at an address that a browser can reach, and its origin.
async fn served() -> (TestApp, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://localhost:{}", listener.local_addr().unwrap().port());
    let app = TestApp::start_with(&[("BASE_URL", &format!("{origin}/api/v3"))]).await;
    let service = app.clone();
    let router = Router::new().fallback(async move |request: Incoming| service.answer(request).await);
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    (app, origin)
}

/// The reference, with every group unfolded.
async fn reference(origin: &str, path: &str) -> Page {
    let mut page = Page::open().await;
    page.go(&format!("{origin}/api/v3/{path}")).await;
    page.until("document.querySelectorAll('.opblock-tag').length").await;
    page.evaluate("document.querySelectorAll('.opblock-tag').forEach(tag => tag.click())").await;
    let routes = document().routes().len();
    page.until(&format!("document.querySelectorAll('.opblock').length === {routes}")).await;
    page
}

/// Makes sure that nothing went wrong, and that nobody was asked for anything but the service itself.
#[track_caller]
fn assert_sound(page: &Page, origin: &str) {
    assert_eq!(page.complaints(), Vec::<&Value>::new());
    for address in page.requested() {
        assert!(address.starts_with(&format!("{origin}/api/v3/")), "{address}");
    }
}

/// Fills in what Swagger UI, made of React, only takes from events.
fn fill(input: &str, value: &str) -> String {
    format!(
        "(() => {{
            const input = {input};
            Object.getOwnPropertyDescriptor(Object.getPrototypeOf(input), 'value').set.call(input, {value});
            input.dispatchEvent(new Event('input', {{ bubbles: true }}));
        }})()",
        value = json!(value),
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn it_shows_every_route_and_asks_nobody_else_for_anything() {
    let (_app, origin) = served().await;
    for path in ["docs/", "docs"] {
        let mut page = reference(&origin, path).await;
        let shown = "[...document.querySelectorAll('.opblock')].map(block => \
            block.querySelector('.opblock-summary-method').textContent + ' ' + \
            block.querySelector('.opblock-summary-path').dataset.path)";
        let mut shown: Vec<String> = serde_json::from_value(page.evaluate(shown).await).unwrap();
        let document = document();
        let routes = document.routes().iter();
        let mut routes: Vec<_> = routes.map(|(method, path)| format!("{method} {path}")).collect();
        shown.sort_unstable();
        routes.sort_unstable();
        assert_eq!(shown, routes);
        let tags = "[...document.querySelectorAll('.opblock-tag')].map(tag => tag.dataset.tag)";
        assert_eq!(page.evaluate(tags).await, json!(document.titles()));
        assert_sound(&page, &origin);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_can_be_tried_with_a_token() {
    let (app, origin) = served().await;
    let owner = app.owner().await;
    let mut page = reference(&origin, "docs/").await;
    let scheme = "[...document.querySelectorAll('.auth-container')]\
        .find(scheme => scheme.querySelector('h4 code').textContent === 'token')";
    page.evaluate("document.querySelector('.auth-wrapper .authorize').click()").await;
    page.until(&format!("{scheme}?.querySelector('input')")).await;
    let token = format!("Token {}", owner.secret());
    page.evaluate(&fill(&format!("{scheme}.querySelector('input')"), &token)).await;
    page.evaluate(&format!("{scheme}.querySelector('.authorize').click()")).await;
    page.until(&format!("{scheme}.textContent.includes('Authorized')")).await;
    page.evaluate("document.querySelector('.modal-ux .close-modal').click()").await;
    let shown = execute(&mut page, "Authentication-getCaller", None).await;
    assert_eq!(shown, owner.get("/whoami/").await.expect(200).json());
    assert_sound(&page, &origin);
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_can_be_tried_with_a_cookie() {
    let (app, origin) = served().await;
    let owner = app.owner().await;
    let mut page = reference(&origin, "docs/").await;
    let login = json!({ "company": "acme", "username": owner.username, "password": PASSWORD });
    execute(&mut page, "Authentication-logInByCookie", Some(&login)).await;
    let shown = execute(&mut page, "Authentication-getCaller", None).await;
    let caller = (&shown["token"]["kind"], &shown["resource"]["resource_uri"]);
    assert_eq!(caller, (&json!("cookie"), &json!(owner.uri)));
    // Nothing but the page's origin says that the cookie may be used to change something.
    let label = execute(&mut page, "Companies-createLabel", Some(&json!({ "text": "Senior" }))).await;
    assert_eq!(label["text"], "Senior");
    assert_sound(&page, &origin);
}

#[tokio::test(flavor = "multi_thread")]
async fn it_fits_on_a_phone() {
    let (_app, origin) = served().await;
    let mut page = reference(&origin, "docs/").await;
    page.resize(390, 844).await;
    let width = "document.documentElement.scrollWidth";
    assert_eq!(page.evaluate(width).await, 390);
    for operation in ["Authentication-logIn", "Candidates-createCandidate", "Projects-listProjects"] {
        open(&mut page, operation).await;
        assert_eq!(page.evaluate(width).await, 390, "{operation}");
    }
    // Tables that are wider scroll within themselves.
    let tables =
        "[...document.querySelectorAll('.info table')].some(table => table.scrollWidth > table.clientWidth)";
    assert_eq!(page.evaluate(tables).await, true);
    assert_sound(&page, &origin);
}

async fn open(page: &mut Page, operation: &str) -> String {
    let block = format!("document.getElementById('operations-{operation}')");
    page.evaluate(&format!("{block}.querySelector('.opblock-summary-control').click()")).await;
    page.until(&format!("{block}.querySelector('.execute')")).await;
    block
}

/// Tries an operation, whose answer must be a success, and gives the body that is shown.
async fn execute(page: &mut Page, operation: &str, body: Option<&Value>) -> Value {
    let block = open(page, operation).await;
    if let Some(body) = body {
        let input = format!("{block}.querySelector('.body-param__text')");
        page.until(&input).await;
        page.evaluate(&fill(&input, &body.to_string())).await;
    }
    page.evaluate(&format!("{block}.querySelector('.execute').click()")).await;
    let status = format!("{block}.querySelector('.live-responses-table tbody .response-col_status')");
    page.until(&status).await;
    let status = page.evaluate(&format!("{status}.textContent.trim()")).await;
    assert!(status.as_str().unwrap().starts_with('2'), "{operation}: {status}");
    let shown =
        format!("{block}.querySelector('.live-responses-table .highlight-code code')?.textContent ?? 'null'");
    serde_json::from_str(page.evaluate(&shown).await.as_str().unwrap()).unwrap()
}
