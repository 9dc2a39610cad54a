//! Serves the routes of one group.

use std::convert::Infallible;

use axum::body::Body;
use axum::extract::State;
use axum::handler::Handler;
use axum::http::{Request, Response};
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodFilter, MethodRouter, on};
use tower::ServiceExt;
use tower::util::BoxCloneSyncService;

use crate::app::App;
use crate::error::Error;
use crate::http::exchange::retry_and_replay;
use crate::http::serve::{origin, request};

/// Answers HTTP requests to one group of routes; the same service in Lambda, on a laptop and in tests.
pub type HttpService = BoxCloneSyncService<Request<Body>, Response<Body>, Infallible>;

/// The routes of one group, with their handlers.
#[derive(Default)]
pub struct RouteGroup {
    pub(crate) base: &'static str,
    pub(crate) routes: axum::Router<App>,
}

impl RouteGroup {
    /// A group without routes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a GET route, which also answers HEAD, outside `/api/v3`. `path` is the whole path and ends in a slash or a wildcard. The
    /// OpenAPI document omits the route. Add its first segment to [`PAGE_ROOTS`](crate::http::serve::mounts::PAGE_ROOTS), or a single
    /// file to [`WELL_KNOWN_FILES`](crate::http::serve::mounts::WELL_KNOWN_FILES).
    #[must_use]
    pub fn page<H: Handler<T, App>, T: 'static>(self, path: &'static str, handler: H) -> Self {
        Self { routes: self.routes.route(path, axum::routing::get(handler)), ..self }
    }

    /// The service that answers these routes: API routes below [`VERSION_PATH`](crate::config::VERSION_PATH), and pages.
    ///
    /// Serves paths with and without a final slash. Requests that match no route get 404, 405 or a redirect.
    pub fn into_service(self, app: App) -> HttpService {
        let router = self
            .routes
            .method_not_allowed_fallback(async || Error::MethodNotAllowed)
            .fallback(request::unknown_route)
            // The first layer is outermost. A single call, because each call of `layer` wraps all routes once more.
            .layer((
                from_fn_with_state(app.clone(), request::observe),
                from_fn_with_state(app.clone(), origin::admit),
            ))
            .with_state(app);
        BoxCloneSyncService::new(router.map_request(request::with_final_slash))
    }
}

/// Serves a GET.
pub(crate) fn get<F>(
    answer: impl Fn(Request<Body>, App) -> F + Clone + Send + Sync + 'static,
) -> MethodRouter<App>
where
    F: Future<Output = Response<Body>> + Send,
{
    axum::routing::get(async move |State(app): State<App>, request: Request<Body>| answer(request, app).await)
}

/// Serves a POST. `is_stored` says whether its response is stored for retries with an Idempotency-Key.
pub(crate) fn post<F>(
    answer: impl Fn(Request<Body>, App) -> F + Clone + Send + Sync + 'static,
    is_stored: bool,
) -> MethodRouter<App>
where
    F: Future<Output = Response<Body>> + Send,
{
    on(MethodFilter::POST, async move |State(app): State<App>, request: Request<Body>| {
        retry_and_replay::handle_post(&app, request, is_stored, &answer).await
    })
}

/// Serves a PUT, PATCH or DELETE.
pub(crate) fn change<F>(
    method: MethodFilter,
    answer: impl Fn(Request<Body>, App) -> F + Clone + Send + Sync + 'static,
) -> MethodRouter<App>
where
    F: Future<Output = Response<Body>> + Send,
{
    on(method, async move |State(app): State<App>, request: Request<Body>| {
        retry_and_replay::handle_change(&app, request, &answer).await
    })
}
