//! The results of scheduled runs. [`run_summary!`](crate::run_summary!) names each figure once: for the value, for the sum of the parts of
//! a run, and for the line in the log.

use serde::Serialize;

use crate::store::RequestUsage;

/// A figure of a run.
pub trait RunFigure {
    /// Adds the figure of another part of the run.
    fn add(&mut self, other: Self);
}

/// How many there were.
impl RunFigure for usize {
    fn add(&mut self, other: Self) {
        *self += other;
    }
}

/// The longest time, in seconds.
impl RunFigure for i64 {
    fn add(&mut self, other: Self) {
        *self = other.max(*self);
    }
}

/// Whether there was any.
impl RunFigure for bool {
    fn add(&mut self, other: Self) {
        *self |= other;
    }
}

/// The result of a scheduled run.
pub trait RunSummary: Default + Serialize {
    /// Adds what another part of the run has done.
    fn add(&mut self, other: Self);

    /// The summary of a run that could not end, so that the next run goes on.
    fn unfinished() -> Self;

    /// Logs the end of a run with this `usage` of DynamoDB.
    fn log(&self, usage: &RequestUsage);
}

/// Makes a struct with these figures, among them `more`, which implements [`RunSummary`]. The line that it logs has this target and
/// this message.
#[macro_export]
macro_rules! run_summary {
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
        }

        impl $crate::run_summary::RunSummary for $name {
            fn add(&mut self, other: Self) {
                $($crate::run_summary::RunFigure::add(&mut self.$figure, other.$figure);)+
            }

            fn unfinished() -> Self {
                Self { more: true, ..Self::default() }
            }

            fn log(&self, usage: &$crate::store::RequestUsage) {
                $crate::log_run!(target: $target, usage, $($figure = self.$figure,)+ $message);
            }
        }
    };
}
