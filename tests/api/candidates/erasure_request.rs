//! Requests for erasure: until somebody answers, nothing but the mails changes.

use chrono::TimeDelta;
use serde_json::{Value, json};
use shared::domain::candidate::CandidateStatus::{Aborted, Confirmed, Expired, Invited, New};
use tests::app::TestApp;
use tests::assert_refusals;
use tests::caller::{Caller, PASSWORD, Staff};
use tests::http::{Request, Response};

use crate::events::feed::read_all;

async fn given() -> (TestApp, Staff, String) {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({ "allow_hash_login": true })).await;
    (app, owner, project)
}

async fn request(caller: &impl Caller, candidate: &str) -> Response {
    caller.send(Request::put(&format!("{candidate}erasure-request/"))).await
}

async fn withdraw(caller: &impl Caller, candidate: &str) -> Response {
    caller.delete(&format!("{candidate}erasure-request/")).await
}

/// The mails that wait to be sent.
async fn noted(app: &TestApp) -> usize {
    app.table().snapshot().await.values().filter(|item| item["sk"] == "EFFECT").count()
}

#[tokio::test]
async fn a_request_stands_until_it_is_withdrawn() {
    let (app, owner, project) = given().await;
    let invited = owner.invite(&project, json!({})).await;
    let uri = format!("{}erasure-request/", invited.uri);
    let before = owner.get(&invited.uri).await.expect(200).json();
    assert_eq!(before["erasure_due_at"], Value::Null);
    invited.get(&uri).await.expect_code(404, "not_found");
    withdraw(&invited, &invited.uri).await.expect_code(404, "not_found");

    app.clock().advance(TimeDelta::milliseconds(250));
    let made = json!({ "requested_at": "2026-11-08T10:00:00Z", "due_at": "2026-12-08T10:00:00Z" });
    let first = request(&invited, &invited.uri).await;
    assert_eq!(first.log().dynamodb_calls, 3);
    first.clone().expect_json(200, made.clone());
    app.clock().advance(TimeDelta::minutes(1));
    let again = request(&owner, &invited.uri).await.expect(200);
    assert_eq!((again.json(), again.header("etag")), (made.clone(), first.header("etag")));
    assert_eq!(again.log().write_units, 0.0);
    invited.get(&uri).await.expect_json(200, made);

    let mut expected = before.clone();
    expected["erasure_due_at"] = json!("2026-12-08T10:00:00Z");
    owner.get(&invited.uri).await.expect_json(200, expected);
    for own in [&invited.uri, "/whoami/candidate/"] {
        assert_eq!(
            invited.get(own).await.expect(200).json()["erasure_due_at"],
            "2026-12-08T10:00:00Z",
            "{own}"
        );
    }
    app.assert_sound();
    withdraw(&invited, &invited.uri).await.expect(204);
    withdraw(&invited, &invited.uri).await.expect_code(404, "not_found");
    invited.get(&uri).await.expect_code(404, "not_found");
    owner.get(&invited.uri).await.expect_json(200, before);
}

#[tokio::test]
async fn the_companys_policy_says_when_a_request_is_due() {
    let (app, owner, project) = given().await;
    app.leave_unsound("the policy is written past its history");
    let candidate = owner.candidate(&project, json!({})).await;
    for (days, due_at) in [(0, "2026-11-08T10:00:00Z"), (7, "2026-11-15T10:00:00Z")] {
        let rule = json!({ "rule": { "days": null, "from": "last_activity" }, "starts_at": null });
        let policy = json!({
            "pk": "COMPANY#acme", "sk": "RETENTION", "version": 1, "company": "acme", "scheduled": rule,
            "request_days": days, "notice_days": 14,
        });
        app.table().load(&[policy]).await;
        assert_eq!(request(&owner, &candidate).await.expect(200).json()["due_at"], due_at);
        withdraw(&owner, &candidate).await.expect(204);
    }
}

