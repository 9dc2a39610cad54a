//! Interviews that the company cancels, at any time before they are complete.

mod access;
mod parallel;
mod refusals;

use chrono::TimeDelta;
use serde_json::{Value, json};
use shared::domain::candidate::CandidateStatus;
use shared::event::RecordOutcome;
use tests::app::TestApp;
use tests::caller::{Caller, Invited, Staff, last_segment};
use tests::http::{Request, Response};
use tests::platform::event;
use tests::takes::Interviewee;
use tests::videos::film;

use super::reopening::reopening;
use super::{answer, begin, begin_take, interview, project, send_part, write};
use crate::system::idempotency::{assert_first, assert_replay, keyed};

/// A candidate in an interview of 30 minutes, with a deadline in a week.
struct CancellationFixture {
    app: TestApp,
    owner: Staff,
    evaluator: Staff,
    project: String,
    candidate: Invited,
    /// A question that is recorded, and one that is answered in writing.
    questions: [String; 2],
}

impl CancellationFixture {
    async fn start() -> Self {
        let app = TestApp::start().await;
        let owner = app.owner().await;
        let settings = json!({ "default_project_lang": "en", "registration_email": "jobs@acme.example" });
        owner.patch("/companies/acme/", settings).await.expect(200);
        let evaluator = app.staff("hiring-manager").await;
        let settings =
            json!({ "max_interview_time": 30, "evaluators": [evaluator.uri], "reminder_days": [1] });
        let asked = [json!({ "text": "Why us?" }), json!({ "text": "Since when?", "kind": "text" })];
        let (project, questions) = project(&owner, settings, &asked).await;
        let candidate = begin(&owner, &project).await;
        Self { app, owner, evaluator, project, candidate, questions: questions.try_into().unwrap() }
    }

    /// Cancels the interview, with other fields than a reason.
    async fn cancel(&self, fields: Value) -> Response {
        self.owner.send(cancellation(&self.candidate.uri, fields)).await
    }

    async fn draft(&self, text: &str) {
        let draft = format!("{}draft/", answer(&self.candidate, &self.questions[1]));
        self.candidate.send(Request::put(&draft).json(&json!({ "text": text }))).await.expect(204);
    }

    /// The items of what the candidate has written.
    async fn stored_texts(&self) -> Vec<Value> {
        let items = self.app.table().snapshot().await;
        items.into_iter().filter(|((pk, _), _)| pk.starts_with("TEXTS#")).map(|(_, item)| item).collect()
    }
}

/// The request that cancels the interview of a candidate, with other fields than a reason.
fn cancellation(candidate: &str, fields: Value) -> Request {
    let mut body = json!({ "reason": "The position is filled." });
    tests::caller::merge(&mut body, fields);
    Request::post(&format!("{candidate}cancel/")).json(&body)
}

/// Whether nobody of the project waits or goes on, and how many were withdrawn, as the project shows it.
async fn counted(owner: &impl Caller, project: &str) -> [Value; 5] {
    let shown = owner.get(project).await.expect(200).json();
    let names = ["invited", "interviewing", "interviewed", "skipped"];
    let [invited, interviewing, interviewed, skipped] =
        names.map(|name| shown[format!("{name}_candidates_count")].clone());
    [invited, interviewing, interviewed, skipped, shown["can_archive"].clone()]
}

