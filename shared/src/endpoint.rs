//! Derives from a handler's type how its route is answered and how the OpenAPI document describes it.

use std::future::Future;
use std::pin::Pin;

use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::http::ViewSchema;
use crate::http::body::known_names::Representation;
use crate::http::serve::unread::{RequestReads, refuse_unread};
use crate::openapi::{DescribeArgument, DescribeResponse, OperationDoc};

/// The future response of a route.
pub(crate) type PendingAnswer = Pin<Box<dyn Future<Output = Response> + Send>>;

/// A handler, whose types of arguments and response describe themselves. The first argument admits the request.
pub trait Endpoint<T>: Clone + Send + Sync + 'static {
    /// Whether the response is stored for retries with the same Idempotency-Key.
    const IS_ONCE: bool;

    /// The view that the route changes or returns. Bodies may contain its names.
    const REPRESENTATION: Option<ViewSchema>;

    /// The operation, as far as the types of arguments and response describe it.
    fn operation(summary: &'static str) -> OperationDoc;

    /// Answers a request: admits it, refuses unread parts, reads the other arguments and calls the handler.
    fn answer(self, request: Request, app: App) -> impl Future<Output = Response> + Send;
}

macro_rules! endpoints {
    ($(($first:ident $($rest:ident)*))*) => {
        $(
            // `Marker` is axum's, for arguments that read the body.
            impl<F, Fut, R, Marker, $first, $($rest),*> Endpoint<(Marker, $first, $($rest,)*)> for F
            where
                F: Fn($first, $($rest),*) -> Fut + Clone + Send + Sync + 'static,
                Fut: Future<Output = R> + Send,
                R: DescribeResponse + IntoResponse,
                $first: DescribeArgument + FromRequestParts<App> + Send,
                $($rest: DescribeArgument + Send,)*
                ($($rest,)*): FromRequest<App, Marker>,
            {
                const IS_ONCE: bool = R::IS_ONCE;

                const REPRESENTATION: Option<ViewSchema> = {
                    let view = R::SHOWS;
                    $(let view = or($rest::ACTS_ON, view);)*
                    view
                };

                fn operation(summary: &'static str) -> OperationDoc {
                    let mut operation = OperationDoc::new(summary, R::IS_ONCE, R::MAY_CREATE);
                    $first::describe(&mut operation);
                    $($rest::describe(&mut operation);)*
                    R::describe(&mut operation);
                    operation
                }

                #[expect(non_snake_case, reason = "the names of the types serve as those of the arguments")]
                async fn answer(self, request: Request, app: App) -> Response {
                    let (mut parts, body) = request.into_parts();
                    let admitted = $first::from_request_parts(&mut parts, &app).await;
                    let $first = match admitted.map_err(IntoResponse::into_response) {
                        Ok(admitted) => admitted,
                        Err(rejection) => return rejection,
                    };
                    let reads = RequestReads {
                        query: $first::READS_QUERY $(|| $rest::READS_QUERY)*,
                        body: $first::READS_BODY $(|| $rest::READS_BODY)*,
                        may_create: R::MAY_CREATE,
                    };
                    // Only after admission: a caller without the permission must not learn what the route accepts.
                    let request = match refuse_unread(Request::from_parts(parts, body), reads, &app).await {
                        Ok(request) => request,
                        Err(error) => return error.into_response(),
                    };
                    let read = <($($rest,)*)>::from_request(request, &app).await;
                    match read.map_err(IntoResponse::into_response) {
                        Ok(($($rest,)*)) => self($first, $($rest),*).await.into_response(),
                        Err(rejection) => rejection,
                    }
                }
            }
        )*
    };
}

endpoints! { (A) (A B) (A B C) }

const fn or(first: Option<ViewSchema>, second: Option<ViewSchema>) -> Option<ViewSchema> {
    if first.is_some() { first } else { second }
}

/// Lets `handler` answer requests without a body.
pub(crate) fn reads<H: Endpoint<T>, T: 'static>(
    handler: H,
) -> impl Fn(Request, App) -> PendingAnswer + Clone + Send + Sync + 'static {
    move |request, app| Box::pin(handler.clone().answer(request, app))
}

/// Lets `handler` answer requests with a body.
pub(crate) fn writes<H: Endpoint<T>, T: 'static>(
    handler: H,
) -> impl Fn(Request, App) -> PendingAnswer + Clone + Send + Sync + 'static {
    let representation = Representation::new(H::REPRESENTATION);
    move |mut request, app| {
        request.extensions_mut().insert(representation.clone());
        Box::pin(handler.clone().answer(request, app))
    }
}
