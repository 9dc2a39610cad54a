//! The HTTP API: routes requests like API Gateway and invokes functions like Lambda.

mod event;
mod route;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{self, Body};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode, header};
use tower::ServiceExt;

pub use event::SourceIp;
pub use route::RouteKey;

use crate::cors::{self, Cors};
use crate::{Error, Function, Template, random};

/// API Gateway's maximum request body, in bytes.
const MAX_BODY: usize = 10 * 1024 * 1024;
/// Lambda's maximum event and response, in bytes of JSON.
const MAX_PAYLOAD: usize = 6 * 1024 * 1024 + 100;
/// API Gateway's timeout.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The CORS headers, which only the gateway may set.
const SHARING: [HeaderName; 6] = [
    header::ACCESS_CONTROL_ALLOW_ORIGIN,
    header::ACCESS_CONTROL_ALLOW_CREDENTIALS,
    header::ACCESS_CONTROL_ALLOW_HEADERS,
    header::ACCESS_CONTROL_ALLOW_METHODS,
    header::ACCESS_CONTROL_EXPOSE_HEADERS,
    header::ACCESS_CONTROL_MAX_AGE,
];

/// An HTTP API in front of Lambda functions. Clones share everything.
#[derive(Clone)]
pub struct Gateway(Arc<Api>);

struct Api {
    routes: Vec<Route>,
    cors: Cors,
    timeout: Duration,
}

struct Route {
    key: RouteKey,
    function: Function,
}

impl Gateway {
    /// Creates the gateway that `template` describes in front of `functions`, by logical id. CORS allows pages of
    /// `allowed_origins`.
    ///
    /// # Errors
    /// If a route of the template is malformed or leads to a missing function.
    pub fn new(
        template: &Template,
        functions: &HashMap<String, Function>,
        allowed_origins: &[String],
    ) -> Result<Self, Error> {
        Self::with_timeout(template, functions, allowed_origins, TIMEOUT)
    }

    /// Creates a [gateway](Self::new) that waits at most `timeout` for a function.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_timeout(
        template: &Template,
        functions: &HashMap<String, Function>,
        allowed_origins: &[String],
        timeout: Duration,
    ) -> Result<Self, Error> {
        let routes = template.routes()?.into_iter().map(|route| {
            let missing = || Error::new(format!("{} has no function {}", route.route_key, route.function));
            let function = functions.get(&route.function).ok_or_else(missing)?.clone();
            Ok(Route { key: RouteKey::parse(&route.route_key)?, function })
        });
        let (routes, cors) = (routes.collect::<Result<_, _>>()?, template.cors_of_api(allowed_origins));
        Ok(Self(Arc::new(Api { routes, cors, timeout })))
    }

    /// Handles one request. If a function fails, the response has the gateway's own message.
    pub async fn call(&self, request: Request<Body>) -> Response<Body> {
        let id = random::uuid();
        let (head, body) = request.into_parts();
        let mut response = if self.0.cors.is_on() && cors::is_preflight(&head) {
            preflight(&self.0.cors, &head.headers)
        } else {
            let mut response = match self.forward(&id, &head, body).await {
                Ok(response) => response,
                Err((status, message)) => refusal(status, message),
            };
            self.share(&head.headers, response.headers_mut());
            response
        };
        if let Ok(id) = HeaderValue::from_str(&id) {
            response.headers_mut().insert(HeaderName::from_static("apigw-requestid"), id);
        }
        response
    }

    /// Replaces the CORS headers that a function has set.
    fn share(&self, asked: &HeaderMap, answered: &mut HeaderMap) {
        if self.0.cors.is_on() {
            for name in SHARING {
                answered.remove(name);
            }
            answered.extend(self.0.cors.to_answer(asked).unwrap_or_default());
        }
    }

    async fn forward(&self, id: &str, head: &Parts, body: Body) -> Result<Response<Body>, Refusal> {
        let (route, parameters) =
            self.route(head.method.as_str(), head.uri.path()).ok_or((StatusCode::NOT_FOUND, "Not Found"))?;
        let body = body::to_bytes(body, MAX_BODY).await.map_err(|_| TOO_LONG)?;
        let event = event::request_event(id, &route.key, parameters, head, &body).to_string();
        if event.len() > MAX_PAYLOAD {
            return Err(TOO_LONG);
        }
        // A separate task: the function continues after a timeout or if the client disconnects, and a panic ends only
        // this invocation.
        let invocation = tokio::spawn(route.function.clone().oneshot(event));
        let answer = match tokio::time::timeout(self.0.timeout, invocation).await {
            Err(_) => return Err((StatusCode::SERVICE_UNAVAILABLE, "Service Unavailable")),
            Ok(Err(panic)) => return Err(function_error(&route.key, &panic)),
            Ok(Ok(Err(error))) => return Err(function_error(&route.key, &*error)),
            Ok(Ok(Ok(answer))) => answer,
        };
        if answer.len() > MAX_PAYLOAD {
            return Err(function_error(&route.key, &"the answer exceeds the payload limit"));
        }
        event::response(&answer, &head.method)
            .ok_or_else(|| function_error(&route.key, &"the answer is malformed"))
    }

    fn route(
        &self,
        method: &str,
        path: &str,
    ) -> Option<(&Route, serde_json::Map<String, serde_json::Value>)> {
        self.0
            .routes
            .iter()
            .filter_map(|route| Some((route, route.key.parameters(method, path)?)))
            .max_by_key(|(route, _)| route.key.rank())
    }
}

/// The response to a preflight request; without CORS headers if the request is not allowed.
fn preflight(cors: &Cors, asked: &HeaderMap) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    response.headers_mut().extend(cors.to_preflight(asked).unwrap_or_default());
    response
}

type Refusal = (StatusCode, &'static str);

const TOO_LONG: Refusal = (StatusCode::PAYLOAD_TOO_LARGE, "Request Too Long");

fn function_error(route: &RouteKey, error: &(impl std::fmt::Display + ?Sized)) -> Refusal {
    tracing::error!(route = route.as_str(), %error, "the function failed");
    (StatusCode::INTERNAL_SERVER_ERROR, "Internal Server Error")
}

fn refusal(status: StatusCode, message: &str) -> Response<Body> {
    let mut response = Response::new(Body::from(serde_json::json!({ "message": message }).to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

#[cfg(test)]
mod tests;
