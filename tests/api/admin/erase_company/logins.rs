//! All logins of the company end with the command, and those of no other.

use serde_json::json;
use tests::app::TestApp;
use tests::caller::{Caller, PASSWORD};
use tests::chaos::Fault;
use tests::files::{Form, photo_saying};
use tests::http::Request;
use tests::{assert_refusal, assert_refusals};

use super::{begin, command, finish, items_of, listed};

#[tokio::test]
async fn nobody_has_access_any_more() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let (recruiter, stranger) = (app.staff("recruiter").await, app.owner_of("globex").await);
    let browser = recruiter.browser().await;
    let (_, token) = owner.named_token("Payroll").await;
    let project = owner.running_project(json!({ "allow_hash_login": true })).await;
    let (invited, other) = (owner.invite(&project, json!({})).await, owner.invite(&project, json!({})).await);
    let candidate = invited.register().await;
    let awaited = owner.colleague("admin", json!({})).await;
    app.settle().await;
    let key = app.mailed_key(&awaited.email);
    let forgotten = json!({ "company": "acme", "username": invited.email });
    app.anonymous().post("/api-password-reset/", forgotten.clone()).await.expect(202);
    app.settle().await;
    let reset = app.mailed_key(&invited.email);
    let form = Form::new().file("photo", "p.jpg", "image/jpeg", &photo_saying("x"));
    owner.send(Request::patch(&owner.uri).form(form)).await.expect(200);
    let photo = owner.get(&owner.uri).await.expect(200).uri("photo");
    app.anonymous().get(&photo).await.expect(302);

    begin(&app).await;
    let whoami = "/whoami/";
    assert_refusals!([
        owner.get(whoami).await,
        recruiter.get(whoami).await,
        browser.get(whoami).await,
        token.get("/companies/acme/").await,
        candidate.get(whoami).await,
        candidate.get(&invited.uri).await,
        candidate.patch(&invited.uri, json!({ "phone": "1" })).await,
        other.get(whoami).await,
        other.advance(&other.uri).await,
        app.anonymous().get(&photo).await,
        app.anonymous().log_in("acme", "owner", PASSWORD).await,
        app.anonymous().log_in("acme", &invited.email, PASSWORD).await,
    ], @r#"
    10 x 401 {"code":"invalid_credential","detail":"The credential is invalid or has expired."}
    2 x 401 {"code":"invalid_credentials","detail":"Unable to log in with the provided credentials."}
    "#);
    for (route, choice) in [
        ("/api-activate/", json!({ "activation_key": key, "password": PASSWORD })),
        ("/api-password-reset/confirm/", json!({ "key": reset, "password": PASSWORD })),
    ] {
        app.anonymous().post(route, choice).await.expect(400);
    }
    let mails = app.mails_to(&invited.email).len();
    app.clock().advance(chrono::TimeDelta::minutes(10));
    app.anonymous().post("/api-password-reset/", forgotten).await.expect(202);
    app.settle().await;
    assert_eq!(app.mails_to(&invited.email).len(), mails);
    stranger.get(whoami).await.expect(200);
    finish(&app).await;
}

#[tokio::test]
async fn a_request_that_was_under_way_leaves_no_new_access() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let pause = chaos.pause_about("TransactWriteItems", "Payroll");
    let late = owner.post("/companies/acme/tokens/", json!({ "name": "Payroll" }));
    let end = async {
        pause.reached().await;
        begin(&app).await;
        pause.resume();
    };
    let (refused, ()) = tokio::join!(late, end);
    assert_refusal!(refused, @r#"404 {"code":"not_found","detail":"Not found."}"#);
    finish(&app).await;
}

#[tokio::test]
async fn a_command_that_broke_off_is_completed_by_the_next_one() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let (recruiter, (_, token)) = (app.staff("recruiter").await, owner.named_token("Payroll").await);
    for requests in 0.. {
        chaos.cut_after(requests);
        let result = app.operate(command("acme")).await;
        chaos.heal();
        if result.is_ok() {
            break;
        }
    }
    for refused in [owner.get("/whoami/").await, recruiter.get("/whoami/").await, token.get("/whoami/").await]
    {
        refused.expect(401);
    }
    chaos.next("TransactWriteItems", Fault::Conflict);
    finish(&app).await;
}

#[tokio::test]
async fn the_schedule_ends_the_access_that_a_command_has_left_and_waits_for_uploads() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let candidate = owner.candidate(&owner.project(json!({})).await, json!({})).await;
    let (_, token) = owner.named_token("Payroll").await;
    let photo = json!({ "field": "photo", "content_type": "image/jpeg", "size": 9 });
    owner.post(&format!("{candidate}uploads/"), photo).await.expect(201);
    for requests in 0.. {
        chaos.cut_after(requests);
        let result = app.operate(command("acme")).await;
        chaos.heal();
        if !listed(&app).await.is_empty() {
            result.unwrap_err();
            break;
        }
    }
    let is_token = |key: &String| key.starts_with("TOKEN#");
    assert!(items_of(&app, "acme").await.iter().any(is_token), "the command came too far");
    finish(&app).await;
    token.get("/companies/acme/").await.expect(401);
    assert!(!items_of(&app, "acme").await.iter().any(is_token));
}
