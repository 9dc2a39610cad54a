//! How the page and its files are served.

use std::collections::BTreeSet;
use std::io::Read as _;

use axum::http::Method;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use ring::digest::{SHA256, digest};
use serde_json::json;
use tests::app::TestApp;
use tests::http::{Request, Response};
use tests::logs::Recording;

const ORIGIN: &str = "https://hr.example";
const LINKS: [&str; 7] = [
    "/register/KEY",
    "/interview/acme/KEY",
    "/interview/acme",
    "/reset-password/KEY",
    "/activate/KEY",
    "/confirm-email/KEY",
    "/restore-email/KEY",
];
const GUEST: &str = "/review/KEY";
const STAFF: [&str; 3] = ["/staff/acme", "/project/acme/PROJECT", "/result/acme/PROJECT/CANDIDATE"];
const ACCESSIBILITY: &str = "/accessibility/acme";
const FOR_EVER: Option<&str> = Some("public, max-age=31536000, immutable");
const SHORTLY: Option<&str> = Some("public, max-age=60");

fn at(path: &str) -> Request {
    Request::get(&format!("{ORIGIN}{path}"))
}

async fn get(app: &TestApp, path: &str) -> Response {
    app.send(at(path)).await.expect(200)
}

/// The files of all pages as they name them, with `/page/{version}/` before their names.
async fn named_files(app: &TestApp) -> BTreeSet<String> {
    let mut pages = String::new();
    for page in [LINKS[0], GUEST, STAFF[0], ACCESSIBILITY] {
        pages += str::from_utf8(&get(app, page).await.body).unwrap();
    }
    let attributes = [" src=\"", " href=\""].into_iter();
    let found = attributes.flat_map(|attribute| pages.split(attribute).skip(1));
    // An empty address is that of the page.
    found.map(|rest| rest.split('"').next().unwrap().to_owned()).filter(|file| !file.is_empty()).collect()
}

/// The folder of the files that the page names.
async fn folder(app: &TestApp) -> String {
    let file = named_files(app).await.pop_first().unwrap();
    let version = file.strip_prefix("/page/").unwrap().split('/').next().unwrap();
    assert_eq!(version.len(), 16, "{file}");
    format!("/page/{version}/")
}

fn media_type(path: &str) -> &'static str {
    match path.rsplit('.').next().unwrap() {
        "css" => "text/css; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "svg" => "image/svg+xml",
        other => panic!("{other}: {path}"),
    }
}

/// The hash of the only script in a page itself, and the origin of the bucket.
fn sources(app: &TestApp, page: &[u8]) -> [String; 2] {
    let bucket = url::Url::parse(&app.environment()["AWS_ENDPOINT_URL_S3"]).unwrap();
    let text = str::from_utf8(page).unwrap();
    let (_, script) = text.split_once("<script type=\"module\">").unwrap();
    let (script, _) = script.split_once("</script>").unwrap();
    [STANDARD.encode(digest(&SHA256, script.as_bytes())), bucket.origin().ascii_serialization()]
}

#[tokio::test]
async fn every_link_leads_to_the_page_and_stays_secret() {
    let app = TestApp::start().await;
    let page = get(&app, LINKS[0]).await.body;
    let [script, bucket] = sources(&app, &page);
    let policy = format!(
        "default-src 'none'; script-src 'self' 'sha256-{script}'; style-src 'self'; connect-src 'self' {bucket}; media-src 'self' blob: \
         {bucket}; img-src 'self' blob: data: {bucket}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
         require-trusted-types-for 'script'"
    );
    for link in
        LINKS.into_iter().flat_map(|link| [link.to_owned(), format!("{link}/"), format!("{link}?a=b")])
    {
        let shown = get(&app, &link).await;
        assert_eq!(shown.body, page, "{link}");
        let head = app.send(at(&link).head()).await.expect(200);
        assert!(head.body.is_empty());
        for response in [&shown, &head] {
            for (name, value) in [
                ("content-type", "text/html; charset=utf-8"),
                ("cache-control", "no-store"),
                ("referrer-policy", "no-referrer"),
                ("permissions-policy", "camera=(self), microphone=(self)"),
                ("x-content-type-options", "nosniff"),
                ("content-security-policy", &policy),
                ("strict-transport-security", "max-age=31536000"),
            ] {
                assert_eq!(response.header(name), Some(value), "{link}");
            }
            assert_eq!(response.header("set-cookie"), None);
            assert_eq!(response.log().dynamodb_calls, 0);
        }
    }
}

