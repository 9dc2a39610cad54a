//! Slow endpoints hold up only their own deliveries.

use chrono::{DateTime, TimeDelta};
use futures_util::future::join;
use serde_json::{Value, json};
use shared::auth::SystemAccess;
use shared::domain::outgoing::is_public;
use shared::domain::webhook::{DeliveryCursor, EndpointHealth};
use shared::domain::work::WorkState;
use tests::app::TestApp;
use tests::caller::{Caller, Staff, last_segment};

use super::endpoint::{TestEndpoint, hook, pass, sweep};
use super::{at_rest, stored, write_cursor};

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
async fn delivery_due_at(app: &TestApp, company: &str) -> Option<DateTime<chrono::Utc>> {
    let store = SystemAccess::of(app.app()).store;
    store.sequence(&company.parse().unwrap()).await.unwrap().unwrap().delivery_due_at
}

#[tokio::test]
async fn an_event_at_which_an_endpoint_breaks_waits_alone_and_is_given_up() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let endpoint = TestEndpoint::willing().await;
    let uri = hook(&owner, &endpoint, json!({})).await;
    let [bad, good] = two_candidates(&owner).await;
    app.settle().await;
    app.clock().advance(TimeDelta::minutes(1));
    let breaks = bad.clone();
    let is_bad = move |event: &Value| {
        event["data"]["resource_uri"] == breaks.as_str() && event["data"]["version"] == 2
    };
    let refused = is_bad.clone();
    endpoint.answer(move |event| if refused(event) { 502 } else { 200 });
    owner.patch(&bad, json!({ "phone": "1" })).await.expect(200);
    app.settle().await;
    // Nothing tells yet whether the event is at fault or the endpoint.
    assert_eq!(facts(&owner, &uri).await, [json!("failing"), json!(0), json!(1)]);
    let stalled = app.table().snapshot().await.into_iter().find(|((_, sk), _)| sk.starts_with("STALLED#"));
    let end = stalled.unwrap().1["expires_at"].as_i64().unwrap();
    assert!(end >= (app.app().now() + TimeDelta::days(400)).timestamp(), "as long as the events that wait");
    let tries = || endpoint.arrivals().iter().filter(|arrival| is_bad(&arrival.event)).count();
    let early = tries();
    app.clock().advance(TimeDelta::seconds(1));
    let mut hours = 0;
    let owner = loop {
        hours += 1;
        assert!(hours < 200, "{} tries", tries());
        let owner = owner.new_token().await;
        owner.patch(&good, json!({ "phone": hours.to_string() })).await.expect(200);
        app.settle().await;
        let [status, behind, waiting] = facts(&owner, &uri).await;
        assert_eq!((status, behind), (json!("ok"), json!(0)), "others do not wait");
        if waiting == 0 {
            break owner;
        }
        pass(&app, [30, 30]).await;
    };
    assert!((9..=10).contains(&(tries() - early)), "{} tries since others were accepted", tries() - early);
    assert_eq!(facts(&owner, &uri).await, [json!("ok"), json!(0), json!(0)]);
    let id = endpoint.arrivals().iter().find(|one| is_bad(&one.event)).unwrap().event["id"].clone();
    let list = format!("{uri}deliveries/?outcome=given_up&event={}", id.as_str().unwrap());
    assert_eq!(owner.get(&list).await.expect(200).json()["objects"][0]["attempt"], 10);
}

#[tokio::test]
async fn an_event_that_is_rejected_once_the_endpoint_is_back_does_not_keep_it_down() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let endpoint = TestEndpoint::start(|_| 503).await;
    let uri = hook(&owner, &endpoint, json!({ "types": ["label.*"] })).await;
    owner.label("one").await;
    owner.label("two").await;
    app.settle().await;
    assert_eq!(facts(&owner, &uri).await[0], "failing");
    assert!(stored(&app, &uri).await.1.health.is_down());
    endpoint.answer(|_| 400);
    pass(&app, [1, 15]).await;
    assert!(!stored(&app, &uri).await.1.health.is_down());
    assert_eq!(
        facts(&owner, &uri).await,
        [json!("failing"), json!(0), json!(2)],
        "it has accepted nothing yet"
    );
    app.clock().advance(TimeDelta::seconds(1));
    endpoint.answer(|_| 200);
    owner.label("three").await;
    app.settle().await;
    assert_eq!(facts(&owner, &uri).await[0], "ok");
}

