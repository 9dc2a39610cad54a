//! Sends events to webhooks.
//!
//! A webhook is a reader of the company's feed: its position is the number of the last event that it has passed. A run
//! takes steps. Each reads how far the deliveries to one endpoint have come, leases the endpoint, sends some events and
//! writes the outcome, all in one transaction. A run that breaks off repeats its last step at most.
//!
//! The table's stream starts runs when events are numbered and when the API asks for something; the schedule starts those
//! whose moment has come, that had no time to end, and that the stream missed.

mod attempt;
mod feed;
mod lanes;
mod orders;
pub mod outgoing;
mod run;
mod step;
mod stream;
mod sweep;

use std::time::Duration;

use shared::Result;
use shared::app::App;
use shared::auth::System;
use shared::domain::webhook::{Targets, is_public};
use shared::event::{ScheduleKind, TableEvent};

use outgoing::{Outgoing, Resolve, SystemResolver};
use run::Sender;
pub use sweep::Summary;

/// How long a run that the stream has started takes up something new: others wait behind it.
const STREAM_RUN: Duration = Duration::from_secs(10);
/// How long a run of the schedule takes up something new. A request may follow that takes 15 seconds.
const SCHEDULE_RUN: Duration = Duration::from_secs(40);

/// How long the storage may be busy: the function has a minute.
const PATIENCE: Duration = Duration::from_secs(55);

/// Handles one event.
///
/// # Errors
/// If the storage cannot be read or written.
pub async fn handle(app: &App, event: TableEvent) -> Result<Summary> {
    handle_through(app, &outgoing(app, SystemResolver), event).await
}

/// Sends requests to the addresses that the settings allow.
pub fn outgoing(app: &App, resolver: impl Resolve) -> Outgoing {
    let is_allowed = match app.config().webhook_targets {
        Targets::Public => is_public,
        Targets::Any => |_| true,
    };
    Outgoing::new(resolver, is_allowed)
}

/// Handles one event, with requests through `outgoing`.
///
/// # Errors
/// If the storage cannot be read or written.
pub async fn handle_through(app: &App, outgoing: &Outgoing, event: TableEvent) -> Result<Summary> {
    let system = System::of(app).with_patience(PATIENCE);
    let sender = |time| Sender::new(app, &system, outgoing, time);
    let outcome = match event {
        TableEvent::Stream { records } => stream::handle(&sender(STREAM_RUN), records).await,
        TableEvent::Schedule { kind: ScheduleKind::Scheduled } => sweep::handle(&sender(SCHEDULE_RUN)).await,
    };
    if let Err(error) = &outcome {
        tracing::error!(target: "webhooks", %error, "an event failed");
    }
    outcome
}
