//! Operator commands. IAM decides who may invoke this function.
//!
//! Commands are idempotent, and each one writes a line to the log.

mod command;
mod outcome;

pub use command::{AdminCommand, NewStaff};
pub use outcome::{ActivationLink, CommandOutput, ErasedAgain, ListedCompany, UndeletedItem};

use shared::Result;
use shared::app::App;
use shared::auth::OperatorAccess;
use shared::http::wire::Uri;

/// Runs one command.
///
/// # Errors
/// Field errors for invalid arguments, taken names and missing accounts.
pub async fn handle(app: &App, command: AdminCommand) -> Result<CommandOutput> {
    let name = command.name();
    let company = command.company().map(str::to_owned);
    let outcome = command.run(&OperatorAccess::of(app)).await;
    match &outcome {
        Ok(done) => tracing::info!(
            target: "operator",
            command = name,
            company,
            customer = done.customer.as_ref().map(Uri::as_str),
            sessions_ended = done.ended.as_ref().map(|ended| ended.iter().map(Uri::as_str).collect::<Vec<_>>().join(" ")),
            drift = done.recount.as_ref().map(|recount| recount.drift.len()),
            erased_again = done.erased_again.as_ref().map(|done| done.erased),
            kept = done.erased_again.as_ref().map(|done| done.kept.len()),
            retried = done.retried.as_ref().map(|retried| retried.values().sum::<usize>()),
            entries_mended = done.search.as_ref().map(|search| search.added + search.removed),
            "done"
        ),
        Err(error) => tracing::warn!(target: "operator", command = name, company, %error, "refused"),
    }
    outcome
}
