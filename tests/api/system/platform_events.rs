//! Reports of the platform's other parts: once or twice, in order or not, alone or many at a time.

use serde_json::{Value, json};
use shared::Error;
use shared::domain::candidate::CandidateStatus::{self, Confirmed, Interviewed, Interviewing, Invited};
use shared::event::RecordOutcome::{self, Applied, Duplicate, Ignored};
use tests::app::TestApp;
use tests::caller::{Caller, Staff, last_segment};
use tests::logs;
use tests::platform::event;
use tokio::task::JoinSet;

/// The service, its owner, two evaluators, and a running project in which candidates need no password.
pub(crate) async fn given() -> (TestApp, Staff, [Staff; 2], String) {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let evaluators = [app.staff("hiring-manager").await, app.staff("hiring-manager").await];
    let fields = json!({
        "allow_hash_login": true, "evaluators": [evaluators[0].uri, evaluators[1].uri], "team_evaluation": 1,
    });
    let project = owner.running_project(fields).await;
    (app, owner, evaluators, project)
}

fn completed(uri: &str, time: &str) -> Value {
    event("interview.completed", time, json!({ "candidate": uri }))
}

fn aborted(uri: &str, time: &str) -> Value {
    event("interview.aborted", time, json!({ "candidate": uri }))
}

pub(crate) fn evaluated(uri: &str, by: &Staff, completed: bool, time: &str) -> Value {
    event(
        "evaluation.recorded",
        time,
        json!({ "candidate": uri, "customer": by.uri, "completed": completed }),
    )
}

pub(crate) async fn report(app: &TestApp, event: Value) -> RecordOutcome {
    app.report(event).await.unwrap()
}

#[tokio::test]
async fn an_event_that_comes_again_is_known() {
    let (app, owner, [one, _], project) = given().await;
    let uri = owner.candidate_at(&project, Interviewing).await;
    for event in [
        evaluated(&uri, &one, true, "2026-11-08T10:00:00Z"),
        completed(&uri, "2026-11-08T10:00:00Z"),
        evaluated(&uri, &one, false, "2026-11-08T10:00:01Z"),
    ] {
        assert_eq!(report(&app, event.clone()).await, Applied);
        let before = app.table().snapshot().await;
        assert_eq!(report(&app, event.clone()).await, Duplicate);
        // Nor does it matter what else it says the second time.
        let mut other = event;
        other["detail-type"] = json!("interview.aborted");
        assert_eq!(report(&app, other).await, Duplicate);
        assert_eq!(app.table().snapshot().await, before);
    }
}

#[tokio::test]
async fn a_report_with_two_event_ids_counts_once() {
    let (app, owner, [one, _], project) = given().await;
    let uri = owner.candidate_at(&project, Interviewing).await;
    assert_eq!(report(&app, completed(&uri, "2026-11-08T10:00:00Z")).await, Applied);
    assert_eq!(report(&app, completed(&uri, "2026-11-08T10:00:05Z")).await, Ignored);
    assert_eq!(owner.get(&uri).await.expect(200).json()["interviewdate"], "2026-11-08T10:00:00Z");
    for _ in 0..2 {
        report(&app, evaluated(&uri, &one, true, "2026-11-08T10:01:00Z")).await;
    }
    let shown = owner.get(&project).await.expect(200).json();
    assert_eq!([&shown["interviewed_candidates_count"], &shown["evaluated_candidates_count"]], [1, 1]);
}

#[tokio::test]
async fn an_evaluation_may_come_before_the_interview_that_it_is_of() {
    let (app, owner, [one, _], project) = given().await;
    let uri = owner.candidate_at(&project, Interviewing).await;
    assert_eq!(report(&app, evaluated(&uri, &one, true, "2026-11-08T10:05:00Z")).await, Applied);
    let shown = owner.get(&project).await.expect(200).json();
    assert_eq!(shown["evaluated_candidates_count"], 0, "it counts with the interview");
    assert_eq!(one.get(&project).await.expect(200).json()["can_see_results"], false);
    assert_eq!(report(&app, completed(&uri, "2026-11-08T10:00:00Z")).await, Applied);
    let shown = owner.get(&project).await.expect(200).json();
    assert_eq!(shown["evaluated_candidates_count"], 1);
    assert_eq!(one.get(&project).await.expect(200).json()["can_see_results"], true);
    assert_eq!(owner.get(&uri).await.expect(200).json()["evaluation_status"], "completed");
}

