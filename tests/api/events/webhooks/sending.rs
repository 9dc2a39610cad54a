//! Events that are sent to a webhook that works.

use chrono::TimeDelta;
use serde_json::{Value, json};
use shared::domain::webhook::{SigningSecret, signature};
use tests::app::TestApp;
use tests::caller::{Caller, last_segment};

use super::endpoint::{ReceivedDelivery, TestEndpoint, hook, pass, sweep};
use super::stored;
use crate::candidates::import::import;
use crate::events::feed::{FEED, read_all};

fn is_signed_by(arrival: &ReceivedDelivery, secret: &str) -> bool {
    let secret = SigningSecret::try_from(secret.to_owned()).unwrap();
    let at =
        chrono::DateTime::from_timestamp(arrival.header("webhook-timestamp").parse().unwrap(), 0).unwrap();
    let own = signature([&secret], arrival.header("webhook-id"), at, arrival.body.as_bytes());
    arrival.header("webhook-signature").split(' ').any(|one| one == own)
}

#[tokio::test]
async fn an_event_arrives_at_once_signed_and_as_the_feed_shows_it() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let endpoint = TestEndpoint::willing().await;
    let created = owner.post(super::WEBHOOKS, json!({ "url": endpoint.url })).await.expect(201).json();
    app.settle().await;
    endpoint.forget();
    owner.label("one").await;
    app.settle().await;
    let [arrival] = &endpoint.arrivals()[..] else { panic!("{:?}", endpoint.arrivals()) };
    assert_eq!(arrival.header("content-type"), "application/json");
    assert_eq!(arrival.header("user-agent"), "interview-service/3");
    assert_eq!(arrival.header("webhook-id"), arrival.event["id"].as_str().unwrap());
    assert_eq!(arrival.header("webhook-timestamp"), app.app().now().timestamp().to_string());
    assert!(is_signed_by(arrival, created["secret"].as_str().unwrap()));
    let feed = owner.get(&format!("{FEED}?page_size=100")).await.expect(200);
    assert!(String::from_utf8(feed.body).unwrap().contains(&arrival.body), "the same bytes");
    let uri = created["resource_uri"].as_str().unwrap();
    let shown = owner.get(uri).await.expect(200).json();
    assert_eq!((&shown["status"], &shown["behind"]), (&json!("ok"), &json!(0)));
    let attempts = owner.get(&format!("{uri}deliveries/")).await.expect(200).json();
    let last = &attempts["objects"][0];
    assert_eq!((&last["event"], &last["outcome"]), (&arrival.event["id"], &json!("delivered")));
    assert_eq!((&last["status_code"], &last["response"]), (&json!(204), &Value::Null));
    assert_eq!(sweep(&app).await.endpoints, 0, "nothing is left for the schedule");
}

#[tokio::test]
async fn during_a_rotation_both_secrets_sign() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let endpoint = TestEndpoint::willing().await;
    let created = owner.post(super::WEBHOOKS, json!({ "url": endpoint.url })).await.expect(201).json();
    let rotate = format!("{}secret/", created["resource_uri"].as_str().unwrap());
    let rotated = owner.post(&rotate, json!({ "grace_hours": 1 })).await.json();
    let [old, new] = [&created, &rotated].map(|answer| answer["secret"].as_str().unwrap());
    let signed = async |label: &str| {
        app.settle().await;
        endpoint.forget();
        owner.label(label).await;
        app.settle().await;
        let arrival = endpoint.arrivals().pop().unwrap();
        (is_signed_by(&arrival, new), is_signed_by(&arrival, old))
    };
    assert_eq!(signed("one").await, (true, true));
    app.clock().advance(TimeDelta::hours(1));
    assert_eq!(signed("two").await, (true, false));
}

#[tokio::test]
async fn only_events_of_its_types_and_projects_arrive() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let (project, other) = (owner.running_project(json!({})).await, owner.running_project(json!({})).await);
    let of_candidates = TestEndpoint::willing().await;
    let fields = json!({ "types": ["candidate.*"], "projects": [project] });
    let uri = hook(&owner, &of_candidates, fields).await;
    let ada = owner.candidate(&project, json!({})).await;
    owner.candidate(&other, json!({})).await;
    owner.label("one").await;
    app.settle().await;
    let arrived = of_candidates.taken();
    assert_eq!(arrived.iter().map(|event| &event["data"]["resource_uri"]).collect::<Vec<_>>(), [&json!(ada)]);
    assert_eq!(owner.get(&uri).await.json()["behind"], 0, "the others are passed all the same");
}

