//! The layers around every request: one makes the path canonical, one logs cost and outcome in one line.

use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::str::FromStr;
use std::sync::Arc;

use axum::RequestExt as _;
use axum::body::Body;
use axum::extract::{MatchedPath, RawPathParams, Request, State};
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Response};
use futures_util::FutureExt;
use lambda_http::aws_lambda_events::apigw::ApiGatewayV2httpRequestContext;
use lambda_http::request::RequestContext;
use url::Url;

use crate::app::App;
use crate::domain::id::{CandidateId, CustomerId};
use crate::error::{Error, ErrorCause};
use crate::http::exchange::state::RequestState;
use crate::http::serve::mounts;

/// The response header with the request's identifier, which the log line also has.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The page for unknown paths. It contains all languages, because no company or person is known there.
const WRONG_ADDRESS: &str = include_str!("wrong_address.html");
/// The Content-Security-Policy of `WRONG_ADDRESS`, which loads and runs nothing and has an inline style sheet.
const WRONG_ADDRESS_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The URI as the client sent it, set if the service has added a final slash.
#[derive(Clone)]
struct SentUri(Uri);

/// Appends the final slash to a path without one, so that `/x` is served like `/x/`.
pub(in crate::http) fn with_final_slash(mut request: Request) -> Request {
    if !request.uri().path().ends_with('/') {
        let uri = request.uri().clone();
        request.extensions_mut().insert(SentUri(uri.clone()));
        let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
        let path = PathAndQuery::from_str(&format!("{}/{query}", uri.path()));
        let mut parts = uri.into_parts();
        parts.path_and_query = path.ok().or(parts.path_and_query);
        if let Ok(uri) = Uri::from_parts(parts) {
            *request.uri_mut() = uri;
        }
    }
    request
}

/// Answers requests that no route of this group matches.
///
/// Redirects two kinds of paths: the root of another group, which the gateway has not matched because of its final slash,
/// and a file at a fixed path, which programs that know only the base URL look for below it. Answers others with 404.
pub(in crate::http) async fn unknown_route(State(app): State<App>, request: Request) -> Response {
    let base = &app.config().base_url;
    let sent = request.extensions().get::<SentUri>().map_or_else(|| request.uri(), |sent| &sent.0);
    let below = sent.path().strip_prefix(base.path());
    let file = below.filter(|path| mounts::WELL_KNOWN_FILES.contains(path));
    let root = below.and_then(|path| path.strip_suffix('/')).filter(|root| mounts::is_mounted(root));
    let location = match (file, root) {
        (Some(file), _) => base.join(file).map(String::from).unwrap_or_default(),
        (None, Some(root)) => {
            let query = sent.query().map(|query| format!("?{query}")).unwrap_or_default();
            format!("{base}{root}{query}")
        }
        (None, None) => return not_found(&request, sent.path().starts_with(base.path()), base),
    };
    match HeaderValue::try_from(location) {
        // 308 keeps method and body. Every gateway matches the form without the final slash.
        Ok(location) => (StatusCode::PERMANENT_REDIRECT, [(header::LOCATION, location)]).into_response(),
        Err(_) => Error::NotFound.into_response(),
    }
}

/// Answers an unknown path: with a page that tells people what to do if a browser navigates outside the API, otherwise with the
/// API's error.
fn not_found(request: &Request, is_of_api: bool, base: &Url) -> Response {
    let accept = request.headers().get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    let is_navigation =
        request.method().is_safe() && accept.is_some_and(|accept| accept.contains("text/html"));
    if is_of_api || !is_navigation {
        return Error::UnknownPath(format!("{base}/docs/")).into_response();
    }
    let headers = [(header::CONTENT_SECURITY_POLICY, WRONG_ADDRESS_POLICY), (header::VARY, "Accept")];
    (StatusCode::NOT_FOUND, headers, Html(WRONG_ADDRESS)).into_response()
}

