//! Surrounds every request: makes its path canonical, and logs its cost and outcome in one line.

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

/// The header that carries the request's identifier, which is also in its log line.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The page at paths that lead nowhere, in all languages: it must work where nothing else is known.
const WRONG_ADDRESS: &str = include_str!("wrong_address.html");
/// The policy of that page: it loads and runs nothing, and its style sheet is inline.
const WRONG_ADDRESS_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The URI as the client sent it, if its path was made canonical.
#[derive(Clone)]
struct SentUri(Uri);

/// Serves `/x` as `/x/`.
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
/// The path may be the root of another group, written with a final slash that the gateway did not
/// match with that group's routes: then the form without it is the way there. Or a file at a fixed path, for which programs that
/// know the base URL alone look below it.
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
        // 308 keeps method and body. Every gateway matches the form without the slash.
        Ok(location) => (StatusCode::PERMANENT_REDIRECT, [(header::LOCATION, location)]).into_response(),
        Err(_) => Error::NotFound.into_response(),
    }
}

/// Answers a path that leads nowhere. People who have mistyped the address of a page read what to do; programs, and everyone whose
/// address `is_of_api`, get the error of the API.
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

/// Gives the request its state, and its response the headers and the log line that all have.
pub(in crate::http) async fn observe(State(app): State<App>, mut request: Request, next: Next) -> Response {
    // The gateway's identifier, if there is one, so that its access log and this one share it.
    let request_id = gateway_context(&request).and_then(|context| context.request_id.clone());
    let request_id = request_id.unwrap_or_else(|| app.ids().next::<Body>(app.now()).to_string());
    let source = source(&request, app.config().origin_secrets.are_required());
    let state = Arc::new(RequestState::new(request_id.clone(), source, app.start_stopwatch()));
    request.extensions_mut().insert(state.clone());
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let person = person_in_path(&mut request).await;
    // A panic ends this request alone.
    let answered = AssertUnwindSafe(next.run(request)).catch_unwind().await;
    let mut response = answered.unwrap_or_else(|_| Error::internal("the handler panicked").into_response());
    // The background work ends first, because nothing runs after a Lambda function has answered.
    state.finish().await;
    let headers = response.headers_mut();
    headers.extend(HeaderValue::from_str(&request_id).ok().map(|id| (REQUEST_ID, id)));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // Links to the pages are followed from mails: after the first answer, whatever it is, none goes in the clear. Not for the local
    // run, from which browsers would take http on this computer away.
    if app.config().base_url.scheme() == "https" {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, HeaderValue::from_static("max-age=31536000"));
    }
    if !app.config().allowed_origins.is_empty() {
        // The gateway lets the page read the answer, or does not. In one value, because Lambda's response has one of each header.
        let vary = headers
            .get(header::VARY)
            .and_then(|vary| format!("{}, origin", vary.to_str().ok()?).try_into().ok());
        headers.insert(header::VARY, vary.unwrap_or(HeaderValue::from_static("origin")));
    }
    // Answers depend on who asks, and much of them is personal.
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

/// The candidate or customer in the path, in the form of the line's `caller`; the log then answers who has read a
/// person's data.
async fn person_in_path(request: &mut Request) -> Option<String> {
    let path = request.extract_parts::<RawPathParams>().await.ok()?;
    let text = |name| path.iter().find(|(key, _)| *key == name).map(|(_, value)| value);
    // Only identifiers are logged: clients can put any text into a path.
    match (text("candidateId"), text("customerId")) {
        (Some(candidate), _) => candidate.parse::<CandidateId>().ok().map(|id| format!("candidate {id}")),
        (None, Some(customer)) => customer.parse::<CustomerId>().ok().map(|id| format!("customer {id}")),
        (None, None) => None,
    }
}

/// The client's network: an IPv4 address, or the 64 bits of an IPv6 address behind which one subscriber has as many
/// addresses as they like. Empty when the gateway does not tell. Clients can write headers, so only what a distribution
/// has added to one counts.
fn source(request: &Request, is_behind_distribution: bool) -> String {
    let gateway =
        gateway_context(request).and_then(|context| context.http.source_ip.as_deref()?.parse().ok());
    // Clients can write this header too, so it counts only where every request comes through the distribution.
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

/// The address that connected to the distribution, which appends it to what the client sent. The gateway then appends the
/// distribution's, its own source.
fn viewer(request: &Request, distribution: IpAddr) -> Option<IpAddr> {
    let forwarded = request.headers().get(FORWARDED_FOR)?.to_str().ok()?;
    forwarded
        .rsplit(',')
        .filter_map(|address| address.trim().parse().ok())
        // The last one that is not the distribution's: what stands before may be the client's invention.
        .find(|&address| address != distribution)
}

fn gateway_context(request: &Request) -> Option<&ApiGatewayV2httpRequestContext> {
    match request.extensions().get::<RequestContext>()? {
        RequestContext::ApiGatewayV2(context) => Some(context),
        _ => None,
    }
}
