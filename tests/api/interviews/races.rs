//! Two writes to the same interview at once, in both orders: the end is one that some order of them has, and no recording is
//! lost.

use chrono::TimeDelta;
use futures_util::future::join_all;
use serde_json::json;
use shared::event::RecordOutcome;
use tests::app::TestApp;
use tests::caller::{Caller, last_segment};
use tests::chaos::Chaos;
use tests::effort;
use tests::http::Response;
use tests::platform::event;
use tests::takes::Interviewee;
use tests::videos::film;

use super::{interview, status};

/// A write to an interview in which the first take was interrupted and the second one was sent, but not finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RaceWrite {
    Begin,
    Finish,
    Complete,
    Convert,
    Sweep,
    PlatformEvent,
    Erase,
    Reset,
    Deadline,
}

const ALL: [RaceWrite; 9] = [
    RaceWrite::Begin,
    RaceWrite::Finish,
    RaceWrite::Complete,
    RaceWrite::Convert,
    RaceWrite::Sweep,
    RaceWrite::PlatformEvent,
    RaceWrite::Erase,
    RaceWrite::Reset,
    RaceWrite::Deadline,
];

struct Race {
    app: TestApp,
    chaos: Chaos,
    person: Interviewee,
}

impl Race {
    async fn start() -> Self {
        let (app, chaos) = TestApp::start_with_chaos().await;
        let person = Interviewee::asked(&app, json!({ "takes": 5 })).await;
        app.settle().await;
        for take in [1, 2] {
            assert_eq!(person.begin().await, take);
            person.send(take, 1, &film()).await;
        }
        // The marker of the first one, but not its event; the second one is overdue.
        app.events().deliver_stream().await.unwrap();
        app.clock().advance(TimeDelta::minutes(45));
        Self { app, chaos, person }
    }

    /// Whether the write was done.
    async fn write(&self, write: RaceWrite) -> bool {
        let Self { app, person, .. } = self;
        let uri = &person.candidate.uri;
        let done = |response: Response| {
            assert!(
                [200, 201, 204, 400, 401, 404].contains(&response.status.as_u16()),
                "{write:?}: {response}"
            );
            response.status.is_success()
        };
        match write {
            RaceWrite::Begin => done(person.candidate.post(&format!("{}takes/", person.answer), json!({})).await),
            RaceWrite::Finish => {
                let finished = json!({ "parts": 1, "recorded_seconds": 2 });
                done(person.candidate.patch(&format!("{}takes/2/", person.answer), finished).await)
            }
            RaceWrite::Complete => done(person.candidate.advance(uri).await),
            RaceWrite::Convert => {
                app.events().put_event(person.marker_event(1, "one")).await.unwrap()["VideoConversionFunction"].is_ok()
            }
            RaceWrite::Sweep => app.events().run_schedules().await.values().all(Result::is_ok),
            RaceWrite::PlatformEvent => {
                let now = app.clock().in_days(0);
                let completed = event("interview.completed", &now, json!({ "candidate": uri }));
                app.report(completed).await.unwrap() == RecordOutcome::Applied
            }
            RaceWrite::Erase => done(person.owner.delete(uri).await),
            RaceWrite::Reset => done(person.owner.delete(&person.answer).await),
            RaceWrite::Deadline => done(person.owner.set_deadline(uri, &app.clock().in_days(9)).await),
        }
    }

    /// Holds the first write of `late` until `early` is done, and tells which of them were done.
    async fn run(&self, late: RaceWrite, early: RaceWrite) -> [bool; 2] {
        let id = last_segment(&self.person.candidate.uri);
        let held = self.chaos.pause_about("TransactWriteItems", id);
        let (late_write, mut late) = (late, Box::pin(self.write(late)));
        tokio::select! {
            done = &mut late => panic!("{late_write:?} wrote nothing: {done}"),
            () = held.reached() => {}
        }
        let early = self.write(early).await;
        held.resume();
        [late.await, early]
    }
}

#[tokio::test]
async fn any_two_writes_at_once_have_an_order_and_lose_no_recording() {
    // Each row begins one write further on: a third of the pairs would otherwise have the same three second writes in every row.
    let row = |number: usize| (0..ALL.len()).map(move |at| (ALL[number], ALL[(number + at) % ALL.len()]));
    let pairs = effort::cases((0..ALL.len()).flat_map(row));
    for together in pairs.chunks(ALL.len()) {
        // Several at once, since most of the time goes to ffmpeg.
        join_all(together.iter().map(|(late, early)| assert_order(*late, *early))).await;
    }
}

async fn assert_order(late: RaceWrite, early: RaceWrite) {
    let race = Race::start().await;
    let [late_done, early_done] = race.run(late, early).await;
    let both = format!("{late:?} ({late_done}) held for {early:?} ({early_done})");
    let was_done = |write| (late == write && late_done) || (early == write && early_done);
    let ends = [RaceWrite::Complete, RaceWrite::PlatformEvent, RaceWrite::Erase];
    let has_ended = early_done && ends.contains(&early);
    let is_answer_write = matches!(late, RaceWrite::Begin | RaceWrite::Reset);
    assert!(!(has_ended && is_answer_write && late_done), "the interview has ended: {both}");
    let Race { app, person, .. } = race;
    app.settle().await;
    if was_done(RaceWrite::Erase) {
        person.owner.get(&person.candidate.uri).await.expect(404);
    } else {
        let shown = interview(&person.owner, &person.candidate.uri).await;
        let is_complete = was_done(RaceWrite::Complete) || was_done(RaceWrite::PlatformEvent);
        let status = status(&app, &person.candidate.uri).await;
        assert_eq!(status == "interviewed", is_complete, "{both}: {status}");
        // A reset gives up recordings, and candidates then cannot complete.
        assert!(!(was_done(RaceWrite::Complete) && was_done(RaceWrite::Reset)), "{both}");
        if !was_done(RaceWrite::Reset) {
            assert_eq!(shown["missing"], json!([]), "{both}");
            assert_eq!(shown["answers"][0]["status"], "successful", "{both}: {shown}");
        }
    }
    // Takes that are still open end with the interview, and then no object is missing or left over.
    app.clock().advance(TimeDelta::days(30));
    app.sweep().await;
    app.settle().await;
    for ((pk, _), answers) in app.table().snapshot().await {
        assert!(!pk.starts_with("ANSWERS#") || answers.get("due_at").is_none(), "{both}: {answers}");
    }
    app.assert_sound();
    app.assert_files_sound().await;
}
