//! Requests and responses of an HTTP API, in payload format 2.0.

use std::net::{IpAddr, Ipv4Addr};

use axum::body::{Body, Bytes};
use axum::http::{HeaderName, HeaderValue, Method, Response, StatusCode, header, request};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use shared::clock::{Clock, SystemClock};
use url::form_urlencoded;

use super::RouteKey;
use crate::random;

/// The client's address, as an extension of the request; by default the loopback address.
#[derive(Debug, Clone, Copy)]
pub struct SourceIp(pub IpAddr);

impl SourceIp {
    fn of(head: &request::Parts) -> String {
        let Self(address) = head.extensions.get().copied().unwrap_or(Self(Ipv4Addr::LOCALHOST.into()));
        address.to_string()
    }
}

/// Hop-by-hop headers, which the gateway does not forward.
const PER_CONNECTION: [HeaderName; 6] = [
    header::CONNECTION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    header::PROXY_AUTHORIZATION,
];

pub(super) fn request_event(
    id: &str,
    route: &RouteKey,
    parameters: Map<String, Value>,
    head: &request::Parts,
    body: &Bytes,
) -> Value {
    let path = head.uri.path();
    let query = head.uri.query().unwrap_or_default();
    let mut headers = Map::new();
    for name in head.headers.keys().filter(|name| **name != header::COOKIE && !PER_CONNECTION.contains(name))
    {
        headers.insert(name.to_string(), joined(head, name).into());
    }
    let host = joined(head, &header::HOST);
    let port = host.rsplit_once(':').map_or("80", |(_, port)| port);
    let source = SourceIp::of(head);
    let forwarded_for = match joined(head, &HeaderName::from_static("x-forwarded-for")) {
        before if before.is_empty() => source.clone(),
        before => format!("{before}, {source}"),
    };
    let now = SystemClock.now();
    for (name, value) in [
        ("x-forwarded-for", forwarded_for),
        ("x-forwarded-port", port.to_owned()),
        ("x-forwarded-proto", "http".to_owned()),
        ("x-amzn-trace-id", format!("Root=1-{:08x}-{}", now.timestamp(), &random::hex()[..24])),
    ] {
        headers.insert(name.to_owned(), value.into());
    }

    let mut event = json!({
        "version": "2.0",
        "routeKey": route.as_str(),
        "rawPath": path,
        "rawQueryString": query,
        "headers": headers,
        "requestContext": {
            "accountId": "000000000000",
            "apiId": "local",
            "domainName": host,
            "domainPrefix": "local",
            "http": {
                "method": head.method.as_str(),
                "path": path,
                "protocol": "HTTP/1.1",
                "sourceIp": source,
                "userAgent": joined(head, &header::USER_AGENT),
            },
            "requestId": id,
            "routeKey": route.as_str(),
            "stage": "$default",
            "time": now.format("%d/%b/%Y:%H:%M:%S +0000").to_string(),
            "timeEpoch": now.timestamp_millis(),
        },
        "isBase64Encoded": false,
    });
    let cookies = joined(head, &header::COOKIE);
    if !cookies.is_empty() {
        event["cookies"] = cookies.split(';').map(str::trim).collect();
    }
    if !query.is_empty() {
        event["queryStringParameters"] = query_parameters(query).into();
    }
    if !parameters.is_empty() {
        event["pathParameters"] = parameters.into();
    }
    if !body.is_empty() {
        let text = std::str::from_utf8(body).ok().filter(|_| is_text(&joined(head, &header::CONTENT_TYPE)));
        event["isBase64Encoded"] = text.is_none().into();
        event["body"] = text.map_or_else(|| STANDARD.encode(body), str::to_owned).into();
    }
    event
}

/// A header's values, joined as API Gateway does.
fn joined(head: &request::Parts, name: &HeaderName) -> String {
    let separator = if *name == header::COOKIE { ";" } else { "," };
    let values = head.headers.get_all(name).iter();
    values.map(|value| String::from_utf8_lossy(value.as_bytes())).collect::<Vec<_>>().join(separator)
}

fn query_parameters(query: &str) -> Map<String, Value> {
    let mut parameters = Map::new();
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        let value = match parameters.get(&*name).and_then(Value::as_str) {
            Some(before) => format!("{before},{value}"),
            None => value.into_owned(),
        };
        parameters.insert(name.into_owned(), value.into());
    }
    parameters
}

/// Whether functions get bodies of this content type as text instead of base64.
fn is_text(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence.starts_with("text/")
        || ["application/json", "application/javascript", "application/xml"].contains(&essence.as_str())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    status_code: u16,
    #[serde(default)]
    headers: Map<String, Value>,
    #[serde(default)]
    cookies: Vec<String>,
    body: Option<String>,
    #[serde(default)]
    is_base64_encoded: bool,
}

/// The HTTP response for a function's result; `None` if API Gateway would not accept the result.
pub(super) fn response(answer: &str, method: &Method) -> Option<Response<Body>> {
    let answer: Answer = serde_json::from_str(answer).ok()?;
    let body = answer.body.unwrap_or_default();
    let body = if answer.is_base64_encoded { STANDARD.decode(body).ok()? } else { body.into_bytes() };
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = StatusCode::from_u16(answer.status_code).ok()?;
    let headers = response.headers_mut();
    for (name, value) in answer.headers {
        let name: HeaderName = name.parse().ok()?;
        // The gateway sets the length itself, except for HEAD: only the function knows the length of that body.
        let is_framing = name == header::CONTENT_LENGTH && method != Method::HEAD;
        if !is_framing && !PER_CONNECTION.contains(&name) {
            headers.append(name, HeaderValue::from_str(value.as_str()?).ok()?);
        }
    }
    for cookie in answer.cookies {
        headers.append(header::SET_COOKIE, HeaderValue::from_str(&cookie).ok()?);
    }
    Some(response)
}
