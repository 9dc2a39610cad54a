//! Reopenings at the same time as something else, in both orders.

use chrono::TimeDelta;
use serde_json::json;
use shared::event::RecordOutcome;
use tests::app::TestApp;
use tests::caller::{Caller, last_segment};
use tests::chaos::Chaos;
use tests::http::Response;
use tests::platform::event;

use super::{ReopeningFixture, reopening};
use crate::evaluations::crud::{save, veto};

async fn start() -> (ReopeningFixture, Chaos) {
    let (app, chaos) = TestApp::start_with_chaos().await;
    (ReopeningFixture::of(app).await, chaos)
}

/// The evaluation that an evaluator saves.
#[derive(Debug, Clone, Copy)]
enum Opinion {
    Draft,
    Evaluation,
    Veto,
}

impl Opinion {
    const ALL: [Self; 3] = [Self::Draft, Self::Evaluation, Self::Veto];

    async fn write(self, given: &ReopeningFixture) -> Response {
        let ReopeningFixture { evaluator, candidate, questions, .. } = given;
        let ratings = json!([{ "question": questions[0], "value": 4 }]);
        match self {
            Self::Draft => save(evaluator, &candidate.uri, json!({ "comment": "Quiet." })).await,
            Self::Evaluation => {
                save(evaluator, &candidate.uri, json!({ "ratings": ratings, "completed": true })).await
            }
            Self::Veto => veto(evaluator, &candidate.uri).await,
        }
    }
}

#[tokio::test]
async fn of_a_reopening_and_an_evaluation_one_comes_first() {
    for opinion in Opinion::ALL {
        for reopens_first in [true, false] {
            let (given, chaos) = start().await;
            let held = chaos.pause_about("TransactWriteItems", last_segment(&given.candidate.uri));
            let reopen = async || given.owner.send(reopening(&given.candidate.uri, json!({}))).await;
            if reopens_first {
                let meanwhile = async {
                    held.reached().await;
                    reopen().await.expect(200);
                    held.resume();
                };
                let (written, ()) = tokio::join!(opinion.write(&given), meanwhile);
                match opinion {
                    Opinion::Draft => written.expect(201),
                    Opinion::Evaluation | Opinion::Veto => written.expect_code(400, "not_interviewed"),
                };
                assert_eq!(given.status().await, "interviewing", "{opinion:?}");
            } else {
                let meanwhile = async {
                    held.reached().await;
                    opinion.write(&given).await.expect(201);
                    held.resume();
                };
                let (reopened, ()) = tokio::join!(reopen(), meanwhile);
                reopened.expect_code(400, "already_evaluated");
                assert_eq!(given.status().await, "interviewed", "{opinion:?}");
            }
        }
    }
}

#[tokio::test]
async fn of_two_reopenings_one_is_done() {
    let (given, chaos) = start().await;
    let reopen = async || given.owner.send(reopening(&given.candidate.uri, json!({}))).await;
    let held = chaos.pause_about("TransactWriteItems", last_segment(&given.candidate.uri));
    let meanwhile = async {
        held.reached().await;
        reopen().await.expect(200);
        held.resume();
    };
    let (late, ()) = tokio::join!(reopen(), meanwhile);
    late.expect_code(400, "not_interviewed");
    let shown = given.owner.get(&given.candidate.uri).await.expect(200).json();
    assert_eq!(shown["reopening"]["count"], 1);
}

#[tokio::test]
async fn a_project_that_closes_meanwhile_keeps_the_interview_complete() {
    let (given, chaos) = start().await;
    let ReopeningFixture { owner, evaluator, app, project, candidate, .. } = &given;
    let held = chaos.pause_about("TransactWriteItems", last_segment(&candidate.uri));
    let meanwhile = async {
        held.reached().await;
        // A project closes once everybody is evaluated.
        app.evaluate(&candidate.uri, &evaluator.uri, true).await;
        owner.set_status(project, "60-closed").await.expect(200);
        held.resume();
    };
    let (reopened, ()) = tokio::join!(owner.send(reopening(&candidate.uri, json!({}))), meanwhile);
    reopened.expect_code(400, "project_not_running");
    assert_eq!(given.status().await, "interviewed");
}

/// A decision to end the interview, made before it was completed and reopened.
#[derive(Debug, Clone, Copy)]
enum FormerEnd {
    Report,
    Sweep,
    Candidate,
}

#[tokio::test]
async fn an_end_of_before_does_not_end_what_was_reopened_meanwhile() {
    for end in [FormerEnd::Report, FormerEnd::Sweep, FormerEnd::Candidate] {
        let (given, chaos) = start().await;
        let ReopeningFixture { app, owner, candidate, .. } = &given;
        let uri = &candidate.uri;
        app.clock().advance(TimeDelta::hours(1));
        let soon = json!({ "deadline": "2026-11-08T11:30:00Z" });
        owner.send(reopening(uri, soon)).await.expect(200);
        if let FormerEnd::Sweep = end {
            app.clock().advance(TimeDelta::minutes(90));
        }
        let at = app.clock().in_days(0);
        let held = chaos.pause_about("TransactWriteItems", last_segment(uri));
        let meanwhile = async {
            held.reached().await;
            app.clock().advance(TimeDelta::seconds(5));
            app.complete(uri).await;
            app.clock().advance(TimeDelta::seconds(5));
            let later = json!({ "deadline": app.clock().in_days(7) });
            owner.send(reopening(uri, later)).await.expect(200);
            held.resume();
        };
        let late = async {
            match end {
                FormerEnd::Report => {
                    let report = event("interview.completed", &later(&at), json!({ "candidate": uri }));
                    assert_eq!(app.report(report).await.unwrap(), RecordOutcome::Ignored);
                }
                FormerEnd::Sweep => assert_eq!(app.expire_overdue().await.moved_on, 1),
                FormerEnd::Candidate => {
                    candidate.advance(uri).await.expect(200);
                }
            }
        };
        tokio::join!(late, meanwhile);
        // A request of the candidate is about the interview as it is now.
        let expected = if let FormerEnd::Candidate = end { "interviewed" } else { "interviewing" };
        assert_eq!(given.status().await, expected, "{end:?}");
    }
}

/// The next second.
fn later(at: &str) -> String {
    at.replace(":00Z", ":01Z")
}
