//! Cancellations at the same time as something else, in both orders: only a completion is faster for good.

use chrono::TimeDelta;
use serde_json::{Value, json};
use shared::event::RecordOutcome;
use tests::app::TestApp;
use tests::caller::{Caller, last_segment};
use tests::chaos::Chaos;
use tests::http::Response;
use tests::platform::event;
use tests::takes::Interviewee;
use tests::videos::film;

use super::super::reopening::reopening;
use super::super::{begin, interview, project};
use super::counted;

/// What happens to the interview at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rival {
    /// The candidate completes the interview.
    Completion,
    /// The platform reports that it is complete.
    Report,
    /// Its time is over, without an answer.
    Expiry,
    /// The candidate begins.
    Beginning,
    /// An answer is converted, while the next one is being recorded.
    Conversion,
    /// The service closes a take that was left.
    Sweep,
    /// Another manager cancels it.
    Cancellation,
}

const ALL: [Rival; 7] = [
    Rival::Completion,
    Rival::Report,
    Rival::Expiry,
    Rival::Beginning,
    Rival::Conversion,
    Rival::Sweep,
    Rival::Cancellation,
];

impl Rival {
    fn completes(self) -> bool {
        matches!(self, Self::Completion | Self::Report)
    }
}

struct Race {
    app: TestApp,
    chaos: Chaos,
    person: Interviewee,
    project: String,
}

impl Race {
    /// A candidate for whom the rival is about to happen.
    async fn start(rival: Rival) -> Self {
        let (app, chaos) = TestApp::start_with_chaos().await;
        let owner = app.owner().await;
        let (project, questions) = project(&owner, json!({}), &[json!({ "text": "Why us?" })]).await;
        let candidate = match rival {
            Rival::Beginning => {
                let invited = owner.invite(&project, json!({})).await;
                invited.advance(&invited.uri).await.expect(200);
                invited
            }
            _ => begin(&owner, &project).await,
        };
        let answer = format!("{}answers/{}/", candidate.uri, last_segment(&questions[0]));
        let person = Interviewee { owner, candidate, answer };
        app.settle().await;
        match rival {
            Rival::Completion | Rival::Report => {
                person.record(&[&film()]).await;
            }
            Rival::Conversion | Rival::Sweep => {
                for take in [1, 2] {
                    assert_eq!(person.begin().await, take);
                    person.send(take, 1, &film()).await;
                }
                // The marker of the first one, but not its event; the second one is overdue.
                app.events().deliver_stream().await.unwrap();
                app.clock().advance(TimeDelta::minutes(45));
            }
            Rival::Expiry => app.clock().advance(TimeDelta::days(8)),
            Rival::Beginning | Rival::Cancellation => {}
        }
        Self { app, chaos, person, project }
    }

    /// Whether the rival has happened.
    async fn happen(&self, rival: Rival) -> bool {
        let Self { app, person, .. } = self;
        let uri = &person.candidate.uri;
        let done = |response: Response| {
            assert!([200, 400, 401].contains(&response.status.as_u16()), "{rival:?}: {response}");
            response.status == 200
        };
        match rival {
            Rival::Completion | Rival::Beginning => done(person.candidate.advance(uri).await),
            Rival::Report => {
                let now = app.clock().in_days(0);
                let completed = event("interview.completed", &now, json!({ "candidate": uri }));
                app.report(completed).await.unwrap() == RecordOutcome::Applied
            }
            Rival::Expiry => app.expire_overdue().await.aborted == 1,
            Rival::Conversion => {
                let marker = person.marker_event(1, "one");
                app.events().put_event(marker).await.unwrap()["VideoConversionFunction"].is_ok()
            }
            Rival::Sweep => app.events().run_schedules().await.values().all(Result::is_ok),
            Rival::Cancellation => done(self.cancel().await),
        }
    }

    async fn cancel(&self) -> Response {
        // Time may have ended the former session.
        let owner = self.person.owner.new_token().await;
        owner.cancel(&self.person.candidate.uri).await
    }

