//! The report about the accessibility of the pages, and the page that people read.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::json;
use tests::app::TestApp;
use tests::caller::Caller;

/// The criteria of WCAG 2.2, levels A and AA.
const CRITERIA: &str = "1.1.1 1.2.1 1.2.2 1.2.3 1.2.4 1.2.5 1.3.1 1.3.2 1.3.3 1.3.4 1.3.5 1.4.1 1.4.2 1.4.3 1.4.4 1.4.5 1.4.10 1.4.11 \
    1.4.12 1.4.13 2.1.1 2.1.2 2.1.4 2.2.1 2.2.2 2.3.1 2.4.1 2.4.2 2.4.3 2.4.4 2.4.5 2.4.6 2.4.7 2.4.11 2.5.1 2.5.2 2.5.3 2.5.4 2.5.7 \
    2.5.8 3.1.1 3.1.2 3.2.1 3.2.2 3.2.3 3.2.4 3.2.6 3.3.1 3.3.2 3.3.3 3.3.4 3.3.7 3.3.8 4.1.2 4.1.3";

/// The names of all tests of the browser suite.
fn names_in(folder: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            names.extend(names_in(&path));
            continue;
        }
        let source = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = source.lines().map(str::trim).collect();
        for (number, line) in lines.iter().enumerate() {
            let name = line.strip_prefix("async fn ").and_then(|rest| rest.split_once("()"));
            // The attributes of a test stand above it.
            let is_test = lines[..number]
                .iter()
                .rev()
                .take_while(|line| line.starts_with("#["))
                .any(|line| line.contains("test("));
            names.extend(name.filter(|_| is_test).map(|(name, _)| name.to_owned()));
        }
    }
    names
}

#[test]
fn the_report_has_each_criterion_and_names_tests_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let report = std::fs::read_to_string(root.join("functions/page/ACCESSIBILITY.md")).unwrap();
    let known = names_in(&root.join("tests/browser"));
    assert!(known.len() > 100, "{known:?}");
    let rows: Vec<Vec<&str>> = report
        .lines()
        .filter(|line| line.starts_with("| ") && line.as_bytes()[2].is_ascii_digit())
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    let criteria: Vec<&str> = rows.iter().map(|row| row[0].split(' ').next().unwrap()).collect();
    assert_eq!(criteria, CRITERIA.split_whitespace().collect::<Vec<_>>());
    assert_eq!(criteria.len(), 55);
    for row in &rows {
        let [criterion, level, result, tests, remark] = row[..] else { panic!("{row:?}") };
        assert!(["A", "AA"].contains(&level), "{criterion}");
        let named: Vec<&str> = tests.split('`').skip(1).step_by(2).collect();
        for test in &named {
            assert!(known.contains(*test), "{criterion} names {test}, which is no test of the browser suite");
        }
        match result {
            "supports" => assert!(!named.is_empty(), "{criterion} names no test"),
            "partly" | "does not support" | "does not apply" => {
                assert!(remark.len() > 10, "{criterion} does not say what a person meets, or why");
            }
            _ => panic!("{criterion}: {result}"),
        }
    }
}

#[tokio::test]
async fn invitations_to_a_page_of_the_service_lead_to_the_page_about_accessibility() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let fields = json!({ "interview_platform": "builtin", "allow_hash_login": true });
    let project = owner.running_project(fields).await;
    owner.post(&format!("{project}questions/"), json!({ "text": "Why us?" })).await.expect(201);
    let candidate = owner.invite(&project, json!({})).await;
    app.settle().await;
    let page = "https://hr.example/accessibility/acme/";
    let text = |app: &TestApp| app.mails_to(&candidate.email)[0].text.clone().unwrap();
    assert!(text(&app).contains(page), "{}", text(&app));
    assert!(app.mails_to(&candidate.email)[0].html.as_deref().unwrap().contains(&format!("href=\"{page}\"")));
    // Reminders and other mails are short.
    owner.remind(&candidate.uri).await.expect(200);
    app.settle().await;
    assert!(!text(&app).contains("/accessibility/"), "{}", text(&app));
    // An interview elsewhere is not on these pages.
    let elsewhere = owner.running_project(json!({ "interview_platform": "external" })).await;
    let other = owner.invite(&elsewhere, json!({})).await;
    app.settle().await;
    assert!(!app.mails_to(&other.email)[0].text.as_deref().unwrap().contains("/accessibility/"));
}
