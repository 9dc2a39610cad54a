//! Route tables. Each group of endpoints writes one function over [`RouteReader`], with one line for each route. The
//! [`RouteGroup`] reads it to serve the routes, the [`ApiDocument`] to describe them.

use axum::http::Method;
use axum::routing::{MethodFilter, MethodRouter, get};

use crate::app::App;
use crate::config::VERSION_PATH;
use crate::http::RouteGroup;
use crate::http::serve::routes::{change, post};
use crate::openapi::{ApiDocument, DescribeHandler, OperationDoc};

/// A reader of route tables.
///
/// Every route has a handler and a function that documents it. A reader calls one of the two, so a Lambda function does
/// not contain its documentation.
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

    /// Adds a GET route, which also answers HEAD.
    ///
    /// `summary` is a verb and its object, such as `List labels`. The operation's identifier follows from it
    /// (`listLabels`), so it is part of generated clients. `document` adds the rest of the description.
    fn get<H: DescribeHandler<T>, T: 'static>(
        self,
        path: &'static str,
        handler: H,
        summary: &'static str,
        document: impl FnOnce(OperationDoc) -> OperationDoc,
    ) -> Self {
        self.add(Method::GET, path, || get(handler), || document(H::operation(summary)))
    }

    /// Adds a POST route. If the handler answers by `commit` or `run_once`, clients may repeat the request with
    /// an Idempotency-Key; otherwise the key is ignored, and repeating the request must be harmless.
    fn post<H: DescribeHandler<T>, T: 'static>(
        self,
        path: &'static str,
        handler: H,
        summary: &'static str,
        document: impl FnOnce(OperationDoc) -> OperationDoc,
    ) -> Self {
        self.add(Method::POST, path, || post(handler, H::IS_ONCE), || document(H::operation(summary)))
    }

    /// Adds a PUT route.
    fn put<H: DescribeHandler<T>, T: 'static>(
        self,
        path: &'static str,
        handler: H,
        summary: &'static str,
        document: impl FnOnce(OperationDoc) -> OperationDoc,
    ) -> Self {
        self.add(Method::PUT, path, || change(MethodFilter::PUT, handler), || document(H::operation(summary)))
    }

    /// Adds a PATCH route.
    fn patch<H: DescribeHandler<T>, T: 'static>(
        self,
        path: &'static str,
        handler: H,
        summary: &'static str,
        document: impl FnOnce(OperationDoc) -> OperationDoc,
    ) -> Self {
        self.add(
            Method::PATCH,
            path,
            || change(MethodFilter::PATCH, handler),
            || document(H::operation(summary)),
        )
    }

    /// Adds a DELETE route.
    fn delete<H: DescribeHandler<T>, T: 'static>(
        self,
        path: &'static str,
        handler: H,
        summary: &'static str,
        document: impl FnOnce(OperationDoc) -> OperationDoc,
    ) -> Self {
        self.add(
            Method::DELETE,
            path,
            || change(MethodFilter::DELETE, handler),
            || document(H::operation(summary)),
        )
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
