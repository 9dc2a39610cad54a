//! Runs the effects that changes have recorded: sends mails, erases what deletions have left. Numbers the events that
//! changes have written. Fails uploads that never arrived.
//!
//! Effects are written in the transaction of their cause, so that none is lost. The table's stream delivers each at
//! once; the schedule picks up those that the stream missed and those that failed before.

mod account;
mod candidate;
mod deliver;
mod erasure;
mod numbering;
mod outcome;
mod reset;
mod stream;
mod sweep;
mod uploads;
mod webhook;

use serde::Serialize;
use shared::Result;
use shared::app::App;
use shared::auth::SystemAccess;
use shared::event::{ScheduleKind, TableEvent};

pub use stream::BatchItemFailures;
pub use sweep::SweepSummary;

/// The response to an event.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum OutboxResponse {
    /// The records that the stream must deliver again.
    Stream(BatchItemFailures),
    /// The result of a scheduled sweep.
    Sweep(SweepSummary),
}

/// Handles one event.
///
/// # Errors
/// If the storage cannot be read or a setting is missing.
pub async fn handle(app: &App, event: TableEvent) -> Result<OutboxResponse> {
    let answer = answer(&SystemAccess::of(app), event).await;
    if let Err(error) = &answer {
        tracing::error!(target: "outbox", %error, "an event failed");
    }
    answer
}

async fn answer(system: &SystemAccess, event: TableEvent) -> Result<OutboxResponse> {
    match event {
        TableEvent::Stream { records } => {
            let count = records.len();
            let failures = stream::handle(system, records).await?;
            let usage = system.usage();
            tracing::info!(
                target: "outbox",
                records = count,
                milliseconds = usage.elapsed().as_secs_f64() * 1000.0,
                dynamodb_calls = usage.calls(),
                read_units = usage.read_units(),
                write_units = usage.write_units(),
                "delivered",
            );
            Ok(OutboxResponse::Stream(failures))
        }
        TableEvent::Schedule { kind: ScheduleKind::Scheduled } => {
            Ok(OutboxResponse::Sweep(sweep::handle(system).await?))
        }
    }
}
