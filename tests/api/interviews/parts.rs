//! Which parts are converted, and which takes are not because of them.

use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::Caller;
use tests::files::put;
use tests::takes::Interviewee;
use tests::videos::recorded;

/// A take with parts that are signed ahead and, together, larger than the 52 MB of ten seconds.
async fn signed_ahead(app: &TestApp) -> (Interviewee, Vec<(Value, Vec<u8>)>) {
    let person = Interviewee::asked(app, json!({ "takes": 2, "answer_seconds": 10 })).await;
    let take = person.begin().await;
    let mut announced = Vec::new();
    for number in 1..=7 {
        let bytes = vec![0; if number < 7 { 8_300_000 } else { 7_400_000 }];
        announced.push((person.announced(take, number, &bytes).await, bytes));
    }
    (person, announced)
}

async fn send(app: &TestApp, parts: impl IntoIterator<Item = (Value, Vec<u8>)>) {
    for (request, bytes) in parts {
        assert_eq!(put(&request, bytes).await.status, 200);
    }
    app.date_objects("");
}

#[tokio::test]
async fn a_recording_that_is_too_large_is_deleted_when_it_is_closed() {
    let app = TestApp::start().await;
    let (person, parts) = signed_ahead(&app).await;
    send(&app, parts).await;
    app.clock().advance(TimeDelta::hours(1));
    app.sweep().await;
    app.settle().await;
    let answer = person.owner.new_token().await.get(&person.answer).await.expect(200).json();
    assert_eq!((&answer["status"], &answer["open_take"]), (&Value::Null, &Value::Null), "{answer}");
    assert_eq!((&answer["takes_begun"], &answer["takes_left"]), (&json!(1), &json!(2)));
    assert!(app.object_keys().is_empty(), "{:?}", app.object_keys());
}

/// The URLs of its parts outlive a take.
#[tokio::test]
async fn a_recording_that_became_too_large_after_its_close_is_not_converted() {
    let app = TestApp::start().await;
    let (person, mut parts) = signed_ahead(&app).await;
    let late = parts.drain(1..6).collect::<Vec<_>>();
    send(&app, parts).await;
    app.clock().advance(TimeDelta::hours(1));
    app.sweep().await;
    send(&app, late).await;
    app.settle().await;
    let answer = person.owner.new_token().await.get(&person.answer).await.expect(200).json();
    assert_eq!(
        answer["error"], "The recording is too large for the time to answer. Record the answer again.",
        "{answer}"
    );
    assert!(app.object_keys().is_empty(), "{:?}", app.object_keys());
}

#[tokio::test]
async fn parts_behind_the_last_one_are_left_out() {
    let app = TestApp::start().await;
    let person = Interviewee::asked(&app, json!({})).await;
    let how =
        "-f lavfi -i testsrc2=s=64x48:r=10:d=4 -c:v libvpx -deadline realtime -cpu-used 8 -g 10 -live 1";
    let film = recorded(how, "webm");
    let take = person.begin().await;
    for (number, part) in (1..).zip(film.chunks(film.len() / 2)) {
        assert_eq!(person.send(take, number, part).await.status, 200);
    }
    person.finish(take, Some(1), 2).await;
    app.settle().await;
    let answer = person.answer().await;
    assert_eq!(answer["status"], "successful");
    assert!(answer["seconds"].as_u64() < Some(4), "{answer}");
}
