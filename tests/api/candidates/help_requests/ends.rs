//! How requests for help end.

use chrono::TimeDelta;
use serde_json::json;
use shared::clock::Clock;
use shared::domain::candidate::{CandidateStatus, HelpKind};
use tests::app::TestApp;
use tests::caller::Caller;
use tests::platform::event;

use super::{HelpFixture, WORDS};
use crate::interviews::reopening::reopening;

#[tokio::test]
async fn what_is_done_for_the_candidate_closes_the_request() {
    let given = HelpFixture::start().await;
    let HelpFixture { app, owner, project, .. } = &given;
    let deadline = app.clock().in_days(20);
    let later = json!({ "deadline": app.clock().in_days(21) });
    let written = json!({ "adjustments": { "may_write": true } });
    let asking = async || {
        let one = owner.invite(project, json!({})).await;
        one.ask(&one.uri, "time", WORDS).await.expect(200);
        one
    };
    let mut closed = Vec::new();
    for body in [later, written] {
        let one = asking().await;
        owner.patch(&one.uri, body).await.expect(200);
        closed.push(one);
    }
    let one = asking().await;
    owner.set_deadline(&one.uri, &deadline).await.expect(200);
    closed.push(one);
    let one = asking().await;
    let bulk = json!({ "action": "deadline", "deadline": deadline, "candidates": [one.uri] });
    owner.post(&format!("{project}candidates/bulk/"), bulk).await.expect(200);
    closed.push(one);
    for end in ["cancel", "skip", "complete"] {
        let one = asking().await;
        match end {
            "cancel" => drop(owner.cancel(&one.uri).await.expect(200)),
            "skip" => drop(owner.skip(&one.uri).await.expect(200)),
            _ => {
                one.advance(&one.uri).await.expect(200);
                app.complete(&one.uri).await;
            }
        }
        closed.push(one);
    }
    for one in &closed {
        let shown = owner.get(&one.uri).await.expect(200).json()["help_request"].clone();
        assert!(shown["answered_at"].is_string() && shown["answer"] == "", "{shown}");
        let events = owner.get(&format!("{}events/", one.uri)).await.expect(200).json();
        let last = events["objects"].as_array().unwrap().last().unwrap()["types"].clone();
        assert!(last.as_array().unwrap().contains(&json!("candidate.answered")), "{last}");
    }
    assert_eq!(given.waiting().await, [""; 0]);
    // Another change is no answer, nor is the end of the time.
    let soon = (app.clock().now() + TimeDelta::minutes(30)).to_rfc3339();
    let late = owner.invite(project, json!({ "deadline": soon })).await;
    late.ask(&late.uri, "time", WORDS).await.expect(200);
    owner.patch(&late.uri, json!({ "phone": "1" })).await.expect(200);
    owner.remind(&late.uri).await.expect(200);
    app.clock().advance(TimeDelta::minutes(31));
    app.expire_overdue().await;
    assert_eq!(owner.get(&late.uri).await.expect(200).json()["status"], "expired");
    assert_eq!(given.waiting().await, std::slice::from_ref(&late.uri));
    // Words may follow a deed, once.
    let first = &closed[0].uri;
    let answered = owner.answer_help(first, "You have another day.").await.expect(200).json();
    assert_eq!(answered["help_request"]["answer"], "You have another day.");
    app.settle().await;
}

#[tokio::test]
async fn a_reopening_answers_who_has_asked_after_the_end() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let question = json!({ "text": "Why us?", "kind": "text" });
    let (project, questions) = crate::interviews::project(&owner, json!({}), &[question]).await;
    let candidate = crate::interviews::begin(&owner, &project).await;
    crate::interviews::write(&candidate, &questions[0], "Because.").await.expect(201);
    candidate.advance(&candidate.uri).await.expect(200);
    candidate.ask(&candidate.uri, "technical", "The sound was off.").await.expect(200);
    let reopened = owner.send(reopening(&candidate.uri, json!({}))).await.expect(200).json();
    assert!(reopened["help_request"]["answered_at"].is_string(), "{reopened}");
    app.settle().await;
}

#[tokio::test]
async fn nothing_is_left_of_a_request_after_the_candidate_is_erased() {
    let given = HelpFixture::start().await;
    let HelpFixture { app, owner, candidate, managers, .. } = &given;
    given.ask().await;
    app.settle().await;
    let data = owner.get(&format!("{}data/", candidate.uri)).await.expect(200).json();
    assert_eq!(data["help_request"]["text"], WORDS);
    let own = candidate.get(&format!("{}data/", candidate.uri)).await.expect(200).json();
    assert_eq!(own["help_request"]["text"], WORDS);
    owner.delete(&candidate.uri).await.expect(204);
    app.settle().await;
    let left = app.table().snapshot().await;
    let has_words = left.iter().any(|(_, item)| item.to_string().contains("CANARY"));
    assert!(!has_words && !left.keys().any(|(pk, sk)| pk.contains("PROJECT") && sk.starts_with("HELP#")));
    assert_eq!(given.waiting().await, [""; 0]);
    // A mail that was to come is not sent.
    let next = owner.invite(&given.project, json!({})).await;
    next.ask(&next.uri, "time", WORDS).await.expect(200);
    app.settle().await;
    owner.delete(&next.uri).await.expect(204);
    given.after(10).await;
    assert_eq!(given.told(&managers[0].email).len(), 1);
}

#[tokio::test]
async fn a_request_and_its_answer_at_once_leave_one_order() {
    let given = HelpFixture::start().await;
    let HelpFixture { app, owner, project, .. } = &given;
    for kind in HelpKind::ALL {
        let one = owner.invite(project, json!({})).await;
        one.ask(&one.uri, "time", WORDS).await.expect(200);
        let (asked, answered) = tokio::join!(
            one.ask(&one.uri, kind.as_str(), "In other words"),
            owner.answer_help(&one.uri, "Yes.")
        );
        asked.expect(200);
        answered.expect(200);
        // The answer is about the words that stood when it was stored, or was replaced with them.
        let shown = owner.get(&one.uri).await.expect(200).json()["help_request"].clone();
        assert_eq!(given.waiting().await.contains(&one.uri), shown["answered_at"].is_null(), "{shown}");
        assert_eq!(shown["text"], "In other words");
    }
    app.settle().await;
}

#[tokio::test]
async fn events_of_the_platform_that_come_twice_close_a_request_once() {
    let given = HelpFixture::start().await;
    let HelpFixture { app, owner, candidate, .. } = &given;
    candidate.advance(&candidate.uri).await.expect(200);
    let at = app.clock().in_days(0);
    app.clock().advance(TimeDelta::minutes(5));
    given.ask().await;
    let completed = event("interview.completed", &at, json!({ "candidate": candidate.uri }));
    let same_again = event("interview.completed", &at, json!({ "candidate": candidate.uri }));
    for report in [completed.clone(), completed, same_again] {
        app.report(report).await.unwrap();
    }
    assert_eq!(given.events().await.iter().filter(|types| types.to_string().contains("answered")).count(), 1);
    let shown = owner.get(&candidate.uri).await.expect(200).json();
    assert_eq!(shown["status"], CandidateStatus::Interviewed.as_str());
    // The platform tells of a completion before the request.
    assert_eq!(shown["help_request"]["answered_at"], shown["help_request"]["asked_at"]);
    app.settle().await;
}
