//! The reference: the document as a deployment serves it, and the page that shows it.

use std::collections::BTreeSet;

use axum::http::Method;
use serde_json::{Value, json};
use tests::app::{BASE_URL, TestApp};
use tests::http::{Request, Response};

const DOCUMENT: &str = "/openapi.json";
const PAGE: &str = "/docs/";

/// The addresses in attributes of the page.
fn addresses(page: &str) -> BTreeSet<String> {
    let attributes = ["href=\"", "src=\""].into_iter();
    let found = attributes.flat_map(|attribute| page.split(attribute).skip(1));
    found.map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
}

async fn get(app: &TestApp, target: &str) -> Response {
    app.send(Request::get(target)).await.expect(200)
}

async fn page(app: &TestApp) -> String {
    String::from_utf8(get(app, PAGE).await.body).unwrap()
}

/// The files that the page names, each with its address below the version segment.
async fn files(app: &TestApp) -> Vec<String> {
    let own = addresses(&page(app).await).into_iter();
    let own = own.filter_map(|address| Some(address.strip_prefix("/api/v3")?.to_owned()));
    own.filter(|address| address.starts_with(PAGE)).collect()
}

#[tokio::test]
async fn the_document_says_where_the_service_is_and_is_else_the_committed_one() {
    for base_url in [BASE_URL, "http://localhost:8080/api/v3"] {
        let app = TestApp::start_with(&[("BASE_URL", base_url)]).await;
        let mut expected: Value = serde_json::from_str(docs::DOCUMENT).unwrap();
        expected["servers"] = json!([{ "url": base_url }]);
        for target in [DOCUMENT, "/openapi.json/"] {
            let response = get(&app, target).await;
            assert!(!response.body.contains(&b'\n'), "not compact");
            assert!(response.json() == expected, "{base_url}");
            assert_eq!(response.log().route, "/api/v3/openapi.json/");
        }
    }
}

#[tokio::test]
async fn the_root_of_the_api_leads_to_the_document_and_the_reference() {
    let app = TestApp::start().await;
    for target in ["/", ""] {
        let root = get(&app, &format!("{BASE_URL}{target}")).await;
        let (document, page) = (format!("{BASE_URL}/openapi.json"), format!("{BASE_URL}/docs/"));
        assert_eq!(root.json(), json!({ "service_desc": document, "service_doc": page }));
        let links = format!(
            "<{document}>; rel=\"service-desc\"; type=\"application/json\", <{page}>; rel=\"service-doc\"; type=\"text/html\""
        );
        assert_eq!(root.header("link"), Some(&*links));
        for (url, media_type) in [(&document, "application/json"), (&page, "text/html; charset=utf-8")] {
            assert_eq!(get(&app, url).await.header("content-type"), Some(media_type));
        }
        assert_eq!((root.log().route, root.log().dynamodb_calls), ("/api/v3/".to_owned(), 0));
    }
    app.send(Request::new(Method::POST, "/")).await.expect_code(405, "method_not_allowed");
}

#[tokio::test]
async fn nothing_of_the_reference_reads_or_writes_the_table() {
    let app = TestApp::start().await;
    for target in files(&app).await.into_iter().chain([DOCUMENT.to_owned(), PAGE.to_owned()]) {
        assert_eq!(get(&app, &target).await.log().dynamodb_calls, 0, "{target}");
    }
}