    /// Checks the end: what the project counts and the candidate sees right afterwards, and that nothing is left over.
    async fn assert_ended(self, rival: Rival, is_cancelled: bool) {
        let Self { app, person, project, .. } = self;
        let uri = &person.candidate.uri;
        let owner = person.owner.new_token().await;
        let shown = owner.get(uri).await.expect(200).json();
        let (status, code) =
            if is_cancelled { ("skipped", "withdrawn") } else { ("interviewed", "interview_completed") };
        assert_eq!(shown["status"], status, "{rival:?}");
        assert_eq!(shown["cancellation"].is_object(), is_cancelled, "{rival:?}");
        let [interviewed, skipped] = [!is_cancelled, is_cancelled].map(|is| json!(i32::from(is)));
        let expected = [json!(0), json!(0), interviewed, skipped, json!(is_cancelled)];
        assert_eq!(counted(&owner, &project).await, expected, "{rival:?}");
        let told = person.candidate.get("/whoami/candidate/").await.expect(401).json();
        assert_eq!(told["code"], code, "{rival:?}");
        assert_eq!(shown["interview_url"], "", "{rival:?}");
        app.settle().await;
        app.clock().advance(TimeDelta::days(30));
        app.sweep().await;
        app.settle().await;
        let owner = person.owner.new_token().await;
        assert_eq!(owner.get(uri).await.expect(200).json()["status"], status, "{rival:?}");
        if let Rival::Conversion | Rival::Sweep = rival {
            let answer = interview(&owner, uri).await["answers"][0].clone();
            assert_eq!(
                [&answer["status"], &answer["open_take"]],
                [&json!("successful"), &Value::Null],
                "{rival:?}"
            );
        }
        for ((pk, _), answers) in app.table().snapshot().await {
            assert!(!pk.starts_with("ANSWERS#") || answers.get("due_at").is_none(), "{rival:?}: {answers}");
        }
        let events = owner.get(&format!("{uri}events/?page_size=100")).await.expect(200).json();
        let cancelled = events["objects"].as_array().unwrap().iter();
        let cancelled = cancelled.filter(|event| event["types"].to_string().contains("candidate.cancelled"));
        assert_eq!(cancelled.count(), usize::from(is_cancelled), "{rival:?}");
        app.assert_sound();
        app.assert_files_sound().await;
    }
}

#[tokio::test]
async fn a_cancellation_that_is_late_ends_what_has_happened_meanwhile_but_a_completion() {
    for rival in ALL {
        let race = Race::start(rival).await;
        let held = race.chaos.pause_about("TransactWriteItems", last_segment(&race.person.candidate.uri));
        let meanwhile = async {
            held.reached().await;
            assert!(race.happen(rival).await, "{rival:?}");
            held.resume();
        };
        let (cancelled, ()) = tokio::join!(race.cancel(), meanwhile);
        if rival.completes() {
            cancelled.expect_code(400, "already_interviewed");
        } else {
            assert_eq!(cancelled.expect(200).json()["status"], "skipped", "{rival:?}");
        }
        race.assert_ended(rival, !rival.completes()).await;
    }
}

#[tokio::test]
async fn a_cancellation_that_is_first_is_for_good() {
    for rival in ALL {
        let race = Race::start(rival).await;
        let held = race.chaos.pause_about("TransactWriteItems", last_segment(&race.person.candidate.uri));
        let meanwhile = async {
            held.reached().await;
            race.cancel().await.expect(200);
            held.resume();
        };
        let (has_happened, ()) = tokio::join!(race.happen(rival), meanwhile);
        // A conversion and the sweep go on with what there is; a second cancellation has nothing to do.
        let goes_on = matches!(rival, Rival::Conversion | Rival::Sweep | Rival::Cancellation);
        assert_eq!(has_happened, goes_on, "{rival:?}");
        race.assert_ended(rival, true).await;
    }
}

#[tokio::test]
async fn a_reopening_makes_way_for_a_cancellation_and_only_the_former_needs_a_complete_interview() {
    let race = Race::start(Rival::Completion).await;
    let Race { app, chaos, person, .. } = &race;
    assert!(race.happen(Rival::Completion).await);
    app.settle().await;
    let uri = &person.candidate.uri;
    let held = chaos.pause_about("TransactWriteItems", last_segment(uri));
    let meanwhile = async {
        held.reached().await;
        // Until the reopening is written, the interview is complete.
        race.cancel().await.expect_code(400, "already_interviewed");
        held.resume();
    };
    let (reopened, ()) = tokio::join!(person.owner.send(reopening(uri, json!({}))), meanwhile);
    assert_eq!(reopened.expect(200).json()["status"], "interviewing");
    race.cancel().await.expect(200);
    person.owner.send(reopening(uri, json!({}))).await.expect_code(400, "not_interviewed");
    race.assert_ended(Rival::Completion, true).await;
}
