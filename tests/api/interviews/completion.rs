//! How interviews are completed: by candidates, by events of the platform, and at the same time as something else.

use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::assert_refusal;
use tests::caller::{Caller, Invited, Staff};
use tests::http::Request;

use super::{answer, begin, begin_take, interview, project, record, send_part, status, write};

/// The owner, a candidate in the interview, and the addresses of a required and of an optional question.
async fn given(app: &TestApp) -> (Staff, Invited, [String; 2]) {
    let owner = app.owner().await;
    let asked = [
        json!({ "text": "Why us?", "takes": 3 }),
        json!({ "text": "Since when?", "kind": "text", "is_required": false }),
    ];
    let (project, questions) = project(&owner, json!({ "max_interview_time": 30 }), &asked).await;
    let candidate = begin(&owner, &project).await;
    (owner, candidate, questions.try_into().unwrap())
}

async fn types(owner: &Staff, candidate: &Invited) -> Value {
    let events = owner.get(&format!("{}events/", candidate.uri)).await.expect(200).json();
    events["objects"].as_array().unwrap().last().unwrap()["types"].clone()
}

#[tokio::test]
async fn candidates_complete_their_interview_once_nothing_required_is_missing() {
    let app = TestApp::start().await;
    let (owner, candidate, [video, text]) = given(&app).await;
    let uri = &candidate.uri;
    write(&candidate, &text, "2019").await.expect(201);
    assert_refusal!(candidate.advance(uri).await, @r#"400 {"code":"answers_missing","detail":"Answer all required questions first."}"#);
    let take = begin_take(&candidate, &video).await;
    send_part(&candidate, &take, 1).await;
    assert_refusal!(candidate.advance(uri).await, @r#"400 {"code":"answers_missing","detail":"Answer all required questions first."}"#);
    candidate.patch(&take, json!({ "parts": 1 })).await.expect(200);
    assert_refusal!(owner.advance(uri).await, @r#"400 {"code":"no_transition","detail":"You cannot advance the candidate from the current status."}"#);
    assert_eq!(status(&app, uri).await, "interviewing");
    // Neither waits for the conversion.
    let done = candidate.advance(uri).await.expect(200);
    assert_eq!(done.log().dynamodb_calls, 2);
    let done = done.json();
    assert_eq!([&done["status"], &done["interview_key"]], ["interviewed", ""]);
    assert_eq!(done["interviewdate"], "2026-11-08T10:00:00Z");
    assert_eq!(types(&owner, &candidate).await, json!(["candidate.interviewed"]));
    candidate.get(uri).await.expect(401);
    assert_eq!(interview(&owner, uri).await["missing"], json!([]));
}

#[tokio::test]
async fn a_question_that_can_no_longer_be_answered_does_not_keep_an_interview_from_its_end() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let once = json!({ "text": "Why us?", "takes": 1, "preparation_seconds": 30, "answer_seconds": 60 });
    let written = json!({ "text": "Since when?", "kind": "text" });
    let (project, questions) = project(&owner, json!({ "max_interview_time": 30 }), &[once, written]).await;
    let [video, text] = &questions[..] else { panic!("{questions:?}") };
    let (completing, closing) = (begin(&owner, &project).await, begin(&owner, &project).await);
    for candidate in [&completing, &closing] {
        begin_take(candidate, video).await;
        write(candidate, text, "2019").await.expect(201);
    }
    let uri = &completing.uri;
    let shown = async || {
        let interview = interview(&owner, uri).await;
        (interview["missing"].clone(), interview["answers"][0]["unanswerable"].clone())
    };
    app.clock().advance(TimeDelta::seconds(89));
    assert_eq!(shown().await, (json!([video]), json!(false)), "it may be recorded on another device");
    assert_refusal!(completing.advance(uri).await, @r#"400 {"code":"answers_missing","detail":"Answer all required questions first."}"#);
    app.clock().advance(TimeDelta::seconds(1));
    assert_eq!(shown().await, (json!([]), json!(true)));
    // Another take lets the candidate answer it after all.
    owner.patch(uri, json!({ "adjustments": { "extra_takes": 1 } })).await.expect(200);
    assert_eq!(shown().await, (json!([video]), json!(false)));
    owner.patch(uri, json!({ "adjustments": null })).await.expect(200);
    completing.advance(uri).await.expect(200);
    assert_eq!(shown().await, (json!([]), json!(true)));

    app.clock().advance(TimeDelta::minutes(90));
    app.expire_overdue().await;
    assert_eq!(status(&app, &closing.uri).await, "interviewed");
    let closed = interview(&owner, &closing.uri).await;
    assert_eq!((&closed["answers"][0]["unanswerable"], &closed["missing"]), (&json!(true), &json!([])));
}

#[tokio::test]
async fn sessions_end_with_the_interview_and_a_password_begins_another() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let asked = [json!({ "text": "Why us?", "kind": "text", "is_required": false })];
    let (project, _) = project(&owner, json!({ "max_interview_time": 30 }), &asked).await;
    for (end, expected) in [
        ("completed", "interviewed"),
        ("reported", "interviewed"),
        ("aborted", "aborted"),
        ("closed", "interviewed"),
        ("expired", "expired"),
    ] {
        let candidate = owner.invite(&project, json!({})).await;
        let token = candidate.register().await;
        token.advance(&candidate.uri).await.expect(200);
        if end != "expired" {
            token.advance(&candidate.uri).await.expect(200);
        }
        let browser = app.browser("acme", &candidate.email).await;
        match end {
            "completed" => {
                // The answer is that of a caller who is still admitted.
                let done = browser.advance(&candidate.uri).await.expect(200).json();
                assert_eq!(done["status"], expected);
            }
            "reported" => app.complete(&candidate.uri).await,
            "aborted" => app.abort(&candidate.uri).await,
            _ => {
                owner.set_deadline(&candidate.uri, &app.clock().in_days(1)).await.expect(200);
                app.clock().advance(TimeDelta::hours(1));
                owner.set_deadline(&candidate.uri, &app.clock().in_days(0)).await.expect(200);
                app.clock().advance(TimeDelta::minutes(60));
                app.expire_overdue().await;
            }
        }
        assert_eq!(status(&app, &candidate.uri).await, expected, "{end}");
        for path in ["/whoami/".to_owned(), format!("{}data/", candidate.uri)] {
            browser.get(&path).await.expect_code(401, "invalid_credential");
            token.get(&path).await.expect_code(401, "invalid_credential");
        }
        let request = Request::put(&format!("{}erasure-request/", candidate.uri));
        browser.send(request).await.expect_code(401, "invalid_credential");

        // With their password, they still get their data and are erased if they wish.
        let again = app.browser("acme", &candidate.email).await;
        again.get(&format!("{}data/", candidate.uri)).await.expect(200);
        let request = Request::put(&format!("{}erasure-request/", candidate.uri));
        again.send(request).await.expect(200);
    }
}

#[tokio::test]
async fn elsewhere_only_events_complete_an_interview() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let external = json!({ "interview_platform": "external" });
    let (external, _) = project(&owner, external, &[json!({ "text": "Why us?" })]).await;
    let (without_questions, _) = project(&owner, json!({}), &[]).await;
    for project in [external, without_questions] {
        let candidate = begin(&owner, &project).await;
        assert_refusal!(candidate.advance(&candidate.uri).await, @r#"400 {"code":"not_implemented","detail":"Candidates complete interviews on the interview platform. This endpoint cannot mark them as completed."}"#);
        candidate.get(&format!("{}interview/", candidate.uri)).await.expect_code(404, "not_found");
        let whoami = candidate.get("/whoami/").await.expect(200).json();
        assert_eq!(whoami["token"]["expires_at"], app.clock().in_days(7));
        app.complete(&candidate.uri).await;
        assert_eq!(status(&app, &candidate.uri).await, "interviewed");
        let overdue = begin(&owner, &project).await;
        owner.set_deadline(&overdue.uri, "2026-11-08T10:00:00Z").await.expect(200);
        overdue.get(&overdue.uri).await.expect(401);
        assert_eq!(app.expire_overdue().await.aborted, 1);
    }
}

#[tokio::test]
async fn beginning_and_completing_are_two_round_trips() {
    let app = TestApp::start().await;
    let (owner, candidate, [video, _]) = given(&app).await;
    record(&candidate, &video).await;
    let project = candidate.uri.split("candidates/").next().unwrap();
    let other = owner.invite(project, json!({})).await;
    other.advance(&other.uri).await.expect(200);
    assert_eq!(other.advance(&other.uri).await.expect(200).log().dynamodb_calls, 2);
    assert_eq!(candidate.advance(&candidate.uri).await.expect(200).log().dynamodb_calls, 2);
}

#[tokio::test]
async fn an_event_completes_an_interview_with_answers_missing_and_closes_its_takes() {
    let app = TestApp::start().await;
    let (owner, candidate, [video, _]) = given(&app).await;
    let take = begin_take(&candidate, &video).await;
    send_part(&candidate, &take, 1).await;
    app.complete(&candidate.uri).await;
    assert_eq!(status(&app, &candidate.uri).await, "interviewed");
    let shown = interview(&owner, &candidate.uri).await;
    let first = &shown["answers"][0];
    assert_eq!([&first["open_take"], &first["take"]["is_interrupted"]], [&Value::Null, &json!(true)]);
    let project = candidate.uri.split("candidates/").next().unwrap();
    let empty = begin(&owner, project).await;
    app.complete(&empty.uri).await;
    assert_eq!(status(&app, &empty.uri).await, "interviewed");
    assert_eq!(interview(&owner, &empty.uri).await["missing"], json!([video]));
}

#[tokio::test]
async fn of_a_completion_and_a_reset_one_comes_first() {
    for completes_first in [true, false] {
        let (app, chaos) = TestApp::start_with_chaos().await;
        let (owner, candidate, [video, _]) = given(&app).await;
        record(&candidate, &video).await;
        let (uri, given) = (&candidate.uri, answer(&candidate, &video));
        let paused = chaos.pause("TransactWriteItems");
        if completes_first {
            let meanwhile = async {
                paused.reached().await;
                candidate.advance(uri).await.expect(200);
                paused.resume();
            };
            let (reset, ()) = tokio::join!(owner.delete(&given), meanwhile);
            assert_refusal!(reset, @r#"400 {"code":"already_interviewed","detail":"The candidate has completed the interview."}"#);
            assert_eq!(interview(&owner, uri).await["missing"], json!([]));
        } else {
            let meanwhile = async {
                paused.reached().await;
                owner.delete(&given).await.expect(204);
                paused.resume();
            };
            let (completed, ()) = tokio::join!(candidate.advance(uri), meanwhile);
            assert_refusal!(completed, @r#"400 {"code":"answers_missing","detail":"Answer all required questions first."}"#);
        }
    }
}

#[tokio::test]
async fn of_a_completion_and_a_new_take_one_comes_first() {
    for completes_first in [true, false] {
        let (app, chaos) = TestApp::start_with_chaos().await;
        let (_, candidate, [video, _]) = given(&app).await;
        record(&candidate, &video).await;
        let (uri, takes) = (&candidate.uri, format!("{}takes/", answer(&candidate, &video)));
        let session = candidate.register().await;
        let paused = chaos.pause("TransactWriteItems");
        if completes_first {
            let meanwhile = async {
                paused.reached().await;
                session.advance(uri).await.expect(200);
                paused.resume();
            };
            let (begun, ()) = tokio::join!(session.post(&takes, json!({})), meanwhile);
            // The repeated request finds that the session has ended with the interview.
            assert_refusal!(begun, @r#"401 {"code":"invalid_credential","detail":"The credential is invalid or has expired."}"#);
        } else {
            let meanwhile = async {
                paused.reached().await;
                session.post(&takes, json!({})).await.expect(201);
                paused.resume();
            };
            // The earlier recording is the answer still.
            let (completed, ()) = tokio::join!(session.advance(uri), meanwhile);
            completed.expect(200);
        }
        assert_eq!(status(&app, uri).await, "interviewed");
    }
}

#[tokio::test]
async fn of_the_close_of_an_interview_and_another_write_one_comes_first() {
    for is_answered in [true, false] {
        let (app, chaos) = TestApp::start_with_chaos().await;
        let (owner, candidate, [video, _]) = given(&app).await;
        let uri = &candidate.uri;
        record(&candidate, &video).await;
        app.clock().advance(TimeDelta::minutes(90));
        let paused = chaos.pause("TransactWriteItems");
        let meanwhile = async {
            paused.reached().await;
            if is_answered {
                owner.set_deadline(uri, "2026-11-30T10:00:00Z").await.expect(200);
            } else {
                owner.delete(&answer(&candidate, &video)).await.expect(204);
            }
            paused.resume();
        };
        let (swept, ()) = tokio::join!(app.expire_overdue(), meanwhile);
        assert_eq!((swept.moved_on, swept.interviewed, swept.aborted), (1, 0, 0));
        let next = app.expire_overdue().await;
        let expected = if is_answered { (1, 0) } else { (0, 1) };
        assert_eq!((next.interviewed, next.aborted), expected);
    }
}
