//! Route tables. Each group of endpoints has one function that is generic over [`RouteReader`], with one line for each
//! route. [`RouteGroup`] implements the trait to serve the routes, [`ApiDocument`] to describe them.

use axum::http::Method;
use axum::routing::{MethodFilter, MethodRouter};

use crate::app::App;
use crate::config::VERSION_PATH;
use crate::endpoint::{Endpoint, reads, writes};
use crate::http::RouteGroup;
use crate::http::serve::routes::{change, get, post};
use crate::openapi::{ApiDocument, OperationDoc};

/// Declares methods of [`RouteReader`]: for each, its HTTP method and an expression that serves a handler of type `H`.
macro_rules! route_methods {
    ($($(#[$doc:meta])* $name:ident: $method:ident, |$handler:ident| $serve:expr;)*) => {
        $(
            $(#[$doc])*
            fn $name<H: Endpoint<T>, T: 'static>(
                self,
                path: &'static str,
                $handler: H,
                summary: &'static str,
                document: impl FnOnce(OperationDoc) -> OperationDoc,
            ) -> Self {
                self.add(Method::$method, path, || $serve, || document(H::operation(summary)))
            }
        )*
    };
}

/// Consumes a route table: the router takes the handlers, the OpenAPI generator the documentation.
///
/// Each route has a handler and a function that documents it. Each implementation uses only one of the two, so a Lambda
/// function does not contain the documentation.
///
/// The `summary` of a route is a verb and its object, such as `List labels`. The operation's identifier, here `listLabels`, is made
/// from the summary, so the summary is part of generated clients. `document` adds what the handler's types do not show.
pub trait RouteReader: Sized {
    /// Begins a group with this title; `text` describes its routes in Markdown.
    fn group(self, title: &'static str, text: &'static str) -> Self;

    /// Sets the prefix of the following routes' paths, such as `/companies/{companyId}/labels/`. Without a prefix,
    /// paths start after `/api/v3`.
    fn under(self, base: &'static str) -> Self;

    /// Adds a route. Its path is appended to the prefix and ends in a slash.
    fn add(
        self,
        method: Method,
        path: &'static str,
        serve: impl FnOnce() -> MethodRouter<App>,
        describe: impl FnOnce() -> OperationDoc,
    ) -> Self;

    route_methods! {
        /// Adds a GET route, which also answers HEAD.
        get: GET, |handler| get(reads(handler));

        /// Adds a POST route. If the handler responds with `commit` or `run_once`, clients may retry with an
        /// Idempotency-Key. Otherwise the key is ignored, and a retry must be harmless.
        post: POST, |handler| post(writes(handler), H::IS_ONCE);

        /// Adds a PUT route.
        put: PUT, |handler| change(MethodFilter::PUT, writes(handler));

        /// Adds a PATCH route.
        patch: PATCH, |handler| change(MethodFilter::PATCH, writes(handler));

        /// Adds a DELETE route.
        delete: DELETE, |handler| change(MethodFilter::DELETE, reads(handler));
    }
}

impl RouteReader for RouteGroup {
    fn group(self, _: &'static str, _: &'static str) -> Self {
        self
    }

    fn under(self, base: &'static str) -> Self {
        Self { base, ..self }
    }

    fn add(
        self,
        _: Method,
        path: &'static str,
        serve: impl FnOnce() -> MethodRouter<App>,
        _: impl FnOnce() -> OperationDoc,
    ) -> Self {
        let path = [VERSION_PATH, self.base, path].concat();
        Self { routes: self.routes.route(&path, serve()), ..self }
    }
}

impl RouteReader for ApiDocument {
    fn group(mut self, title: &'static str, text: &'static str) -> Self {
        self.add_group(title, text);
        self
    }

    fn under(mut self, base: &'static str) -> Self {
        self.base = base;
        self
    }

    fn add(
        mut self,
        method: Method,
        path: &'static str,
        _: impl FnOnce() -> MethodRouter<App>,
        describe: impl FnOnce() -> OperationDoc,
    ) -> Self {
        let path = [self.base, path].concat();
        self.add_operation(&method, path, describe());
        self
    }
}
