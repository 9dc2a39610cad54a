//! Applies interviews and evaluations reported by other parts of the platform, and bounces and complaints reported by
//! SES.
//!
//! Events may be duplicated, late or out of order.

mod event;
mod feedback;

use shared::app::App;
use shared::auth::SystemAccess;
use shared::domain::candidate::Candidate;
use shared::domain::transition::report::PlatformReport;
use shared::event::RecordOutcome;
use shared::http::reference::ReferenceUris;
use shared::store::RetryPolicy;
use shared::{Error, Result, log_failure, log_invocation};

pub use event::BusEvent;
use event::CandidateEvent;

/// Processes one event.
///
/// # Errors
/// Field errors if the event is malformed, [`Error::NotStarted`] if its company was imported and has not started, or
/// storage errors. The event is retried and becomes a dead letter after some attempts.
pub async fn process(app: &App, event: BusEvent) -> Result<RecordOutcome> {
    let id = event.id.clone();
    let kind = event.kind.clone();
    let system = SystemAccess::of(app).in_event(&id);
    let outcome = apply(&system, event).await;
    match &outcome {
        Ok(outcome) => {
            log_invocation!(target: "platform-events", system.usage(), event = id, kind, ?outcome, "processed");
        }
        Err(error @ (Error::Fields(_) | Error::NotStarted)) => {
            tracing::warn!(target: "platform-events", event = id, kind, %error, "the event is not acceptable");
        }
        Err(error) => {
            log_failure!(target: "platform-events", error, event = id, kind, "could not apply the event");
        }
    }
    outcome
}

async fn apply(system: &SystemAccess, event: BusEvent) -> Result<RecordOutcome> {
    if event.is_from_ses() {
        return feedback::apply_feedback(system, event.detail()?).await;
    }
    let event = event.read(ReferenceUris::new(system.config()))?;
    system.store.retry_on_conflict(RetryPolicy::CHANGE, || apply_event(system, &event)).await
}

async fn apply_event(system: &SystemAccess, event: &CandidateEvent) -> Result<RecordOutcome> {
    let customer = match event.report {
        PlatformReport::Evaluated { customer, .. } => Some(customer),
        PlatformReport::Completed | PlatformReport::Aborted => None,
    };
    let (company, project, candidate) = &event.candidate;
    let found = system.store.load_report_subject(&event.id, company, *project, *candidate, customer).await?;
    if found.is_known {
        return Ok(RecordOutcome::Duplicate);
    }
    // Becomes a dead letter, which the operator redrives after the start: nothing of the company may change before.
    if found.awaits_start {
        return Err(Error::NotStarted);
    }
    // Becomes a dead letter, so that the operator notices a customer that only the platform knows.
    if customer.is_some() && !found.knows_customer {
        return Err(Error::field("customer", "There is no such customer in the candidate's company."));
    }
    let (Some(before), Some(project)) = (found.candidate, found.project) else {
        return Ok(RecordOutcome::Ignored);
    };
    let mut evaluator_index = project.evaluator_index.clone();
    let change = Candidate::clone(&before).after_report(event.report, &mut evaluator_index, event.at)?;
    let Some(change) = change else { return Ok(RecordOutcome::Ignored) };
    let ends = matches!(event.report, PlatformReport::Completed | PlatformReport::Aborted);
    let ends_here = ends && before.interview.is_some();
    let mut transaction =
        system.store.apply_report(&event.id, &before, &change, &project, evaluator_index, system.now);
    if ends_here {
        let (_, answers) = system.store.interview_of(&before).await?;
        let ended = system.end_answers(&answers).await?;
        transaction = transaction.with_final_answers(&answers, &ended, system.now);
    }
    system.commit(transaction).await.map(|()| RecordOutcome::Applied)
}
