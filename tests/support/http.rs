//! Requests that tests build, and the responses.

use std::fmt;

use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use embedded::SourceIp;
use serde_json::Value;

use crate::logs::{self, RequestLog};

/// Builds a request.
#[derive(Debug, Clone)]
pub struct Request {
    method: Method,
    target: String,
    headers: HeaderMap,
    body: Vec<u8>,
    source: Option<SourceIp>,
}

impl Request {
    /// Creates a request without headers and body. `target` is a path below the version segment, or any URL of the
    /// service, such as a reference or the link in a mail.
    pub fn new(method: Method, target: &str) -> Self {
        Self { method, target: target.to_owned(), headers: HeaderMap::new(), body: Vec::new(), source: None }
    }

    /// A GET request.
    pub fn get(target: &str) -> Self {
        Self::new(Method::GET, target)
    }

    /// Changes the method to HEAD.
    pub fn head(self) -> Self {
        Self { method: Method::HEAD, ..self }
    }

    /// Changes the method to GET.
    pub fn as_get(self) -> Self {
        Self { method: Method::GET, ..self }
    }

    /// A POST request.
    pub fn post(target: &str) -> Self {
        Self::new(Method::POST, target)
    }

    /// A PUT request.
    pub fn put(target: &str) -> Self {
        Self::new(Method::PUT, target)
    }

    /// A PATCH request.
    pub fn patch(target: &str) -> Self {
        Self::new(Method::PATCH, target)
    }

    /// A DELETE request.
    pub fn delete(target: &str) -> Self {
        Self::new(Method::DELETE, target)
    }

    /// Adds a header.
    ///
    /// # Panics
    /// If the header is invalid.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        let name: HeaderName = name.parse().expect("a header's name");
        self.headers.append(name, HeaderValue::from_str(value).expect("a header's value"));
        self
    }

    /// Whether the query contains a parameter.
    pub fn has_parameter(&self, name: &str) -> bool {
        let query = self.target.split_once('?').map(|(_, query)| query).unwrap_or_default();
        query.split('&').any(|parameter| parameter.split('=').next() == Some(name))
    }

    /// Adds a query parameter, such as `page=2`.
    pub fn parameter(mut self, parameter: &str) -> Self {
        self.target.push(if self.target.contains('?') { '&' } else { '?' });
        self.target.push_str(parameter);
        self
    }

    /// The JSON body; `None` if there is none.
    pub fn sent_json(&self) -> Option<Value> {
        serde_json::from_slice(&self.body).ok()
    }

    /// Removes the body.
    pub fn without_body(mut self) -> Self {
        self.body.clear();
        self.headers.remove(axum::http::header::CONTENT_TYPE);
        self
    }

    /// Sets the client's IP address.
    ///
    /// # Panics
    /// If `address` is not an IP address.
    pub fn from_source(self, address: &str) -> Self {
        Self { source: Some(SourceIp(address.parse().expect("an IP address"))), ..self }
    }

    /// Sets the body.
    pub fn body(mut self, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self.header("content-type", content_type)
    }

    /// Sets a JSON body.
    pub fn json(self, json: &Value) -> Self {
        self.body("application/json", json.to_string())
    }

    /// Converts the request for a service at `base_url`.
    pub(crate) fn into_http(self, base_url: &url::Url) -> axum::http::Request<Body> {
        let origin = base_url.origin().ascii_serialization();
        let path = match self.target.strip_prefix(&origin) {
            Some(path) => path.to_owned(),
            None => format!("{}{}", base_url.path(), self.target),
        };
        assert!(path.starts_with('/'), "neither a path nor an address of this service: {path}");
        let mut request = axum::http::Request::new(Body::from(self.body));
        *request.method_mut() = self.method;
        *request.uri_mut() = path.parse().expect("a target");
        *request.headers_mut() = self.headers;
        if let Some(source) = self.source {
            request.extensions_mut().insert(source);
        }
        let host = base_url.host_str().and_then(|host| HeaderValue::from_str(host).ok());
        request.headers_mut().extend(host.map(|host| (axum::http::header::HOST, host)));
        request
    }
}

/// A response with its whole body.
#[derive(Debug, Clone)]
pub struct Response {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
    request: String,
}

impl Response {
    pub(crate) async fn read(request: String, response: axum::http::Response<Body>) -> Self {
        let (head, body) = response.into_parts();
        let body = to_bytes(body, usize::MAX).await.expect("a body").to_vec();
        Self { status: head.status, headers: head.headers, body, request }
    }

