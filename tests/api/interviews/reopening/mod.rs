//! Interviews that go on after they were completed.

mod access;
mod events;
mod parallel;
mod refusals;

use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::assert_refusal;
use tests::caller::{Caller, Invited, Staff};
use tests::http::{Request, Response};

use super::{answer, begin, begin_take, interview, project, record, status, write};
use crate::system::idempotency::{assert_first, assert_replay, keyed};

/// The candidate has completed an interview of 30 minutes.
struct ReopeningFixture {
    app: TestApp,
    owner: Staff,
    evaluator: Staff,
    project: String,
    candidate: Invited,
    /// A question that was recorded in its only take, and one that was answered in writing.
    questions: [String; 2],
}

impl ReopeningFixture {
    async fn start() -> Self {
        Self::of(TestApp::start().await).await
    }

    async fn of(app: TestApp) -> Self {
        let owner = app.owner().await;
        owner.patch("/companies/acme/", json!({ "default_project_lang": "en" })).await.expect(200);
        let evaluator = app.staff("hiring-manager").await;
        let settings =
            json!({ "max_interview_time": 30, "evaluators": [evaluator.uri], "veto_enabled": true });
        let asked =
            [json!({ "text": "Why us?", "takes": 1 }), json!({ "text": "Since when?", "kind": "text" })];
        let (project, questions) = project(&owner, settings, &asked).await;
        let candidate = begin(&owner, &project).await;
        let questions: [String; 2] = questions.try_into().unwrap();
        record(&candidate, &questions[0]).await;
        write(&candidate, &questions[1], "2019").await.expect(201);
        candidate.advance(&candidate.uri).await.expect(200);
        Self { app, owner, evaluator, project, candidate, questions }
    }

    /// Reopens the interview an hour later.
    async fn reopen(&self) -> Response {
        self.app.clock().advance(TimeDelta::hours(1));
        self.owner.send(reopening(&self.candidate.uri, json!({}))).await
    }

    async fn status(&self) -> Value {
        status(&self.app, &self.candidate.uri).await
    }

    async fn shown_project(&self) -> Value {
        let mut project = self.owner.get(&self.project).await.expect(200).json();
        project["statistics"] =
            self.owner.get(&format!("{}statistics/", self.project)).await.expect(200).json();
        project
    }
}

/// The request that reopens the interview of a candidate, with other fields than a reason.
pub(crate) fn reopening(candidate: &str, fields: Value) -> Request {
    let mut body = json!({ "reason": "No sound." });
    tests::caller::merge(&mut body, fields);
    Request::post(&format!("{candidate}interview/reopen/")).json(&body)
}

