//! Runs that break off, meet, or meet changes of the API, and endpoints that try to hold them up.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use chrono::TimeDelta;
use futures_util::future::{BoxFuture, join};
use serde_json::{Value, json};
use shared::domain::outgoing::is_public;
use shared::domain::work::WorkState;
use shared::outgoing::{NameResolver, Outgoing};
use tests::app::TestApp;
use tests::caller::{Caller, last_segment};
use tests::chaos::{Chaos, Fault};

use super::endpoint::{TestEndpoint, hook, pass, sweep};
use super::stored;

/// The records of the stream about companies' feeds.
fn new_numbers(companies: &[&str]) -> Value {
    let record = |company: &&str| {
        let keys = json!({ "pk": { "S": format!("COMPANY#{company}") }, "sk": { "S": "SEQUENCE" } });
        json!({ "dynamodb": { "Keys": keys, "SequenceNumber": "1" } })
    };
    let records: Vec<Value> = companies.iter().map(record).collect();
    json!({ "Records": records })
}

/// Numbers what there is, without a sender.
pub(super) async fn number(app: &TestApp) {
    app.clock().advance(TimeDelta::minutes(2));
    let event = serde_json::from_value(json!({ "detail-type": "Scheduled Event" })).unwrap();
    Box::pin(outbox::handle(app.app(), event)).await.unwrap();
}

async fn run(app: &TestApp) -> shared::Result<()> {
    app.send_events(new_numbers(&["acme"])).await.map(drop)
}

/// A run, and what happens while the endpoint has yet to answer the run's first request.
async fn run_during(app: &TestApp, endpoint: &TestEndpoint, meanwhile: impl Future<Output = ()>) {
    let held = endpoint.hold();
    let meanwhile = async {
        held.reached().await;
        meanwhile.await;
        held.release();
    };
    join(async { run(app).await.unwrap() }, meanwhile).await;
}

/// Runs that die after so many calls.
async fn die_after(app: &TestApp, chaos: &Chaos, calls: usize) {
    chaos.cut_after(calls);
    let _ = run(app).await;
    chaos.heal();
}

#[tokio::test]
async fn a_run_that_dies_anywhere_repeats_a_page_at_most_and_loses_nothing() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let candidates = [owner.candidate(&project, json!({})).await, owner.candidate(&project, json!({})).await];
    let endpoint = TestEndpoint::willing().await;
    let uri = hook(&owner, &endpoint, json!({})).await;
    let refused = candidates[0].clone();
    for calls in 0..24 {
        // One candidate stalls.
        let refused = refused.clone();
        let is_odd = calls % 2 == 1;
        endpoint.answer(
            move |event| if is_odd && event["data"]["resource_uri"] == refused.as_str() { 500 } else { 200 },
        );
        for candidate in &candidates {
            for number in 0..2 {
                let phone = json!({ "phone": format!("{calls} {number}") });
                owner.patch(candidate, phone).await.expect(200);
            }
        }
        number(&app).await;
        let before = endpoint.arrivals().len();
        die_after(&app, &chaos, calls).await;
        let once = endpoint.arrivals().len() - before;
        assert!(once <= 32, "{once} requests of one run");
        // The lease of the run ends.
        pass(&app, [2]).await;
    }
    endpoint.answer(|_| 200);
    pass(&app, [10, 60, 180, 400, 700]).await;
    endpoint.assert_has_all(&owner.new_token().await, "").await;
    let cursor = stored(&app, &uri).await.1;
    assert_eq!((cursor.stalled_count, cursor.work), (0, WorkState::IDLE));
}

#[tokio::test]
async fn a_run_whose_calls_fail_loses_nothing() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let endpoint = TestEndpoint::willing().await;
    hook(&owner, &endpoint, json!({})).await;
    for (round, operation) in
        ["PutItem", "TransactWriteItems", "BatchGetItem", "Query"].into_iter().cycle().take(16).enumerate()
    {
        let faults = [Fault::Throttled, Fault::Unreachable, Fault::AnswerLost];
        owner.label(&format!("label {round}")).await;
        number(&app).await;
        chaos.next(operation, faults[round % 3].clone());
        let _ = run(&app).await;
        chaos.heal();
        pass(&app, [2]).await;
    }
    endpoint.assert_has_all(&owner, "").await;
}

#[tokio::test]
async fn of_two_runs_at_once_one_has_the_endpoint() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let endpoint = TestEndpoint::willing().await;
    let uri = hook(&owner, &endpoint, json!({})).await;
    number(&app).await;
    run_during(&app, &endpoint, async {
        run(&app).await.unwrap();
        sweep(&app).await;
        assert!(stored(&app, &uri).await.1.work.leased_until.is_some());
    })
    .await;
    endpoint.assert_has_all(&owner, "").await;
    assert_eq!(endpoint.arrivals().len(), endpoint.taken().len(), "each once");
}

