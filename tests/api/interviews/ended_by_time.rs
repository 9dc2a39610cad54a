//! Interviews whose time ends before they are complete, though something was answered.

use chrono::TimeDelta;
use serde_json::{Value, json};
use shared::event::RecordOutcome;
use tests::app::TestApp;
use tests::assert_refusal;
use tests::caller::{Caller, Invited, Staff, last_segment};
use tests::http::Request;
use tests::platform::event;

use super::reopening::reopening;
use super::{begin, begin_take, interview, project, send_part, status, write};

/// Two required questions for ten minutes: one to be answered in writing, one to be recorded.
struct EndedFixture {
    app: TestApp,
    owner: Staff,
    manager: Staff,
    project: String,
    candidate: Invited,
    questions: [String; 2],
}

impl EndedFixture {
    async fn start() -> Self {
        let app = TestApp::start().await;
        let owner = app.owner().await;
        owner
            .patch("/companies/acme/", json!({ "registration_email": "jobs@acme.example" }))
            .await
            .expect(200);
        let manager = owner.colleague("hiring-manager", json!({})).await.activate().await;
        let settings =
            json!({ "name": "Sales", "max_interview_time": 10, "interview_managers": [manager.uri] });
        let asked = [json!({ "text": "Since when?", "kind": "text" }), json!({ "text": "Why us?" })];
        let (project, questions) = project(&owner, settings, &asked).await;
        let candidate = begin(&owner, &project).await;
        Self { app, owner, manager, project, candidate, questions: questions.try_into().unwrap() }
    }

    /// The first question is answered, and the time has ended the interview.
    async fn ended() -> Self {
        let given = Self::start().await;
        write(&given.candidate, &given.questions[0], "2019").await.expect(201);
        given.end().await;
        given
    }

    /// Has the time end the interview.
    async fn end(&self) {
        self.app.clock().advance(TimeDelta::minutes(70));
        let summary = self.app.expire_overdue().await;
        assert_eq!((summary.aborted, summary.interviewed), (1, 0));
        self.app.settle().await;
    }

    async fn link_end(&self) -> Value {
        self.candidate.get("/whoami/candidate/").await.expect(401).json()
    }

    /// The subjects of the mails to the candidate but the invitation.
    fn mails(&self) -> Vec<String> {
        let mails = self.app.mails_to(&self.candidate.email);
        let subjects = mails.iter().map(|mail| mail.subject.clone());
        subjects.filter(|subject| !subject.contains("invites you")).collect()
    }
}

#[tokio::test]
async fn the_link_and_one_mail_say_when_the_time_ended_and_what_has_arrived() {
    let given = EndedFixture::ended().await;
    let EndedFixture { app, owner, candidate, .. } = &given;
    assert_eq!(status(app, &candidate.uri).await, "aborted");
    let shown = interview(owner, &candidate.uri).await;
    assert_eq!([&shown["ended_by_time"], &shown["ended_at"]], [&json!(true), &json!("2026-11-08T10:10:00Z")]);
    let end = given.link_end().await;
    assert_eq!(
        [&end["code"], &end["ended_by_time"], &end["answers"], &end["ended_at"], &end["interviewdate"]],
        [&json!("deadline_passed"), &json!(true), &json!(1), &json!("2026-11-08T10:10:00Z"), &Value::Null]
    );
    assert_eq!(given.mails().len(), 1);
    let mail = app.mails_to(&candidate.email).remove(0);
    let text = mail.text.as_deref().unwrap();
    assert!(
        text.contains("ended on Sunday 8 November 2026 at 10:10") && text.contains("your answer."),
        "{text}"
    );
    assert!(text.contains("jobs@acme.example") && !text.contains("https://"), "{text}");
    // The sweep and the outbox come again.
    app.clock().advance(TimeDelta::hours(2));
    app.expire_overdue().await;
    app.settle().await;
    assert_eq!(given.mails().len(), 1);
}