#[tokio::test]
async fn every_answer_over_https_has_browsers_stay_with_it() {
    const PATHS: [&str; 14] = [
        "/page/none/none.js",
        "/review",
        "/elsewhere",
        "/llms.txt",
        "/.well-known/security.txt",
        "/api/v3/docs",
        "/api/v3/docs/",
        "/api/v3/openapi.json",
        "/api/v3/",
        "/api/v3/whoami/",
        "/api/v3/nowhere/",
        GUEST,
        STAFF[0],
        ACCESSIBILITY,
    ];
    for (base, sent) in [("https://hr.example", Some("max-age=31536000")), ("http://localhost:8080", None)] {
        let url = format!("{base}/api/v3");
        let app = TestApp::start_with(&[("BASE_URL", &url)]).await;
        for path in LINKS.iter().chain(&PATHS) {
            let got = Request::get(&format!("{base}{path}"));
            for request in [got.clone(), got.clone().head(), Request::post(&format!("{base}{path}"))] {
                let answer = app.send(request).await;
                assert_eq!(answer.header("strict-transport-security"), sent, "{path}: {answer}");
            }
        }
    }
}

/// Checks that these paths lead to one page for those who watch answers, which reads nothing.
async fn assert_is_viewers_page(app: &TestApp, paths: &[(&str, u16)]) -> Vec<u8> {
    let page = get(app, paths[0].0).await.body;
    let [script, bucket] = sources(app, &page);
    let policy = format!(
        "default-src 'none'; script-src 'self' 'sha256-{script}'; style-src 'self'; connect-src 'self'; media-src 'self' {bucket}; \
         img-src 'self' {bucket}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
    );
    for (path, status) in paths {
        let shown = app.send(at(path)).await.expect(*status);
        assert_eq!(shown.body, page, "{path}");
        for response in [&shown, &app.send(at(path).head()).await.expect(*status)] {
            for (name, value) in [
                ("content-type", "text/html; charset=utf-8"),
                ("cache-control", "no-store"),
                ("referrer-policy", "no-referrer"),
                ("x-robots-tag", "noindex"),
                ("permissions-policy", "camera=(), microphone=()"),
                ("x-content-type-options", "nosniff"),
                ("content-security-policy", &policy),
            ] {
                assert_eq!(response.header(name), Some(value), "{path}");
            }
            assert_eq!(response.header("set-cookie"), None);
            assert_eq!(response.log().dynamodb_calls, 0);
        }
    }
    page
}

#[tokio::test]
async fn a_guests_link_leads_to_a_page_of_its_own_and_reads_nothing() {
    let app = TestApp::start().await;
    let paths = [
        (GUEST, 200),
        ("/review/KEY/", 200),
        ("/review/KEY?a=b", 200),
        ("/review", 404),
        ("/review/", 404),
        ("/review/KEY/x", 404),
    ];
    let page = assert_is_viewers_page(&app, &paths).await;
    assert_ne!(page, get(&app, LINKS[0]).await.body);
}

#[tokio::test]
async fn the_page_about_accessibility_is_the_same_for_all_companies_and_reads_nothing() {
    let app = TestApp::start().await;
    let paths = [
        (ACCESSIBILITY, 200),
        ("/accessibility/acme/", 200),
        ("/accessibility/nowhere/", 200),
        ("/accessibility/", 200),
        ("/accessibility", 200),
        ("/accessibility/acme/x", 404),
    ];
    let page = assert_is_viewers_page(&app, &paths).await;
    for other in [LINKS[0], GUEST, STAFF[0]] {
        assert_ne!(page, get(&app, other).await.body);
    }
}

#[tokio::test]
async fn staff_get_one_page_at_each_of_their_addresses_whatever_these_name() {
    let app = TestApp::start().await;
    let paths = [
        (STAFF[0], 200),
        (STAFF[1], 200),
        (STAFF[2], 200),
        ("/staff/acme/?return_to=/result/acme/a/b/", 200),
        ("/staff/nowhere/", 200),
        ("/project/acme/PROJECT/", 200),
        ("/result/acme/PROJECT/CANDIDATE/", 200),
        ("/result/acme/%ff/CANDIDATE/", 200),
        ("/staff", 404),
        ("/staff/", 404),
        ("/staff/acme/x", 404),
        ("/project", 404),
        ("/project/acme/", 404),
        ("/project/acme/PROJECT/x/", 404),
        ("/result/", 404),
        ("/result/acme", 404),
        ("/result/acme/PROJECT/", 404),
        ("/result/acme/PROJECT/CANDIDATE/x", 404),
    ];
    let page = assert_is_viewers_page(&app, &paths).await;
    for other in [LINKS[0], GUEST] {
        assert_ne!(page, get(&app, other).await.body);
    }
}