#[tokio::test]
async fn a_completed_interview_goes_on_where_it_was_left() {
    let given = ReopeningFixture::start().await;
    let ReopeningFixture { owner, candidate, questions: [video, text], .. } = &given;
    let uri = &candidate.uri;
    let before = owner.get(uri).await.expect(200).json();
    let answers = interview(owner, uri).await["answers"].clone();
    let complete = given.shown_project().await;

    let reopened = given.reopen().await.expect(200).json();
    let at = "2026-11-08T11:00:00Z";
    let mut expected = before.clone();
    expected["status"] = json!("interviewing");
    expected["interviewdate"] = Value::Null;
    expected["reopening"] = json!({ "reason": "No sound.", "message": "", "reopened_at": at, "count": 1 });
    expected["interview_key"] = json!(candidate.key);
    expected["interview_url"] = json!(format!("https://hr.example/interview/acme/{}", candidate.key));
    assert_eq!(reopened, expected);
    assert_eq!(owner.get(uri).await.expect(200).json(), expected);

    let own = interview(candidate, uri).await;
    assert_eq!(
        [&own["started_at"], &own["ends_at"], &own["closes_at"]],
        [at, "2026-11-15T10:00:00Z", "2026-11-15T11:00:00Z"]
    );
    let mut kept = interview(owner, uri).await["answers"].clone();
    for (index, left) in [(0, 0), (1, 3)] {
        assert_eq!(answers[index]["takes_left"], left);
        assert_eq!(kept[index]["takes_left"], left + 1);
        kept[index]["takes_left"] = json!(left);
    }
    assert_eq!(kept, answers);

    write(candidate, text, "In March 2019").await.expect(200);
    record(candidate, video).await;
    let takes = format!("{}takes/", answer(candidate, video));
    assert_refusal!(candidate.post(&takes, json!({})).await, @r#"400 {"code":"no_takes_left","detail":"This question was recorded as often as it may be."}"#);
    let shown = given.shown_project().await;
    assert_eq!([&shown["interviewed_candidates_count"], &shown["can_archive"]], [&json!(0), &json!(false)]);
    let done = candidate.advance(uri).await.expect(200).json();
    assert_eq!([&done["status"], &done["interviewdate"], &done["interview_key"]], ["interviewed", at, ""]);
    assert_eq!(given.shown_project().await, complete);
    assert_eq!(interview(owner, uri).await["answers"][1]["text"], "In March 2019");
}

#[tokio::test]
async fn each_reopening_gives_one_more_take_up_to_twenty() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let optional = |takes: Value| json!({ "text": "Why us?", "takes": takes, "is_required": false });
    let (project, questions) = project(&owner, json!({}), &[optional(json!(1)), optional(Value::Null)]).await;
    let candidate = begin(&owner, &project).await;
    let uri = &candidate.uri;
    let left = async || {
        let answers = interview(&owner, uri).await["answers"].clone();
        [answers[0]["takes_left"].clone(), answers[1]["takes_left"].clone()]
    };
    owner.patch(uri, json!({ "adjustments": { "extra_takes": 1 } })).await.expect(200);
    for _ in 0..20 {
        begin_take(&candidate, &questions[1]).await;
    }
    assert_eq!(left().await, [2, 0]);
    for count in 1..=2 {
        candidate.advance(uri).await.expect(200);
        let reopened = owner.send(reopening(uri, json!({ "reason": format!("Again {count}") }))).await;
        let reopening = reopened.expect(200).json()["reopening"].clone();
        assert_eq!(
            [&reopening["reason"], &reopening["count"]],
            [&json!(format!("Again {count}")), &json!(count)]
        );
        assert_eq!(left().await, [2 + count, 0]);
    }
    let takes = |question: &str| format!("{}takes/", answer(&candidate, question));
    assert_refusal!(candidate.post(&takes(&questions[1]), json!({})).await, @r#"400 {"code":"no_takes_left","detail":"This question was recorded as often as it may be."}"#);
    // A reset gives takes back, and the additional ones stay.
    begin_take(&candidate, &questions[0]).await;
    app.clock().advance(TimeDelta::minutes(10));
    begin_take(&candidate, &questions[0]).await;
    assert_eq!(left().await, [2, 0]);
    owner.delete(&answer(&candidate, &questions[0])).await.expect(204);
    assert_eq!(left().await, [4, 0]);
}

#[tokio::test]
async fn the_deadline_stays_unless_the_request_has_another() {
    let given = ReopeningFixture::start().await;
    let ReopeningFixture { app, owner, candidate, .. } = &given;
    let uri = &candidate.uri;
    let in_five_minutes = "2026-11-08T12:05:00+01:00";
    app.clock().advance(TimeDelta::hours(1));
    let reopened =
        owner.send(reopening(uri, json!({ "deadline": in_five_minutes }))).await.expect(200).json();
    assert_eq!(reopened["deadline"], "2026-11-08T11:05:00Z");
    assert_eq!(interview(candidate, uri).await["ends_at"], "2026-11-08T11:05:00Z");
    let events = owner.get(&format!("{uri}events/?page_size=100")).await.expect(200).json();
    let last = events["objects"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(last["types"], json!(["candidate.reopened", "candidate.deadline_changed"]));
}

#[tokio::test]
async fn it_ends_at_the_deadline_and_stays_complete_whatever_is_missing_then() {
    for is_reset in [false, true] {
        let given = ReopeningFixture::start().await;
        let ReopeningFixture { app, owner, candidate, questions: [_, text], .. } = &given;
        app.clock().advance(TimeDelta::hours(1));
        let deadline = json!({ "deadline": "2026-11-08T12:45:00Z" });
        owner.send(reopening(&candidate.uri, deadline)).await.expect(200);
        if is_reset {
            owner.delete(&answer(candidate, text)).await.expect(204);
        }
        // The 30 minutes of the project are over by then.
        app.clock().advance(TimeDelta::minutes(104));
        candidate.get(&candidate.uri).await.expect(200);
        owner.get(&candidate.uri).await.expect(200);
        app.clock().advance(TimeDelta::minutes(60));
        assert_eq!(app.expire_overdue().await.interviewed, 0);
        app.clock().advance(TimeDelta::minutes(1));
        let swept = app.expire_overdue().await;
        assert_eq!((swept.interviewed, swept.aborted), (1, 0));
        assert_eq!(given.status().await, "interviewed");
        let refused = candidate.get("/whoami/candidate/").await.expect(401).json();
        assert_eq!(refused["code"], "interview_completed");
        let shown = owner.get(&candidate.uri).await.expect(200).json();
        assert_eq!([&shown["interview_key"], &shown["interview_url"]], ["", ""]);
    }
}

#[tokio::test]
async fn a_question_that_could_not_be_answered_any_more_takes_nothing_from_who_does_nothing() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let asked = [json!({ "text": "Why us?", "takes": 1 }), json!({ "text": "Since when?", "kind": "text" })];
    let (project, questions) = project(&owner, json!({}), &asked).await;
    let candidate = begin(&owner, &project).await;
    begin_take(&candidate, &questions[0]).await;
    // The only take was used up without a recording.
    app.clock().advance(TimeDelta::minutes(20));
    write(&candidate, &questions[1], "2019").await.expect(201);
    candidate.advance(&candidate.uri).await.expect(200);
    owner.send(reopening(&candidate.uri, json!({}))).await.expect(200);
    app.clock().advance(TimeDelta::hours(8 * 24));
    let swept = app.expire_overdue().await;
    assert_eq!((swept.interviewed, swept.aborted), (1, 0));
}

#[tokio::test]
async fn a_repeated_request_is_done_once() {
    let given = ReopeningFixture::start().await;
    let ReopeningFixture { app, owner, candidate, .. } = &given;
    let request = keyed(&reopening(&candidate.uri, json!({})));
    let first = owner.send(request.clone()).await;
    assert_first(&first);
    assert_eq!(first.log().dynamodb_calls, 2);
    assert_replay(&owner.send(request).await, &first);
    app.settle().await;
    let subjects: Vec<String> =
        app.mails_to(&candidate.email).iter().map(|mail| mail.subject.clone()).collect();
    assert_eq!(
        subjects.iter().filter(|subject| subject.starts_with("You can go on")).count(),
        1,
        "{subjects:?}"
    );
    assert_eq!(owner.get(&candidate.uri).await.expect(200).json()["reopening"]["count"], 1);
}