/// Creates the request's state, adds the headers that all responses have, and writes the log line.
pub(in crate::http) async fn observe(State(app): State<App>, mut request: Request, next: Next) -> Response {
    // Prefer the gateway's identifier, so that its access log and this log share it.
    let request_id = gateway_context(&request).and_then(|context| context.request_id.clone());
    let request_id = request_id.unwrap_or_else(|| app.ids().next::<Body>(app.now()).to_string());
    let source = source(&request, app.config().origin_secrets.are_required());
    let state = Arc::new(RequestState::new(request_id.clone(), source, app.start_stopwatch()));
    request.extensions_mut().insert(state.clone());
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let person = person_in_path(&mut request).await;
    // A panic must end only this request.
    let answered = AssertUnwindSafe(next.run(request)).catch_unwind().await;
    let mut response = answered.unwrap_or_else(|_| Error::internal("the handler panicked").into_response());
    // Wait for background work, because a Lambda function is frozen once it has responded.
    state.finish().await;
    let headers = response.headers_mut();
    headers.extend(HeaderValue::from_str(&request_id).ok().map(|id| (REQUEST_ID, id)));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // After the first response, browsers must use https for every link in a mail. Not sent by a local run: browsers would then
    // refuse http for everything on `localhost`.
    if app.config().base_url.scheme() == "https" {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, HeaderValue::from_static("max-age=31536000"));
    }
    if !app.config().allowed_origins.is_empty() {
        // The gateway's CORS headers depend on the origin. One value, because a Lambda response has only one header of each name.
        let vary = headers
            .get(header::VARY)
            .and_then(|vary| format!("{}, origin", vary.to_str().ok()?).try_into().ok());
        headers.insert(header::VARY, vary.unwrap_or(HeaderValue::from_static("origin")));
    }
    // Responses depend on the caller and often contain personal data.
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("private, no-store"));
    let usage = &state.usage;
    let caller = state.caller.get();
    tracing::info!(
        target: "request",
        request_id,
        %method,
        route = route.as_ref().map_or("unknown", |route| route.as_str()),
        status = response.status().as_u16(),
        failed = u8::from(response.status().is_server_error()),
        milliseconds = usage.elapsed().as_secs_f64() * 1000.0,
        dynamodb_calls = usage.calls(),
        read_units = usage.read_units(),
        write_units = usage.write_units(),
        cold_start = u8::from(app.is_cold()),
        company = caller.map_or("", |caller| caller.company.as_str()),
        caller = caller.map_or("", |caller| caller.caller.as_str()),
        on_behalf_by = caller.and_then(|caller| Some(format!("customer {}", caller.on_behalf_by?))),
        person = person.as_deref().or_else(|| state.person.get().map(String::as_str)),
        cause = response.extensions().get::<ErrorCause>().map(|cause| &*cause.0),
    );
    response
}

/// The candidate or customer in the path, formatted like `caller` in the log line. So the log shows who has read a person's data.
async fn person_in_path(request: &mut Request) -> Option<String> {
    let path = request.extract_parts::<RawPathParams>().await.ok()?;
    let text = |name| path.iter().find(|(key, _)| *key == name).map(|(_, value)| value);
    // Log only valid identifiers: clients can put any text into a path.
    match (text("candidateId"), text("customerId")) {
        (Some(candidate), _) => candidate.parse::<CandidateId>().ok().map(|id| format!("candidate {id}")),
        (None, Some(customer)) => customer.parse::<CustomerId>().ok().map(|id| format!("customer {id}")),
        (None, None) => None,
    }
}

/// The client's network: an IPv4 address, or the first 64 bits of an IPv6 address, because one subscriber has all
/// addresses below them. Empty if the gateway does not say.
fn source(request: &Request, is_behind_distribution: bool) -> String {
    let gateway =
        gateway_context(request).and_then(|context| context.http.source_ip.as_deref()?.parse().ok());
    // Clients can send `X-Forwarded-For` too, so trust it only if every request comes through the distribution, which appends to it.
    let viewer = gateway.filter(|_| is_behind_distribution).and_then(|address| viewer(request, address));
    match viewer.or(gateway).map(|address| address.to_canonical()) {
        Some(IpAddr::V4(address)) => address.to_string(),
        Some(IpAddr::V6(address)) => {
            let [a, b, c, d, ..] = address.segments();
            format!("{a:x}:{b:x}:{c:x}:{d:x}::/64")
        }
        None => String::new(),
    }
}

/// The address that connected to the distribution. The distribution appends it to the client's `X-Forwarded-For`; then
/// the gateway appends the distribution's own address.
fn viewer(request: &Request, distribution: IpAddr) -> Option<IpAddr> {
    let forwarded = request.headers().get(FORWARDED_FOR)?.to_str().ok()?;
    forwarded
        .rsplit(',')
        .filter_map(|address| address.trim().parse().ok())
        // The last address other than the distribution's. The client may have forged those before it.
        .find(|&address| address != distribution)
}

fn gateway_context(request: &Request) -> Option<&ApiGatewayV2httpRequestContext> {
    match request.extensions().get::<RequestContext>()? {
        RequestContext::ApiGatewayV2(context) => Some(context),
        _ => None,
    }
}
