//! The reference page: everything is shown, found and tried on it, in both themes and on a phone.

use std::collections::BTreeSet;

use axum::Router;
use axum::extract::Request as Incoming;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, PASSWORD};
use tests::document::document;
use tokio::net::TcpListener;

use crate::devtools::Page;

const WIDTH: &str = "document.documentElement.scrollWidth";

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

/// The reference page, once it shows every operation.
async fn reference(origin: &str, path: &str) -> Page {
    let mut page = Page::open().await;
    show_reference(&mut page, origin, path).await;
    page
}

/// Goes to the reference page, and waits until it shows every operation.
async fn show_reference(page: &mut Page, origin: &str, path: &str) {
    page.go(&format!("{origin}/api/v3/{path}")).await;
    let routes = document().routes().len();
    page.until(&format!("document.querySelectorAll('.operation').length === {routes}")).await;
    page.until("document.querySelector('#contents a[aria-current]')").await;
}

/// Asserts that nothing failed or broke the content security policy, and that no other host was called.
#[track_caller]
fn assert_sound(page: &Page, origin: &str) {
    assert_eq!(page.complaints(), Vec::<&Value>::new());
    for address in page.requested() {
        assert!(address.starts_with(&format!("{origin}/api/v3/")), "{address}");
    }
}

/// Enters a value as a person does: what listens for input is told.
fn fill(input: &str, value: &str) -> String {
    format!(
        "(() => {{
            const input = {input};
            input.value = {value};
            for (const name of ['input', 'change']) input.dispatchEvent(new Event(name, {{ bubbles: true }}));
        }})()",
        value = json!(value),
    )
}

