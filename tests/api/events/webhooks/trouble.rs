//! Endpoints that refuse, fail, are away for days, or want nothing any more.

use std::collections::BTreeSet;

use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, Staff};

use super::endpoint::{TestEndpoint, hook, pass, sweep};
use super::stored;
use crate::events::feed::read_all;

/// A day in hours.
const DAY: [i64; 24] = [60; 24];

/// The service with sessions that last.
async fn start() -> TestApp {
    TestApp::start_with(&[("SESSION_IDLE_MINUTES", "43200")]).await
}

/// A project with this many candidates, each changed a few times.
async fn given(owner: &Staff, candidates: usize) -> Vec<String> {
    let project = owner.running_project(json!({})).await;
    let mut all = Vec::new();
    for _ in 0..candidates {
        all.push(owner.candidate(&project, json!({})).await);
    }
    for number in 0..3 {
        for candidate in &all {
            owner.patch(candidate, json!({ "phone": number.to_string() })).await.expect(200);
        }
    }
    all
}

async fn attempts(owner: &Staff, uri: &str, query: &str) -> Vec<Value> {
    let page = owner.get(&format!("{uri}deliveries/?page_size=100&{query}")).await.expect(200).json();
    page["objects"].as_array().unwrap().clone()
}

async fn shown(owner: &Staff, uri: &str) -> Value {
    owner.get(uri).await.expect(200).json()
}

#[tokio::test]
async fn a_repeated_delivery_that_is_accepted_is_listed_as_delivered() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let endpoint = TestEndpoint::willing().await;
    let created = owner.post(super::WEBHOOKS, json!({ "url": endpoint.url })).await.expect(201).json();
    app.settle().await;
    endpoint.answer(|_| 500);
    owner.label("one").await;
    app.settle().await;
    endpoint.answer(|_| 200);
    app.clock().advance(TimeDelta::minutes(1));
    sweep(&app).await;
    let uri = created["resource_uri"].as_str().unwrap();
    let list = owner.get(&format!("{uri}deliveries/")).await.expect(200).json();
    let shown: Vec<_> = list["objects"].as_array().unwrap().iter().map(|one| &one["outcome"]).collect();
    assert_eq!(shown[..2], ["delivered", "failed"]);
}

#[tokio::test]
async fn nothing_is_lost_at_an_endpoint_that_fails_three_times_in_ten() {
    let app = start().await;
    let owner = app.owner().await;
    for (seed, status) in [(1_u64, 500), (2, 503)] {
        let mut state = seed;
        let endpoint = TestEndpoint::start(move |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            if (state >> 33) % 10 < 3 { status } else { 200 }
        })
        .await;
        let uri = hook(&owner, &endpoint, json!({})).await;
        given(&owner, 12).await;
        app.settle().await;
        // At 503, each run ends with the first failure.
        for _ in 0..4 {
            pass(&app, DAY).await;
        }
        endpoint.assert_has_all(&owner, "").await;
        let shown = shown(&owner, &uri).await;
        let facts = ["status", "behind", "waiting_resources"].map(|name| shown[name].clone());
        assert_eq!(facts, [json!("ok"), json!(0), json!(0)]);
        assert_eq!(sweep(&app).await.endpoints, 0);
        owner.delete(&uri).await.expect(204);
    }
}