#[tokio::test]
async fn what_the_api_wants_during_a_run_is_done_by_that_run() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let endpoint = TestEndpoint::willing().await;
    let uri = hook(&owner, &endpoint, json!({})).await;
    number(&app).await;
    run_during(&app, &endpoint, async {
        owner.post(&format!("{uri}ping/"), json!({})).await.expect(202);
    })
    .await;
    let ping = |event: &Value| event["types"] == json!(["webhook.ping"]);
    let (pings, events): (Vec<Value>, Vec<Value>) = endpoint.taken().into_iter().partition(ping);
    assert_eq!((pings.len(), events.len() + 1), (1, endpoint.arrivals().len()), "each once");

    // To set the cursor voids how far the run has come.
    owner.label("one").await;
    number(&app).await;
    endpoint.forget();
    run_during(&app, &endpoint, async {
        owner.post(&format!("{uri}position/"), json!({ "after": 0 })).await.expect(200);
    })
    .await;
    assert_eq!(endpoint.taken().len(), events.len() + 1);
    assert_eq!(endpoint.arrivals().len(), events.len() + 2, "the held one twice");
}

#[tokio::test]
async fn a_webhook_that_is_deleted_during_a_run_is_sent_nothing_more() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let endpoint = TestEndpoint::willing().await;
    let uri = hook(&owner, &endpoint, json!({})).await;
    number(&app).await;
    run_during(&app, &endpoint, async {
        owner.delete(&uri).await.expect(204);
    })
    .await;
    let sent = endpoint.arrivals().len();
    owner.label("one").await;
    app.settle().await;
    pass(&app, [2, 2]).await;
    assert_eq!(endpoint.arrivals().len(), sent);
}

#[tokio::test]
async fn an_endpoint_that_does_not_answer_holds_up_no_other_company() {
    let app = TestApp::start().await;
    let (owner, stranger) = (app.owner().await, app.owner_of("globex").await);
    let (tar, willing) = (TestEndpoint::willing().await, TestEndpoint::willing().await);
    hook(&owner, &tar, json!({})).await;
    let other = json!({ "url": willing.url, "after": 0 });
    stranger.post("/companies/globex/webhooks/", other).await.expect(201);
    number(&app).await;
    let (stuck, arrives) = (tar.hold(), willing.hold());
    let meanwhile = async {
        stuck.reached().await;
        // While the first one waits, the event of the other arrives.
        arrives.reached().await;
        arrives.release();
        stuck.release();
    };
    let event = new_numbers(&["acme", "globex"]);
    join(async { app.send_events(event).await.unwrap() }, meanwhile).await;
    assert!(!willing.taken().is_empty());
    tar.assert_has_all(&owner, "").await;
}

#[tokio::test]
async fn an_event_that_the_index_does_not_show_yet_is_sent_once_it_does() {
    // It does not wait before it looks again.
    let (app, _chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let endpoint = TestEndpoint::willing().await;
    let uri = hook(&owner, &endpoint, json!({})).await;
    owner.label("one").await;
    number(&app).await;
    let items = app.table().contents().await.into_values();
    let items = items.map(|item| serde_dynamo::from_item::<_, Value>(item).unwrap());
    let whole = items.max_by_key(|item| item["sequence"].as_u64()).unwrap();
    let mut hidden = whole.clone();
    hidden.as_object_mut().unwrap().retain(|name, _| !name.starts_with("by_status"));
    app.table().load(&[hidden]).await;
    run(&app).await.unwrap();
    assert_eq!(owner.get(&uri).await.json()["behind"], 1);
    assert_eq!(stored(&app, &uri).await.1.work.due_at, Some(app.app().now()), "the schedule looks again");
    app.table().load(&[whole]).await;
    pass(&app, [1]).await;
    endpoint.assert_has_all(&owner, "").await;
}

/// Leads every name to the loopback interface.
#[derive(Clone, Default)]
struct LoopbackResolver(Arc<AtomicUsize>);

impl NameResolver for LoopbackResolver {
    fn resolve<'a>(&'a self, _: &'a str, port: u16) -> BoxFuture<'a, io::Result<Vec<SocketAddr>>> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move { Ok(vec![([127, 0, 0, 1], port).into()]) })
    }
}

/// Knows no name.
#[derive(Clone, Copy)]
pub(super) struct FailingResolver;

impl NameResolver for FailingResolver {
    fn resolve<'a>(&'a self, _: &'a str, _: u16) -> BoxFuture<'a, io::Result<Vec<SocketAddr>>> {
        Box::pin(async { Err(io::ErrorKind::NotFound.into()) })
    }
}

#[tokio::test]
async fn a_name_that_leads_to_a_private_address_gets_no_request() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let endpoint = TestEndpoint::willing().await;
    let port = last_segment(&endpoint.url.replace("/in", "/")).rsplit(':').next().unwrap().to_owned();
    let fields = json!({ "url": format!("https://hooks.example:{port}/in") });
    let uri = hook(&owner, &endpoint, fields).await;
    number(&app).await;
    let resolver = LoopbackResolver::default();
    let outgoing = Outgoing::new(resolver.clone(), is_public);
    let event = serde_json::from_value(new_numbers(&["acme"])).unwrap();
    Box::pin(webhook_sender::handle_through(app.app(), &outgoing, event)).await.unwrap();
    assert!(endpoint.arrivals().is_empty());
    let attempts = owner.get(&format!("{uri}deliveries/")).await.expect(200).json();
    let attempts = attempts["objects"].as_array().unwrap();
    assert!(attempts.iter().all(|one| one["error"] == "forbidden_address" && one["status_code"].is_null()));
    assert_eq!(attempts.len(), resolver.0.load(Ordering::SeqCst), "a resolution for each request");
    assert_eq!(owner.get(&uri).await.json()["status"], "failing");
}
