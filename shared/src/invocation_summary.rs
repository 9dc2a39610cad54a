//! The results of scheduled invocations. [`invocation_summary!`](crate::invocation_summary!) generates the field, the sum
//! and the log line of each figure from one declaration.

use serde::Serialize;

use crate::error::{Error, Result};
use crate::store::{RequestUsage, VersionedItem};

/// A figure in the summary of an invocation.
pub trait InvocationFigure {
    /// Merges the figure of another part of the invocation.
    fn add(&mut self, other: Self);
}

/// Counts are added.
impl InvocationFigure for usize {
    fn add(&mut self, other: Self) {
        *self += other;
    }
}

/// Times in seconds: the longest is kept.
impl InvocationFigure for i64 {
    fn add(&mut self, other: Self) {
        *self = other.max(*self);
    }
}

/// The result of a scheduled invocation.
pub trait InvocationSummary: Default + Serialize {
    /// Merges the summary of another part of the invocation.
    fn add(&mut self, other: Self);

    /// The summary of an invocation that could not finish: work remains for the next one.
    fn unfinished() -> Self;

    /// Logs the end of an invocation. `usage` is its use of DynamoDB.
    fn log(&self, usage: &RequestUsage);

    /// Counts an item that another worker or a request has changed or deleted first.
    fn note_moved_on(&mut self);

    /// Counts and logs a failed item. `work` is the name of the work in the log.
    fn note_failure(&mut self, work: &str, company: &str, item: &str, error: &Error);

    /// Records that work may remain for the next invocation.
    fn note_more(&mut self);

    /// Returns the outcome of an item. If it is an error, counts it like [`note_error`](Self::note_error) and returns `None`.
    fn note_result<T, O>(&mut self, work: &str, item: &VersionedItem<T>, result: Result<O>) -> Option<O> {
        result.inspect_err(|error| self.note_error(work, item, error)).ok()
    }

    /// Counts an item with an error: as moved on if a concurrent change was faster, else as failed, so that it stays due.
    fn note_error<T>(&mut self, work: &str, item: &VersionedItem<T>, error: &Error) {
        if let Error::Changed | Error::NotFound = error {
            // The next invocation reads the item's new state.
            return self.note_moved_on();
        }
        let (company, item) = item.names_in_log();
        self.note_failure(work, company, &item, error);
    }
}

/// Declares a struct with these figures and the common ones, and implements [`InvocationSummary`] for it. `$target` is the
/// target of its log lines, `$message` the message of the last one.
#[macro_export]
macro_rules! invocation_summary {
    (
        $target:literal, $message:literal;
        $(#[$about:meta])*
        pub struct $name:ident {
            $($(#[$doc:meta])* pub $figure:ident: $kind:ty,)+
        }
    ) => {
        $(#[$about])*
        #[derive(Debug, Default, Clone, Copy, PartialEq, Eq, ::serde::Serialize)]
        pub struct $name {
            $($(#[$doc])* pub $figure: $kind,)+
            /// Items that another worker or a request has changed or deleted first.
            pub moved_on: usize,
            /// Items that have failed; they stay due.
            pub failed: usize,
            /// Whether work may remain for the next invocation.
            pub more: bool,
        }

        impl $crate::invocation_summary::InvocationSummary for $name {
            fn add(&mut self, other: Self) {
                $($crate::invocation_summary::InvocationFigure::add(&mut self.$figure, other.$figure);)+
                self.moved_on += other.moved_on;
                self.failed += other.failed;
                self.more |= other.more;
            }

            fn unfinished() -> Self {
                Self { more: true, ..Self::default() }
            }

            fn log(&self, usage: &$crate::store::RequestUsage) {
                $crate::log_invocation!(
                    target: $target, usage, $($figure = self.$figure,)+
                    moved_on = self.moved_on, failed = self.failed, more = self.more, $message
                );
            }

            fn note_moved_on(&mut self) {
                self.moved_on += 1;
            }

            fn note_failure(&mut self, work: &str, company: &str, item: &str, error: &$crate::Error) {
                $crate::log_failure!(target: $target, error, work, company, item, "due work has failed");
                self.failed += 1;
            }

            fn note_more(&mut self) {
                self.more = true;
            }
        }
    };
}
