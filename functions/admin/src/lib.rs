//! What the operator does: commands that only those whom IAM lets invoke this function may give.
//!
//! Each command is idempotent or refused, and leaves one line in the log.

mod command;

pub use command::{Command, Outcome, Person};

use shared::Result;
use shared::app::App;
use shared::auth::guard::Operator;

/// Does what `command` says.
///
/// # Errors
/// Messages by field for what is wrong with the command, taken or missing.
pub async fn handle(app: &App, command: Command) -> Result<Outcome> {
    let name = command.name();
    let outcome = command.run(&Operator::of(app)).await;
    match &outcome {
        Ok(done) => tracing::info!(target: "operator", command = name, company = done.company, "done"),
        Err(error) => tracing::warn!(target: "operator", command = name, %error, "refused"),
    }
    outcome
}