#[tokio::test]
async fn what_a_former_address_answers_does_not_count_for_the_new_one() {
    for status in [503, 410] {
        let app = TestApp::start().await;
        let owner = app.owner().await;
        let (dead, willing) = (TestEndpoint::start(move |_| status).await, TestEndpoint::willing().await);
        let uri = hook(&owner, &dead, json!({})).await;
        // Numbers the events, and has the webhook found dead, or gone.
        app.settle().await;
        owner.patch(&uri, json!({ "is_enabled": true })).await.expect(200);
        let long_ago = app.app().now() - TimeDelta::days(6);
        let health = EndpointHealth {
            suspects: ["a", "b"].map(str::to_owned).into(),
            failures: 5,
            failing_since: Some(long_ago),
            ..EndpointHealth::default()
        };
        write_cursor(&app, &uri, |cursor| DeliveryCursor {
            health,
            work: WorkState::due(long_ago),
            ..cursor
        })
        .await;
        let held = dead.hold();
        let meanwhile = async {
            held.reached().await;
            owner.patch(&uri, json!({ "url": willing.url })).await.expect(200);
            // From now on, results are those of the new address.
            held.release();
        };
        join(sweep(&app), meanwhile).await;
        let health = &stored(&app, &uri).await.1.health;
        assert_eq!((health.failures, health.failing_since, health.warned_at), (0, None, None));
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
    let endpoint = TestEndpoint::willing().await;
    let uri = hook(&owner, &endpoint, json!({})).await;
    let key = json!({ "pk": { "S": format!("WEBHOOK#{}", last_segment(&uri)) }, "sk": { "S": "CURSOR" } });
    let store = SystemAccess::of(app.app()).store;
    let id = last_segment(&uri).parse().unwrap();
    // A run at the endpoint writes its cursor.
    let is_served = async || {
        let event = json!({ "Records": [{ "dynamodb": { "Keys": key, "SequenceNumber": "1" } }] });
        let before = store.cursor(id).await.unwrap().unwrap().version();
        app.send_events(event).await.unwrap();
        store.cursor(id).await.unwrap().unwrap().version() > before
    };
    assert!(is_served().await, "a new webhook");
    assert!(!is_served().await);
    let due = app.app().now();
    write_cursor(&app, &uri, |cursor| DeliveryCursor { work: WorkState::due(due), ..cursor }).await;
    assert!(!is_served().await, "what it leaves is the schedule's");
    owner.post(&format!("{uri}ping/"), json!({})).await.expect(202);
    assert!(is_served().await);
    owner.post(&format!("{uri}position/"), json!({ "after": 0 })).await.expect(200);
    assert!(is_served().await);
    app.settle().await;
}

#[tokio::test]
async fn a_feed_is_looked_at_again_while_another_run_has_an_endpoint() {
    let app = TestApp::start().await;
    let (owner, other) = (app.owner().await, app.owner_of("globex").await);
    let endpoint = TestEndpoint::willing().await;
    let uri = hook(&owner, &endpoint, json!({})).await;
    let theirs = TestEndpoint::willing().await;
    other.post("/companies/globex/webhooks/", json!({ "url": theirs.url })).await.expect(201);
    app.settle().await;
    let lease = app.app().now() + TimeDelta::minutes(5);
    write_cursor(&app, &uri, |cursor| DeliveryCursor { work: WorkState::leased(lease), ..at_rest(cursor) })
        .await;
    owner.label("one").await;
    other.label("one").await;
    app.settle().await;
    pass(&app, [2]).await;
    assert!(
        delivery_due_at(&app, "acme").await.is_some(),
        "the run that has it may not know of the last number"
    );
    assert_eq!(delivery_due_at(&app, "globex").await, None, "each company for itself");
    write_cursor(&app, &uri, at_rest).await;
    write_cursor(&app, &uri, |cursor| DeliveryCursor {
        work: WorkState { leased_until: None, ..cursor.work },
        ..cursor
    })
    .await;
    pass(&app, [1]).await;
    endpoint.assert_has_all(&owner, "").await;
    assert_eq!(delivery_due_at(&app, "acme").await, None);
}

#[tokio::test]
async fn waiting_resources_are_tried_at_once_when_a_webhook_is_enabled_or_gets_another_address() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let (endpoint, other) = (TestEndpoint::willing().await, TestEndpoint::willing().await);
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

#[tokio::test]
async fn an_endpoint_that_is_limited_gets_all_events_and_none_counts_as_tried() {
    for retry_after in [None, Some("1")] {
        let app = TestApp::start().await;
        let owner = app.owner().await;
        let endpoint = TestEndpoint::willing().await;
        let uri = hook(&owner, &endpoint, json!({})).await;
        app.settle().await;
        let clock = app.clone();
        let (mut second, mut count) = (0, 0);
        endpoint.reply(move |_| {
            let now = clock.app().now().timestamp();
            if now != second {
                (second, count) = (now, 0);
            }
            count += 1;
            if count <= 10 { (200, None) } else { (429, retry_after) }
        });
        let began = app.app().now();
        for number in 0..60 {
            owner.label(&format!("label {number}")).await;
        }
        app.settle().await;
        let took = app.app().now() - began;
        assert!(took <= TimeDelta::seconds(9), "{took} for 60 events at ten a second");
        endpoint.assert_has_all(&owner, "").await;
        let taken: Vec<_> = endpoint.arrivals().into_iter().filter(|arrival| arrival.status < 300).collect();
        assert_eq!(taken.len(), endpoint.taken().len(), "each once");
        assert_eq!(facts(&owner, &uri).await, [json!("ok"), json!(0), json!(0)]);
    }
}

#[tokio::test]
async fn a_slow_endpoint_does_not_delay_the_others_of_its_company() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let (slow, healthy) = (TestEndpoint::willing().await, TestEndpoint::willing().await);
    hook(&owner, &slow, json!({})).await;
    hook(&owner, &healthy, json!({})).await;
    app.settle().await;
    owner.label("one").await;
    let held = slow.hold();
    let meanwhile = async {
        held.reached().await;
        // The run that waits for the slow one takes up an event that is numbered only now.
        let label = owner.label("two").await;
        let keys = json!({ "pk": { "S": format!("HISTORY#acme#{}", last_segment(&label)) }, "sk": { "S": "0000000001" } });
        let event = json!({ "Records": [{ "dynamodb": { "Keys": keys, "SequenceNumber": "1" } }] });
        Box::pin(outbox::handle(app.app(), serde_json::from_value(event).unwrap())).await.unwrap();
        healthy
            .until(|arrivals| arrivals.iter().any(|one| one.event["data"]["resource_uri"] == label.as_str()))
            .await;
        held.release();
    };
    join(async { app.settle().await }, meanwhile).await;
    app.settle().await;
    slow.assert_has_all(&owner, "").await;
    healthy.assert_has_all(&owner, "").await;
}

