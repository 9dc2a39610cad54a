//! Deliveries as clients see them, and deliveries that clients request.

use chrono::TimeDelta;
use serde_json::{Value, json};
use shared::auth::SystemAccess;
use shared::domain::webhook::{
    DeliveryAttempt, DeliveryCursor, DeliveryOutcome, DeliveryRequest, EndpointHealth,
};
use shared::domain::work::WorkState;
use tests::app::TestApp;
use tests::caller::{Caller, last_segment};
use tests::http::send_each;
use tests::{assert_refusal, assert_refusals};

use super::{at_rest, stored, webhook, write_cursor};
use crate::events::feed::FEED;

/// An attempt for the event `event`, as the function that sends events notes it.
async fn attempt(app: &TestApp, uri: &str, event: &str, outcome: DeliveryOutcome) {
    let system = SystemAccess::of(app.app());
    let is_delivered = outcome == DeliveryOutcome::Delivered;
    let attempt = DeliveryAttempt {
        id: system.store.next_id(system.now),
        webhook: last_segment(uri).parse().unwrap(),
        event: Some(event.to_owned()),
        attempt: 1,
        outcome,
        status_code: Some(if is_delivered { 204 } else { 500 }),
        error: None,
        milliseconds: 87,
        response: (!is_delivered).then(|| "Out of order.".to_owned()),
        at: system.now,
        next_try_at: (outcome == DeliveryOutcome::Failed).then(|| system.now + TimeDelta::minutes(5)),
    };
    let mut item = serde_json::to_value(&attempt).unwrap();
    item["pk"] = format!("WEBHOOK#{}", attempt.webhook).into();
    item["sk"] = format!("ATTEMPT#{}", attempt.id).into();
    item["version"] = 1.into();
    item["expires_at"] = attempt.expires_at().timestamp().into();
    app.table().load(&[item]).await;
}

