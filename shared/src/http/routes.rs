//! A group's route table: one line a route, which the router, the gateway and the access test all read.

use std::convert::Infallible;

use axum::Router;
use axum::body::Body;
use axum::handler::Handler;
use axum::http::{Method, Request, Response};
use axum::routing::{MethodFilter, MethodRouter, on};
use tower::ServiceExt;
use tower::util::BoxCloneSyncService;

use super::request;
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
        self.add(Method::GET, path, on(MethodFilter::GET, handler))
    }

    /// Adds a POST route.
    pub fn post<H: Handler<T, App>, T: 'static>(self, path: &'static str, handler: H) -> Self {
        self.add(Method::POST, path, on(MethodFilter::POST, handler))
    }

    /// Adds a PUT route.
    pub fn put<H: Handler<T, App>, T: 'static>(self, path: &'static str, handler: H) -> Self {
        self.add(Method::PUT, path, on(MethodFilter::PUT, handler))
    }

    /// Adds a PATCH route.
    pub fn patch<H: Handler<T, App>, T: 'static>(self, path: &'static str, handler: H) -> Self {
        self.add(Method::PATCH, path, on(MethodFilter::PATCH, handler))
    }

    /// Adds a DELETE route.
    pub fn delete<H: Handler<T, App>, T: 'static>(self, path: &'static str, handler: H) -> Self {
        self.add(Method::DELETE, path, on(MethodFilter::DELETE, handler))
    }

    fn add(mut self, method: Method, path: &'static str, handler: MethodRouter<App>) -> Self {
        self.list.push(Route { method, path });
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