#[tokio::test]
async fn links_in_mails_lead_to_the_page() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let invited = owner.invite(&project, json!({})).await;
    app.settle().await;
    let mail = app.mails_to(&invited.email).pop().unwrap();
    let text = mail.text.as_deref().unwrap();
    let link = text.split_whitespace().find(|word| word.starts_with(ORIGIN)).unwrap();
    assert!(link.contains("/register/"), "{link}");
    let response = app.send(Request::get(link)).await.expect(200);
    assert_eq!(response.header("content-type"), Some("text/html; charset=utf-8"));
}

#[tokio::test]
async fn paths_with_keys_are_in_no_log_line() {
    let recording = Recording::start();
    let app = TestApp::start().await;
    let key = "Geheimschluessel";
    for (path, status) in [
        (format!("/interview/acme/{key}"), 200),
        (format!("/interview/acme/{key}/?next={key}"), 200),
        (format!("/register/{key}/"), 200),
        (format!("/reset-password/{key}"), 200),
        (format!("/activate/{key}"), 200),
        (format!("/confirm-email/{key}"), 200),
        (format!("/restore-email/{key}"), 200),
        (format!("/review/{key}"), 200),
        (format!("/review/{key}/{key}"), 404),
        (format!("/interview/{key}/"), 200),
        (format!("/result/acme/{key}/{key}"), 200),
        (format!("/staff/{key}/{key}"), 404),
        (format!("/page/{key}/{key}.js"), 404),
        (format!("/register/{key}/{key}"), 404),
        (format!("/activate/{key}/{key}/{key}"), 404),
        (format!("/interview/acme/{key}/x/"), 404),
        (format!("/elsewhere/{key}/"), 404),
        (format!("/{key}"), 404),
    ] {
        let asked = app.send(at(&path)).await.expect(status);
        assert!(!asked.log().route.contains(key), "{path}");
    }
    let change = Request::post(&format!("{ORIGIN}/interview/acme/{key}")).json(&json!({ "key": key }));
    app.send(change).await.expect_code(405, "method_not_allowed");
    let text = recording.text();
    assert!(text.contains("/interview/{company}/{key}/"), "{text}");
    assert!(!text.contains(key), "{text}");
}

#[tokio::test]
async fn the_page_names_files_that_are_there() {
    let app = TestApp::start().await;
    let files = named_files(&app).await;
    assert!(!files.is_empty());
    for path in files {
        let response = get(&app, &path).await;
        assert_eq!(response.header("content-type"), Some(media_type(&path)), "{path}");
        assert_eq!(response.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(response.header("cache-control"), FOR_EVER, "{path}");
        assert_eq!(response.log().route, "/page/{version}/{*path}");
        assert_eq!(response.log().dynamodb_calls, 0);
    }
}

#[tokio::test]
async fn an_open_page_loads_what_it_lacks_after_a_release() {
    let app = TestApp::start().await;
    for path in named_files(&app).await {
        let name = path.splitn(4, '/').last().unwrap();
        let now = get(&app, &path).await;
        let old = get(&app, &format!("/page/0123456789abcdef/{name}")).await;
        assert_eq!((old.header("cache-control"), &old.body), (SHORTLY, &now.body), "{path}");
    }
}

#[tokio::test]
async fn other_files_and_methods_do_not_exist() {
    let app = TestApp::start().await;
    let folder = folder(&app).await;
    for nothing in [
        format!("{folder}index.html"),
        format!("{folder}nothing.js"),
        // They are parts of main.js, of guest.js, of staff.js and of each page's styles.
        format!("{folder}state.js"),
        format!("{folder}guest/state.js"),
        format!("{folder}staff/draft.js"),
        format!("{folder}player.css"),
        format!("{folder}page.css"),
        format!("{folder}../page.css"),
        format!("{folder}..%2fpage.css"),
        format!("{folder}/page.css"),
        format!("{folder}%ff"),
        folder.clone(),
        "/page/page.css".to_owned(),
        "/page/".to_owned(),
    ] {
        app.send(at(&nothing)).await.expect_code(404, "not_found");
    }
    let others = [GUEST.to_owned(), STAFF[2].to_owned(), named_files(&app).await.pop_first().unwrap()];
    for path in LINKS.map(str::to_owned).into_iter().chain(others) {
        for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
            let refused = app.send(Request::new(method, &format!("{ORIGIN}{path}"))).await;
            assert_eq!(refused.header("allow"), Some("GET,HEAD"), "{path}");
            refused.expect_code(405, "method_not_allowed");
        }
    }
    // The page is no part of the API.
    app.send(Request::get("/register/KEY/")).await.expect_code(404, "not_found");
}