#[tokio::test]
async fn managers_request_and_those_who_manage_privacy_withdraw() {
    let (app, owner, _) = given().await;
    let [manager, evaluator] = [app.staff("recruiter").await, app.staff("hiring-manager").await];
    let roles = json!({ "interview_managers": [manager.uri], "evaluators": [evaluator.uri] });
    let project = owner.running_project(roles).await;
    let candidate = owner.candidate(&project, json!({})).await;
    request(&evaluator, &candidate).await.expect_code(403, "permission_denied");
    request(&manager, &candidate).await.expect(200);
    manager.get(&format!("{candidate}erasure-request/")).await.expect(200);
    assert_ne!(evaluator.get(&candidate).await.expect(200).json()["erasure_due_at"], Value::Null);
    // They refuse it by a hold, which an admin sets.
    withdraw(&manager, &candidate).await.expect_code(403, "permission_denied");
    withdraw(&app.staff("admin").await, &candidate).await.expect(204);
    let (_, service) = owner.named_token("Payroll").await;
    request(&service, &candidate).await.expect(200);
    withdraw(&service, &candidate).await.expect(204);
}

#[tokio::test]
async fn a_request_may_be_made_on_hold_and_is_granted_by_a_deletion() {
    let (app, owner, project) = given().await;
    let candidate = owner.candidate(&project, json!({})).await;
    let hold = format!("{candidate}hold/");
    owner.send(Request::put(&hold).json(&json!({ "reason": "A lawsuit." }))).await.expect(200);
    request(&owner, &candidate).await.expect(200);
    let shown = owner.get(&candidate).await.expect(200).json();
    assert_eq!(
        (&shown["is_on_hold"], &shown["erasure_due_at"]),
        (&json!(true), &json!("2026-12-08T10:00:00Z"))
    );
    owner.delete(&candidate).await.expect_code(400, "on_hold");
    owner.delete(&hold).await.expect(204);
    owner.delete(&candidate).await.expect(204);
    app.settle().await;
    let events = read_all(&owner, &format!("resource={candidate}")).await;
    assert_eq!(events.last().unwrap()["data"]["reason"], "requested");
}

