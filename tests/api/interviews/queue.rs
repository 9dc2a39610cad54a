//! Recordings that wait for their conversion: companies take turns, and waiting is no failure.

use aws_sdk_dynamodb::types::AttributeValue;
use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, Staff, last_segment};
use tests::files::Form;
use tests::http::Request;
use tests::logs;
use tests::takes::Interviewee;
use tests::videos::film;

/// The queues of conversions, as stored.
async fn queued(app: &TestApp) -> Vec<String> {
    let items = app.table().snapshot().await;
    let of_queue = items.into_keys().filter(|(pk, _)| pk.starts_with("CONVERSIONS"));
    of_queue.map(|(pk, _)| pk).collect()
}

/// The companies whose recordings were processed, in their order.
fn processed() -> Vec<String> {
    let lines = logs::take_lines("conversion");
    let processed = lines.iter().filter(|line| line["message"] == "processed");
    processed.map(|line| line["company"].as_str().unwrap().to_owned()).collect()
}

/// The status that staff see, whose tokens have expired meanwhile.
async fn status(person: &Interviewee) -> Value {
    let staff = person.owner.new_token().await;
    staff.get(&person.answer).await.expect(200).json()["status"].clone()
}

/// Invokes the function because of the marker of a take; whether it succeeds.
async fn convert(person: &Interviewee, take: u64, event: &str) -> bool {
    let answers = person.owner.app().events().put_event(person.marker_event(take, event)).await.unwrap();
    answers["VideoConversionFunction"].is_ok()
}

#[tokio::test]
async fn companies_take_turns_whatever_the_order_of_the_events() {
    let app = TestApp::start().await;
    for _ in 0..3 {
        Interviewee::asked(&app, json!({})).await.record(&[b"no video"]).await;
    }
    for company in ["globex", "initech"] {
        let owner = app.owner_of(company).await;
        Interviewee::asked_by(owner, json!({})).await.record(&[b"no video"]).await;
    }
    app.events().deliver_stream().await.unwrap();
    assert_eq!(queued(&app).await.len(), 5 + 3);
    logs::take_lines("conversion");
    app.events().deliver_objects().await.unwrap();
    assert_eq!(processed(), ["acme", "globex", "initech", "acme", "acme"]);
    assert!(queued(&app).await.is_empty());
}

#[tokio::test]
async fn a_welcome_video_has_its_turn_however_many_answers_of_another_company_wait() {
    let app = TestApp::start().await;
    for _ in 0..3 {
        Interviewee::asked(&app, json!({})).await.record(&[b"no video"]).await;
    }
    app.events().deliver_stream().await.unwrap();
    let uploaded = uploaded_by(&app.owner_of("globex").await, b"no video").await;
    app.put_event(uploaded).await;
    app.events().deliver_stream().await.unwrap();
    logs::take_lines("conversion");
    app.events().deliver_objects().await.unwrap();
    assert_eq!(processed(), ["acme", "globex", "acme", "acme"]);
    app.settle().await;
    assert!(queued(&app).await.is_empty());
}

/// The event of the file of a video that a client sends in a form.
async fn uploaded_by(owner: &Staff, file: &[u8]) -> Value {
    let form = Form::new().text("name", "Welcome").file("file", "hello.mp4", "video/mp4", file);
    let videos = format!("/companies/{}/videos/", owner.company);
    let video = owner.send(Request::post(&videos).form(form)).await.expect(201).uri("resource_uri");
    let key = format!("uploads/videos/{}/{}", owner.company, last_segment(&video));
    let detail = json!({ "bucket": { "name": "MediaBucket" }, "object": { "key": key } });
    json!({ "source": "aws.s3", "detail-type": "Object Created", "detail": detail })
}

