//! The HTTP client of all AWS clients: HTTP/1.1, the only version that DynamoDB, S3 and SES speak, over rustls and *ring*.
//!
//! The SDK's own client brings HTTP/2 and takes certificates only as PEM: with it, `auth` took 5.55 million instructions until its
//! first response instead of 5.21 (`tests/bench start`). Its default provider of cryptography, AWS-LC, spends most of a cold start
//! seeding its random number generator: 425 million instructions until the first poll instead of 4.6.

use std::sync::LazyLock;
use std::time::Duration;

use aws_smithy_runtime_api::client::http::{
    HttpConnector, HttpConnectorFuture, SharedHttpClient, SharedHttpConnector, http_client_fn,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_types::body::SdkBody;
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector as TcpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::ClientConfig;

/// A client with the settings `tls`, which are made for its first request.
pub(super) fn http_client(tls: fn() -> ClientConfig, connect_timeout: Duration) -> SharedHttpClient {
    // Parsing certificates costs part of a start, which functions without a call to AWS need not pay.
    let connector =
        LazyLock::new(move || SharedHttpConnector::new(PooledConnector::new(tls(), connect_timeout)));
    http_client_fn(move |_, _| connector.clone())
}

/// Keeps its connections open for further requests.
#[derive(Debug)]
struct PooledConnector(Client<HttpsConnector<TcpConnector>, SdkBody>);

impl PooledConnector {
    fn new(tls: ClientConfig, connect_timeout: Duration) -> Self {
        let mut tcp = TcpConnector::new();
        // The TLS connector passes https URLs through.
        tcp.enforce_http(false);
        // Otherwise the kernel holds small requests back for the acknowledgement of the ones before.
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(connect_timeout));
        let mut client = Client::builder(TokioExecutor::new());
        // hyper has no timer of its own, and closes idle connections only with one.
        client.pool_timer(TokioTimer::new());
        Self(client.build(HttpsConnector::from((tcp, tls))))
    }
}

impl HttpConnector for PooledConnector {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let response = match request.try_into_http1x() {
            Ok(request) => self.0.request(request),
            Err(error) => return HttpConnectorFuture::ready(Err(ConnectorError::user(error.into()))),
        };
        HttpConnectorFuture::new(async move {
            let response = response.await.map_err(|error| ConnectorError::io(error.into()))?;
            HttpResponse::try_from(response.map(SdkBody::from_body_1_x))
                .map_err(|error| ConnectorError::other(error.into(), None))
        })
    }
}