#[tokio::test]
async fn a_path_that_no_link_has_leads_to_the_page_all_the_same() {
    let app = TestApp::start().await;
    let page = get(&app, LINKS[0]).await;
    for wrong in [
        "/interview/",
        "/interview",
        "/register",
        "/activate/",
        "/reset-password/",
        "/register/a/b",
        "/interview/acme/a/b/c/",
        "/reset-password/a/b",
        "/activate/a/%ff",
        "/confirm-email/",
        "/restore-email/a/b",
    ] {
        let shown = app.send(at(wrong)).await.expect(404);
        assert_eq!(shown.body, page.body, "{wrong}");
        for name in ["content-type", "content-security-policy", "cache-control", "referrer-policy"] {
            assert_eq!(shown.header(name), page.header(name), "{wrong}");
        }
    }
}

#[tokio::test]
async fn people_who_mistype_an_address_read_a_page_and_programs_an_error() {
    const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    let app = TestApp::start().await;
    let asked = |path: &str, accept: &str| at(path).header("accept", accept);
    for path in ["/", "/interviews/acme/", "/Register/KEY", "/elsewhere", "/docs/", "/review%20/KEY"] {
        let page = app.send(asked(path, BROWSER)).await.expect(404);
        assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"), "{path}");
        assert!(page.header("content-security-policy").unwrap().starts_with("default-src 'none';"));
        assert_eq!(page.header("cache-control"), Some("private, no-store"));
        assert_eq!(page.log().dynamodb_calls, 0);
        let text = String::from_utf8(page.body).unwrap();
        for language in ["en", "de", "fr", "es", "it", "nl"] {
            assert!(text.contains(&format!("<section lang=\"{language}\">")), "{language}");
        }
        assert!(
            !text.contains("<script") && !text.contains("nterview"),
            "it repeats nothing of the address: {text}"
        );
        assert!(app.send(asked(path, BROWSER).head()).await.expect(404).body.is_empty());
        for accept in ["*/*", "application/json"] {
            app.send(asked(path, accept)).await.expect_code(404, "not_found");
        }
        let post = Request::post(&format!("{ORIGIN}{path}")).header("accept", BROWSER);
        app.send(post).await.expect_code(404, "not_found");
    }
    // The API answers browsers as it answers programs.
    for path in ["/api/v3/nowhere/", "/api/v3/companies/acme/nowhere/"] {
        app.send(asked(path, BROWSER)).await.expect_code(404, "not_found");
    }
}

#[tokio::test]
async fn everything_is_packed_for_clients_that_accept_it_and_sent_once() {
    let app = TestApp::start().await;
    for path in
        named_files(&app).await.into_iter().chain(["/interview/acme/KEY", GUEST, STAFF[1]].map(str::to_owned))
    {
        for coding in ["identity", "gzip"] {
            let packing = (coding == "gzip").then_some("gzip");
            let ask = || at(&path).header("accept-encoding", coding);
            let response = app.send(ask()).await.expect(200);
            assert_eq!(response.header("content-encoding"), packing, "{path}");
            assert_eq!(response.header("vary"), Some("Accept-Encoding"));
            if packing.is_some() {
                let mut content = Vec::new();
                GzDecoder::new(&*response.body).read_to_end(&mut content).unwrap();
                assert_eq!(content, get(&app, &path).await.body, "{path}");
            }
            let tag = response.header("etag").unwrap();
            let again = app.send(ask().header("if-none-match", tag)).await.expect(304);
            assert!(again.body.is_empty());
            assert_eq!(again.header("cache-control"), response.header("cache-control"));
            app.send(ask().header("if-none-match", "\"0-other\"")).await.expect(200);
        }
    }
}
