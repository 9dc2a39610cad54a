//! Sends events to webhooks.
//!
//! A webhook is a reader of the company's feed: its cursor is the number of the last event that it has passed. What is sent
//! next and how the endpoint is doing are two questions, answered by two pure functions:
//! [`next_task`](shared::domain::webhook::next_task) and [`EndpointHealth`](shared::domain::webhook::EndpointHealth).
//!
//! The table's stream starts runs when events are numbered and when the API asks for something; the schedule starts those
//! whose moment has come, that had no time to end, and that the stream missed.

mod deliver;
pub mod outgoing;
mod stream;
mod sweep;

use shared::app::App;
use shared::auth::SystemAccess;
use shared::domain::webhook::{AllowedTargets, is_public, is_public_or_own};
use shared::event::{ScheduleKind, TableEvent, TableResponse, leave_to_next_run};
use shared::store::SENDER_PATIENCE;
use shared::{Result, log_failure};

use deliver::{EventSender, RunKind};
use outgoing::{NameResolver, Outgoing, SystemResolver};
pub use sweep::DeliverySummary;

/// Handles one event.
///
/// # Errors
/// If the storage cannot be read or written.
pub async fn handle(app: &App, event: TableEvent) -> Result<TableResponse<DeliverySummary>> {
    handle_through(app, &outgoing(app, SystemResolver), event).await
}

/// Sends requests to the addresses that the settings allow.
pub fn outgoing(app: &App, resolver: impl NameResolver) -> Outgoing {
    let is_allowed = match app.config().webhook_targets {
        AllowedTargets::Public => is_public,
        AllowedTargets::AlsoThisComputer => is_public_or_own,
    };
    Outgoing::new(resolver, is_allowed)
}

/// Handles one event, with requests through `outgoing`.
///
/// # Errors
/// If the storage cannot be read or written.
pub async fn handle_through(
    app: &App,
    outgoing: &Outgoing,
    event: TableEvent,
) -> Result<TableResponse<DeliverySummary>> {
    let system = SystemAccess::of(app).with_patience(SENDER_PATIENCE);
    match event {
        TableEvent::Stream { records } => {
            let sender = EventSender::new(app, &system, outgoing, RunKind::Stream);
            Ok(TableResponse::Batch(stream::handle(&sender, &records).await))
        }
        TableEvent::Schedule { kind: ScheduleKind::Scheduled } => {
            let sender = EventSender::new(app, &system, outgoing, RunKind::Schedule);
            let summary = sweep::handle(&sender).await.inspect_err(|error| {
                log_failure!(target: "webhooks", error, "could not look for webhooks to serve");
            });
            leave_to_next_run(summary).map(TableResponse::Sweep)
        }
    }
}
