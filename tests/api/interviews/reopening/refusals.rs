//! Interviews that are not reopened, with the reasons.

use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, Staff};
use tests::http::{Request, Response, send_each};
use tests::{assert_refusal, assert_refusals};

use super::super::{begin, project, status};
use super::{ReopeningFixture, reopening};
use crate::evaluations::crud::{own, save, veto};

#[tokio::test]
async fn the_body_is_checked_before_the_candidate() {
    let given = ReopeningFixture::start().await;
    let uri = &given.candidate.uri;
    given.reopen().await.expect(200);
    let request = |body: Value| Request::post(&format!("{uri}interview/reopen/")).json(&body);
    let bodies = [
        json!({}),
        json!({ "reason": " \n", "deadline": "soon" }),
        json!({ "reason": "x".repeat(201), "deadline": null }),
        json!({ "reason": 7, "deadline": 7 }),
        json!({ "reason": null }),
        json!({ "reason": "No sound", "deadline": "2126-11-09T10:00:00Z" }),
        json!({ "reason": "x".repeat(200), "deadline": "2020-01-01T00:00:00Z" }),
    ];
    assert_refusals!(send_each(bodies, |body| given.owner.send(request(body))).await, @r#"
    400 {"reason":["This field is required."]}
    400 {"deadline":["Use ISO 8601 with a time zone, for example 2026-11-08T22:59:00Z."],"reason":["This field may not be blank."]}
    400 {"deadline":["This field may not be null."],"reason":["Ensure this field has no more than 200 characters."]}
    400 {"deadline":["Not a valid string."],"reason":["Not a valid string."]}
    400 {"reason":["This field may not be null."]}
    400 {"deadline":["Must be within a hundred years."]}
    400 {"code":"not_interviewed","detail":"Only an interview that this service conducts can be reopened, once it is complete or its time has ended with answers."}
    "#);
}

#[tokio::test]
async fn refusals_come_in_their_order() {
    let given = ReopeningFixture::start().await;
    let ReopeningFixture { app, owner, evaluator, project, candidate, .. } = &given;
    let uri = &candidate.uri;
    let reopen = async || owner.send(reopening(uri, json!({}))).await;
    let request_erasure = format!("{uri}erasure-request/");
    owner.patch(uri, json!({ "deadline": null })).await.expect(200);
    app.evaluate(uri, &evaluator.uri, true).await;
    owner.send(Request::put(&request_erasure)).await.expect(200);
    owner.set_status(project, "60-closed").await.expect(200);
    let before = app.table().snapshot().await;
    assert_refusal!(reopen().await, @r#"400 {"code":"project_not_running","detail":"The project is not running. Set its status to `40-running` first."}"#);
    assert_eq!(app.table().snapshot().await, before);
    owner.set_status(project, "40-running").await.expect(200);
    assert_refusal!(reopen().await, @r#"400 {"code":"erasure_requested","detail":"The candidate has requested erasure and gets no more mails. Withdraw the request first."}"#);
    owner.delete(&request_erasure).await.expect(204);
    assert_refusal!(reopen().await, @r#"400 {"code":"already_evaluated","detail":"Somebody has saved an evaluation of the interview or a draft, or has vetoed. Evaluations and drafts can be deleted by those who wrote them."}"#);
    app.evaluate(uri, &evaluator.uri, false).await;
    assert_refusal!(reopen().await, @r#"400 {"code":"deadline_missing","detail":"The candidate has no deadline. Set one first."}"#);
    owner.set_deadline(uri, &app.clock().in_days(0)).await.expect(200);
    assert_refusal!(reopen().await, @r#"400 {"code":"deadline_passed","detail":"The candidate's deadline has passed. Set a later one first."}"#);
    // A new deadline counts instead, whatever the old one.
    let passed = owner.send(reopening(uri, json!({ "deadline": app.clock().in_days(-1) }))).await;
    assert_refusal!(passed, @r#"400 {"code":"deadline_passed","detail":"The candidate's deadline has passed. Set a later one first."}"#);
    owner.send(reopening(uri, json!({ "deadline": app.clock().in_days(1) }))).await.expect(200);
    assert_refusal!(reopen().await, @r#"400 {"code":"not_interviewed","detail":"Only an interview that this service conducts can be reopened, once it is complete or its time has ended with answers."}"#);
}

#[tokio::test]
async fn what_somebody_has_begun_to_evaluate_stays_complete() {
    let draft = json!({ "comment": "Quiet." });
    let given = ReopeningFixture::start().await;
    let ReopeningFixture { owner, evaluator, candidate, .. } = &given;
    let uri = &candidate.uri;
    let refused = async || -> Response { owner.send(reopening(uri, json!({}))).await };
    let evaluated = async |by: &Staff, body: Value| save(by, uri, body).await.expect(201);

    evaluated(evaluator, draft).await;
    refused().await.expect_code(400, "already_evaluated");
    evaluator.delete(&own(evaluator, uri)).await.expect(204);
    let question = json!([{ "question": given.questions[0], "value": 4 }]);
    evaluated(evaluator, json!({ "ratings": question, "completed": true })).await;
    refused().await.expect_code(400, "already_evaluated");
    evaluator.delete(&own(evaluator, uri)).await.expect(204);
    // A deleted evaluation does not count.
    let reopened = refused().await.expect(200);
    assert_eq!(reopened.log().dynamodb_calls, 3);
    assert_eq!(reopened.json()["evaluation_status"], "pending");
    candidate.advance(uri).await.expect(200);
    veto(evaluator, uri).await.expect(201);
    refused().await.expect_code(400, "already_evaluated");
}

#[tokio::test]
async fn interviews_of_another_service_are_not_reopened() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let asked = [json!({ "text": "Why us?" })];
    let (elsewhere, _) = project(&owner, json!({ "interview_platform": "external" }), &asked).await;
    let (without_questions, _) = project(&owner, json!({}), &[]).await;
    for project in [elsewhere, without_questions] {
        let candidate = begin(&owner, &project).await;
        app.complete(&candidate.uri).await;
        owner.send(reopening(&candidate.uri, json!({}))).await.expect_code(404, "not_found");
    }
    // Reported by the platform before they began here.
    let (builtin, _) = project(&owner, json!({}), &asked).await;
    let candidate = owner.invite(&builtin, json!({})).await;
    candidate.advance(&candidate.uri).await.expect(200);
    app.complete(&candidate.uri).await;
    assert_eq!(status(&app, &candidate.uri).await, "interviewed");
    owner.send(reopening(&candidate.uri, json!({}))).await.expect_code(400, "not_interviewed");
}