#[tokio::test]
async fn a_deadline_in_the_middle_of_an_interview_ends_it_alike() {
    let given = EndedFixture::start().await;
    let EndedFixture { owner, candidate, questions, .. } = &given;
    let take = begin_take(candidate, &questions[1]).await;
    send_part(candidate, &take, 1).await;
    owner.set_deadline(&candidate.uri, "2026-11-08T10:05:00Z").await.expect(200);
    given.end().await;
    // The parts of the running take that have arrived are an answer.
    let end = given.link_end().await;
    assert_eq!(
        [&end["ended_by_time"], &end["answers"], &end["ended_at"]],
        [&json!(true), &json!(1), &json!("2026-11-08T10:05:00Z")]
    );
}

#[tokio::test]
async fn without_an_answer_nobody_is_told() {
    let given = EndedFixture::start().await;
    begin_take(&given.candidate, &given.questions[1]).await;
    given.end().await;
    let end = given.link_end().await;
    assert_eq!(
        [&end["code"], &end["ended_by_time"], &end["answers"]],
        [&json!("deadline_passed"), &json!(false), &Value::Null]
    );
    assert_eq!(interview(&given.owner, &given.candidate.uri).await["ended_by_time"], false);
    assert_eq!(given.mails(), [""; 0]);
    given.app.clock().advance(TimeDelta::minutes(6));
    given.app.sweep().await;
    given.app.settle().await;
    assert!(given.app.mails_to(&given.manager.email).iter().all(|mail| !mail.subject.contains("interview")));
    let links = format!("{}guest-links/", given.candidate.uri);
    let refused = given.owner.post(&links, json!({ "recipient": "Head of sales" })).await;
    assert_refusal!(refused, @r#"400 {"code":"not_interviewed","detail":"The candidate has not completed the interview. Make the link once they have, or once their time has ended with answers."}"#);
}

#[tokio::test]
async fn staff_are_told_once_how_far_it_was_answered() {
    let given = EndedFixture::ended().await;
    let EndedFixture { app, manager, .. } = &given;
    for _ in 0..3 {
        app.clock().advance(TimeDelta::minutes(70));
        app.sweep().await;
        app.settle().await;
    }
    let mails = app.mails_to(&manager.email);
    let told: Vec<_> = mails.iter().filter(|mail| mail.subject.contains(" ended")).collect();
    assert_eq!(told.len(), 1);
    let text = told[0].text.as_deref().unwrap();
    let line = "Lovelace, Sunday 8 November 2026 at 10:10 (UTC) (ended by its time: 1 of 2 answered)";
    assert!(text.contains(line), "{text}");
}

#[tokio::test]
async fn the_mail_to_staff_leads_to_the_film_whatever_application_the_company_has() {
    let given = EndedFixture::ended().await;
    let EndedFixture { app, owner, manager, candidate, .. } = &given;
    owner.patch("/companies/acme/", json!({ "app_url": "https://ats.example/jobs" })).await.expect(200);
    app.clock().advance(TimeDelta::minutes(6));
    app.sweep().await;
    app.settle().await;
    let shown = owner.get(&candidate.uri).await.expect(200).json();
    assert_eq!((&shown["status"], &shown["ended_by_time"]), (&json!("aborted"), &json!(true)));
    let page = async |uri: &str| owner.get(uri).await.expect(200).uri("interview_suite_url");
    let text = app.mails_to(&manager.email).remove(0).text.clone().unwrap();
    let film = page(&candidate.uri).await;
    assert!(film.starts_with("https://hr.example/result/acme/"), "{film}");
    assert!(text.contains(&format!("(ended by its time: 1 of 2 answered)\n  {film}\n")), "{text}");
    assert!(text.contains(&format!("Open the project: {}\n", page(&given.project).await)), "{text}");
    assert!(!text.contains("ats.example"), "{text}");
}

#[tokio::test]
async fn guests_watch_what_there_is() {
    let given = EndedFixture::ended().await;
    let links = format!("{}guest-links/", given.candidate.uri);
    let link = given.owner.post(&links, json!({ "recipient": "Head of sales" })).await.expect(201);
    let key = last_segment(&link.uri("url")).to_owned();
    let review = Request::get("/review/").header("authorization", &format!("GuestKey {key}"));
    let shown = given.app.send(review.clone()).await.expect(200).json();
    assert!(
        shown["questions"][0]["answer"].is_object() && shown["questions"][1]["answer"].is_null(),
        "{shown}"
    );
    // It rests while the candidate may go on.
    given.owner.set_deadline(&given.candidate.uri, &given.app.clock().in_days(3)).await.expect(200);
    given.owner.advance(&given.candidate.uri).await.expect(200);
    let refused = given.app.send(review).await.expect(401).json();
    assert_eq!(refused["code"], "link_resting");
}

#[tokio::test]
async fn advancing_and_reopening_lead_on() {
    for is_reopened in [false, true] {
        let given = EndedFixture::ended().await;
        let EndedFixture { app, owner, candidate, questions, .. } = &given;
        let deadline = app.clock().in_days(3);
        if is_reopened {
            let request =
                json!({ "deadline": deadline, "message": "Please answer the second question, too." });
            owner.send(reopening(&candidate.uri, request)).await.expect(200);
        } else {
            owner.set_deadline(&candidate.uri, &deadline).await.expect(200);
            owner.advance(&candidate.uri).await.expect(200);
        }
        app.settle().await;
        let link = owner.get(&candidate.uri).await.expect(200).json()["interview_key"].clone();
        let mut again = candidate.clone();
        link.as_str().unwrap().clone_into(&mut again.key);
        if !is_reopened {
            again.advance(&again.uri).await.expect(200);
        }
        let shown = interview(&again, &again.uri).await;
        assert_eq!([&shown["ended_by_time"], &shown["ended_at"]], [&json!(false), &Value::Null]);
        assert_eq!(shown["is_reopened"], is_reopened);
        assert_eq!(shown["missing"], json!([questions[1]]));
        // The time ends it again: it was never complete.
        if is_reopened {
            owner.set_deadline(&candidate.uri, &app.clock().in_days(0)).await.expect(200);
        }
        app.clock().advance(TimeDelta::minutes(75));
        assert_eq!(app.expire_overdue().await.aborted, 1);
        app.settle().await;
        assert_eq!(interview(owner, &candidate.uri).await["ended_by_time"], true);
        let ends = given.mails().iter().filter(|subject| subject.ends_with("is over")).count();
        assert_eq!(ends, 2);
    }
}

#[tokio::test]
async fn the_platform_s_events_are_no_end_by_time() {
    let given = EndedFixture::start().await;
    let EndedFixture { app, owner, candidate, questions, .. } = &given;
    write(candidate, &questions[0], "2019").await.expect(201);
    let aborted = event("interview.aborted", "2026-11-08T10:00:01Z", json!({ "candidate": candidate.uri }));
    for expected in [RecordOutcome::Applied, RecordOutcome::Duplicate] {
        assert_eq!(app.report(aborted.clone()).await.unwrap(), expected);
    }
    app.settle().await;
    assert_eq!(interview(owner, &candidate.uri).await["ended_by_time"], false);
    assert_eq!(given.mails(), [""; 0]);
}

#[tokio::test]
async fn a_late_completion_counts_after_the_time_has_ended_the_interview() {
    let given = EndedFixture::ended().await;
    let EndedFixture { app, owner, candidate, .. } = &given;
    app.complete(&candidate.uri).await;
    app.settle().await;
    let shown = interview(owner, &candidate.uri).await;
    assert_eq!([&shown["status"], &shown["ended_by_time"]], [&json!("interviewed"), &json!(false)]);
}
