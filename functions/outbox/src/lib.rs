//! Runs the effects that changes have recorded: sends mails, erases what deletions have left, starts conversions.
//! Assigns numbers to events. Notifies staff of ended interviews and requests for help, and reminds them of
//! evaluations. Fails uploads that never arrived.
//!
//! Effects are written in the transaction of their cause, so that none is lost. The table's stream delivers each at
//! once; the schedule retries failed effects and runs those that the stream missed.

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

/// The time limit of a scheduled invocation; the next one continues.
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

/// Does the schedule's work for this time, but at least one step of each kind.
///
/// # Errors
/// If the storage cannot be read.
pub async fn sweep(app: &App, time: Duration) -> Result<SweepSummary> {
    sweep::handle(&SystemAccess::of(app), time).await
}