#[tokio::test]
async fn an_interview_in_the_middle_of_a_recording_ends_at_once_with_all_that_follows() {
    let given = CancellationFixture::start().await;
    let CancellationFixture { app, owner, project, candidate, questions: [video, text], .. } = &given;
    let uri = &candidate.uri;
    write(candidate, text, "2019").await.expect(201);
    let take = begin_take(candidate, video).await;
    send_part(candidate, &take, 1).await;
    app.clock().advance(TimeDelta::minutes(2));
    assert_eq!(counted(owner, project).await, [json!(0), json!(1), json!(0), json!(0), json!(false)]);
    let mut expected = owner.get(uri).await.expect(200).json();
    let cancelled = given.cancel(json!({})).await.expect(200);
    for (field, value) in [
        ("status", json!("skipped")),
        ("interview_key", json!("")),
        ("interview_url", json!("")),
        (
            "cancellation",
            json!({ "reason": "The position is filled.", "at": "2026-11-08T10:02:00Z", "by": owner.uri }),
        ),
    ] {
        expected[field] = value;
    }
    assert_eq!(cancelled.json(), expected);
    assert_eq!((cancelled.header("etag"), cancelled.log().dynamodb_calls), (None, 3));
    // Before anything else has run.
    assert_eq!(owner.get(uri).await.expect(200).json(), expected);
    assert_eq!(counted(owner, project).await, [json!(0), json!(0), json!(0), json!(1), json!(true)]);
    let shown = interview(owner, uri).await;
    let [recorded, written] = [&shown["answers"][0], &shown["answers"][1]];
    assert_eq!([&recorded["status"], &recorded["open_take"]], [&json!("pending"), &Value::Null]);
    assert_eq!([&recorded["interruptions"], &written["text"]], [&json!(1), &json!("2019")]);
    assert_eq!([&shown["status"], &shown["closes_at"]], [&json!("skipped"), &Value::Null]);
    let ended = candidate.get("/whoami/candidate/").await.expect(401).json();
    assert_eq!([&ended["code"], &ended["contact"]["email"]], ["withdrawn", "jobs@acme.example"]);
    for request in [
        Request::patch(&take).json(&json!({ "parts": 1 })),
        Request::patch(&format!("{uri}status/advance/")),
        Request::get(&format!("{uri}interview/")),
    ] {
        candidate.send(request).await.expect_code(401, "invalid_credential");
    }
    for refused in [owner.advance(uri).await, owner.send(reopening(uri, json!({}))).await] {
        assert_eq!(refused.status, 400, "{refused}");
    }
    // Nothing of it is due any more.
    app.settle().await;
    app.clock().advance(TimeDelta::days(9));
    let swept = app.expire_overdue().await;
    assert_eq!((swept.expired, swept.aborted, swept.interviewed, swept.reminded), (0, 0, 0, 0));
    let late = event("interview.completed", &app.clock().in_days(0), json!({ "candidate": uri }));
    assert_eq!(app.report(late).await.unwrap(), RecordOutcome::Ignored);
    let owner = owner.new_token().await;
    assert_eq!(owner.get(uri).await.expect(200).json()["status"], "skipped");
}

#[tokio::test]
async fn what_has_arrived_of_a_recording_is_converted_and_one_without_parts_dropped() {
    for has_arrived in [true, false] {
        let app = TestApp::start().await;
        let person = Interviewee::asked(&app, json!({})).await;
        let take = person.begin().await;
        if has_arrived {
            person.send(take, 1, &film()).await;
        }
        person.owner.cancel(&person.candidate.uri).await.expect(200);
        app.settle().await;
        let shown = interview(&person.owner, &person.candidate.uri).await["answers"][0].clone();
        let (status, streams) = if has_arrived { (json!("successful"), 1) } else { (Value::Null, 0) };
        assert_eq!([&shown["status"], &shown["open_take"]], [&status, &Value::Null]);
        assert_eq!(usize::from(shown["streams"].is_object()), streams, "{shown}");
        // The retention of the project decides how long it stays.
        app.clock().advance(TimeDelta::days(30));
        app.sweep().await;
        app.settle().await;
        let owner = person.owner.new_token().await;
        let later = interview(&owner, &person.candidate.uri).await["answers"][0].clone();
        assert_eq!(later["status"], status);
        app.assert_files_sound().await;
    }
}

#[tokio::test]
async fn drafts_are_dropped_unless_they_counted_as_answers_already() {
    for (minutes, sent, left) in
        [(5, None, Value::Null), (5, Some("2019"), json!("2019")), (31, None, json!("In March"))]
    {
        let given = CancellationFixture::start().await;
        if let Some(sent) = sent {
            write(&given.candidate, &given.questions[1], sent).await.expect(201);
        }
        given.draft("In March").await;
        given.app.clock().advance(TimeDelta::minutes(minutes));
        given.cancel(json!({})).await.expect(200);
        let shown = interview(&given.owner, &given.candidate.uri).await["answers"][1].clone();
        assert_eq!(shown["text"], left, "{minutes} {sent:?}");
        let stored = given.stored_texts().await;
        assert_eq!(stored.len(), usize::from(!left.is_null()), "{stored:?}");
        assert!(stored.iter().all(|item| item["draft"].is_null() && item["text"] == left), "{stored:?}");
    }
}

#[tokio::test]
async fn whoever_has_not_completed_is_withdrawn_whatever_their_status() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({ "allow_hash_login": true, "reminder_days": [1] })).await;
    for status in CandidateStatus::ALL {
        let uri = owner.candidate_at(&project, status).await;
        let before = app.table().snapshot().await;
        let answered = owner.cancel(&uri).await;
        match status {
            CandidateStatus::Interviewed => {
                answered.expect_code(400, "already_interviewed");
                assert_eq!(app.table().snapshot().await, before);
            }
            // Nothing happens: no event, no mail, no change.
            CandidateStatus::Skipped => {
                assert_eq!(answered.expect(200).json(), owner.get(&uri).await.expect(200).json());
                assert_eq!(app.table().snapshot().await, before);
            }
            _ => {
                let shown = answered.expect(200).json();
                assert_eq!([&shown["status"], &shown["next_reminder_at"]], [&json!("skipped"), &Value::Null]);
                let again = app.table().snapshot().await;
                assert_eq!(owner.cancel(&uri).await.expect(200).json(), shown, "once");
                assert_eq!(app.table().snapshot().await, again);
            }
        }
    }
    // The reminders and deadlines of those who waited are gone.
    app.settle().await;
    app.clock().advance(TimeDelta::days(8));
    let swept = app.expire_overdue().await;
    assert_eq!((swept.reminded, swept.expired, swept.aborted), (0, 0, 0));
}

