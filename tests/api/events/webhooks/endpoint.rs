//! A server on this computer to which events are sent, and what has arrived there.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use serde_json::{Value, json};
use shared::event::TableResponse;
use tests::app::TestApp;
use tests::caller::Caller;
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinSet;

use crate::events::feed::read_all;

/// A request.
#[derive(Debug, Clone)]
pub(crate) struct ReceivedDelivery {
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
    pub(crate) event: Value,
    pub(crate) status: u16,
}

impl ReceivedDelivery {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers[name].to_str().unwrap()
    }
}

/// Decides how to answer an event: a status, and when to try again.
type Answer = Box<dyn FnMut(&Value) -> (u16, Option<&'static str>) + Send>;

pub(crate) struct TestEndpoint {
    pub(crate) url: String,
    shared: Arc<Shared>,
    _server: JoinSet<()>,
}

struct Shared {
    arrivals: Mutex<Vec<ReceivedDelivery>>,
    answer: Mutex<Answer>,
    hold: Mutex<Option<HeldResponse>>,
    /// Notified of each arrival.
    arrived: Notify,
}

/// A request that waits for its answer.
#[derive(Clone, Default)]
pub(crate) struct HeldResponse(Arc<(Notify, Notify)>);

impl HeldResponse {
    /// Returns once the request has come.
    pub(crate) async fn reached(&self) {
        self.0.0.notified().await;
    }

    /// Lets the request be answered.
    pub(crate) fn release(&self) {
        self.0.1.notify_one();
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl TestEndpoint {
    /// A server that answers by `answer`.
    pub(crate) async fn start(mut answer: impl FnMut(&Value) -> u16 + Send + 'static) -> Self {
        let answer: Answer = Box::new(move |event| (answer(event), None));
        let (arrivals, answer) = (Mutex::default(), Mutex::new(answer));
        let shared = Arc::new(Shared { arrivals, answer, hold: Mutex::default(), arrived: Notify::new() });
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let url = format!("http://{}/in", listener.local_addr().unwrap());
        let (mut server, own) = (JoinSet::new(), shared.clone());
        let take = async move |headers: HeaderMap, body: String| own.take(headers, body).await;
        let router = Router::new().route("/in", post(take));
        server.spawn(async { axum::serve(listener, router).await.unwrap() });
        Self { url, shared, _server: server }
    }

    /// A server that takes everything.
    pub(crate) async fn willing() -> Self {
        Self::start(|_| 204).await
    }

    /// Answers by `answer` from now on.
    pub(crate) fn answer(&self, mut answer: impl FnMut(&Value) -> u16 + Send + 'static) {
        self.reply(move |event| (answer(event), None));
    }

    /// Answers by `reply` from now on: a status, and the header `Retry-After`.
    pub(crate) fn reply(&self, reply: impl FnMut(&Value) -> (u16, Option<&'static str>) + Send + 'static) {
        *locked(&self.shared.answer) = Box::new(reply);
    }

    /// Returns once what has arrived is as `is_there` says.
    pub(crate) async fn until(&self, is_there: impl Fn(&[ReceivedDelivery]) -> bool) {
        loop {
            let next = self.shared.arrived.notified();
            if is_there(&self.arrivals()) {
                return;
            }
            next.await;
        }
    }

    /// Holds the next request.
    pub(crate) fn hold(&self) -> HeldResponse {
        let hold = HeldResponse::default();
        *locked(&self.shared.hold) = Some(hold.clone());
        hold
    }

    /// Everything that has arrived.
    pub(crate) fn arrivals(&self) -> Vec<ReceivedDelivery> {
        locked(&self.shared.arrivals).clone()
    }

    /// Forgets what has arrived.
    pub(crate) fn forget(&self) {
        locked(&self.shared.arrivals).clear();
    }

    /// The events that were taken, in the order of their first arrival.
    pub(crate) fn taken(&self) -> Vec<Value> {
        let (arrivals, mut seen) = (self.arrivals(), BTreeSet::new());
        let taken = arrivals.into_iter().filter(|arrival| arrival.status < 300);
        taken.map(|arrival| arrival.event).filter(|event| seen.insert(event["id"].to_string())).collect()
    }

    /// Makes sure that every event of the feed was taken as it is there, those of one resource in their order.
    pub(crate) async fn assert_has_all(&self, owner: &impl Caller, query: &str) {
        let by_id = |events: Vec<Value>| -> BTreeMap<String, Value> {
            events.into_iter().map(|event| (event["id"].as_str().unwrap().to_owned(), event)).collect()
        };
        let taken = self.taken();
        let mut versions = BTreeMap::<&str, Vec<u64>>::new();
        for event in &taken {
            let history = event["id"].as_str().unwrap().split('_').nth(1).unwrap();
            versions.entry(history).or_default().push(event["data"]["version"].as_u64().unwrap());
        }
        assert!(versions.values().all(|versions| versions.is_sorted()), "{versions:?}");
        let (taken, feed) = (by_id(taken), by_id(read_all(owner, &format!("page_size=100{query}")).await));
        let missing: Vec<_> = feed.keys().filter(|id| !taken.contains_key(*id)).collect();
        assert!(missing.is_empty(), "{} of {} have not arrived: {missing:?}", missing.len(), feed.len());
        assert_eq!(taken, feed);
    }
}

impl Shared {
    async fn take(&self, headers: HeaderMap, body: String) -> Response {
        let hold = locked(&self.hold).take();
        if let Some(hold) = hold {
            hold.0.0.notify_one();
            hold.0.1.notified().await;
        }
        let event = serde_json::from_str(&body).unwrap();
        let (status, retry_after) = (locked(&self.answer))(&event);
        locked(&self.arrivals).push(ReceivedDelivery { headers, body, event, status });
        self.arrived.notify_waiters();
        let mut response = StatusCode::from_u16(status).unwrap().into_response();
        if let Some(value) = retry_after {
            response.headers_mut().insert("retry-after", HeaderValue::from_static(value));
        }
        response
    }
}

/// A new webhook at the address of `endpoint`, to which the whole feed is sent.
pub(crate) async fn hook(owner: &impl Caller, endpoint: &TestEndpoint, fields: Value) -> String {
    let mut all = json!({ "url": endpoint.url, "after": 0 });
    all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    super::webhook(owner, all).await
}

/// Runs the sender's schedule once.
pub(crate) async fn sweep(app: &TestApp) -> webhook_sender::DeliverySummary {
    match app.send_events(json!({ "detail-type": "Scheduled Event" })).await.unwrap() {
        TableResponse::Sweep(summary) => summary,
        TableResponse::Batch(report) => panic!("{report:?}"),
    }
}

/// Lets the clock go on, with a run of the schedule after each of these minutes.
pub(crate) async fn pass(app: &TestApp, minutes: impl IntoIterator<Item = i64>) {
    for minutes in minutes {
        app.clock().advance(chrono::TimeDelta::minutes(minutes));
        sweep(app).await;
    }
}
