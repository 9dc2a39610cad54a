//! The results of scheduled invocations. [`invocation_summary!`](crate::invocation_summary!) names each figure once: for the
//! value, for the sum of the parts of an invocation, and for the line in the log.

use serde::Serialize;

use crate::error::{Error, Result};
use crate::store::{RequestUsage, VersionedItem};

/// A figure of an invocation.
pub trait InvocationFigure {
    /// Adds the figure of another part of the invocation.
    fn add(&mut self, other: Self);
}

/// How many there were.
impl InvocationFigure for usize {
    fn add(&mut self, other: Self) {
        *self += other;
    }
}

/// The longest time, in seconds.
impl InvocationFigure for i64 {
    fn add(&mut self, other: Self) {
        *self = other.max(*self);
    }
}

/// The result of a scheduled invocation.
pub trait InvocationSummary: Default + Serialize {
    /// Adds what another part of the invocation has done.
    fn add(&mut self, other: Self);

    /// The summary of an invocation that could not end, so that the next invocation goes on.
    fn unfinished() -> Self;

    /// Logs the end of an invocation with this `usage` of DynamoDB.
    fn log(&self, usage: &RequestUsage);

    /// Counts an item that another worker or a request has changed or deleted first.
    fn note_moved_on(&mut self);

    /// Counts and logs an item of this `work` that has failed.
    fn note_failure(&mut self, work: &str, company: &str, item: &str, error: &Error);

    /// Notes that work may remain for the next invocation.
    fn note_more(&mut self);

    /// The outcome of an item of this `work`. `None` if it has failed or something else was faster, which the summary then counts.
    fn note_result<T, O>(&mut self, work: &str, item: &VersionedItem<T>, result: Result<O>) -> Option<O> {
        result.inspect_err(|error| self.note_error(work, item, error)).ok()
    }

    /// Counts an item of this `work` that has no outcome. It stays due unless something else was faster.
    fn note_error<T>(&mut self, work: &str, item: &VersionedItem<T>, error: &Error) {
        if let Error::Changed | Error::NotFound = error {
            // The next invocation finds what has become of it.
            return self.note_moved_on();
        }
        let (company, item) = item.names_in_log();
        self.note_failure(work, company, &item, error);
    }
}

/// Makes a struct with these figures and those that all invocations have, which implements [`InvocationSummary`]. The lines that
/// it logs have this target, and the last one this message.
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