#[tokio::test]
async fn guest_links_of_an_interview_that_was_reopened_end() {
    let given = CancellationFixture::start().await;
    let CancellationFixture { app, owner, candidate, questions: [video, text], .. } = &given;
    write(candidate, text, "2019").await.expect(201);
    super::record(candidate, video).await;
    candidate.advance(&candidate.uri).await.expect(200);
    let links = format!("{}guest-links/", candidate.uri);
    let link = owner.post(&links, json!({ "recipient": "Head of sales" })).await.expect(201);
    let key = format!("GuestKey {}", last_segment(&link.uri("url")));
    let review = async || app.send(Request::get("/review/").header("authorization", &key)).await;
    let end = async || review().await.expect(401).json()["code"].clone();
    given.cancel(json!({})).await.expect_code(400, "already_interviewed");
    review().await.expect(200);
    owner.send(reopening(&candidate.uri, json!({}))).await.expect(200);
    assert_eq!(end().await, "link_resting");
    given.cancel(json!({})).await.expect(200);
    assert_eq!(end().await, "candidate_gone");
    owner.post(&links, json!({ "recipient": "Sales" })).await.expect_code(400, "not_interviewed");
    app.settle().await;
}

#[tokio::test]
async fn a_repeated_request_is_done_once() {
    let given = CancellationFixture::start().await;
    let request = keyed(&cancellation(&given.candidate.uri, json!({ "notify": true })));
    let first = given.owner.send(request.clone()).await;
    assert_first(&first);
    assert_replay(&given.owner.send(request).await, &first);
    // One that has nothing to do is answered alike.
    let again = cancellation(&given.candidate.uri, json!({ "reason": "Once more." }))
        .header("idempotency-key", "another");
    let second = given.owner.send(again.clone()).await.expect(200);
    assert_eq!(second.json(), first.json());
    assert_replay(&given.owner.send(again).await, &second);
    given.app.settle().await;
    let mails = given.app.mails_to(&given.candidate.email);
    assert_eq!(mails.iter().filter(|mail| mail.subject.contains("cancelled")).count(), 1);
}

#[tokio::test]
async fn many_interviews_are_cancelled_by_one_request() {
    let given = CancellationFixture::start().await;
    let CancellationFixture { app, owner, project, candidate, questions: [video, _], .. } = &given;
    let other = begin(owner, project).await;
    let take = begin_take(candidate, video).await;
    send_part(candidate, &take, 1).await;
    begin_take(&other, video).await;
    given.draft("In March").await;
    let mut body = json!({
        "action": "cancel", "status": "interviewing", "reason": "The position is filled.", "notify": true,
        "dry_run": true,
    });
    let bulk = format!("{project}candidates/bulk/");
    let judged = owner.post(&bulk, body.clone()).await.expect(200).json();
    assert_eq!([&judged["meta"]["done"], &judged["meta"]["mails"]], [&json!(2), &json!(2)]);
    assert_eq!(owner.get(&candidate.uri).await.expect(200).json()["status"], "interviewing");
    body["dry_run"] = json!(false);
    let report = owner.post(&bulk, body).await.expect(200).json();
    assert_eq!(report["meta"]["done"], 2);
    for (one, status) in [(candidate, json!("pending")), (&other, Value::Null)] {
        let shown = owner.get(&one.uri).await.expect(200).json();
        assert_eq!([&shown["status"], &shown["cancellation"]["by"]], [&json!("skipped"), &json!(owner.uri)]);
        let recorded = interview(owner, &one.uri).await["answers"][0].clone();
        assert_eq!([&recorded["status"], &recorded["open_take"]], [&status, &Value::Null]);
    }
    assert_eq!(given.stored_texts().await, [Value::Null; 0]);
    assert_eq!(counted(owner, project).await, [json!(0), json!(0), json!(0), json!(2), json!(true)]);
    app.settle().await;
    for one in [candidate, &other] {
        let mails = app.mails_to(&one.email);
        assert_eq!(mails.iter().filter(|mail| mail.subject.contains("cancelled")).count(), 1);
    }
}
