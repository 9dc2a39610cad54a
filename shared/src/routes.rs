//! Route tables. Each group of endpoints writes one function over [`RouteReader`], with one line for each route. The
//! [`RouteGroup`] reads it to serve the routes, the [`ApiDocument`] to describe them.

use axum::http::Method;
use axum::routing::{MethodFilter, MethodRouter};

use crate::app::App;
use crate::config::VERSION_PATH;
use crate::endpoint::{Endpoint, reads, writes};
use crate::http::RouteGroup;
use crate::http::serve::routes::{change, get, post};
use crate::openapi::{ApiDocument, OperationDoc};

/// Declares methods of [`RouteReader`], each with its HTTP method and an expression that serves the handler, whose type
/// is `H`.
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

/// A reader of route tables.
///
/// Every route has a handler and a function that documents it. A reader calls one of the two, so a Lambda function does
/// not contain its documentation.
///
/// The `summary` of a route is a verb and its object, such as `List labels`. The operation's identifier follows from it
/// (`listLabels`), so it is part of generated clients. `document` adds what the handler's types do not show.
pub trait RouteReader: Sized {
    /// Begins a group: its title, and in Markdown what its routes are for.
    fn group(self, title: &'static str, text: &'static str) -> Self;

    /// Sets the start of the following routes' paths, such as `/companies/{companyId}/labels/`. Without it, they are
    /// whole paths below the version segment.
    fn under(self, base: &'static str) -> Self;

    /// Adds a route. Its path follows the base and ends in a slash.
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

        /// Adds a POST route. If the handler answers by `commit` or `run_once`, clients may repeat the request with
        /// an Idempotency-Key; otherwise the key is ignored, and repeating the request must be harmless.
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
