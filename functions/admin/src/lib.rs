//! What the operator does: commands that only those whom IAM lets invoke this function may give.
//!
//! Each command can be repeated without doing more than once, and leaves one line in the log.

mod command;
mod outcome;

pub use command::{Command, Person};
pub use outcome::{ActivationLink, ErasedAgain, Kept, ListedCompany, Outcome};

use shared::Result;
use shared::app::App;
use shared::auth::Operator;

/// Does what `command` says.
///
/// # Errors
/// Messages by field for what is wrong with the command, taken or missing.
pub async fn handle(app: &App, command: Command) -> Result<Outcome> {
    let name = command.name();
    let company = command.company().map(str::to_owned);
    let outcome = command.run(&Operator::of(app)).await;
    match &outcome {
        Ok(done) => tracing::info!(
            target: "operator",
            command = name,
            company,
            customer = done.customer,
            sessions_ended = done.ended.as_ref().map(|ended| ended.join(" ")),
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