#[tokio::test]
async fn moves_that_would_be_mailed_are_refused_and_others_are_not() {
    let (app, owner, project) = given().await;
    let mut refusals = Vec::new();
    for status in [New, Expired, Aborted] {
        let uri = owner.candidate_at(&project, status).await;
        let ready = json!({ "email": app.next_email(), "deadline": app.clock().in_days(9) });
        owner.patch(&uri, ready).await.expect(200);
        request(&owner, &uri).await.expect(200);
        refusals.push(owner.advance(&uri).await);
        assert_eq!(owner.get(&uri).await.expect(200).json()["status"], status.as_str());
        withdraw(&owner, &uri).await.expect(204);
        owner.advance(&uri).await.expect(200);
    }
    for status in [Invited, Confirmed] {
        let uri = owner.candidate_at(&project, status).await;
        request(&owner, &uri).await.expect(200);
        refusals.push(owner.remind(&uri).await);
        withdraw(&owner, &uri).await.expect(204);
        owner.remind(&uri).await.expect(200);
    }
    assert_refusals!(refusals, @r#"5 x 400 {"code":"erasure_requested","detail":"The candidate has requested erasure and gets no more mails. Withdraw the request first."}"#);

    // The candidate may go on, and so may the interview.
    let invited = owner.invite(&project, json!({})).await;
    request(&invited, &invited.uri).await.expect(200);
    for status in ["confirmed", "interviewing"] {
        assert_eq!(invited.advance(&invited.uri).await.expect(200).json()["status"], status);
    }
    app.complete(&invited.uri).await;
    assert_eq!(owner.get(&invited.uri).await.expect(200).json()["status"], "interviewed");
}

#[tokio::test]
async fn changes_that_would_be_mailed_are_made_without_a_mail() {
    let (app, owner, project) = given().await;
    let invited = owner.invite(&project, json!({})).await;
    app.settle().await;
    request(&invited, &invited.uri).await.expect(200);
    app.clock().advance(TimeDelta::minutes(1));
    owner.set_deadline(&invited.uri, &app.clock().in_days(9)).await.expect(200);
    owner.patch(&invited.uri, json!({ "deadline": app.clock().in_days(8) })).await.expect(200);
    assert_eq!(noted(&app).await, 0);
    // A new address ends the key that went to the old one. Only managers see the next one.
    let corrected = app.next_email();
    let moved = owner.patch(&invited.uri, json!({ "email": corrected })).await.expect(200).json();
    assert_eq!((&moved["email"], &moved["status"]), (&json!(corrected), &json!("invited")));
    assert_ne!(moved["activation_key"], invited.key);
    assert_eq!(moved["invitationdate"], "2026-11-08T10:00:00Z", "it is no invitation");
    invited.get(&invited.uri).await.expect(401);
    assert_eq!(noted(&app).await, 0);

    withdraw(&owner, &invited.uri).await.expect(204);
    app.settle().await;
    assert_eq!((app.mails_to(&invited.email).len(), app.mails_to(&corrected).len()), (1, 0));
    owner.remind(&invited.uri).await.expect(200);
    app.settle().await;
    assert_eq!(app.mails_to(&corrected).len(), 1);
}

#[tokio::test]
async fn mails_that_are_noted_already_are_not_sent() {
    let (app, owner, project) = given().await;
    let invited = owner.invite(&project, json!({})).await;
    owner.remind(&invited.uri).await.expect(200);
    owner.set_deadline(&invited.uri, &app.clock().in_days(9)).await.expect(200);
    assert_eq!(noted(&app).await, 3);
    request(&owner, &invited.uri).await.expect(200);
    app.settle().await;
    assert_eq!((noted(&app).await, app.mails_to(&invited.email).len()), (0, 0));
    withdraw(&owner, &invited.uri).await.expect(204);
    app.clock().advance(TimeDelta::hours(1));
    app.sweep().await;
    app.settle().await;
    assert_eq!(app.mails_to(&invited.email).len(), 0, "nor are they sent later");
}

#[tokio::test]
async fn passwords_are_not_reset_and_nobody_is_told() {
    let (app, owner, project) = given().await;
    let email = app.next_email();
    let [asks, other] = [
        owner.invite(&project, json!({ "email": email })).await,
        owner
            .invite(&owner.running_project(json!({ "name": "Other" })).await, json!({ "email": email }))
            .await,
    ];
    for (one, password) in [(&asks, PASSWORD), (&other, "another horse battery")] {
        one.patch(&one.uri, json!({ "password": password })).await.expect(200);
    }
    app.settle().await;
    let sent = app.mails_to(&email).len();
    let forget = async || {
        let body = json!({ "company": "acme", "username": email });
        app.anonymous().post("/api-password-reset/", body).await.expect(202)
    };
    // One is noted before the request.
    forget().await;
    request(&owner, &asks.uri).await.expect(200);
    app.settle().await;
    let mails = app.mails_to(&email);
    assert_eq!(mails.len(), sent + 1);
    let links = mails[0].text.as_ref().unwrap().matches("/reset-password/").count();
    assert_eq!(links, 1, "to the account that is not to be erased");

    request(&owner, &other.uri).await.expect(200);
    app.clock().advance(TimeDelta::minutes(10));
    forget().await;
    app.settle().await;
    assert_eq!(app.mails_to(&email).len(), sent + 1);
    withdraw(&owner, &asks.uri).await.expect(204);
    app.clock().advance(TimeDelta::minutes(10));
    forget().await;
    app.settle().await;
    assert_eq!(app.mails_to(&email).len(), sent + 2);
}

#[tokio::test]
async fn events_tell_of_requests_and_their_days() {
    let (app, owner, project) = given().await;
    let candidate = owner.candidate(&project, json!({})).await;
    request(&owner, &candidate).await.expect(200);
    withdraw(&owner, &candidate).await.expect(204);
    app.settle().await;
    let events = read_all(&owner, &format!("resource={candidate}")).await;
    let told: Vec<Value> = events
        .iter()
        .map(|event| {
            let data = &event["data"];
            json!([event["types"], data["changed"], data["previous"], data["erasure_due_at"]])
        })
        .collect();
    let due = "2026-12-08T10:00:00Z";
    assert_eq!(
        told,
        [
            json!([["candidate.created"], [], {}, null]),
            json!([["candidate.erasure_requested"], ["erasure_due_at"], { "erasure_due_at": null }, due]),
            json!([["candidate.erasure_withdrawn"], ["erasure_due_at"], { "erasure_due_at": due }, null]),
        ]
    );
    let history = owner.get(&format!("{candidate}events/")).await.expect(200).json();
    assert_eq!(json!(events), history["objects"]);
}

#[tokio::test]
async fn two_requests_at_once_are_one() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let candidate = owner.candidate(&owner.project(json!({})).await, json!({})).await;
    let first = chaos.pause("TransactWriteItems");
    let meanwhile = async {
        first.reached().await;
        app.clock().advance(TimeDelta::hours(1));
        let made = request(&owner, &candidate).await.expect(200).json();
        first.resume();
        made
    };
    let (one, other) = tokio::join!(request(&owner, &candidate), meanwhile);
    assert_eq!(one.expect(200).json(), other, "the one that was stored");
}
