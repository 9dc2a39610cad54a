//! What holds up deliveries, and what must not.

use chrono::{DateTime, TimeDelta};
use futures_util::future::join;
use serde_json::{Value, json};
use shared::auth::System;
use shared::domain::webhook::Position;
use tests::app::TestApp;
use tests::caller::{Caller, Staff, last_segment};

use super::endpoint::{Endpoint, hook, pass, sweep};
use super::{at_rest, stored, write_position};

async fn shown(owner: &impl Caller, uri: &str) -> Value {
    owner.get(uri).await.expect(200).json()
}

async fn facts(owner: &impl Caller, uri: &str) -> [Value; 3] {
    let shown = shown(owner, uri).await;
    ["status", "behind", "waiting_resources"].map(|name| shown[name].clone())
}

/// A candidate, and another of the same project.
async fn two_candidates(owner: &Staff) -> [String; 2] {
    let project = owner.running_project(json!({})).await;
    [owner.candidate(&project, json!({})).await, owner.candidate(&project, json!({})).await]
}

/// When the feed of a company is looked at.
async fn look_at(app: &TestApp, company: &str) -> Option<DateTime<chrono::Utc>> {
    let store = System::of(app.app()).store;
    store.sequence(&company.parse().unwrap()).await.unwrap().unwrap().look_at
}

#[tokio::test]
async fn an_event_at_which_an_endpoint_breaks_waits_alone_and_is_given_up() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let endpoint = Endpoint::willing().await;
    let uri = hook(&owner, &endpoint, json!({})).await;
    let [bad, good] = two_candidates(&owner).await;
    owner.patch(&bad, json!({ "phone": "1" })).await.expect(200);
    let is_bad =
        move |event: &Value| event["data"]["resource_uri"] == bad.as_str() && event["data"]["version"] == 1;
    let breaks = is_bad.clone();
    endpoint.answer(move |event| if breaks(event) { 502 } else { 200 });
    app.settle().await;
    assert_eq!(facts(&owner, &uri).await, [json!("ok"), json!(0), json!(1)]);
    let lane = app.table().snapshot().await.into_iter().find(|((_, sk), _)| sk.starts_with("LANE#"));
    let end = lane.unwrap().1["expires_at"].as_i64().unwrap();
    assert!(end >= (app.app().now() + TimeDelta::days(400)).timestamp(), "as long as the events that wait");
    let tries = || endpoint.arrivals().iter().filter(|arrival| is_bad(&arrival.event)).count();
    let mut hours = 0;
    let owner = loop {
        hours += 1;
        assert!(hours < 200, "{} tries", tries());
        let owner = owner.new_token().await;
        owner.patch(&good, json!({ "phone": hours.to_string() })).await.expect(200);
        app.settle().await;
        assert_eq!(shown(&owner, &uri).await["behind"], 0, "others do not wait");
        pass(&app, [30, 30]).await;
        if shown(&owner, &uri).await["waiting_resources"] == 0 {
            break owner;
        }
    };
    assert_eq!(tries(), 10);
    assert_eq!(facts(&owner, &uri).await, [json!("ok"), json!(0), json!(0)]);
    let id = endpoint.arrivals().iter().find(|one| is_bad(&one.event)).unwrap().event["id"].clone();
    let list = format!("{uri}deliveries/?outcome=given_up&event={}", id.as_str().unwrap());
    assert_eq!(owner.get(&list).await.expect(200).json()["objects"][0]["attempt"], 10);
}

#[tokio::test]
async fn an_event_that_is_refused_once_the_endpoint_is_back_does_not_keep_it_down() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let endpoint = Endpoint::start(|_| 503).await;
    let uri = hook(&owner, &endpoint, json!({ "types": ["label.*"] })).await;
    owner.label("only").await;
    app.settle().await;
    assert_eq!(shown(&owner, &uri).await["status"], "failing");
    endpoint.answer(|_| 400);
    pass(&app, [1]).await;
    assert_eq!(facts(&owner, &uri).await, [json!("ok"), json!(0), json!(1)]);
}

