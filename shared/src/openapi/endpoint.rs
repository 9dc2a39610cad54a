//! What the document derives from the type of a handler.

use axum::handler::Handler;

use super::answer::DescribeResponse;
use super::argument::DescribeArgument;
use super::operation::OperationDoc;
use crate::app::App;

/// A handler whose arguments and answer describe themselves.
pub trait DescribeHandler<T>: Handler<T, App> {
    /// Whether the answer is stored for repeats with the same Idempotency-Key.
    const IS_ONCE: bool;

    /// The operation, as far as arguments and answer describe it.
    fn operation(summary: &'static str) -> OperationDoc;
}

macro_rules! endpoints {
    ($(($($argument:ident)*))*) => {
        $(
            // The kind of extractor is axum's mark on the type of a handler.
            impl<F, Fut, R, Kind, $($argument),*> DescribeHandler<(Kind, $($argument,)*)> for F
            where
                F: Fn($($argument),*) -> Fut + Handler<(Kind, $($argument,)*), App>,
                Fut: Future<Output = R>,
                R: DescribeResponse,
                $($argument: DescribeArgument,)*
            {
                const IS_ONCE: bool = R::IS_ONCE;

                fn operation(summary: &'static str) -> OperationDoc {
                    let mut operation = OperationDoc::new(summary, R::IS_ONCE);
                    $($argument::describe(&mut operation);)*
                    R::describe(&mut operation);
                    operation
                }
            }
        )*
    };
}

endpoints! { (A) (A B) (A B C) }