#[tokio::test]
async fn a_former_secret_leaves_the_table_when_its_use_has_ended() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let endpoint = TestEndpoint::willing().await;
    let uri = hook(&owner, &endpoint, json!({ "is_enabled": false })).await;
    app.settle().await;
    owner.post(&format!("{uri}secret/"), json!({ "grace_hours": 1 })).await.expect(200);
    app.settle().await;
    pass(&app, [59]).await;
    assert!(stored(&app, &uri).await.0.former_secret.is_some());
    pass(&app, [1]).await;
    assert_eq!(stored(&app, &uri).await.0.former_secret, None);
    app.settle().await;
    let told = crate::events::feed::read_all(&owner, &format!("resource={uri}")).await;
    assert_eq!(told.len(), 2, "it was created and rotated");
    assert_eq!(sweep(&app).await.endpoints, 0);
}

#[tokio::test]
async fn stalled_resources_of_a_former_position_are_deleted() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let endpoint = TestEndpoint::start(|_| 400).await;
    let uri = hook(&owner, &endpoint, json!({ "types": ["label.*"] })).await;
    for number in 0..3 {
        owner.label(&format!("label {number}")).await;
    }
    app.settle().await;
    let stalled =
        async || app.table().snapshot().await.keys().filter(|(_, sk)| sk.starts_with("STALLED#")).count();
    assert_eq!((stalled().await, facts(&owner, &uri).await[2].clone()), (3, json!(3)));
    let latest = shown(&owner, &uri).await["after"].clone();
    owner.post(&format!("{uri}position/"), json!({ "after": latest })).await.expect(200);
    app.settle().await;
    assert_eq!((stalled().await, facts(&owner, &uri).await[2].clone()), (0, json!(0)));
    assert!(!stored(&app, &uri).await.1.has_void_resources);
}

#[tokio::test]
async fn a_webhook_whose_feed_waits_for_stalled_resources_is_failing() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let uri = super::webhook(&owner, json!({})).await;
    for (stalled_count, status) in [(1_999, "ok"), (2_000, "failing")] {
        write_cursor(&app, &uri, |cursor| DeliveryCursor { stalled_count, ..cursor }).await;
        assert_eq!(facts(&owner, &uri).await[0], status);
    }
}

#[tokio::test]
async fn no_endpoint_is_judged_while_the_service_reaches_nothing() {
    // This process resolves no name, not even that of the service.
    let app = TestApp::start_with(&[("OUTGOING_TARGETS", ""), ("SESSION_IDLE_MINUTES", "43200")]).await;
    let owner = app.owner().await;
    let uri = super::webhook(&owner, json!({ "after": 0 })).await;
    let outgoing = shared::outgoing::Outgoing::new(super::runs::FailingResolver, is_public);
    super::runs::number(&app).await;
    for _ in 0..7 {
        app.clock().advance(TimeDelta::days(1));
        let event = serde_json::from_value(json!({ "detail-type": "Scheduled Event" })).unwrap();
        Box::pin(webhook_sender::handle_through(app.app(), &outgoing, event)).await.unwrap();
    }
    let view = shown(&owner, &uri).await;
    assert_eq!((&view["status"], &view["is_enabled"]), (&json!("failing"), &json!(true)));
    assert_eq!(stored(&app, &uri).await.1.health.warned_at, None);
    app.leave_unsound("its events were numbered, and its mails not sent, without the functions that do so");
}
