//! A storage that is busy for a while: functions that events start persist, since each of their failures counts against the
//! release, and any company can keep a partition busy.

use serde_json::json;
use tests::app::TestApp;
use tests::caller::Caller;
use tests::chaos::{Chaos, Fault};
use tests::files::{Form, pdf, photo, put};
use tests::http::Request;
use tests::logs;
use tests::takes::Interviewee;
use tests::videos::film;

/// Refuses calls of an operation about this for longer than one call is repeated.
fn keep_busy(table: &Chaos, operation: &str, text: &str) {
    for _ in 0..20 {
        table.next_about(operation, text, Fault::Throttled);
    }
}

fn assert_no_failure(target: &str) {
    let lines = logs::take_lines(target);
    assert!(lines.iter().all(|line| line["level"] == "INFO"), "{lines:?}");
}

#[tokio::test]
async fn a_conversion_persists() {
    // While it looks for its turn, begins, and writes its result.
    let calls =
        [("Query", "CONVERSIONS"), ("BatchGetItem", "ANSWERS#"), ("TransactWriteItems", "successful")];
    for (operation, text) in calls {
        let (app, [table, _s3]) = TestApp::start_with_storage_chaos().await;
        let person = Interviewee::asked(&app, json!({})).await;
        let take = person.record(&[&film()]).await;
        app.events().deliver_stream().await.unwrap();
        logs::take_lines("conversion");
        keep_busy(&table, operation, text);
        let answers = app.events().put_event(person.marker_event(take, "one")).await.unwrap();
        assert_eq!(answers["VideoConversionFunction"].as_ref().unwrap(), "applied", "{operation}");
        assert_no_failure("conversion");
        table.heal();
        app.settle().await;
        assert_eq!(person.answer().await["status"], "successful");
    }
}

#[tokio::test]
async fn an_upload_persists() {
    let (app, table) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let ada = json!({ "first_name": "Ada", "last_name": "Byron" });
    let candidate = owner.post(&format!("{project}candidates/"), ada).await.expect(201).uri("resource_uri");
    let body = json!({ "field": "cv", "content_type": "application/pdf", "size": pdf(100).len() });
    let announced = owner.post(&format!("{candidate}uploads/"), body).await.expect(201).json();
    put(&announced, pdf(100)).await;
    logs::take_lines("uploads");
    keep_busy(&table, "TransactWriteItems", "UPLOAD#");
    app.events().deliver_objects().await.unwrap();
    assert_no_failure("uploads");
    let uri = announced["resource_uri"].as_str().unwrap();
    assert_eq!(owner.get(uri).await.expect(200).json()["status"], "successful");
}

#[tokio::test]
async fn what_the_bucket_refuses_for_good_is_a_fault_of_the_service() {
    let (app, [_table, s3]) = TestApp::start_with_storage_chaos().await;
    let owner = app.owner().await;
    s3.always("PUT", Fault::Refused("AccessDenied"));
    let form = Form::new().file("photo", "p.png", "image/png", &photo(image::ImageFormat::Png, 9, 9));
    let refused = owner.send(Request::patch(&owner.uri).form(form)).await.expect(500).json();
    assert_eq!(refused["code"], "internal_error");
    s3.heal();
}
