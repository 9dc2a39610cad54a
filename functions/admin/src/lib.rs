//! Operator commands. IAM decides who may invoke this function.
//!
//! Commands are idempotent, and each one writes a line to the log.

mod command;
pub mod export;
pub mod import;
pub mod restore;

pub use command::{AdminCommand, NewStaff, OperatorCommand};

use std::fmt;
use std::ops::Deref;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use shared::Result;
use shared::app::App;
use shared::auth::OperatorAccess;

/// The time limit of one program run, all calls together.
// Exports and imports of large companies take hours. Without a limit, a program would hang unnoticed.
const PATIENCE: Duration = Duration::from_secs(3 * 24 * 60 * 60);

/// The output of a command: a JSON object with a member for each part.
#[derive(Serialize)]
#[serde(transparent)]
pub struct CommandOutput(Value);

impl Deref for CommandOutput {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.0
    }
}

// Not derived: the output may hold an activation link, which must not be logged.
impl fmt::Debug for CommandOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CommandOutput(…)")
    }
}

/// Runs one command.
///
/// # Errors
/// Field errors for invalid arguments, taken names and missing accounts.
pub async fn handle(app: &App, command: OperatorCommand) -> Result<CommandOutput> {
    let OperatorCommand { name, company, command } = command;
    let output = command.run(&OperatorAccess::of(app), company.as_deref()).await;
    match &output {
        // Log chosen fields only: the output may hold an activation link.
        Ok(output) => tracing::info!(
            target: "operator",
            command = name,
            company,
            customer = output["customer"].as_str(),
            sessions_ended = output["ended"].as_array().map(|ended| words(ended)),
            freed = output["freed"].as_array().map(|freed| words(freed)),
            erasure_step = output["erasure"]["step"].as_str(),
            is_test = output["is_test"].as_bool(),
            drift = output["recount"]["drift"].as_array().map(Vec::len),
            erased_again = output["erased_again"]["erased"].as_u64(),
            kept = output["erased_again"]["kept"].as_array().map(Vec::len),
            retried = output["retried"]
                .as_object()
                .map(|by_work| by_work.values().filter_map(|count| count.as_u64()).sum::<u64>()),
            entries_added = output["search"]["added"].as_u64(),
            entries_removed = output["search"]["removed"].as_u64(),
            "done"
        ),
        Err(error) => tracing::warn!(target: "operator", command = name, company, %error, "refused"),
    }
    output.map(CommandOutput)
}

fn words(texts: &[Value]) -> String {
    texts.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")
}