fn texts(page: &Value) -> Vec<String> {
    serde_json::from_value(page.clone()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn it_shows_every_route_and_calls_no_other_host() {
    let (_app, origin) = served().await;
    for path in ["docs/", "docs"] {
        let mut page = reference(&origin, path).await;
        let shown = "[...document.querySelectorAll('.operation .route')].map(route => route.textContent)";
        let mut shown = texts(&page.evaluate(shown).await);
        let document = document();
        let routes = document.routes().iter();
        // The document is described at the path without a final slash.
        let described = |path: &str| path.replace(".json/", ".json");
        let mut routes: Vec<_> =
            routes.map(|(method, path)| format!("{method} {}", described(path))).collect();
        shown.sort_unstable();
        routes.sort_unstable();
        assert_eq!(shown, routes);
        assert_eq!(page.evaluate("document.body.textContent.includes('[object')").await, false);
        let markup = "[...document.querySelectorAll('main p, main li, main td')].map(text => text.textContent).filter(text => /\\*\\*|\\]\\(|```/.test(text))";
        assert_eq!(page.evaluate(markup).await, json!([]), "Markdown is shown as it is written");
        let sample = "document.querySelector('#webhooks pre').textContent.split('\\n').length";
        assert_eq!(page.evaluate(sample).await, 6);
        assert_sound(&page, &origin);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_section_is_listed_by_group_and_every_link_leads_somewhere() {
    let (_app, origin) = served().await;
    let mut page = reference(&origin, "docs/#permissions").await;
    let explained =
        "document.querySelector('#top').textContent.includes('Customers are the staff of the company')";
    assert_eq!(page.evaluate(explained).await, true);
    let titles = "[...document.querySelectorAll('#contents summary')].map(title => title.textContent)";
    let document = document().finish().unwrap();
    let tags = document["tags"].as_array().unwrap().iter().map(|tag| tag["name"].as_str().unwrap());
    let expected: Vec<_> = ["Guide"].into_iter().chain(tags).chain(["Schemas"]).collect();
    assert_eq!(page.evaluate(titles).await, json!(expected));
    let broken = "[...document.querySelectorAll('a[href^=\"#\"]')].map(link => link.hash.slice(1))\
        .filter(id => !document.getElementById(id))";
    assert_eq!(page.evaluate(broken).await, json!([]));
    let ids = "[...document.querySelectorAll('section[id]')].map(section => section.id)";
    let ids = texts(&page.evaluate(ids).await);
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "{ids:?}");
    for table in ["permissions", "candidate-status", "project-status"] {
        assert_eq!(page.evaluate(&format!("!!document.querySelector('#{table} table')")).await, true);
    }
    // The section that the address names is the one that is read.
    page.until("document.querySelector('#contents a[aria-current]').hash === '#permissions'").await;
    page.evaluate("document.querySelector('#createCandidate .text a[href^=\"#permissions-\"]').click()")
        .await;
    assert_eq!(page.evaluate("location.hash").await, "#permissions-change_project");
    page.evaluate("document.querySelector('#contents a[href=\"#createLabel\"]').click()").await;
    page.until("document.querySelector('#contents a[aria-current]').hash === '#createLabel'").await;
    assert_sound(&page, &origin);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_guide_begins_with_a_quickstart_and_refusals_lead_to_what_to_do() {
    let (_app, origin) = served().await;
    let mut page = reference(&origin, "docs/").await;
    let entries =
        "[...document.querySelector('#contents details').querySelectorAll('li a')].map(link => link.hash)";
    let entries = texts(&page.evaluate(entries).await);
    let first = ["#top", "#quickstart", "#connect-an-ats", "#invite-without-our-mails"];
    assert_eq!(entries[..4], first);
    assert_eq!(entries[entries.len() - 2..], ["#error-codes", "#changelog"]);
    // Samples name this deployment, and links within the guide stay on the page.
    let sample = "document.querySelector('#quickstart pre').textContent";
    assert_eq!(page.evaluate(&format!("{sample}.split('\\n')[0]")).await, format!("API={origin}/api/v3"));
    let printed = "[...document.querySelectorAll('#quickstart pre.printed')].length > 5";
    assert_eq!(page.evaluate(printed).await, true);
    page.evaluate("document.querySelector('#quickstart a[href=\"#keep-a-copy-in-step\"]').click()").await;
    assert_eq!(page.evaluate("location.hash").await, "#keep-a-copy-in-step");
    let section = "document.getElementById('keep-a-copy-in-step-after-an-outage').textContent";
    assert_eq!(page.evaluate(section).await, "After an outage #");
    let code = "document.querySelector('#advanceCandidate .text a[href=\"#error-codes-deadline_missing\"]')";
    page.evaluate(&format!("{code}.click()")).await;
    page.until("document.querySelector('#contents a[aria-current]').hash === '#error-codes'").await;
    let row = "document.querySelector('tr:target').cells[2].textContent.startsWith('Set a deadline')";
    assert_eq!(page.evaluate(row).await, true);
    assert_sound(&page, &origin);
}

#[tokio::test(flavor = "multi_thread")]
async fn operations_are_found_by_their_words_and_fields() {
    let (_app, origin) = served().await;
    let mut page = reference(&origin, "docs/").await;
    let found = "[...document.querySelectorAll('#results a')].map(link => link.hash)";
    let listed = "[...document.querySelectorAll('#contents details a')].filter(link => link.closest('details').checkVisibility()).length";
    let status = "document.getElementById('found').textContent";
    let all = page.evaluate(listed).await.as_u64().unwrap();
    // The best is the first one.
    for (text, expected) in [
        ("delete candidate", "#deleteCandidate"),
        ("webhooks", "#webhooks"),
        ("log in", "#logIn"),
        ("post labels", "#createLabel"),
        ("extended_expiration_period", "#logIn"),
        ("CANDIDATES/IMPORT", "#importCandidates"),
        ("pagination", "#lists"),
        ("duplicates webhook", "#webhooks"),
        ("rate limit", "#rate-limits"),
        ("cors", "#pages-of-other-origins"),
    ] {
        page.evaluate(&fill("document.getElementById('search')", text)).await;
        let found = texts(&page.evaluate(found).await);
        assert_eq!(found[0], expected, "{text}: {found:?}");
        assert_eq!(page.evaluate(status).await, format!("{} found", found.len()));
        assert_eq!(page.evaluate(listed).await, 0);
    }
    page.evaluate(
        "document.getElementById('search').dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' }))",
    )
    .await;
    assert_eq!(page.evaluate("location.hash").await, "#pages-of-other-origins");
    for (text, told) in [
        (
            "recruter labels",
            "Nothing here has “recruter”. Try fewer words, the name of a field, or a part of a path.",
        ),
        (
            "duplicates photo",
            "Nothing has all of these words. Try fewer words, the name of a field, or a part of a path.",
        ),
    ] {
        page.evaluate(&fill("document.getElementById('search')", text)).await;
        assert_eq!(page.evaluate(found).await, json!([]));
        assert_eq!(page.evaluate(status).await, told);
    }
    page.evaluate(&fill("document.getElementById('search')", "")).await;
    assert_eq!(page.evaluate(listed).await, all);
    assert_eq!(page.evaluate(status).await, "");
    assert_sound(&page, &origin);
}

#[tokio::test(flavor = "multi_thread")]
async fn samples_are_shown_in_three_languages_for_the_chosen_credential() {
    let (_app, origin) = served().await;
    let mut page = reference(&origin, "docs/").await;
    let sample = "document.querySelector('#createLabel .sample pre').textContent";
    let address = format!("{origin}/api/v3/companies/acme/labels/");
    let languages = [
        (
            "curl",
            format!("curl -X POST '{address}'"),
            "-H \"Authorization: Token $TOKEN\"",
            "sessionid=$SESSIONID",
        ),
        (
            "Python",
            format!("requests.post(\n    \"{address}\""),
            "\"Token \" + os.environ[\"TOKEN\"]",
            "cookies={",
        ),
        (
            "JavaScript",
            format!("fetch(\"{address}\""),
            "\"Token \" + process.env.TOKEN",
            "credentials: \"include\"",
        ),
    ];
    for (language, call, token, cookie) in languages {
        let button = format!(
            "[...document.querySelectorAll('#createLabel .bar button')].find(button => button.textContent === '{language}')"
        );
        page.evaluate(&format!("{button}.click()")).await;
        for (kind, credential) in [("token", token), ("session", cookie)] {
            page.evaluate(&fill("document.getElementById('credential-kind')", kind)).await;
            let sample = page.evaluate(sample).await;
            let sample = sample.as_str().unwrap();
            assert!(sample.contains(&call) && sample.contains(credential), "{language}, {kind}: {sample}");
            assert!(sample.contains("\"text\": "), "no body: {sample}");
        }
        let none = "[...document.querySelectorAll('.sample pre')].filter(sample => sample.textContent.includes('undefined'))";
        assert_eq!(page.evaluate(&format!("{none}.length")).await, 0, "{language}");
    }
    assert_sound(&page, &origin);
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_can_be_tried_with_a_token() {
    let (app, origin) = served().await;
    let owner = app.owner().await;
    let mut page = reference(&origin, "docs/").await;
    for kind in ["token", "basic"] {
        page.evaluate(&fill("document.getElementById('credential-kind')", kind)).await;
        page.evaluate(&fill("document.getElementById('credential-secret')", owner.secret())).await;
        let shown = execute(&mut page, "getCaller", &[]).await;
        assert_eq!(shown, owner.get("/whoami/").await.expect(200).json());
    }
    assert_sound(&page, &origin);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_token_of_a_login_is_taken_over_and_can_be_copied() {
    let (app, origin) = served().await;
    let owner = app.owner().await;
    let mut page = Page::open().await;
    page.prepare(
        "Object.defineProperty(navigator, 'clipboard', { value: { writeText: async text => { globalThis.copied = text; } } });",
    )
    .await;
    show_reference(&mut page, &origin, "docs/").await;
    page.evaluate(&fill("document.getElementById('credential-kind')", "session")).await;
    let login = json!({ "company": "acme", "username": owner.username, "password": PASSWORD });
    let token = execute(&mut page, "logIn", &[("body", &login.to_string())]).await["token"].clone();
    let copy = "[...document.querySelectorAll('#logIn .answer button')].find(one => one.textContent === 'Copy token')";
    page.evaluate(&format!("{copy}.click()")).await;
    page.until(
        "[...document.querySelectorAll('#logIn .answer button')].some(one => one.textContent === 'Copied')",
    )
    .await;
    assert_eq!(page.evaluate("globalThis.copied").await, token);
    let credential = "['kind', 'secret'].map(name => document.getElementById(`credential-${name}`).value)";
    assert_eq!(page.evaluate(credential).await, json!(["token", token]));
    let shown = execute(&mut page, "getCaller", &[]).await;
    let caller = (&shown["token"]["kind"], &shown["resource"]["resource_uri"]);
    assert_eq!(caller, (&json!("token"), &json!(owner.uri)));
    assert_sound(&page, &origin);
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_can_be_tried_with_a_cookie() {
    let (app, origin) = served().await;
    let owner = app.owner().await;
    let mut page = reference(&origin, "docs/").await;
    page.evaluate(&fill("document.getElementById('credential-kind')", "session")).await;
    let login = json!({ "company": "acme", "username": owner.username, "password": PASSWORD });
    execute(&mut page, "logInByCookie", &[("body", &login.to_string())]).await;
    let shown = execute(&mut page, "getCaller", &[]).await;
    let caller = (&shown["token"]["kind"], &shown["resource"]["resource_uri"]);
    assert_eq!(caller, (&json!("cookie"), &json!(owner.uri)));
    // Only the page's origin allows the cookie to change something.
    let label = [("companyId", "acme"), ("body", r#"{"text": "Senior"}"#)];
    let label = execute(&mut page, "createLabel", &label).await;
    assert_eq!(label["text"], "Senior");
    // A value entered once is there in the other forms.
    let labels = execute(&mut page, "listLabels", &[]).await;
    assert_eq!(labels["objects"][0]["text"], "Senior");
    assert_sound(&page, &origin);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs axe-core, which .ci/page installs"]
async fn no_part_has_findings() {
    let axe = std::fs::read_to_string(std::env::var_os("AXE").unwrap()).unwrap();
    let (_app, origin) = served().await;
    let mut page = reference(&origin, "docs/").await;
    page.evaluate(&format!("{axe}; undefined")).await;
    let findings = "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.slice(0, 3).map(node => node.html)]))";
    for scheme in ["light", "dark"] {
        page.prefer(scheme).await;
        assert_eq!(page.evaluate(findings).await, json!([]), "{scheme}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn it_fits_on_a_phone() {
    let (_app, origin) = served().await;
    let mut page = reference(&origin, "docs/").await;
    page.resize(390, 844).await;
    assert_eq!(page.evaluate(WIDTH).await, 390);
    page.evaluate("document.querySelectorAll('main details').forEach(details => details.open = true)").await;
    page.until(
        "document.querySelectorAll('.trial form').length === document.querySelectorAll('.trial').length",
    )
    .await;
    assert_eq!(page.evaluate(WIDTH).await, 390, "with everything unfolded");
    // Tables that are wider scroll within themselves.
    let tables =
        "[...document.querySelectorAll('.wide')].some(table => table.scrollWidth > table.clientWidth)";
    assert_eq!(page.evaluate(tables).await, true);
    let navigation = "document.getElementById('navigation').offsetHeight > 0";
    assert_eq!(page.evaluate(navigation).await, false);
    page.evaluate("document.getElementById('menu').click()").await;
    assert_eq!(page.evaluate(navigation).await, true);
    assert_eq!(page.evaluate(WIDTH).await, 390, "with its menu");
    page.evaluate("document.querySelector('#contents a[href=\"#errors\"]').click()").await;
    assert_eq!(page.evaluate(navigation).await, false);
    assert_sound(&page, &origin);
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_dark_where_the_system_or_its_switch_says_so() {
    let (_app, origin) = served().await;
    let mut page = reference(&origin, "docs/").await;
    let back = "getComputedStyle(document.body).backgroundColor";
    let (light, dark) = (json!("rgb(255, 255, 255)"), json!("rgb(20, 23, 28)"));
    for (scheme, theme, expected) in
        [("light", "", &light), ("dark", "", &dark), ("light", "dark", &dark), ("dark", "light", &light)]
    {
        page.prefer(scheme).await;
        page.evaluate(&fill("document.getElementById('theme')", theme)).await;
        assert_eq!(&page.evaluate(back).await, expected, "{scheme}, {theme}");
    }
    assert_sound(&page, &origin);
}

/// Tries an operation with these values, whose answer must be a success, and returns the body that is shown.
async fn execute(page: &mut Page, operation: &str, values: &[(&str, &str)]) -> Value {
    let trial = format!("document.querySelector('#{operation} .trial')");
    page.evaluate(&format!("{trial}.open = true")).await;
    page.until(&format!("{trial}.querySelector('.send')")).await;
    page.evaluate(&format!("{trial}.querySelector('.status')?.remove()")).await;
    for (name, value) in values {
        page.evaluate(&fill(&format!("{trial}.querySelector('[name=\"{name}\"]')"), value)).await;
    }
    page.evaluate(&format!("{trial}.querySelector('.send').click()")).await;
    let status = format!("{trial}.querySelector('.status')");
    page.until(&status).await;
    let status = page.evaluate(&format!("{status}.textContent")).await;
    assert!(status.as_str().unwrap().starts_with('2'), "{operation}: {status}");
    let shown = page.evaluate(&format!("{trial}.querySelector('.answer-body')?.textContent ?? 'null'")).await;
    serde_json::from_str(shown.as_str().unwrap()).unwrap()
}
