//! Serves the routes of one group: what surrounds a handler follows from the method of its route.

use std::convert::Infallible;

use axum::body::Body;
use axum::extract::{Request as Incoming, State};
use axum::handler::Handler;
use axum::http::{Request, Response};
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

/// The routes of one group, as they are served.
#[derive(Default)]
pub struct Router {
    /// The start of the paths that are added next.
    pub(crate) base: &'static str,
    pub(crate) routes: axum::Router<App>,
}

impl Router {
    /// A router without routes.
    pub fn new() -> Self {
        Self::default()
    }

    /// The service that answers these routes below [`VERSION_PATH`].
    ///
    /// Paths are served with and without a final slash; everything else is a JSON 404 or 405.
    pub fn into_service(self, app: App) -> HttpService {
        let router = axum::Router::new()
            .nest(VERSION_PATH, self.routes.method_not_allowed_fallback(async || Error::MethodNotAllowed))
            .fallback(request::unknown_route)
            .layer(axum::middleware::from_fn_with_state(app.clone(), request::observe))
            .with_state(app);
        BoxCloneSyncService::new(router.map_request(request::with_final_slash))
    }
}

/// Serves GET and HEAD. The answer carries a tag, unless it is a list.
pub(crate) fn get<H: Handler<T, App>, T: 'static>(handler: H) -> MethodRouter<App> {
    let tagged = async move |State(app): State<App>, request: Incoming| {
        tag::read(&app, request, |request| handler.call(request, app.clone())).await
    };
    on(MethodFilter::GET, tagged)
}

/// Serves a POST that writes at most one transaction.
pub(crate) fn post<H: Handler<T, App>, T: 'static>(handler: H) -> MethodRouter<App> {
    post_by(Form::Whole, handler)
}

/// Serves a POST that writes several transactions.
pub(crate) fn post_in_steps<H: Handler<T, App>, T: 'static>(handler: H) -> MethodRouter<App> {
    post_by(Form::InSteps, handler)
}

/// Serves a POST whose answer is not kept.
pub(crate) fn post_repeatable<H: Handler<T, App>, T: 'static>(handler: H) -> MethodRouter<App> {
    post_by(Form::Repeatable, handler)
}

fn post_by<H: Handler<T, App>, T: 'static>(form: Form, handler: H) -> MethodRouter<App> {
    let once = async move |State(app): State<App>, request: Incoming| {
        let attempt = |request| {
            let (app, handler) = (app.clone(), handler.clone());
            async move {
                idempotency::post(&app, request, form, |request| handler.call(request, app.clone())).await
            }
        };
        redo::until_settled(&app, request, attempt).await
    };
    on(MethodFilter::POST, once)
}

/// Serves PUT, PATCH or DELETE, under the condition of If-Match.
pub(crate) fn change<H: Handler<T, App>, T: 'static>(method: MethodFilter, handler: H) -> MethodRouter<App> {
    let conditional = async move |State(app): State<App>, request: Incoming| {
        let attempt = |request| {
            let (app, handler) = (app.clone(), handler.clone());
            async move { tag::change(&app, request, |request| handler.call(request, app.clone())).await }
        };
        redo::until_settled(&app, request, attempt).await
    };
    on(method, conditional)
}