#[tokio::test]
async fn a_thousand_changes_while_disabled_arrive_once_it_is_enabled_and_again_from_an_earlier_position() {
    let app = TestApp::start_with(&[("SESSION_IDLE_MINUTES", "43200")]).await;
    let owner = app.owner().await;
    let endpoint = TestEndpoint::willing().await;
    let project = owner.running_project(json!({})).await;
    let uri = hook(&owner, &endpoint, json!({})).await;
    app.settle().await;
    owner.patch(&uri, json!({ "is_enabled": false })).await.expect(200);
    let before = endpoint.arrivals().len();
    let people: Vec<Value> = (0..950).map(|number| json!({ "first_name": format!("No {number}"), "last_name": "Byron", "email": app.next_email() })).collect();
    let imported = import(&owner, &project, None, &people.into()).await.expect(200).json();
    let candidates: Vec<String> = imported["objects"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|row| row["candidate"].as_str())
        .map(str::to_owned)
        .collect();
    for (number, candidate) in candidates.iter().take(10).cycle().take(50).enumerate() {
        owner.patch(candidate, json!({ "phone": number.to_string() })).await.expect(200);
    }
    app.settle().await;
    pass(&app, [60; 24]).await;
    assert_eq!(endpoint.arrivals().len(), before, "nothing is sent to a disabled webhook");
    assert_eq!(stored(&app, &uri).await.1.work.due_at, None, "and the schedule leaves it alone");

    owner.patch(&uri, json!({ "is_enabled": true })).await.expect(200);
    app.settle().await;
    pass(&app, [1; 3]).await;
    endpoint.assert_has_all(&owner, "").await;
    let once = endpoint.arrivals().len();
    assert_eq!(endpoint.taken().len(), once, "each once");
    let ids = |taken: Vec<Value>| {
        taken.iter().map(|event| event["id"].to_string()).collect::<std::collections::BTreeSet<_>>()
    };
    let first = ids(endpoint.taken());

    endpoint.forget();
    owner.post(&format!("{uri}position/"), json!({ "after": 0 })).await.expect(200);
    app.settle().await;
    pass(&app, [1; 3]).await;
    endpoint.assert_has_all(&owner, "").await;
    assert_eq!(ids(endpoint.taken()), first, "the same again");
}

#[tokio::test]
async fn pings_and_repetitions_are_sent_even_to_a_disabled_webhook() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let endpoint = TestEndpoint::willing().await;
    let uri = hook(&owner, &endpoint, json!({ "is_enabled": false })).await;
    app.settle().await;
    assert!(endpoint.arrivals().is_empty());
    owner.post(&format!("{uri}ping/"), json!({})).await.expect(202);
    let first = &read_all(&owner, "").await[0];
    owner.post(&format!("{uri}deliveries/"), json!({ "event": first["id"] })).await.expect(202);
    app.settle().await;
    let [ping, repeated] = &endpoint.taken()[..] else { panic!("{:?}", endpoint.arrivals()) };
    assert_eq!(ping["types"], json!(["webhook.ping"]));
    assert!(ping["id"].as_str().unwrap().starts_with(&format!("evt_{}_0_", last_segment(&uri))));
    assert_eq!(repeated, first);
    endpoint.answer(|_| 500);
    app.clock().advance(TimeDelta::seconds(10));
    owner.post(&format!("{uri}ping/"), json!({})).await.expect(202);
    app.settle().await;
    let attempts = owner.get(&format!("{uri}deliveries/?page_size=1")).await.json();
    let last = &attempts["objects"][0];
    assert_eq!((&last["outcome"], &last["next_try_at"]), (&json!("given_up"), &Value::Null));
    assert_eq!(stored(&app, &uri).await.1.after, 0);
}

#[tokio::test]
async fn the_schedule_sends_what_the_stream_has_missed() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let endpoint = TestEndpoint::willing().await;
    hook(&owner, &endpoint, json!({})).await;
    sweep(&app).await;
    owner.label("one").await;
    app.clock().advance(TimeDelta::minutes(1));
    // The outbox numbers events of the last minute, and the sender takes them a minute later.
    app.sweep().await;
    pass(&app, [1]).await;
    endpoint.assert_has_all(&owner, "").await;
}

#[test]
fn a_deployment_sends_to_public_addresses_alone() {
    assert!(!include_str!("../../../../template.yaml").contains("OUTGOING_TARGETS"));
}
