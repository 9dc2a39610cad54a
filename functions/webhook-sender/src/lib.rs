//! Sends events to webhooks.
//!
//! A webhook reads the company's feed: its cursor is the number of the last event that it has passed. Two pure
//! functions decide what is sent next and judge the endpoint's health:
//! [`next_task`](shared::domain::webhook::next_task) and [`EndpointHealth`](shared::domain::webhook::EndpointHealth).
//!
//! The table's stream starts turns when events are numbered and when the API requests deliveries. The schedule starts
//! turns that are due, that ran out of time, or that the stream missed.

mod deliver;
mod stream;
mod sweep;

use shared::app::App;
use shared::auth::SystemAccess;
use shared::event::{ScheduleKind, TableEvent, TableResponse, leave_to_next_invocation};
use shared::outgoing::{Outgoing, SystemResolver};
use shared::store::SENDER_PATIENCE;
use shared::{Result, log_failure};

use deliver::{InvocationKind, SenderInvocation};
pub use sweep::DeliverySummary;

/// Handles one event.
///
/// # Errors
/// If the storage cannot be read or written.
pub async fn handle(app: &App, event: TableEvent) -> Result<TableResponse<DeliverySummary>> {
    handle_through(app, &Outgoing::of(app, SystemResolver), event).await
}

/// Handles one event, and sends its requests through `outgoing`.
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
            let invocation = SenderInvocation::new(app, &system, outgoing, InvocationKind::Stream);
            Ok(TableResponse::Batch(stream::handle(&invocation, &records).await))
        }
        TableEvent::Schedule { kind: ScheduleKind::Scheduled } => {
            let invocation = SenderInvocation::new(app, &system, outgoing, InvocationKind::Schedule);
            let summary = sweep::handle(&invocation).await.inspect_err(|error| {
                log_failure!(target: "webhooks", error, "could not look for webhooks to serve");
            });
            leave_to_next_invocation(summary).map(TableResponse::Sweep)
        }
    }
}
