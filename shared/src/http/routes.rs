//! A group's route table: one line a route, which the router, the gateway and the access test all read.

use std::any::type_name;
use std::convert::Infallible;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request as Incoming, State};
use axum::handler::Handler;
use axum::http::{Method, Request, Response};
use axum::routing::{MethodFilter, MethodRouter, on};
use tower::ServiceExt;
use tower::util::BoxCloneSyncService;

use super::{idempotency, redo, request};
use crate::app::App;
use crate::config::VERSION_PATH;
use crate::error::Error;

/// Answers whole HTTP requests of one group, the same in Lambda, on a laptop and in tests.
pub type HttpService = BoxCloneSyncService<Request<Body>, Response<Body>, Infallible>;

/// One line of a route table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// The method, in capitals.
    pub method: Method,
    /// The path below the version segment, with a final slash; parameters stand as `{projectId}`.
    pub path: &'static str,
    /// The path of the function that answers.
    pub handler: &'static str,
}

/// The routes of one group.
#[derive(Default)]
pub struct Routes {
    list: Vec<Route>,
    router: Router<App>,
}

impl Routes {
    /// No routes yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a GET route; HEAD is answered along with it.
    pub fn get<H: Handler<T, App>, T: 'static>(self, path: &'static str, handler: H) -> Self {
        self.add::<H>(Method::GET, path, on(MethodFilter::GET, handler))
    }

    /// Adds a POST route that clients may repeat with an Idempotency-Key: its handler answers by `commit` or `once` of its
    /// guard.
    pub fn post<H: Handler<T, App>, T: 'static>(self, path: &'static str, handler: H) -> Self {
        let once = async move |State(app): State<App>, request: Incoming| {
            idempotency::post(&app, request, |request| handler.clone().call(request, app.clone())).await
        };
        self.add::<H>(Method::POST, path, on(MethodFilter::POST, once))
    }

    /// Adds a POST route without Idempotency-Key: its answer may not be stored, or has no sender to be stored for. Doing it
    /// again must be harmless.
    pub fn post_repeatable<H: Handler<T, App>, T: 'static>(self, path: &'static str, handler: H) -> Self {
        self.add_change(Method::POST, MethodFilter::POST, path, handler)
    }

    /// Adds a PUT route; If-Match guards what it replaces.
    pub fn put<H: Handler<T, App>, T: 'static>(self, path: &'static str, handler: H) -> Self {
        self.add_change(Method::PUT, MethodFilter::PUT, path, handler)
    }

    /// Adds a PATCH route; If-Match guards what it changes.
    pub fn patch<H: Handler<T, App>, T: 'static>(self, path: &'static str, handler: H) -> Self {
        self.add_change(Method::PATCH, MethodFilter::PATCH, path, handler)
    }

    /// Adds a DELETE route; If-Match guards what it deletes.
    pub fn delete<H: Handler<T, App>, T: 'static>(self, path: &'static str, handler: H) -> Self {
        self.add_change(Method::DELETE, MethodFilter::DELETE, path, handler)
    }

    fn add_change<H: Handler<T, App>, T: 'static>(
        self,
        method: Method,
        filter: MethodFilter,
        path: &'static str,
        handler: H,
    ) -> Self {
        let settled = async move |State(app): State<App>, request: Incoming| {
            redo::until_settled(&app, request, |request| handler.clone().call(request, app.clone())).await
        };
        self.add::<H>(method, path, on(filter, settled))
    }

    fn add<H>(mut self, method: Method, path: &'static str, handler: MethodRouter<App>) -> Self {
        self.list.push(Route { method, path, handler: type_name::<H>() });
        self.router = self.router.route(path, handler);
        self
    }

    /// The table, in the order it was written.
    pub fn list(&self) -> &[Route] {
        &self.list
    }

    /// The service that answers these routes below [`VERSION_PATH`].
    ///
    /// Paths are served with and without a final slash; everything else is a JSON 404 or 405.
    pub fn into_service(self, app: App) -> HttpService {
        let router = Router::new()
            .nest(VERSION_PATH, self.router.method_not_allowed_fallback(async || Error::MethodNotAllowed))
            .fallback(request::unknown_route)
            .layer(axum::middleware::from_fn_with_state(app.clone(), request::observe))
            .with_state(app);
        BoxCloneSyncService::new(router.map_request(request::with_final_slash))
    }
}
