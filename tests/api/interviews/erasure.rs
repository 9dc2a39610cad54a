//! Candidates who are erased while their answers are on the way.

use chrono::TimeDelta;
use serde_json::json;
use tests::app::TestApp;
use tests::caller::{Caller, last_segment};
use tests::files::put;
use tests::takes::Interviewee;
use tests::videos::film;

/// Lets the time pass in which parts may arrive, and has done what is due then.
async fn let_arrive(app: &TestApp) {
    pass(app, TimeDelta::minutes(45)).await;
}

async fn pass(app: &TestApp, time: TimeDelta) {
    app.clock().advance(time);
    app.sweep().await;
    app.settle().await;
}

/// Fails if an object or an item of answers is left.
async fn assert_nothing_left(app: &TestApp) {
    assert!(app.object_keys().is_empty(), "{:?}", app.object_keys());
    let items = app.table().snapshot().await;
    let kinds = ["ANSWERS#", "CONVERSIONS", "TAKE_CAPTIONS#", "TEXTS#"];
    let left: Vec<_> = items.keys().filter(|(pk, _)| kinds.iter().any(|kind| pk.starts_with(kind))).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// The numbers of files that events about the erasure of a candidate count.
async fn told(app: &TestApp) -> Vec<u64> {
    let feed = app.owner().await.get("/companies/acme/events/?type=candidate.erased&page_size=100").await;
    let feed = feed.expect(200).json();
    feed["objects"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event["data"]["erased"]["files"].as_u64().unwrap())
        .collect()
}

#[tokio::test]
async fn a_part_that_arrives_after_the_erasure_is_erased_too() {
    for is_complete in [false, true] {
        let app = TestApp::start().await;
        let person = Interviewee::asked(&app, json!({})).await;
        let take = person.begin().await;
        person.send(take, 1, b"first").await;
        let late = person.announced(take, 2, b"second").await;
        // The end of the interview does not end the URL.
        if is_complete {
            app.complete(&person.candidate.uri).await;
            // The conversion begins now: beside the erasure, it would leave a marker, for which the erasure is tried again.
            app.settle().await;
        }
        person.owner.delete(&person.candidate.uri).await.expect(204);
        app.settle().await;
        assert_nothing_left(&app).await;
        assert!(told(&app).await.is_empty(), "a part may still arrive");
        // A restore need not wait for it.
        let listed = app.operate(json!({ "command": "list-failures" })).await.unwrap();
        assert_eq!(
            listed["deletions"],
            json!({ "waiting": 0, "given_up": 0 }),
            "{is_complete}: {:?}",
            listed
        );
        assert_eq!(listed["failures"]["waiting"], json!([]));
        // The upload of the part has begun just before its URL expired, and is slow.
        pass(&app, TimeDelta::minutes(15 + 10)).await;
        assert_eq!(put(&late, b"second".to_vec()).await.status, 200);
        pass(&app, TimeDelta::minutes(20)).await;
        assert_nothing_left(&app).await;
        assert_eq!(told(&app).await.len(), 1);
    }
}

#[tokio::test]
async fn an_answer_that_is_being_converted_is_erased_with_its_candidate() {
    for operation in ["LIST", "GET", "PUT", "DELETE"] {
        let (app, [_dynamodb, s3]) = TestApp::start_with_storage_chaos().await;
        let person = Interviewee::asked(&app, json!({})).await;
        let take = person.record(&[&film()]).await;
        app.events().deliver_stream().await.unwrap();
        let held = s3.pause(operation);
        let erased_meanwhile = async {
            held.reached().await;
            person.owner.delete(&person.candidate.uri).await.expect(204);
            app.events().deliver_stream().await.unwrap();
            held.resume();
        };
        let (converted, ()) =
            tokio::join!(app.events().put_event(person.marker_event(take, "one")), erased_meanwhile);
        // Lambda sends it again if it failed.
        if converted.unwrap()["VideoConversionFunction"].is_err() {
            app.events().put_event(person.marker_event(take, "one")).await.unwrap();
        }
        app.settle().await;
        let_arrive(&app).await;
        assert_nothing_left(&app).await;
        assert_eq!(told(&app).await.len(), 1, "{operation}");
    }
}

#[tokio::test]
async fn what_all_conversions_of_an_answer_have_stored_is_erased() {
    let (app, [table, s3]) = TestApp::start_with_storage_chaos().await;
    let person = Interviewee::asked(&app, json!({})).await;
    let take = person.record(&[&film()]).await;
    app.events().deliver_stream().await.unwrap();
    // Both are killed once they have stored their renditions, the second one after it has written its result.
    for (proxy, writes) in [(&table, 2), (&s3, 2)] {
        proxy.cut_after_writes(writes);
        let killed = app.events().put_event(person.marker_event(take, "one")).await.unwrap();
        assert!(killed["VideoConversionFunction"].is_err());
        proxy.heal();
    }
    let renditions = |number| ["jpg", "mp4"].map(|extension| format!("{take}-{number}.{extension}"));
    let keys = app.object_keys();
    let stored: Vec<_> =
        keys.iter().filter(|key| key.starts_with("media/")).map(|key| last_segment(key)).collect();
    assert_eq!(stored, [renditions(1), renditions(2)].concat());
    person.owner.delete(&person.candidate.uri).await.expect(204);
    app.settle().await;
    // Lambda sends the event of a killed execution again, which takes the take out of the queue.
    app.put_event(person.marker_event(take, "one")).await;
    let_arrive(&app).await;
    assert_nothing_left(&app).await;
}

#[tokio::test]
async fn converted_answers_are_erased_and_counted() {
    let app = TestApp::start().await;
    let person = Interviewee::asked(&app, json!({})).await;
    person.record(&[&film()]).await;
    app.settle().await;
    let video = person.answer().await["streams"]["mp4"].as_str().unwrap().to_owned();
    person.owner.delete(&person.candidate.uri).await.expect(204);
    app.anonymous().get(&video).await.expect(404);
    app.settle().await;
    let_arrive(&app).await;
    assert_nothing_left(&app).await;
    assert_eq!(told(&app).await, [2]);
}
