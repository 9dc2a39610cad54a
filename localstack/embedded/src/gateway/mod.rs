//! The HTTP front door: chooses a function as an API Gateway HTTP API does, and calls it as Lambda does.

mod event;
mod route;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{self, Body};
use axum::http::{HeaderName, HeaderValue, Request, Response, StatusCode, header};
use tower::ServiceExt;

pub use route::RouteKey;

use crate::{Error, Function, Template, random};

/// The greatest request body that API Gateway takes, in bytes.
const MAX_BODY: usize = 10 * 1024 * 1024;
/// The greatest event or answer of a Lambda invocation, in bytes of JSON.
const MAX_PAYLOAD: usize = 6 * 1024 * 1024 + 100;
/// How long API Gateway waits for a function.
const TIMEOUT: Duration = Duration::from_secs(30);

/// An HTTP API in front of Lambda functions. Clones share everything.
#[derive(Clone)]
pub struct Gateway(Arc<Vec<Route>>);

struct Route {
    key: RouteKey,
    function: Function,
}

impl Gateway {
    /// The gateway that `template` describes, in front of `functions` by their logical ids.
    ///
    /// # Errors
    /// When the template has a route that is malformed or leads to a function that is not given.
    pub fn new(template: &Template, functions: &HashMap<String, Function>) -> Result<Self, Error> {
        let routes = template.routes()?.into_iter().map(|route| {
            let missing = || Error::new(format!("{} has no function {}", route.route_key, route.function));
            let function = functions.get(&route.function).ok_or_else(missing)?.clone();
            Ok(Route { key: RouteKey::parse(&route.route_key)?, function })
        });
        Ok(Self(Arc::new(routes.collect::<Result<_, _>>()?)))
    }

    /// Answers one request. What goes wrong between gateway and function is answered with the gateway's own messages.
    pub async fn call(&self, request: Request<Body>) -> Response<Body> {
        let id = random::uuid();
        let mut response = match self.forward(&id, request).await {
            Ok(response) => response,
            Err((status, message)) => refusal(status, message),
        };
        if let Ok(id) = HeaderValue::from_str(&id) {
            response.headers_mut().insert(HeaderName::from_static("apigw-requestid"), id);
        }
        response
    }

    async fn forward(&self, id: &str, request: Request<Body>) -> Result<Response<Body>, Refusal> {
        let (head, body) = request.into_parts();
        let (route, parameters) =
            self.route(head.method.as_str(), head.uri.path()).ok_or((StatusCode::NOT_FOUND, "Not Found"))?;
        let body = body::to_bytes(body, MAX_BODY).await.map_err(|_| TOO_LONG)?;
        let event = event::request_event(id, &route.key, parameters, &head, &body).to_string();
        if event.len() > MAX_PAYLOAD {
            return Err(TOO_LONG);
        }
        // In a task of its own: the function goes on when its time is over or the client has left, and a panic ends it
        // alone.
        let invocation = tokio::spawn(route.function.clone().oneshot(event));
        let answer = match tokio::time::timeout(TIMEOUT, invocation).await {
            Err(_) => return Err((StatusCode::SERVICE_UNAVAILABLE, "Service Unavailable")),
            Ok(Err(panic)) => return Err(function_error(&route.key, &panic)),
            Ok(Ok(Err(error))) => return Err(function_error(&route.key, &*error)),
            Ok(Ok(Ok(answer))) => answer,
        };
        if answer.len() > MAX_PAYLOAD {
            return Err(function_error(&route.key, &"the answer exceeds the payload limit"));
        }
        event::response(&answer).ok_or_else(|| function_error(&route.key, &"the answer is malformed"))
    }

    fn route(
        &self,
        method: &str,
        path: &str,
    ) -> Option<(&Route, serde_json::Map<String, serde_json::Value>)> {
        self.0
            .iter()
            .filter_map(|route| Some((route, route.key.parameters(method, path)?)))
            .max_by_key(|(route, _)| route.key.rank())
    }
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
