//! Refusals of webhooks, in their words.

use serde_json::json;
use tests::app::TestApp;
use tests::caller::Caller;
use tests::http::send_each;
use tests::{assert_refusal, assert_refusals};

use super::changes::latest;
use super::{URL, WEBHOOKS, webhook};

#[tokio::test]
async fn what_is_wrong_with_a_webhook_is_told_by_field() {
    let app = TestApp::start_with(&[("OUTGOING_TARGETS", "")]).await;
    let owner = app.owner().await;
    let stranger = app.owner_of("globex").await;
    let theirs = stranger.post("/companies/globex/projects/", json!({ "name": "Theirs" })).await.expect(201);
    let latest = latest(&app, &owner).await;
    let uri = webhook(&owner, json!({})).await;
    let before = app.table().snapshot().await;
    let addresses = [
        "",
        "hooks.example",
        "http://hooks.example/",
        "https://me:pass@hooks.example/",
        "https://hooks.example/#x",
        "https://hooks.example:80/",
        "https://127.0.0.1/",
        "https://0x7f.1/",
        "https://2130706433/",
        "https://[::1]/",
        "https://localhost/",
        "https://hr.example/in",
        "https://db.internal/",
        "https://printer.local/",
    ];
    let missing = "https://hr.example/api/v3/companies/acme/projects/01ARZ3NDEKTSV4RRFFQ69G5FAV/";
    let mut wrong = vec![
        json!({ "url": null }),
        json!({ "url": format!("https://hooks.example/{}", "x".repeat(2048)) }),
        json!({ "url": URL, "types": ["candidate.hired"] }),
        json!({ "url": URL, "types": ["*"] }),
        json!({ "url": URL, "types": "candidate.*" }),
        json!({ "url": URL, "types": vec!["label.*"; 51] }),
        json!({ "url": URL, "projects": [theirs.uri("resource_uri")] }),
        json!({ "url": URL, "projects": [missing] }),
        json!({ "url": URL, "description": "x".repeat(201) }),
        json!({ "url": URL, "is_enabled": "no" }),
    ];
    wrong.extend(addresses.map(|url| json!({ "url": url })));
    let mut refusals = Vec::new();
    for body in wrong {
        refusals.push(owner.post(WEBHOOKS, body.clone()).await);
        refusals.push(owner.patch(&uri, body).await);
    }
    assert_refusals!(refusals, @r#"
        2 x 400 {"url":["This field may not be null."]}
        2 x 400 {"url":["Ensure this field has no more than 2048 characters."]}
        2 x 400 {"types":["\"candidate.hired\" is not a type of events. Use one such as candidate.invited, or candidate.*"]}
        2 x 400 {"types":["\"*\" is not a type of events. Use one such as candidate.invited, or candidate.*"]}
        2 x 400 {"types":["Expected a list of items."]}
        2 x 400 {"types":["Ensure this list has no more than 50 items."]}
        2 x 400 {"projects":["\"https://hr.example/api/v3/companies/globex/projects/[id]/\" is not a URL under https://hr.example/api/v3/companies/acme/projects/."]}
        2 x 400 {"projects":["Project [id] does not exist."]}
        2 x 400 {"description":["Ensure this field has no more than 200 characters."]}
        2 x 400 {"is_enabled":["Must be a valid boolean."]}
        4 x 400 {"url":["Enter a valid URL."]}
        2 x 400 {"url":["Use a URL that begins with https://"]}
        2 x 400 {"url":["A user name or a password may not be part of the URL."]}
        2 x 400 {"url":["A fragment (#) may not be part of the URL."]}
        2 x 400 {"url":["Use port 443, or a port of 1024 or higher."]}
        8 x 400 {"url":["Use the name of a host. IP addresses are not allowed."]}
        6 x 400 {"url":["Use the name of a host in the public internet."]}
        2 x 400 {"url":["Use another host than that of this service."]}
        "#);
    assert_refusal!(owner.post(WEBHOOKS, json!({ "types": ["x"] })).await, @r#"400 {"types":["\"x\" is not a type of events. Use one such as candidate.invited, or candidate.*"],"url":["This field is required."]}"#);
    let mut refusals = Vec::new();
    for after in [json!(latest + 1), json!(-1), json!("1"), json!(null)] {
        refusals.push(owner.post(WEBHOOKS, json!({ "url": URL, "after": after })).await);
        refusals.push(owner.post(&format!("{uri}position/"), json!({ "after": after })).await);
    }
    assert_refusals!(refusals, @r#"
        4 x 400 {"after":["Ensure this value is from 0 to 2."]}
        2 x 400 {"after":["A valid integer is required."]}
        2 x 400 {"after":["This field may not be null."]}
        "#);
    assert_refusal!(owner.post(&format!("{uri}position/"), json!({})).await, @r#"400 {"after":["This field is required."]}"#);
    let secret = format!("{uri}secret/");
    let hours = [json!(169), json!(-1), json!("1")];
    assert_refusals!(send_each(hours, |hour| owner.post(&secret, json!({ "grace_hours": hour }))).await, @r#"
        2 x 400 {"grace_hours":["Ensure this value is from 0 to 168."]}
        400 {"grace_hours":["A valid integer is required."]}
        "#);
    assert_eq!(app.table().snapshot().await, before);
}

#[tokio::test]
async fn a_service_on_ones_own_computer_sends_to_this_computer_over_http_and_to_no_other() {
    const NO_PORT: &str = "Nothing can be reached at port 0. Use another port, or leave it out.";
    const NO_HOST: &str = "The URL names no host. Write it as https://host/path.";
    const NOT_HERE: &str = "Use a URL that begins with https://, or with http:// for this computer.";
    const NOT_PUBLIC: &str = "Use the name of a host in the public internet.";
    let app = TestApp::start_with(&[("OUTGOING_TARGETS", "loopback")]).await;
    let owner = app.owner().await;
    for (url, words) in [
        ("https://*.example.com/x", NOT_PUBLIC),
        ("http://hooks.example/", NOT_HERE),
        ("http://my_receiver:8080/", NOT_HERE),
        ("http://192.168.0.7/", NOT_HERE),
        ("http://169.254.169.254/", NOT_HERE),
        ("https://printer.local/", NOT_PUBLIC),
        ("http:///receiver/hooks", NO_HOST),
        ("http://localhost:0/", NO_PORT),
        ("http://[::1]:0/", NO_PORT),
    ] {
        let response = owner.post(WEBHOOKS, json!({ "url": url })).await;
        response.expect_json(400, json!({ "url": [words] }));
    }
    for url in ["http://localhost:8080/in", "Http://127.0.0.1:8080/", "https://hooks.example.com/"] {
        owner.post(WEBHOOKS, json!({ "url": url })).await.expect(201);
    }
}

#[tokio::test]
async fn an_address_without_a_public_host_is_refused_in_words_that_say_what_to_send() {
    const NO_HOST: &str = "The URL names no host. Write it as https://host/path.";
    const NOT_PUBLIC: &str = "Use the name of a host in the public internet.";
    let app = TestApp::start_with(&[("OUTGOING_TARGETS", "")]).await;
    let owner = app.owner().await;
    for (url, words) in [
        ("https://*.example.com/x", NOT_PUBLIC),
        ("https:///hooks", NO_HOST),
        ("https:///hooks.example/in", NO_HOST),
        ("https:hooks.example/in", NO_HOST),
        ("https://hooks/", NOT_PUBLIC),
        ("https://localhost/", NOT_PUBLIC),
    ] {
        let refused = owner.post(WEBHOOKS, json!({ "url": url })).await;
        refused.expect_json(400, json!({ "url": [words] }));
    }
}
