//! A webhook receiver that accepts every event.

use std::net::Ipv4Addr;

use axum::Router;
use axum::body::Bytes;
use axum::routing::post;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// A local server, which ends with the test.
pub struct Receiver {
    pub url: String,
    _server: JoinSet<()>,
}

impl Receiver {
    /// Starts a receiver that calls `note` with each event.
    pub async fn start(note: impl Fn(Value) + Clone + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let handler = post(async move |body: Bytes| note(serde_json::from_slice(&body).expect("an event")));
        let mut server = JoinSet::new();
        server.spawn(async {
            axum::serve(listener, Router::new().route("/", handler)).await.expect("the receiver serves");
        });
        Self { url: format!("http://{address}/"), _server: server }
    }
}
