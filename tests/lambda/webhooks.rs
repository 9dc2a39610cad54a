//! The sender of events as a process of its own.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::net::Ipv4Addr;
use std::task::Poll;

use chrono::TimeDelta;
use serde_json::json;
use tests::app::TestApp;
use tests::binaries;
use tests::caller::Caller;
use tests::function::Function;
use tests::receiver::Receiver;
use tokio::net::TcpListener;
use tokio::process::Command;
use tokio::sync::mpsc;

/// A proxy would resolve the names of webhooks by itself, and so void the check of their addresses.
#[tokio::test]
async fn events_are_sent_past_every_proxy_that_the_environment_names() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let (note, mut arrived) = mpsc::unbounded_channel();
    let receiver = Receiver::start(move |event| note.send(event).unwrap()).await;
    let webhook = json!({ "url": receiver.url, "after": 0 });
    owner.post("/companies/acme/webhooks/", webhook).await.expect(201);
    let scheduled = json!({ "detail-type": "Scheduled Event" });
    app.clock().advance(TimeDelta::minutes(2));
    outbox::handle(app.app(), serde_json::from_value(scheduled.clone()).unwrap()).await.unwrap();

    let trap = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let proxy = format!("http://{}", trap.local_addr().unwrap());
    let mut variables: BTreeMap<&str, String> = app.environment().clone();
    for name in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
        variables.insert(name, proxy.clone());
    }
    let command = Command::new(&binaries::of_workspace()["webhook-sender"]);
    let mut sender = Function::start(command, &variables).await.unwrap();
    sender.ready().await.unwrap();
    let served = sender.invoke(&scheduled).await.unwrap();
    assert_eq!((&served["endpoints"], &served["failed"]), (&json!(1), &json!(0)));
    assert!(arrived.try_recv().is_ok());
    let is_untouched = poll_fn(|context| Poll::Ready(trap.poll_accept(context).is_pending())).await;
    assert!(is_untouched, "something has asked the proxy");
}