#[tokio::test]
async fn what_a_former_address_answers_does_not_count_for_the_new_one() {
    for status in [503, 410] {
        let app = TestApp::start().await;
        let owner = app.owner().await;
        let (dead, willing) = (Endpoint::start(move |_| status).await, Endpoint::willing().await);
        let uri = hook(&owner, &dead, json!({})).await;
        // Numbers the events, and has the webhook found dead, or gone.
        app.settle().await;
        owner.patch(&uri, json!({ "is_enabled": true })).await.expect(200);
        let long_ago = app.app().now() - TimeDelta::days(6);
        write_position(&app, &uri, |position| Position {
            failures: 5,
            failing_since: Some(long_ago),
            next_try_at: None,
            run_at: Some(long_ago),
            ..position
        })
        .await;
        let held = dead.hold();
        let meanwhile = async {
            held.reached().await;
            owner.patch(&uri, json!({ "url": willing.url })).await.expect(200);
            // What is found out from now on is the new address's.
            held.release();
        };
        join(sweep(&app), meanwhile).await;
        let position = stored(&app, &uri).await.1;
        assert_eq!((position.failures, position.failing_since, position.warned_at), (0, None, None));
        let owner = owner.new_token().await;
        assert_eq!(shown(&owner, &uri).await["status"], "ok", "{status}");
        pass(&app, [1]).await;
        willing.assert_has_all(&owner, "").await;
    }
}

#[tokio::test]
async fn the_senders_own_writes_do_not_start_it() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let endpoint = Endpoint::willing().await;
    let uri = hook(&owner, &endpoint, json!({})).await;
    let key = json!({ "pk": { "S": format!("WEBHOOK#{}", last_segment(&uri)) }, "sk": { "S": "POSITION" } });
    let served = async || {
        let event = json!({ "Records": [{ "dynamodb": { "Keys": key, "SequenceNumber": "1" } }] });
        let event = serde_json::from_value(event).unwrap();
        Box::pin(webhooks::handle(app.app(), event)).await.unwrap().endpoints
    };
    assert_eq!(served().await, 1, "a new webhook");
    assert_eq!(served().await, 0);
    let due = app.app().now();
    write_position(&app, &uri, |position| Position { run_at: Some(due), ..position }).await;
    assert_eq!(served().await, 0, "what it leaves is the schedule's");
    owner.post(&format!("{uri}ping/"), json!({})).await.expect(202);
    assert_eq!(served().await, 1);
    owner.post(&format!("{uri}position/"), json!({ "after": 0 })).await.expect(200);
    assert_eq!(served().await, 1);
    app.settle().await;
}

#[tokio::test]
async fn a_feed_is_looked_at_again_while_another_run_has_an_endpoint() {
    let app = TestApp::start().await;
    let (owner, other) = (app.owner().await, app.owner_of("globex").await);
    let endpoint = Endpoint::willing().await;
    let uri = hook(&owner, &endpoint, json!({})).await;
    let theirs = Endpoint::willing().await;
    other.post("/companies/globex/webhooks/", json!({ "url": theirs.url })).await.expect(201);
    app.settle().await;
    let lease = app.app().now() + TimeDelta::minutes(5);
    write_position(&app, &uri, |position| Position { leased_until: Some(lease), ..at_rest(position) }).await;
    owner.label("one").await;
    other.label("one").await;
    app.settle().await;
    pass(&app, [2]).await;
    assert!(look_at(&app, "acme").await.is_some(), "the run that has it may not know of the last number");
    assert_eq!(look_at(&app, "globex").await, None, "each company for itself");
    write_position(&app, &uri, at_rest).await;
    write_position(&app, &uri, |position| Position { leased_until: None, ..position }).await;
    pass(&app, [1]).await;
    endpoint.assert_has_all(&owner, "").await;
    assert_eq!(look_at(&app, "acme").await, None);
}

#[tokio::test]
async fn waiting_resources_are_tried_at_once_when_a_webhook_is_enabled_or_gets_another_address() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let (endpoint, other) = (Endpoint::willing().await, Endpoint::willing().await);
    let uri = hook(&owner, &endpoint, json!({ "types": ["label.*"] })).await;
    endpoint.answer(|_| 400);
    owner.label("one").await;
    app.settle().await;
    pass(&app, [1, 6]).await;
    let tried = endpoint.arrivals().len();
    pass(&app, [0]).await;
    assert_eq!(endpoint.arrivals().len(), tried, "it waits");
    owner.patch(&uri, json!({ "is_enabled": false })).await.expect(200);
    owner.patch(&uri, json!({ "is_enabled": true })).await.expect(200);
    app.settle().await;
    assert_eq!(endpoint.arrivals().len(), tried + 1);
    owner.patch(&uri, json!({ "url": other.url })).await.expect(200);
    app.settle().await;
    assert_eq!((endpoint.arrivals().len(), other.arrivals().len()), (tried + 1, 1));
    assert_eq!(facts(&owner, &uri).await, [json!("ok"), json!(0), json!(0)]);
}