    /// Returns this response, which must have this status.
    ///
    /// # Panics
    /// If the status differs.
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status.as_u16(), status, "{self}");
        self
    }

    /// The body, which must be JSON.
    ///
    /// # Panics
    /// If the body is not JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        match (self.header("content-type"), serde_json::from_slice(&self.body)) {
            (Some("application/json"), Ok(json)) => json,
            _ => panic!("a response without JSON: {self}"),
        }
    }

    /// Asserts status and body.
    ///
    /// # Panics
    /// If either differs.
    #[track_caller]
    pub fn expect_json(self, status: u16, json: Value) -> Self {
        let response = self.expect(status);
        assert_eq!(response.json(), json, "{response}");
        response
    }

    /// The status and body of a refusal, for [`assert_refusal!`](crate::assert_refusal). Identifiers differ between
    /// runs and are replaced by `[id]`.
    ///
    /// # Panics
    /// If the request was not refused.
    #[track_caller]
    pub fn refusal(&self) -> String {
        assert!(self.status.is_client_error() || self.status.is_server_error(), "{self}");
        let body = match self.json() {
            // One line per field, for readability.
            Value::Object(fields) if fields.len() > 2 => {
                let lines: Vec<_> =
                    fields.iter().map(|(name, value)| format!("  {name:?}:{value}")).collect();
                format!("{{\n{}\n}}", lines.join(",\n"))
            }
            body => body.to_string(),
        };
        let words = body.split_inclusive(|c: char| !c.is_ascii_alphanumeric());
        let shown = words
            .map(|word| if is_identifier(word) { format!("[id]{}", &word[26..]) } else { word.to_owned() });
        format!("{} {}", self.status.as_u16(), shown.collect::<String>())
    }

    /// Asserts that the response is a refusal with this code and a text for people.
    ///
    /// # Panics
    /// If it is not.
    #[track_caller]
    pub fn expect_code(self, status: u16, code: &str) -> Self {
        let response = self.expect(status);
        let body = response.json();
        assert_eq!(body["code"], code, "{response}");
        assert!(body["detail"].as_str().is_some_and(|detail| !detail.is_empty()), "{response}");
        let mut names = body.as_object().into_iter().flatten().map(|(name, _)| name.as_str());
        assert!(
            names.all(|name| {
                matches!(
                    name,
                    "code"
                        | "detail"
                        | "parameter"
                        | "permission"
                        | "sign_in_url"
                        | "error"
                        | "error_description"
                )
            }),
            "{response}"
        );
        response
    }

    /// The value of a header; `None` unless it occurs exactly once.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.get_all(name).into_iter();
        match (values.next(), values.next()) {
            (Some(value), None) => value.to_str().ok(),
            _ => None,
        }
    }

    /// The URL (or other text) in the member `name` of the body.
    ///
    /// # Panics
    /// If the body has no such text.
    #[track_caller]
    pub fn uri(&self, name: &str) -> String {
        let json = self.json();
        json[name].as_str().unwrap_or_else(|| panic!("no {name} in {self}")).to_owned()
    }

    /// The log line of the request.
    ///
    /// # Panics
    /// If there is none.
    #[track_caller]
    pub fn log(&self) -> RequestLog {
        let id = self.header("x-request-id");
        logs::line_of(id.unwrap_or_else(|| panic!("a response without X-Request-Id: {self}")))
    }
}

impl fmt::Display for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n> {}\n< {}", self.request, self.status)?;
        for (name, value) in &self.headers {
            writeln!(f, "< {name}: {}", String::from_utf8_lossy(value.as_bytes()))?;
        }
        match serde_json::from_slice::<Value>(&self.body) {
            Ok(json) => writeln!(f, "{json:#}"),
            Err(_) => writeln!(f, "{}", String::from_utf8_lossy(&self.body)),
        }
    }
}

/// Whether a word is a ULID, in either case.
fn is_identifier(word: &str) -> bool {
    let word = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
    word.len() == 26 && word.starts_with('0')
}

/// Calls `send` with each case, sequentially. Returns the responses in the same order, for
/// [`assert_refusals!`](crate::assert_refusals). The closure must be `async` if the request borrows a value of the
/// closure, such as a formatted path.
pub async fn send_each<C>(
    cases: impl IntoIterator<Item = C>,
    mut send: impl AsyncFnMut(C) -> Response,
) -> Vec<Response> {
    let mut responses = Vec::new();
    for case in cases {
        responses.push(send(case).await);
    }
    responses
}

/// The distinct refusals in the order of their first appearance, each with its count.
pub fn refusals(responses: &[Response]) -> String {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for refusal in responses.iter().map(Response::refusal) {
        match counts.iter_mut().find(|(known, _)| *known == refusal) {
            Some((_, count)) => *count += 1,
            None => counts.push((refusal, 1)),
        }
    }
    let lines = counts.into_iter().map(|(refusal, count)| match count {
        1 => refusal,
        _ => format!("{count} x {refusal}"),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Compares the status and whole body of a refusal with a snapshot, such as `@r#"400 {"code":"…"}"#`. In a loop, all
/// refusals must be equal.
#[macro_export]
macro_rules! assert_refusal {
    ($response:expr, @$snapshot:literal) => {{
        let refusal = $response.refusal();
        insta::allow_duplicates! { insta::assert_snapshot!(refusal, @$snapshot) }
    }};
}

/// Compares the refusals of many requests with a snapshot.
#[macro_export]
macro_rules! assert_refusals {
    ($responses:expr, @$snapshot:literal) => {
        insta::assert_snapshot!($crate::http::refusals(&$responses), @$snapshot)
    };
}
