//! Applies interviews and evaluations that other parts of the platform report, and bounces and complaints that SES
//! reports.
//!
//! Events may be duplicated, late or out of order.

mod event;
mod feedback;

use serde::Serialize;
use shared::app::App;
use shared::auth::SystemAccess;
use shared::domain::candidate::Candidate;
use shared::domain::report::PlatformReport;
use shared::http::reference::ReferenceUris;
use shared::{Error, Result};

pub use event::BusEvent;
use event::CandidateEvent;

/// The result of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EventOutcome {
    /// The candidate or customer has changed.
    Applied,
    /// A duplicate.
    Known,
    /// Nothing to change in the current state, or the candidate or customer was deleted.
    Ignored,
}

/// Handles one event.
///
/// # Errors
/// Field errors if the event is malformed; storage failures. The event is retried and, after some tries, becomes a dead
/// letter.
pub async fn handle(app: &App, event: BusEvent) -> Result<EventOutcome> {
    let id = event.id.clone();
    let kind = event.kind.clone();
    let system = SystemAccess::of(app).in_event(&id);
    let outcome = apply(&system, event).await;
    let usage = system.usage();
    match &outcome {
        Ok(outcome) => tracing::info!(
            target: "platform-events",
            event = id,
            kind,
            ?outcome,
            milliseconds = usage.elapsed().as_secs_f64() * 1000.0,
            dynamodb_calls = usage.calls(),
            read_units = usage.read_units(),
            write_units = usage.write_units(),
        ),
        Err(error) => tracing::error!(target: "platform-events", event = id, kind, %error, "not taken in"),
    }
    outcome
}

async fn apply(system: &SystemAccess, event: BusEvent) -> Result<EventOutcome> {
    if event.is_from_ses() {
        return feedback::apply_feedback(system, event.detail()?).await;
    }
    let event = event.read(ReferenceUris::new(system.config()))?;
    system.store.retry_on_conflict(|| apply_event(system, &event)).await
}

async fn apply_event(system: &SystemAccess, event: &CandidateEvent) -> Result<EventOutcome> {
    let customer = match event.report {
        PlatformReport::Evaluated { customer, .. } => Some(customer),
        PlatformReport::Completed | PlatformReport::Aborted => None,
    };
    let (company, project, candidate) = &event.candidate;
    let found =
        system.store.load_report_subject(&event.id, (company, *project, *candidate), customer).await?;
    if found.is_known {
        return Ok(EventOutcome::Known);
    }
    // A dead letter, which the operator sees: the platform knows a customer that this service does not.
    if customer.is_some() && !found.knows_customer {
        return Err(Error::field("customer", "There is no such customer in the candidate's company."));
    }
    let (Some(before), Some(project)) = (found.candidate, found.project) else {
        return Ok(EventOutcome::Ignored);
    };
    let mut evaluator_index = project.evaluator_index.clone();
    let after = Candidate::clone(&before).after_report(event.report, &mut evaluator_index, event.at)?;
    let Some(after) = after else { return Ok(EventOutcome::Ignored) };
    let transaction =
        system.store.apply_report(&event.id, (&before, after), (&project, evaluator_index), system.now);
    system.commit(transaction).await.map(|()| EventOutcome::Applied)
}
