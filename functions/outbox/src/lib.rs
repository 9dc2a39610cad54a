//! Runs the effects that changes have recorded: sends mails, erases what deletions have left, has recordings converted. Numbers
//! the events that changes have written. Has staff told of interviews that have ended and of what candidates ask for, and reminded of their
//! evaluations. Fails uploads that never arrived.
//!
//! Effects are written in the transaction of their cause, so that none is lost. The table's stream delivers each at
//! once; the schedule picks up those that the stream missed and those that failed before.

mod deliver;
mod erasure;
mod help;
mod mails;
mod notices;
mod numbering;
mod outcome;
mod recordings;
mod reminders;
mod stream;
mod sweep;
mod takes;
mod tokens;
mod uploads;
mod videos;

use std::time::Duration;

use shared::app::App;
use shared::auth::SystemAccess;
use shared::event::{ScheduleKind, TableEvent, TableResponse, leave_to_next_invocation};
use shared::{Error, Result, log_failure};

pub use outcome::SweepSummary;

/// The duration of one invocation of the schedule; the next one continues.
const RUN: Duration = Duration::from_secs(40);

/// Handles one event.
///
/// # Errors
/// If the storage cannot be read or a setting is missing.
pub async fn handle(app: &App, event: TableEvent) -> Result<TableResponse<SweepSummary>> {
    let system = SystemAccess::of(app);
    let log = |error: &Error| log_failure!(target: "outbox", error, "could not handle the event");
    match event {
        TableEvent::Stream { records } => {
            stream::handle(&system, &records).await.inspect_err(log).map(TableResponse::Batch)
        }
        TableEvent::Schedule { kind: ScheduleKind::Scheduled } => {
            let summary = sweep::handle(&system, RUN).await.inspect_err(log);
            leave_to_next_invocation(summary).map(TableResponse::Sweep)
        }
    }
}

/// Does what the stream has missed for this time: a step of each kind of work at least.
///
/// # Errors
/// If the storage cannot be read.
pub async fn sweep(app: &App, time: Duration) -> Result<SweepSummary> {
    sweep::handle(&SystemAccess::of(app), time).await
}