fn events(page: &Value) -> Vec<&str> {
    page["objects"].as_array().unwrap().iter().map(|one| one["event"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn attempts_are_listed_the_latest_first_for_seven_days() {
    let app = TestApp::start().await;
    let service = app.owner().await.named_token("Sync").await.1;
    let (uri, other) = (webhook(&service, json!({})).await, webhook(&service, json!({})).await);
    let list = format!("{uri}deliveries/");
    let empty = json!({ "meta": { "next": null }, "objects": [] });
    service.get(&list).await.expect_json(200, empty.clone());
    for number in 0..5 {
        let outcome = if number == 2 { DeliveryOutcome::Failed } else { DeliveryOutcome::Delivered };
        attempt(&app, &uri, &format!("evt_{number}"), outcome).await;
    }
    attempt(&app, &other, "evt_other", DeliveryOutcome::Delivered).await;
    let whole = service.get(&list).await.expect(200).json();
    assert_eq!(events(&whole), ["evt_4", "evt_3", "evt_2", "evt_1", "evt_0"]);
    assert_eq!(whole["meta"]["next"], Value::Null);
    let failed = json!({
        "event": "evt_2", "attempt": 1, "outcome": "failed", "status_code": 500, "error": null,
        "milliseconds": 87, "response": "Out of order.", "at": "2026-11-08T10:00:00Z",
        "next_try_at": "2026-11-08T10:05:00Z",
    });
    assert_eq!(whole["objects"][2], failed);

    let page = service.get(&format!("{list}?page_size=2")).await.expect(200).json();
    assert_eq!(events(&page), ["evt_4", "evt_3"]);
    let page = service.get(page["meta"]["next"].as_str().unwrap()).await.expect(200).json();
    assert_eq!(events(&page), ["evt_2", "evt_1"]);
    let page = service.get(page["meta"]["next"].as_str().unwrap()).await.expect(200).json();
    assert_eq!((events(&page), &page["meta"]["next"]), (vec!["evt_0"], &Value::Null));

    let filtered = async |query: &str| service.get(&format!("{list}?{query}")).await.expect(200).json();
    assert_eq!(filtered("outcome=failed").await["objects"], json!([failed]));
    assert_eq!(events(&filtered("event=evt_1").await), ["evt_1"]);
    assert_eq!(events(&filtered("event=evt_1&outcome=failed").await), [""; 0]);
    let queries = ["outcome=lost", "before=x", "page_size=101"];
    let refusals = send_each(queries, async |query| service.get(&format!("{list}?{query}")).await).await;
    assert_refusals!(refusals, @r#"
        400 {"outcome":["\"lost\" is not a valid choice. Use one of: delivered, failed, given_up, expired."]}
        400 {"before":["Invalid position. Follow `next` unchanged."]}
        400 {"page_size":["Use a whole number from 1 to 100."]}
        "#);
    app.clock().advance(TimeDelta::days(7));
    service.get(&list).await.expect_json(200, empty);
}

#[tokio::test]
async fn a_filter_looks_at_five_hundred_attempts_at_a_time() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let uri = webhook(&owner, json!({})).await;
    attempt(&app, &uri, "evt_first", DeliveryOutcome::Failed).await;
    for _ in 0..600 {
        attempt(&app, &uri, "evt_later", DeliveryOutcome::Delivered).await;
    }
    let page = owner.get(&format!("{uri}deliveries/?outcome=failed&page_size=100")).await.expect(200).json();
    assert_eq!(events(&page), [""; 0]);
    let page = owner.get(page["meta"]["next"].as_str().unwrap()).await.expect(200).json();
    assert_eq!((events(&page), &page["meta"]["next"]), (vec!["evt_first"], &Value::Null));
}

#[tokio::test]
async fn a_ping_is_queued_once_in_ten_seconds() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let uri = webhook(&owner, json!({ "is_enabled": false })).await;
    write_cursor(&app, &uri, at_rest).await;
    let ping = async || owner.post(&format!("{uri}ping/"), json!({})).await;
    let queued = ping().await.expect(202).json();
    let second = app.app().now().timestamp();
    assert_eq!(queued, json!({ "event": format!("evt_{}_0_{second}", last_segment(&uri)) }));
    let cursor = stored(&app, &uri).await.1;
    assert_eq!(cursor.requests, [DeliveryRequest::Ping { at: app.app().now() }]);
    assert_eq!(cursor.work.due_at, Some(app.app().now()));
    app.clock().advance(TimeDelta::seconds(9));
    let early = ping().await;
    assert_refusal!(early, @r#"429 {"code":"throttled","detail":"Too many attempts. Try again after the seconds in `Retry-After`."}"#);
    assert_eq!(early.header("retry-after"), Some("1"));
    app.clock().advance(TimeDelta::seconds(1));
    ping().await.expect(202);
    assert_eq!(stored(&app, &uri).await.1.requests.len(), 2);
}

#[tokio::test]
async fn an_event_is_queued_again_unless_ten_are_waiting() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    for number in 0..10 {
        owner.label(&format!("label {number}")).await;
    }
    app.settle().await;
    let uri = webhook(&owner, json!({ "types": ["candidate.*"] })).await;
    write_cursor(&app, &uri, at_rest).await;
    let feed = owner.get(&format!("{FEED}?page_size=100")).await.expect(200).json();
    let ids: Vec<&str> =
        feed["objects"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect();
    let repeat =
        async |event: &str| owner.post(&format!("{uri}deliveries/"), json!({ "event": event })).await;
    for id in &ids[..10] {
        repeat(id).await.expect_json(202, json!({ "event": id }));
        repeat(id).await.expect(202);
    }
    let cursor = stored(&app, &uri).await.1;
    let requests: Vec<DeliveryRequest> =
        ids[..10].iter().map(|id| DeliveryRequest::Event { event: (*id).to_owned() }).collect();
    assert_eq!(cursor.requests, requests);
    assert_refusal!(repeat(ids[10]).await, @r#"400 {"code":"queue_full","detail":"Ten pings or repeated events of this webhook are already queued. Try again when they have been sent."}"#);
    assert_refusal!(owner.post(&format!("{uri}ping/"), json!({})).await, @r#"400 {"code":"queue_full","detail":"Ten pings or repeated events of this webhook are already queued. Try again when they have been sent."}"#);

    write_cursor(&app, &uri, at_rest).await;
    let label = owner.label("not numbered yet").await;
    let second = app.app().now().timestamp();
    for wrong in
        ["", "x", "evt_01ARZ3NDEKTSV4RRFFQ69G5FAV_1_1", &format!("evt_{}_1_{second}", last_segment(&label))]
    {
        assert_refusal!(repeat(wrong).await, @r#"400 {"event":["There is no such event, or it has been deleted because of its age."]}"#);
    }
    app.settle().await;
    repeat(&format!("evt_{}_1_{second}", last_segment(&label))).await.expect(202);
    app.clock().advance(TimeDelta::days(401));
    let owner = owner.new_token().await;
    let expired = owner.post(&format!("{uri}deliveries/"), json!({ "event": ids[0] })).await;
    assert_refusal!(expired, @r#"400 {"event":["There is no such event, or it has been deleted because of its age."]}"#);
}

#[tokio::test]
async fn to_set_the_position_keeps_what_was_queued_and_frees_a_failing_endpoint() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let uri = webhook(&owner, json!({})).await;
    owner.post(&format!("{uri}ping/"), json!({})).await.expect(202);
    let later = app.app().now() + TimeDelta::days(1);
    write_cursor(&app, &uri, |cursor| DeliveryCursor {
        health: EndpointHealth {
            suspects: ["a", "b"].map(str::to_owned).into(),
            failures: 3,
            failing_since: Some(app.app().now()),
            paused_until: Some(later),
            ..EndpointHealth::default()
        },
        work: WorkState { due_at: Some(later), leased_until: Some(later) },
        stalled_count: 4,
        ..cursor
    })
    .await;
    let shown = owner.post(&format!("{uri}position/"), json!({ "after": 0 })).await.expect(200).json();
    assert_eq!((&shown["status"], &shown["waiting_resources"]), (&json!("ok"), &json!(0)));
    let cursor = stored(&app, &uri).await.1;
    assert_eq!(
        (cursor.position_epoch, cursor.stalled_count, &cursor.health),
        (1, 0, &EndpointHealth::default())
    );
    assert_eq!(
        (cursor.requests.len(), cursor.work.leased_until),
        (1, Some(later)),
        "the run under way goes on"
    );
    assert_eq!(cursor.work.due_at, Some(app.app().now()));
    assert!(cursor.has_void_resources);
    // Each change may send the whole feed again.
    app.clock().advance(TimeDelta::seconds(59));
    let early = owner.post(&format!("{uri}position/"), json!({ "after": 0 })).await;
    assert_refusal!(early, @r#"429 {"code":"throttled","detail":"Too many attempts. Try again after the seconds in `Retry-After`."}"#);
    assert_eq!(early.header("retry-after"), Some("1"));
    app.clock().advance(TimeDelta::seconds(1));
    owner.post(&format!("{uri}position/"), json!({ "after": 0 })).await.expect(200);
}
