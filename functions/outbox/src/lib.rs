//! Does what changes have noted as still to be done: sends mails, deletes objects, notes erasures. Gives up uploads that never came.
//!
//! Effects are written in the transaction of their cause, so that none is lost. The table's stream brings each at once;
//! the schedule takes up those that the stream missed and those that failed before.

mod account;
mod candidate;
mod deliver;
mod fate;
mod reset;
mod stream;
mod sweep;
mod uploads;

use serde::{Deserialize, Serialize};
use shared::Result;
use shared::app::App;
use shared::auth::System;

pub use stream::{Failures, Record};
pub use sweep::Summary;

/// What invokes this function. An event that is neither fails.
#[derive(Deserialize)]
#[serde(untagged)]
pub enum Event {
    /// The table's stream.
    Stream {
        /// New items, some of them effects.
        #[serde(rename = "Records")]
        records: Vec<Record>,
    },
    /// The schedule.
    Schedule {
        /// What EventBridge calls it.
        #[serde(rename = "detail-type")]
        kind: ScheduleKind,
    },
}

/// The one kind of event by which EventBridge tells the time.
#[derive(Deserialize)]
pub enum ScheduleKind {
    /// A minute has passed.
    #[serde(rename = "Scheduled Event")]
    Scheduled,
}

/// What came of it.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Answer {
    /// The records that the stream must bring again.
    Stream(Failures),
    /// What the schedule's sweep did.
    Sweep(Summary),
}

/// Handles one event.
///
/// # Errors
/// When the storage cannot be read, or a setting is missing.
pub async fn handle(app: &App, event: Event) -> Result<Answer> {
    let answer = answer(&System::of(app), event).await;
    if let Err(error) = &answer {
        tracing::error!(target: "outbox", %error, "an event failed");
    }
    answer
}

async fn answer(system: &System, event: Event) -> Result<Answer> {
    match event {
        Event::Stream { records } => {
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
            Ok(Answer::Stream(failures))
        }
        Event::Schedule { kind: ScheduleKind::Scheduled } => Ok(Answer::Sweep(sweep::handle(system).await?)),
    }
}