#[tokio::test]
async fn a_completed_interview_counts_despite_events_before_or_after_it() {
    let (app, owner, _, project) = given().await;
    let time = "2026-11-08T10:00:00Z";
    for (before, counts) in [
        (CandidateStatus::New, false),
        (Invited, false),
        (Confirmed, true),
        (Interviewing, true),
        (Interviewed, false),
        (CandidateStatus::Expired, true),
        (CandidateStatus::Aborted, true),
        (CandidateStatus::Skipped, false),
    ] {
        let uri = owner.candidate_at(&project, before).await;
        let table = app.table().snapshot().await;
        let outcome = report(&app, completed(&uri, time)).await;
        let shown = owner.get(&uri).await.expect(200).json();
        if counts {
            assert_eq!((outcome, &shown["status"]), (Applied, &json!("interviewed")), "{before:?}");
            assert_eq!([&shown["interviewdate"], &shown["interview_key"]], [time, ""]);
        } else {
            assert_eq!((outcome, &shown["status"]), (Ignored, &json!(before.as_str())));
            assert_eq!(app.table().snapshot().await, table, "{before:?}");
        }
    }
}

#[tokio::test]
async fn an_interview_is_broken_off_only_while_it_goes_on() {
    let (app, owner, _, project) = given().await;
    for before in CandidateStatus::ALL {
        let uri = owner.candidate_at(&project, before).await;
        let table = app.table().snapshot().await;
        let outcome = report(&app, aborted(&uri, "2026-11-08T10:00:00Z")).await;
        let status = owner.get(&uri).await.expect(200).json()["status"].clone();
        if before == Interviewing {
            assert_eq!((outcome, status), (Applied, json!("aborted")));
        } else {
            assert_eq!((outcome, status), (Ignored, json!(before.as_str())));
            assert_eq!(app.table().snapshot().await, table, "{before:?}");
        }
    }
    // Nor when the report is of an earlier try.
    app.clock().advance(chrono::TimeDelta::minutes(10));
    let uri = owner.candidate_at(&project, Interviewing).await;
    assert_eq!(report(&app, aborted(&uri, "2026-11-08T10:09:59Z")).await, Ignored);
    assert_eq!(report(&app, aborted(&uri, "2026-11-08T10:10:00Z")).await, Applied);
}

#[tokio::test]
async fn events_about_unknown_candidates_are_ignored() {
    let (app, owner, [one, _], project) = given().await;
    let uri = owner.candidate_at(&project, Interviewing).await;
    let other = owner.project(json!({})).await;
    let id = last_segment(&uri);
    let strangers = app.owner_of("globex").await.project(json!({})).await;
    let deleted = owner.candidate_at(&project, Interviewing).await;
    owner.delete(&deleted).await.expect(204);
    let before = app.table().snapshot().await;
    for gone in [
        deleted,
        format!("{other}candidates/{id}/"),
        format!("{strangers}candidates/{id}/"),
        format!("{project}candidates/01ARZ3NDEKTSV4RRFFQ69G5FAV/"),
        "https://hr.example/api/v3/companies/unknown/projects/01ARZ3NDEKTSV4RRFFQ69G5FAV/candidates/01ARZ3NDEKTSV4RRFFQ69G5FAV/".to_owned(),
    ] {
        assert_eq!(report(&app, completed(&gone, "2026-11-08T10:00:00Z")).await, Ignored, "{gone}");
    }
    let gone = format!("{other}candidates/{id}/");
    assert_eq!(report(&app, evaluated(&gone, &one, true, "2026-11-08T10:00:00Z")).await, Ignored);
    assert_eq!(app.table().snapshot().await, before);
}

