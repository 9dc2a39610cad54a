//! Holders of mailed keys, and a login before anyone has logged in.

use serde_json::json;
use tests::app::TestApp;
use tests::caller::{Caller, PASSWORD};
use tests::http::{Request, send_each};
use tests::{assert_refusal, assert_refusals};

const HOLDER: &str = "/whoami/key/";
const COMPANY: &str = "https://hr.example/api/v3/companies/acme/";

#[tokio::test]
async fn a_key_names_its_account_and_stays_good() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let colleague = owner.colleague("recruiter", json!({ "username": "grace" })).await;
    app.settle().await;
    let text = app.mails_to(&colleague.email).remove(0).text.clone().unwrap();
    assert!(text.contains("the company identifier “acme” and your user name “grace”"), "{text}");
    let key = app.mailed_key(&colleague.email);
    let anyone = app.anonymous();
    let expected =
        json!({ "kind": "customer", "username": "grace", "email": colleague.email, "company": COMPANY });
    for _ in 0..2 {
        let told = anyone.post(HOLDER, json!({ "key": key })).await.expect(200);
        assert_eq!((told.json(), told.log().dynamodb_calls), (expected.clone(), 1));
    }
    anyone.post("/api-activate/", json!({ "activation_key": key, "password": PASSWORD })).await.expect(200);
    // It is used up, and still tells where to log in.
    let used = anyone.post(HOLDER, json!({ "key": key })).await;
    assert_eq!(used.log().dynamodb_calls, 2);
    assert_refusal!(used, @r#"
    400 {
      "code":"key_ended",
      "company":"https://hr.example/api/v3/companies/acme/",
      "detail":"This key was used, has expired or was replaced. Log in, or ask for another one.",
      "kind":"customer"
    }
    "#);

    let project = owner.running_project(json!({})).await;
    let candidate = owner.invite(&project, json!({})).await;
    candidate.register().await;
    anyone
        .post("/api-password-reset/", json!({ "username": candidate.email, "company": "acme" }))
        .await
        .expect(202);
    app.settle().await;
    let key = app.mailed_key(&candidate.email);
    let expected = json!({
        "kind": "candidate", "username": candidate.email, "email": candidate.email, "company": COMPANY,
    });
    anyone.post(HOLDER, json!({ "key": key })).await.expect_json(200, expected);
    // Not the key of an invitation, which opens the interview.
    anyone.post(HOLDER, json!({ "key": candidate.key })).await.expect(400);
    owner.skip(&candidate.uri).await.expect(200);
    let ended = anyone.post(HOLDER, json!({ "key": key })).await.expect(400).json();
    let told = [&ended["code"], &ended["kind"], &ended["company"]];
    assert_eq!(told, ["key_ended", "candidate", COMPANY]);
}

#[tokio::test]
async fn bad_keys_are_refused_alike() {
    let app = TestApp::start().await;
    app.owner().await;
    let anyone = app.anonymous();
    let bodies = [json!({}), json!({ "key": "" }), json!({ "key": 1 }), json!({ "key": "ivo_nothing" })];
    assert_refusals!(send_each(bodies, |body| anyone.post(HOLDER, body)).await, @r#"
        400 {"key":["This field is required."]}
        2 x 400 {"key":["This key is invalid or has expired."]}
        400 {"key":["Not a valid string."]}
        "#);
}

#[tokio::test]
async fn a_login_shows_whose_it_is_whom_to_ask_and_where_staff_go() {
    let app = TestApp::start_with(&[("APP_URL", "https://app.example/")]).await;
    let owner = app.owner().await;
    let path = "/companies/acme/login/";
    let anyone = app.anonymous();
    let mut expected = json!({
        "company": COMPANY,
        "name": "Acme & Sons",
        "logo": null,
        "contact": { "person": "", "email": "" },
        "app_url": "https://app.example/",
        "sign_in_url": null,
    });
    let shown = anyone.get(path).await.expect(200);
    assert_eq!((shown.json(), shown.log().dynamodb_calls), (expected.clone(), 1));
    assert_eq!(shown.header("cache-control"), Some("public, max-age=60"));
    let tag = shown.header("etag").unwrap().to_owned();
    app.send(Request::get(path).header("if-none-match", &tag)).await.expect(304);

    let own = json!({ "app_url": "https://acme.example/app", "registration_email": "jobs@acme.example" });
    owner.patch("/companies/acme/", own).await.expect(200);
    expected["app_url"] = "https://acme.example/app".into();
    expected["contact"]["email"] = "jobs@acme.example".into();
    anyone.get(path).await.expect_json(200, expected);
    for unknown in ["/companies/nobody/login/", "/companies/ACME/login/", "/companies/%00/login/"] {
        anyone.get(unknown).await.expect_code(404, "not_found");
    }
    let wrong = json!({ "app_url": "javascript:alert(1)" });
    assert_refusal!(owner.patch("/companies/acme/", wrong).await, @r#"400 {"app_url":["Enter a valid URL that begins with https:// or http://."]}"#);
}

#[tokio::test]
async fn without_an_application_a_login_names_none() {
    let app = TestApp::start().await;
    app.owner().await;
    let shown = app.anonymous().get("/companies/acme/login/").await.expect(200);
    assert_eq!(shown.json()["app_url"], "");
}