#[tokio::test]
async fn one_resource_that_is_refused_holds_up_no_other_and_goes_on_once_its_event_is_given_up() {
    let app = start().await;
    let owner = app.owner().await;
    let endpoint = TestEndpoint::willing().await;
    let uri = hook(&owner, &endpoint, json!({})).await;
    let candidates = given(&owner, 4).await;
    let bad = candidates[1].clone();
    let is_bad =
        move |event: &Value| event["data"]["resource_uri"] == bad.as_str() && event["data"]["version"] == 2;
    let refused = is_bad.clone();
    endpoint.answer(move |event| if refused(event) { 400 } else { 200 });
    app.settle().await;
    let feed = read_all(&owner, "page_size=100").await;
    let of_bad = |event: &&Value| event["data"]["resource_uri"] == candidates[1].as_str();
    let behind = feed.iter().filter(of_bad).count() - 1;
    assert_eq!(endpoint.taken().len(), feed.len() - behind, "all but that and what follows it");
    assert_eq!(shown(&owner, &uri).await["waiting_resources"], 1);
    app.clock().advance(TimeDelta::seconds(1));
    owner.patch(&candidates[1], json!({ "phone": "9" })).await.expect(200);
    owner.patch(&candidates[2], json!({ "phone": "9" })).await.expect(200);
    app.settle().await;
    assert_eq!(endpoint.taken().len(), feed.len() - behind + 1);
    assert_eq!(shown(&owner, &uri).await["status"], "ok");

    for _ in 0..6 {
        pass(&app, DAY).await;
    }
    let tries = endpoint.arrivals().iter().filter(|arrival| is_bad(&arrival.event)).count();
    assert_eq!(tries, 10);
    let id = &feed.iter().find(|event| is_bad(event)).unwrap()["id"];
    let of_it = attempts(&owner, &uri, &format!("event={}", id.as_str().unwrap())).await;
    let (last, earlier) = of_it.split_first().unwrap();
    let facts = ["outcome", "attempt", "next_try_at"].map(|name| last[name].clone());
    assert_eq!(facts, [json!("given_up"), json!(10), Value::Null]);
    assert!(earlier.iter().all(|one| one["outcome"] == "failed" && one["next_try_at"].is_string()));
    let versions: Vec<Value> =
        endpoint.taken().iter().filter(of_bad).map(|event| event["data"]["version"].clone()).collect();
    assert_eq!(versions, [1, 3, 4, 5].map(Value::from), "the rest, in order");
    assert_eq!(shown(&owner, &uri).await["waiting_resources"], 0);
}

#[tokio::test]
async fn an_endpoint_that_is_away_for_four_days_sees_one_request_per_interval_and_loses_nothing() {
    for status in [503, 500] {
        let app = start().await;
        let owner = app.owner().await;
        let endpoint = TestEndpoint::start(move |_| status).await;
        let uri = hook(&owner, &endpoint, json!({})).await;
        let candidates = given(&owner, 12).await;
        app.settle().await;
        let first = endpoint.arrivals().len();
        // Eight resources are sent at once, and a probe follows after five seconds.
        assert!((1..=9).contains(&first), "{first} requests at first");
        for candidate in &candidates[..4] {
            owner.patch(candidate, json!({ "phone": "9" })).await.expect(200);
            app.settle().await;
            pass(&app, DAY).await;
        }
        // After 5 s, 1, 5 and 15 minutes, then every 15 minutes: here with each run of the schedule, every hour.
        let probes = endpoint.arrivals().len() - first;
        assert!((90..=100).contains(&probes), "{probes} probes");
        let failing = shown(&owner, &uri).await;
        assert_eq!((&failing["status"], &failing["is_enabled"]), (&json!("failing"), &json!(true)));
        assert!(stored(&app, &uri).await.1.stalled_count <= 1, "a dead endpoint leaves nothing behind");
        assert_eq!(webhook_mails(&app, &owner, &endpoint).await, 1, "after a day, its owners are told once");
        endpoint.answer(|_| 200);
        pass(&app, DAY).await;
        pass(&app, DAY).await;
        endpoint.assert_has_all(&owner, "").await;
        assert_eq!(shown(&owner, &uri).await["status"], "ok");
    }
}

/// How many mails an owner has got about the webhook of an endpoint.
async fn webhook_mails(app: &TestApp, owner: &Staff, endpoint: &TestEndpoint) -> usize {
    app.settle().await;
    let host = endpoint.url.trim_start_matches("http://").trim_end_matches("/in");
    let mails = app.mails_to(&owner.email);
    mails.iter().filter(|mail| mail.text.as_deref().is_some_and(|text| text.contains(host))).count()
}