#[tokio::test]
async fn malformed_events_are_refused_and_reported() {
    let (app, owner, [one, _], project) = given().await;
    let uri = owner.candidate_at(&project, Interviewing).await;
    let stranger = app.owner_of("globex").await;
    let time = "2026-11-08T10:00:00Z";
    let before = app.table().snapshot().await;
    let evaluation = |detail: Value| event("evaluation.recorded", time, detail);
    let customer =
        |customer: &str| evaluation(json!({ "candidate": uri, "customer": customer, "completed": true }));
    for (event, fields) in [
        (event("interview.started", time, json!({ "candidate": uri })), &["detail-type"][..]),
        (event("interview.completed", time, json!({ "candidate": "https://evil.example/" })), &["candidate"]),
        (event("interview.completed", time, json!({ "candidate": one.uri })), &["candidate"]),
        (event("interview.completed", time, json!({ "candidate": "" })), &["candidate"]),
        (evaluation(json!({ "candidate": uri, "customer": one.uri })), &["completed"]),
        (evaluation(json!({ "candidate": uri, "completed": true })), &["customer"]),
        (evaluation(json!({ "candidate": uri })), &["completed", "customer"]),
        (evaluation(json!({ "candidate": "x" })), &["candidate", "completed", "customer"]),
        (customer(&uri), &["customer"]),
        (customer(&stranger.uri), &["customer"]),
        (
            customer("https://hr.example/api/v3/companies/acme/customers/01ARZ3NDEKTSV4RRFFQ69G5FAV/"),
            &["customer"],
        ),
    ] {
        logs::take_lines("platform-events");
        let refused = app.report(event.clone()).await.unwrap_err();
        assert!(matches!(refused, Error::Fields(_)), "{event}: {refused}");
        let told: Value = serde_json::from_str(&refused.to_string()).unwrap();
        let named: Vec<_> = told.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(named, fields, "{event}: {refused}");
        let lines = logs::take_lines("platform-events");
        let [line] = &lines[..] else { panic!("not one line: {lines:#?}") };
        assert_eq!((&line["level"], &line["event"]), (&json!("WARN"), &event["id"]), "{line}");
    }
    for (field, value) in [
        ("id", json!(7)),
        ("detail-type", Value::Null),
        ("time", json!("yesterday")),
        ("detail", json!({})),
        ("detail", json!([])),
    ] {
        let mut event = completed(&uri, time);
        event[field] = value;
        app.report(event).await.unwrap_err();
    }
    assert_eq!(app.table().snapshot().await, before);
}

#[tokio::test]
async fn each_event_leaves_a_line_in_the_log() {
    let (app, owner, _, project) = given().await;
    let uri = owner.candidate_at(&project, Interviewing).await;
    let event = completed(&uri, "2026-11-08T10:00:00Z");
    for outcome in ["Applied", "Duplicate"] {
        logs::take_lines("platform-events");
        report(&app, event.clone()).await;
        let lines = logs::take_lines("platform-events");
        let [line] = &lines[..] else { panic!("not one line: {lines:#?}") };
        assert_eq!((&line["event"], &line["kind"]), (&event["id"], &json!("interview.completed")), "{line}");
        assert_eq!((&line["outcome"], &line["level"]), (&json!(outcome), &json!("INFO")), "{line}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn eight_events_at_once_for_one_candidate_are_all_taken_in() {
    let (app, owner, [one, two], project) = given().await;
    for _ in 0..5 {
        let uri = owner.candidate_at(&project, Interviewing).await;
        let twice = completed(&uri, "2026-11-08T10:00:00Z");
        let events = [
            twice.clone(),
            twice,
            completed(&uri, "2026-11-08T10:00:00Z"),
            evaluated(&uri, &one, true, "2026-11-08T10:00:01Z"),
            evaluated(&uri, &one, false, "2026-11-08T10:00:02Z"),
            evaluated(&uri, &one, true, "2026-11-08T10:00:03Z"),
            evaluated(&uri, &two, true, "2026-11-08T10:00:01Z"),
            evaluated(&uri, &two, false, "2026-11-08T10:00:02Z"),
        ];
        let mut reports = JoinSet::new();
        for event in events {
            let app = app.clone();
            reports.spawn(async move { app.report(event).await.unwrap() });
        }
        let outcomes = reports.join_all().await;
        let applied = outcomes.iter().filter(|outcome| **outcome == Applied).count();
        assert!((3..=6).contains(&applied), "{outcomes:?}");
        let shown = one.get(&uri).await.expect(200).json();
        assert_eq!(
            (&shown["status"], &shown["interviewdate"]),
            (&json!("interviewed"), &json!("2026-11-08T10:00:00Z"))
        );
        assert_eq!(shown["my_evaluation_status"], "completed");
        assert_eq!(two.get(&uri).await.expect(200).json()["my_evaluation_status"], "pending");
    }
    let counted = owner.get(&project).await.expect(200).json();
    assert_eq!([&counted["interviewed_candidates_count"], &counted["evaluated_candidates_count"]], [5, 5]);
}
