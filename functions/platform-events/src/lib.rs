//! Takes in what the platform's other parts report over the bus: interviews that were completed or broken off, and
//! evaluations; and what SES reports of mails.
//!
//! An event may come twice, late, or before one that it follows from.

mod event;
mod feedback;

use serde::Serialize;
use shared::app::App;
use shared::auth::System;
use shared::domain::candidate::Candidate;
use shared::domain::report::Report;
use shared::http::reference::References;
use shared::{Error, Result};

pub use event::Event;

/// How often an event is tried while others change the same candidate.
const TRIES: usize = 8;

/// What an event came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The candidate, or the customer, has changed.
    Applied,
    /// It was taken in before.
    Known,
    /// It changes nothing as they stand, or they are gone.
    Ignored,
}

/// Handles one event.
///
/// # Errors
/// Messages by field when the event is malformed; when the storage fails. The bus brings the event again, and after some
/// tries puts it aside for the operator.
pub async fn handle(app: &App, event: Event) -> Result<Outcome> {
    let id = event.id.clone();
    let kind = event.kind.clone();
    let system = System::of(app);
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

async fn apply(system: &System, event: Event) -> Result<Outcome> {
    if event.is_of_mail() {
        return feedback::take(system, event.detail()?).await;
    }
    let event = event.read(References::new(system.config()))?;
    let customer = match event.report {
        Report::Evaluated { customer, .. } => Some(customer),
        Report::Completed | Report::Aborted => None,
    };
    let (company, project, candidate) = &event.candidate;
    for _ in 0..TRIES {
        let found = system.store.reported(&event.id, (company, *project, *candidate), customer).await?;
        if found.is_known {
            return Ok(Outcome::Known);
        }
        if customer.is_some() && !found.knows_customer {
            return Err(Error::field("customer", "There is no such customer in the candidate's company."));
        }
        let (Some(before), Some(project)) = (found.candidate, found.project) else {
            return Ok(Outcome::Ignored);
        };
        let mut roster = project.roster.clone();
        let after = Candidate::clone(&before).after_report(event.report, &mut roster, event.at)?;
        let Some(after) = after else { return Ok(Outcome::Ignored) };
        let taken = system
            .commit(system.store.take_report(&event.id, (&before, after), (&project, roster), system.now))
            .await;
        match taken {
            Ok(()) => return Ok(Outcome::Applied),
            Err(Error::Changed | Error::NotFound) => {}
            Err(error) => return Err(error),
        }
    }
    Err(Error::Changed)
}
