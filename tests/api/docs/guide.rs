//! The guide: its pages as they are served, what they link to, and a row for each code of an error.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tests::app::{BASE_URL, TestApp};
use tests::http::{Request, Response};

const PAGES: [&str; 14] = [
    "quickstart",
    "connect-an-ats",
    "invite-without-our-mails",
    "keep-a-copy-in-step",
    "watch-without-an-account",
    "without-a-secret",
    "sign-in",
    "sign-in-entra-id",
    "sign-in-google",
    "sign-in-okta",
    "sign-in-keycloak",
    "leave",
    "error-codes",
    "changelog",
];
const SCRIPTS: [&str; 3] = ["download-archive", "verify-archive", "kombo-assessment"];

async fn get(app: &TestApp, file: &str) -> Response {
    app.send(Request::get(&format!("/docs/{file}"))).await.expect(200)
}

fn text(response: &Response) -> &str {
    str::from_utf8(&response.body).unwrap()
}

#[tokio::test]
async fn pages_and_scripts_are_served_with_the_address_of_the_deployment() {
    let app = TestApp::start().await;
    let files = PAGES.map(|name| (format!("{name}.md"), "text/markdown; charset=utf-8"));
    let scripts = SCRIPTS.map(|name| (format!("{name}.py"), "text/x-python; charset=utf-8"));
    for (file, media_type) in files.into_iter().chain(scripts) {
        let served = get(&app, &file).await;
        assert_eq!(served.header("content-type"), Some(media_type), "{file}");
        assert_eq!(served.header("cache-control"), Some("public, max-age=60"), "{file}");
        assert_eq!(served.log().dynamodb_calls, 0, "{file}");
        assert!(!text(&served).contains("localhost:8080/api"), "{file}");
    }
    let quickstart = get(&app, "quickstart.md").await;
    assert!(text(&quickstart).contains(&format!("\nAPI={BASE_URL}\n")));
    let packed = Request::get("/docs/quickstart.md").header("accept-encoding", "gzip");
    assert!(app.send(packed).await.expect(200).body.len() * 2 < quickstart.body.len());
    app.send(Request::get("/docs/quickstart.txt")).await.expect_code(404, "not_found");
}

#[tokio::test]
async fn every_link_of_the_guide_leads_to_a_page_or_a_section() {
    let app = TestApp::start().await;
    let document: Value = serde_json::from_str(docs::DOCUMENT).unwrap();
    let introduction = document["info"]["description"].as_str().unwrap();
    let titles = introduction.lines().filter_map(|line| line.strip_prefix("## "));
    let sections: BTreeSet<String> = titles.map(|title| title.to_lowercase().replace(' ', "-")).collect();
    for page in PAGES {
        let served = get(&app, &format!("{page}.md")).await;
        let page = text(&served);
        assert!(page.starts_with("# "), "{page}");
        for rest in page.split("](http").skip(1) {
            let link = format!("http{}", rest.split(')').next().unwrap());
            match link.split_once("/docs/#") {
                Some((_, section)) => assert!(sections.contains(section), "{link}"),
                None if link.starts_with(BASE_URL) => {
                    app.send(Request::get(&link)).await.expect(200);
                }
                None => assert!(link.starts_with("https://"), "{link}"),
            }
        }
    }
}

/// The Rust files of a folder and below, without those of tests.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    let is_test = |path: &PathBuf| path.file_stem().is_some_and(|name| name == "tests");
    let files = entries.filter(|path| !is_test(path));
    let files = files.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] });
    files.filter(|path| path.extension().is_some_and(|extension| extension == "rs")).collect()
}

/// The texts in quotation marks that follow `start`, with or without white space between.
fn quoted_after<'a>(text: &'a str, start: &str) -> Vec<&'a str> {
    let follow = text.split(start).skip(1).filter_map(|rest| rest.trim_start().strip_prefix('"'));
    let quoted = follow.filter_map(|rest| rest.split('"').next());
    quoted.filter(|name| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')).collect()
}

/// Clients look a code up, so that each must have an anchor, and none may be left over from a code that is gone.
#[test]
fn every_code_has_a_row_that_says_what_to_do() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let mut codes: BTreeSet<String> = ["external_id_taken", "invalid"].map(str::to_owned).into();
    for folder in ["shared/src", "shared/domain/src", "functions"] {
        for file in sources(&root.join(folder)) {
            let text = std::fs::read_to_string(&file).unwrap();
            let mut found = quoted_after(&text, "code: ");
            if file.ends_with("shared/src/error/mod.rs") {
                found.extend(quoted_after(&text, "detail("));
                found.extend(quoted_after(&text, "\"code\": "));
            }
            codes.extend(found.into_iter().map(str::to_owned));
        }
    }
    // The example of a refusal in the document.
    codes.remove("code");
    let page = std::fs::read_to_string(root.join("functions/docs/guide/error-codes.md")).unwrap();
    let rows: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("| `")).collect();
    let listed: Vec<String> = rows.iter().map(|row| row.split('`').next().unwrap().to_owned()).collect();
    assert_eq!(listed.iter().cloned().collect::<BTreeSet<_>>(), codes);
    assert_eq!(listed.len(), codes.len(), "a code has two rows");
    assert!(rows.iter().all(|row| row.len() > 40), "{rows:?}");
}
