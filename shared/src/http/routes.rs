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

use super::idempotency::{self, Form};
use super::{redo, request, tag};
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
    /// How it is done once, of a POST.
    pub(crate) form: Option<Form>,
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

    /// Adds a GET route; HEAD is answered along with it. What it answers carries a tag, unless it is a list.
    pub fn get<H: Handler<T, App>, T: 'static>(self, path: &'static str, handler: H) -> Self {
        let tagged = async move |State(app): State<App>, request: Incoming| {
            tag::read(&app, request, |request| handler.call(request, app.clone())).await
        };
        self.add::<H>((Method::GET, None), path, on(MethodFilter::GET, tagged))
    }

    /// Adds a POST route whose handler changes things by at most one transaction of the guard's store: it is done when
    /// the handler has answered with success, along with a note of the answer if the request has an Idempotency-Key.
    pub fn post<H: Handler<T, App>, T: 'static>(self, path: &'static str, handler: H) -> Self {
        self.add_post(path, Form::Whole, handler)
    }

    /// Adds a POST route whose handler changes things by several transactions, inside the guard's `once`.
    pub fn post_in_steps<H: Handler<T, App>, T: 'static>(self, path: &'static str, handler: H) -> Self {
        self.add_post(path, Form::InSteps, handler)
    }

    /// Adds a POST route whose answer may not be kept, or has nobody to be kept for: what it does must be harmless when
    /// it is done again.
    pub fn post_repeatable<H: Handler<T, App>, T: 'static>(self, path: &'static str, handler: H) -> Self {
        self.add_post(path, Form::Repeatable, handler)
    }

    fn add_post<H: Handler<T, App>, T: 'static>(self, path: &'static str, form: Form, handler: H) -> Self {
        let once = async move |State(app): State<App>, request: Incoming| {
            let attempt = |request| {
                let (app, handler) = (app.clone(), handler.clone());
                async move {
                    idempotency::post(&app, request, form, |request| handler.call(request, app.clone())).await
                }
            };
            redo::until_settled(&app, request, attempt).await
        };
        self.add::<H>((Method::POST, Some(form)), path, on(MethodFilter::POST, once))
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
        let conditional = async move |State(app): State<App>, request: Incoming| {
            let attempt = |request| {
                let (app, handler) = (app.clone(), handler.clone());
                async move { tag::change(&app, request, |request| handler.call(request, app.clone())).await }
            };
            redo::until_settled(&app, request, attempt).await
        };
        self.add::<H>((method, None), path, on(filter, conditional))
    }

    fn add<H>(
        mut self,
        (method, form): (Method, Option<Form>),
        path: &'static str,
        handler: MethodRouter<App>,
    ) -> Self {
        self.list.push(Route { method, path, handler: type_name::<H>(), form });
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
