//! Requests for help at the same time as something else, in both orders: the end is one that some order of the two has.

use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, Invited, Staff, last_segment};
use tests::chaos::Chaos;
use tests::effort;
use tests::http::Response;

/// A write to a candidate whose request for help is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HelpWrite {
    Ask,
    TakeBack,
    Answer,
    Deadline,
    Adjust,
    Cancel,
    Advance,
    Erase,
}

const ALL: [HelpWrite; 8] = [
    HelpWrite::Ask,
    HelpWrite::TakeBack,
    HelpWrite::Answer,
    HelpWrite::Deadline,
    HelpWrite::Adjust,
    HelpWrite::Cancel,
    HelpWrite::Advance,
    HelpWrite::Erase,
];

struct Race {
    app: TestApp,
    chaos: Chaos,
    owner: Staff,
    project: String,
    candidate: Invited,
}

impl Race {
    async fn start() -> Self {
        let (app, chaos) = TestApp::start_with_chaos().await;
        let owner = app.owner().await;
        let project = owner.running_project(json!({ "allow_hash_login": true })).await;
        let candidate = owner.invite(&project, json!({})).await;
        candidate.ask(&candidate.uri, "time", "My exam is on the same day.").await.expect(200);
        app.settle().await;
        Self { app, chaos, owner, project, candidate }
    }

    /// Whether the write was done.
    async fn write(&self, write: HelpWrite) -> bool {
        let Self { app, owner, candidate, .. } = self;
        let uri = &candidate.uri;
        let adjusted = json!({ "adjustments": { "extra_takes": 1 } });
        let response: Response = match write {
            HelpWrite::Ask => candidate.ask(uri, "adjustment", "In writing?").await,
            HelpWrite::TakeBack => candidate.delete(&format!("{uri}help-request/")).await,
            HelpWrite::Answer => owner.answer_help(uri, "Until Friday.").await,
            HelpWrite::Deadline => owner.set_deadline(uri, &app.clock().in_days(9)).await,
            HelpWrite::Adjust => owner.patch(uri, adjusted).await,
            HelpWrite::Cancel => owner.cancel(uri).await,
            HelpWrite::Advance => candidate.advance(uri).await,
            HelpWrite::Erase => owner.delete(uri).await,
        };
        assert!([200, 204, 400, 401, 404].contains(&response.status.as_u16()), "{write:?}: {response}");
        response.status.is_success()
    }

    /// What can be seen after two writes of which these were done.
    async fn end(self, done: [bool; 2]) -> Value {
        let Self { app, owner, project, candidate, .. } = self;
        app.settle().await;
        let found = owner.get(&candidate.uri).await.json();
        let list = owner.get(&format!("{project}help-requests/")).await.expect(200).json();
        let waiting = list["objects"].as_array().unwrap().len();
        assert_eq!(list["meta"]["total_count"], waiting);
        json!({ "done": done, "request": found["help_request"], "status": found["status"], "waiting": waiting })
    }

    /// Does one write after the other.
    async fn in_order(first: HelpWrite, second: HelpWrite) -> Value {
        let race = Self::start().await;
        let done = [race.write(first).await, race.write(second).await];
        race.end(done).await
    }

    /// Holds the first write of `late` until `early` is done.
    async fn at_once(late: HelpWrite, early: HelpWrite) -> Value {
        let race = Self::start().await;
        let held = race.chaos.pause_about("TransactWriteItems", last_segment(&race.candidate.uri));
        let mut late_done = Box::pin(race.write(late));
        tokio::select! {
            done = &mut late_done => panic!("{late:?} wrote nothing: {done}"),
            () = held.reached() => {}
        }
        let early_done = race.write(early).await;
        held.resume();
        let done = [late_done.await, early_done];
        race.end(done).await
    }
}

#[tokio::test]
async fn any_two_writes_at_once_have_an_order() {
    for (late, early) in effort::cases(ALL.into_iter().flat_map(|late| ALL.map(|early| (late, early)))) {
        let seen = Race::at_once(late, early).await;
        let mut turned = Race::in_order(early, late).await;
        turned["done"].as_array_mut().unwrap().reverse();
        if seen != turned {
            assert_eq!(seen, Race::in_order(late, early).await, "{late:?} held for {early:?}");
        }
    }
}
