//! Calls external services such as LocalStack for the back end itself. The functions' requests go through the AWS SDK.

use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::http::uri::PathAndQuery;
use axum::http::{Response, StatusCode, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::Value;
use ureq::Agent;
use ureq::http::Request as Outgoing;

use super::REGION;
use crate::Error;

/// The common endpoint of all services. Clones share connections.
#[derive(Clone)]
pub(crate) struct ExternalServices(Arc<Inner>);

struct Inner {
    address: SocketAddr,
    agent: Agent,
}

/// The error response of a service.
#[derive(Debug)]
pub(super) struct Refused {
    status: u16,
    answer: String,
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.status, self.answer)
    }
}

impl std::error::Error for Refused {}

impl Refused {
    /// Whether the response has this error code.
    pub(super) fn is(&self, code: &str) -> bool {
        self.answer.contains(code)
    }
}

/// The failure of a request: no response, or an error response.
#[derive(Debug)]
pub(super) enum Failure {
    Unanswered(ureq::Error),
    Refused(Refused),
}

impl From<Failure> for Box<dyn std::error::Error + Send + Sync> {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Unanswered(error) => error.into(),
            Failure::Refused(refused) => refused.into(),
        }
    }
}

impl ExternalServices {
    /// Uses the services at a URL such as `http://localhost:4566`.
    ///
    /// # Errors
    /// If the URL is not `http://host:port`, or the host is unknown.
    pub(crate) fn at(url: &str) -> Result<Self, Error> {
        let wrong = || format!("{url} is not the URL of services, such as http://localhost:4566");
        let host = url.trim_end_matches('/').strip_prefix("http://").ok_or_else(|| Error::new(wrong()))?;
        let mut addresses = host.to_socket_addrs().map_err(Error::because(wrong()))?;
        // LocalStack does not listen on localhost's IPv6 address.
        let address = addresses.find(SocketAddr::is_ipv4).ok_or_else(|| Error::new(wrong()))?;
        let agent = Agent::config_builder().http_status_as_error(false).build().into();
        Ok(Self(Arc::new(Inner { address, agent })))
    }

    pub(crate) fn is_on_this_computer(&self) -> bool {
        self.0.address.ip().is_loopback()
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.0.address)
    }

    /// Calls an operation of a service with a JSON protocol, such as `DynamoDB_20120810.CreateTable` of `dynamodb`.
    pub(super) fn call(&self, service: &str, operation: &str, parameters: &Value) -> Result<Value, Failure> {
        let request = Outgoing::post(self.url())
            .header("authorization", credential(service))
            .header("x-amz-date", "20300101T000000Z")
            .header("content-type", "application/x-amz-json-1.0")
            .header("x-amz-target", operation);
        let answer = self.send(request.body(parameters.to_string()))?;
        Ok(serde_json::from_str(&answer).unwrap_or_default())
    }

    /// Verifies a sender's domain with SES.
    pub(super) fn verify_sender(&self, domain: &str) -> Result<(), Failure> {
        let form = format!("Action=VerifyDomainIdentity&Version=2010-12-01&Domain={domain}");
        let request = Outgoing::post(self.url())
            .header("authorization", credential("ses"))
            .header("content-type", "application/x-www-form-urlencoded");
        self.send(request.body(form)).map(drop)
    }

    /// Sends a request to S3 and returns the response body.
    pub(super) fn s3(&self, method: &str, path: &str, body: String) -> Result<String, Failure> {
        let request = Outgoing::builder().method(method).uri(self.url() + path);
        self.send(request.header("authorization", credential("s3")).body(body))
    }

    /// The size of an object in bytes; `None` if S3 does not return it.
    pub(super) fn size_in_s3(&self, path: &str) -> Option<u64> {
        let request = self.0.agent.head(self.url() + path).header("authorization", credential("s3"));
        request.call().ok()?.headers().get("content-length")?.to_str().ok()?.parse().ok()
    }

    fn send(&self, request: ureq::http::Result<Outgoing<String>>) -> Result<String, Failure> {
        let unanswered = |error: ureq::Error| Failure::Unanswered(error);
        let request = request.map_err(|error| unanswered(error.into()))?;
        let mut response = self.0.agent.run(request).map_err(unanswered)?;
        let status = response.status();
        let answer = response.body_mut().read_to_string().map_err(unanswered)?;
        if status.is_success() {
            return Ok(answer);
        }
        Err(Failure::Refused(Refused { status: status.as_u16(), answer }))
    }
}

/// An authorisation header that names the service but has no valid signature. Services that verify signatures refuse
/// it.
fn credential(service: &str) -> String {
    let scope = format!("test/20300101/{REGION}/{service}/aws4_request");
    format!("AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders=host, Signature=0")
}

/// Forwards the functions' requests unchanged.
#[derive(Clone)]
pub(super) struct Forward {
    address: SocketAddr,
    client: Client<HttpConnector, Body>,
}

impl Forward {
    pub(super) fn to(external: &ExternalServices) -> Self {
        Self { address: external.0.address, client: Client::builder(TokioExecutor::new()).build_http() }
    }

    /// Returns the service's response, or 502 without one.
    pub(super) async fn send(&self, mut request: Request) -> Response<Body> {
        let path = request.uri().path_and_query().map_or("/", PathAndQuery::as_str);
        let sent = match format!("http://{}{path}", self.address).parse::<Uri>() {
            Ok(uri) => {
                *request.uri_mut() = uri;
                self.client.request(request).await.map_err(|error| error.to_string())
            }
            Err(error) => Err(error.to_string()),
        };
        sent.map(|response| response.map(Body::new)).unwrap_or_else(|error| {
            tracing::error!(address = %self.address, error, "a service did not answer");
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::BAD_GATEWAY;
            response
        })
    }
}