#[tokio::test]
async fn five_days_of_failures_disable_a_webhook_and_enabling_it_goes_on_where_it_stopped() {
    let app = start().await;
    let owner = app.owner().await;
    let mut hooks = Vec::new();
    for status in [500, 404, 302] {
        let endpoint = TestEndpoint::start(move |_| status).await;
        hooks.push((hook(&owner, &endpoint, json!({})).await, endpoint));
    }
    given(&owner, 4).await;
    app.settle().await;
    for _ in 0..7 {
        pass(&app, DAY).await;
        app.settle().await;
    }
    for (uri, endpoint) in &hooks {
        let disabled = shown(&owner, uri).await;
        assert_eq!(
            (&disabled["status"], &disabled["disabled_reason"]),
            (&json!("disabled"), &json!("failing"))
        );
        assert_eq!(disabled["failing_since"], "2026-11-08T10:00:00Z", "its owner sees since when");
        assert_eq!(webhook_mails(&app, &owner, endpoint).await, 2);
        endpoint.answer(|_| 200);
        endpoint.forget();
    }
    assert_eq!(sweep(&app).await.endpoints, 0);
    pass(&app, DAY).await;
    for (uri, endpoint) in &hooks {
        assert!(endpoint.arrivals().is_empty());
        owner.patch(uri, json!({ "is_enabled": true })).await.expect(200);
    }
    app.settle().await;
    pass(&app, [1, 1]).await;
    for (_, endpoint) in &hooks {
        endpoint.assert_has_all(&owner, "").await;
        assert_eq!(endpoint.arrivals().len(), endpoint.taken().len(), "each once");
    }
}

#[tokio::test]
async fn an_endpoint_that_is_gone_is_disabled_at_once() {
    let app = start().await;
    let owner = app.owner().await;
    let endpoint = TestEndpoint::start(|_| 410).await;
    let uri = hook(&owner, &endpoint, json!({})).await;
    owner.label("one").await;
    app.settle().await;
    let disabled = shown(&owner, &uri).await;
    assert_eq!((&disabled["status"], &disabled["disabled_reason"]), (&json!("disabled"), &json!("gone")));
    assert_eq!(webhook_mails(&app, &owner, &endpoint).await, 1);
    let first = endpoint.arrivals().len();
    owner.label("two").await;
    app.settle().await;
    pass(&app, [1, 10, 60]).await;
    assert_eq!(endpoint.arrivals().len(), first);
    let by_service = read_all(&owner, "type=webhook.disabled").await;
    assert_eq!(by_service[0]["by"]["kind"], "system");
}

#[tokio::test]
async fn an_event_that_is_refused_for_ever_does_not_keep_an_endpoint_down() {
    let app = start().await;
    let owner = app.owner().await;
    let endpoint = TestEndpoint::start(|_| 500).await;
    let uri = hook(&owner, &endpoint, json!({})).await;
    app.settle().await;
    assert_eq!(shown(&owner, &uri).await["status"], "failing");
    let first = read_all(&owner, "").await[0]["id"].clone();
    endpoint.answer(move |event| if event["id"] == first { 500 } else { 200 });
    pass(&app, [1, 6, 40, 150]).await;
    owner.label("good").await;
    app.settle().await;
    let shown = shown(&owner, &uri).await;
    assert_eq!(
        (&shown["status"], &shown["behind"], &shown["waiting_resources"]),
        (&json!("ok"), &json!(0), &json!(1))
    );
}

#[tokio::test]
async fn events_that_have_expired_are_passed_and_noted() {
    let app = TestApp::start_with(&[("EVENT_RETENTION_DAYS", "1"), ("SESSION_IDLE_MINUTES", "43200")]).await;
    let owner = app.owner().await;
    let endpoint = TestEndpoint::willing().await;
    for number in 0..3 {
        owner.label(&format!("label {number}")).await;
    }
    app.settle().await;
    let uri = hook(&owner, &endpoint, json!({ "is_enabled": false, "after": 1 })).await;
    app.clock().advance(TimeDelta::days(2));
    owner.label("new").await;
    owner.patch(&uri, json!({ "is_enabled": true })).await.expect(200);
    app.settle().await;
    pass(&app, [1]).await;
    let taken: BTreeSet<String> =
        endpoint.taken().iter().map(|event| event["types"][0].to_string()).collect();
    assert!(taken.contains("\"label.created\""), "{taken:?}");
    assert_eq!(attempts(&owner, &uri, "outcome=expired").await.len(), 1);
    assert_eq!(shown(&owner, &uri).await["behind"], 0);
}