#[tokio::test]
async fn a_recording_that_cannot_be_read_hides_none_behind_it() {
    let app = TestApp::start().await;
    Interviewee::asked(&app, json!({})).await.record(&[b"no video"]).await;
    app.events().deliver_stream().await.unwrap();
    let contents = app.table().contents().await;
    let ((_, place), mut first) = contents.into_iter().find(|((pk, _), _)| pk == "CONVERSIONS#acme").unwrap();
    first.insert("sk".to_owned(), AttributeValue::S(place.replacen("20", "19", 1)));
    first.insert("recording".to_owned(), AttributeValue::S("of a newer release".to_owned()));
    app.table().put(first).await;
    logs::take_lines("conversion");
    app.events().deliver_objects().await.unwrap();
    assert_eq!(processed(), ["acme"]);
    assert_eq!(queued(&app).await, ["CONVERSIONS", "CONVERSIONS#acme"]);
}

#[tokio::test]
async fn takes_wait_as_long_as_it_takes_though_their_events_are_lost() {
    let app = TestApp::start_with(&[("PATH", "/nowhere")]).await;
    let person = Interviewee::asked(&app, json!({ "takes": 2 })).await;
    let take = person.record(&[&film()]).await;
    app.events().deliver_stream().await.unwrap();
    // A fault of the machine, in every attempt.
    app.events().deliver_objects().await.unwrap_err();
    for event in ["1", "1", "2", "3", "3", "4"] {
        app.clock().advance(TimeDelta::minutes(20));
        assert!(!convert(&person, take, event).await);
    }
    for days in [1, 5, 20] {
        app.clock().advance(TimeDelta::days(days));
        app.sweep().await;
        assert!(["pending", "processing"].map(Value::from).contains(&status(&person).await));
        assert_eq!(app.object_keys().iter().filter(|key| key.starts_with("takes/")).count(), 1);
        // The sweep has stored another marker.
        app.events().deliver_stream().await.unwrap();
        app.events().deliver_objects().await.unwrap_err();
    }
}

#[tokio::test]
async fn a_take_that_kills_its_executions_fails_and_holds_up_no_other() {
    let (app, [table, _s3]) = TestApp::start_with_storage_chaos().await;
    let deadly = Interviewee::asked(&app, json!({ "takes": 2 })).await;
    let take = deadly.record(&[&film()]).await;
    let other = Interviewee::asked(&app, json!({ "takes": 2 })).await;
    app.clock().advance(TimeDelta::seconds(5));
    let second = other.record(&[&film()]).await;
    app.events().deliver_stream().await.unwrap();
    // Each is killed once it has its turn and has leased the take. An event that comes again still has its turn.
    for (event, writes, minutes) in [("first", 2, 1), ("first", 1, 17), ("again", 2, 17)] {
        table.cut_after_writes(writes);
        assert!(!convert(&deadly, take, event).await);
        table.heal();
        if status(&other).await == "pending" {
            assert!(convert(&other, second, "other").await);
            assert_eq!(status(&other).await, "successful");
        }
        app.clock().advance(TimeDelta::minutes(minutes));
    }
    logs::take_lines("outbox");
    app.sweep().await;
    let lines = logs::take_lines("outbox");
    let told = lines.iter().filter(|line| line["message"] == "given up");
    let told: Vec<_> = told.map(|line| (&line["level"], &line["task"])).collect();
    assert_eq!(told, [(&json!("WARN"), &json!("conversion"))]);
    assert_eq!(status(&deadly).await, "failed");
    // The parts are there, so that the operator can have the take converted once that works.
    let retry = json!({ "command": "retry-conversions", "company": "acme" });
    assert_eq!(app.operate(retry).await.unwrap()["retried"]["conversion"], 1);
    app.settle().await;
    assert_eq!(status(&deadly).await, "successful");
    assert!(queued(&app).await.is_empty());
    let names: Vec<_> = app.object_keys().iter().map(|key| last_segment(key).to_owned()).collect();
    assert_eq!(names, ["1-4.jpg", "1-4.mp4", "1-1.jpg", "1-1.mp4"]);
}