#[tokio::test]
async fn all_files_may_be_cached_and_are_compressed_for_clients_that_accept_it() {
    let app = TestApp::start().await;
    for target in files(&app).await.into_iter().chain([DOCUMENT.to_owned(), PAGE.to_owned()]) {
        let plain = get(&app, &target).await;
        let packed = app.send(Request::get(&target).header("accept-encoding", "br, gzip")).await.expect(200);
        assert_eq!(
            (plain.header("content-encoding"), packed.header("content-encoding")),
            (None, Some("gzip"))
        );
        assert!(packed.body.len() < plain.body.len(), "{target}");
        assert_eq!(unpacked(&packed.body), plain.body, "{target}");
        for response in [&plain, &packed] {
            assert_eq!(response.header("vary"), Some("Accept-Encoding"));
            assert_eq!(response.header("x-content-type-options"), Some("nosniff"));
            let caching = if target.contains("?v=") {
                "public, max-age=31536000, immutable"
            } else {
                "public, max-age=60"
            };
            assert_eq!(response.header("cache-control"), Some(caching), "{target}");
        }
        for (response, coding) in [(&plain, "identity"), (&packed, "gzip")] {
            let again = Request::get(&target).header("accept-encoding", coding);
            let again =
                app.send(again.header("if-none-match", response.header("etag").unwrap())).await.expect(304);
            assert!(again.body.is_empty());
            assert_eq!(again.header("cache-control"), response.header("cache-control"));
        }
        let head = app.send(Request::new(Method::HEAD, &target)).await.expect(200);
        assert!(head.body.is_empty());
        assert_eq!(head.header("content-type"), plain.header("content-type"));
    }
}

fn unpacked(bytes: &[u8]) -> Vec<u8> {
    let mut content = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(bytes), &mut content).unwrap();
    content
}

#[tokio::test]
async fn only_under_the_address_that_the_page_names_is_a_file_kept_for_ever() {
    let app = TestApp::start().await;
    for target in files(&app).await {
        let (path, version) = target.split_once("?v=").unwrap();
        assert_eq!(version.len(), 16, "{target}");
        for other in [path.to_owned(), format!("{path}?v=0000000000000000"), format!("{target}&x")] {
            assert_eq!(
                get(&app, &other).await.header("cache-control"),
                Some("public, max-age=60"),
                "{other}"
            );
        }
    }
}

#[tokio::test]
async fn the_page_may_run_and_call_nothing_from_elsewhere() {
    let app = TestApp::start().await;
    for target in [PAGE, "/docs"] {
        let response = get(&app, target).await;
        assert_eq!(response.header("content-type"), Some("text/html; charset=utf-8"));
        let policy = response.header("content-security-policy").unwrap();
        let rules: BTreeSet<_> = policy.split(';').map(str::trim).collect();
        for rule in [
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "connect-src 'self'",
            "base-uri 'none'",
            "frame-ancestors 'none'",
        ] {
            assert!(rules.contains(rule), "{rule} in {policy}");
        }
        assert!(!policy.contains("unsafe") && !policy.contains('*') && !policy.contains("//"), "{policy}");
    }
}

#[tokio::test]
async fn every_file_that_the_page_names_is_there_and_nothing_of_it_leads_elsewhere() {
    let app = TestApp::start().await;
    let page = page(&app).await;
    for address in addresses(&page) {
        let is_own = address.starts_with("/api/v3/") || address.starts_with('#');
        assert!(is_own || address == "data:,", "{address}");
    }
    assert!(!page.contains("<script>") && !page.contains("<style") && !page.contains("//"), "{page}");
    let types = files(&app).await;
    assert_eq!(types.len(), 8, "{types:?}");
    for target in types {
        let response = get(&app, &target).await;
        let is_script = target.contains(".js?");
        let media_type = if is_script { "text/javascript; charset=utf-8" } else { "text/css; charset=utf-8" };
        assert_eq!(response.header("content-type"), Some(media_type), "{target}");
        let text = String::from_utf8(response.body).unwrap();
        assert!(!text.contains("@import") && !text.contains(" url(") && !text.contains("http"), "{target}");
        for unsafe_call in ["innerHTML", "insertAdjacentHTML", "eval(", "document.write", "style="] {
            assert!(!text.contains(unsafe_call), "{unsafe_call} in {target}");
        }
    }
    for nothing in
        ["/docs/index.html", "/docs/swagger-ui-bundle.js", "/docs/..%2fopenapi.json", "/docs/reference.js/x"]
    {
        app.send(Request::get(nothing)).await.expect_code(404, "not_found");
    }
}
