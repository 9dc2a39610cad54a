//! Files that programs look for at fixed paths.

use docs::DOCUMENT;
use serde_json::Value;
use tests::app::TestApp;
use tests::http::{Request, Response};

const ORIGIN: &str = "https://hr.example";
const SECURITY: &str = "/.well-known/security.txt";
const PLAIN_TEXT: Option<&str> = Some("text/plain; charset=utf-8");

async fn get(app: &TestApp, path: &str) -> Response {
    app.send(Request::get(&format!("{ORIGIN}{path}"))).await
}

fn text(response: &Response) -> &str {
    str::from_utf8(&response.body).unwrap()
}

/// The fields of RFC 9116 in a file, in order.
fn fields(file: &str) -> Vec<(&str, &str)> {
    assert!(file.ends_with('\n'), "{file:?}");
    file.lines().map(|line| line.split_once(": ").unwrap()).collect()
}

#[tokio::test]
async fn the_contact_for_vulnerabilities_is_told_with_an_end() {
    for contact in ["mailto:security@acme.example", "https://acme.example/security"] {
        let app = TestApp::start_with(&[("SECURITY_CONTACT", contact)]).await;
        let file = get(&app, SECURITY).await.expect(200);
        // The clock of the tests stands at 2026-11-08.
        let expected = [
            ("Contact", contact),
            ("Expires", "2027-02-06T00:00:00Z"),
            ("Canonical", "https://hr.example/.well-known/security.txt"),
        ];
        assert_eq!(fields(text(&file)), expected);
        assert_eq!(file.header("content-type"), PLAIN_TEXT);
        assert_eq!(file.header("cache-control"), Some("public, max-age=60"));
        assert_eq!(file.log().dynamodb_calls, 0);
    }
}

#[tokio::test]
async fn without_a_contact_there_is_no_such_file() {
    let app = TestApp::start().await;
    get(&app, SECURITY).await.expect_code(404, "not_found");
    get(&app, "/.well-known/").await.expect_code(404, "not_found");
}

#[tokio::test]
async fn language_models_are_led_to_the_document_and_to_pages_and_sections_that_exist() {
    let app = TestApp::start().await;
    let file = get(&app, "/llms.txt").await.expect(200);
    assert_eq!(file.header("content-type"), PLAIN_TEXT);
    let guide = text(&file);
    assert!(guide.starts_with("# Interview Service API\n\n> ") && !guide.contains('{'), "{guide}");
    let document: Value = serde_json::from_str(DOCUMENT).unwrap();
    let introduction = document["info"]["description"].as_str().unwrap();
    let titles = introduction.lines().filter_map(|line| line.strip_prefix("## "));
    let sections: Vec<String> = titles.map(|title| title.to_lowercase().replace(' ', "-")).collect();
    let links = guide.split("](").skip(1).map(|rest| rest.split(')').next().unwrap());
    let own: Vec<&str> = links.filter(|link| link.starts_with(ORIGIN)).collect();
    assert_eq!(own.len(), 22, "{own:?}");
    for link in own {
        let (page, section) = link.split_once('#').unwrap_or((link, ""));
        app.send(Request::get(page)).await.expect(200);
        assert!(section.is_empty() || sections.iter().any(|one| one == section), "{link}");
    }
}

#[tokio::test]
async fn files_at_fixed_paths_are_found_below_the_base_url_as_well() {
    let app = TestApp::start_with(&[("SECURITY_CONTACT", "mailto:security@acme.example")]).await;
    for file in ["/llms.txt", SECURITY] {
        let led = get(&app, &format!("/api/v3{file}")).await.expect(308);
        assert_eq!(led.header("location"), Some(&*format!("{ORIGIN}{file}")));
        get(&app, file).await.expect(200);
    }
    get(&app, "/api/v3/robots.txt").await.expect_code(404, "not_found");
}
