//! Bodies and texts with what editors, libraries and clipboards add to them.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::assert_refusal;
use tests::caller::Caller;
use tests::http::Request;

#[tokio::test]
async fn a_byte_order_mark_before_json_is_ignored() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let marked = |json: Value| format!("\u{feff}{json}");
    let ada = marked(json!({ "first_name": "Ada", "last_name": "Byron", "partner_data": { "n": 1 } }));
    let ada = Request::post(&format!("{project}candidates/")).body("application/json", ada);
    let ada = owner.send(ada).await.expect(201).json();
    assert_eq!((&ada["first_name"], &ada["partner_data"]), (&json!("Ada"), &json!({ "n": 1 })));
    let label = Request::post("/companies/acme/labels/")
        .body("application/json", marked(json!({ "text": "Senior" })));
    owner.send(label).await.expect(201);
    let list = marked(json!([{ "first_name": "Grace", "last_name": "Hopper" }]));
    let import = Request::post(&format!("{project}candidates/import/")).body("application/json", list);
    assert_eq!(owner.send(import).await.expect(200).json()["meta"]["created"], 1);
}

#[tokio::test]
async fn compressed_bodies_are_refused_as_such() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let ada = json!({ "first_name": "Ada", "last_name": "Byron" }).to_string();
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(ada.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let multipart = "multipart/form-data; boundary=b";
    for (path, content_type, coding) in [
        (format!("{project}candidates/"), "application/json", "gzip"),
        (format!("{project}candidates/"), "application/json", "identity, BR"),
        (format!("{project}candidates/"), multipart, "gzip"),
        (format!("{project}candidates/import/"), "application/json", "gzip"),
        ("/companies/acme/labels/".to_owned(), "application/json", "x-gzip"),
        ("/api-token-auth/".to_owned(), "application/json", "deflate"),
    ] {
        let request =
            Request::post(&path).body(content_type, gzip.clone()).header("content-encoding", coding);
        let response = owner.send(request).await;
        assert_refusal!(response, @r#"415 {"code":"unsupported_content_encoding","detail":"The body cannot be read in its `Content-Encoding`. Send it uncompressed, without this header."}"#);
        assert_eq!(response.header("accept-encoding"), Some("identity"));
    }
    // A plain body is read, whatever the header says.
    for coding in ["identity", "", "utf-8", "gzip"] {
        let request = Request::post(&format!("{project}candidates/")).body("application/json", ada.clone());
        owner.send(request.header("content-encoding", coding)).await.expect(201);
        let label = json!({ "text": format!("Label {coding}") }).to_string();
        let request = Request::post("/companies/acme/labels/").body("application/json", label);
        owner.send(request.header("content-encoding", coding)).await.expect(201);
    }
    let request = Request::post(&format!("{project}candidates/")).body("application/json", gzip);
    let refused = owner.send(request).await.expect(400).json();
    assert!(refused["detail"].as_str().unwrap().starts_with("JSON parse error - "), "{refused}");
}

#[tokio::test]
async fn marks_that_come_with_what_is_pasted_are_dropped() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let candidate = owner.candidate(&project, json!({})).await;
    for phone in [
        "\u{202a}+49 170 1234567\u{202c}",
        "\u{202d}+49 170\u{200e} 1234567\u{202c}\u{a0}",
        "\u{2068}+49\u{2069} 170 \u{200b}1234567\u{feff}",
    ] {
        for uri in [&candidate, &owner.uri, "/companies/acme/"] {
            owner.patch(uri, json!({ "phone": "" })).await.expect(200);
            let shown = owner.patch(uri, json!({ "phone": phone })).await.expect(200).json();
            assert_eq!(shown["phone"], "+49 170 1234567", "{phone:?} {uri}");
        }
    }
    let pasted = json!({
        "first_name": "\u{2068}Kim\u{2069}", "email": "\u{202a}kim@\u{200b}mail.example\u{202c}",
        // Marks that put the letters of a name in order stay.
        "last_name": "\u{202a}Lee \u{200f}כהן\u{200f}\u{202c}",
    });
    let shown = owner.patch(&candidate, pasted).await.expect(200).json();
    assert_eq!([&shown["first_name"], &shown["email"]], ["Kim", "kim@mail.example"]);
    assert_eq!(shown["last_name"], "Lee \u{200f}כהן\u{200f}");
    let shown = owner
        .patch(&project, json!({ "job_url": "\u{200e}Https://Jobs.example/1" }))
        .await
        .expect(200)
        .json();
    assert_eq!(shown["job_url"], "Https://Jobs.example/1");
}
