//! The HTTP client of all AWS clients. It speaks only HTTP/1.1, like DynamoDB, S3 and SES, over rustls and *ring*.
//!
//! The SDK's own client adds HTTP/2 and accepts certificates only as PEM: with it, `auth` needed 5.55 million instructions until
//! its first response instead of 5.21 (`tests/bench start`). The SDK's default cryptography, AWS-LC, spends most of a cold start
//! on seeding its random number generator: 425 million instructions until the first poll instead of 4.6.

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

/// An HTTP client. Calls `tls` for the settings of TLS at the first request.
pub(super) fn http_client(tls: fn() -> ClientConfig, connect_timeout: Duration) -> SharedHttpClient {
    // Lazy, because parsing certificates takes part of a cold start, which functions without AWS calls need not pay.
    let connector =
        LazyLock::new(move || SharedHttpConnector::new(PooledConnector::new(tls(), connect_timeout)));
    http_client_fn(move |_, _| connector.clone())
}

/// A connector that reuses connections.
#[derive(Debug)]
struct PooledConnector(Client<HttpsConnector<TcpConnector>, SdkBody>);

impl PooledConnector {
    fn new(tls: ClientConfig, connect_timeout: Duration) -> Self {
        let mut tcp = TcpConnector::new();
        // `HttpsConnector` passes `https` URLs to this connector, which by default accepts only `http`.
        tcp.enforce_http(false);
        // Otherwise the kernel delays a small request until the previous one is acknowledged.
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(connect_timeout));
        let mut client = Client::builder(TokioExecutor::new());
        // hyper closes idle connections only with a timer, and has none by default.
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
