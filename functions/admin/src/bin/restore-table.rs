//! Takes a table back to what another table holds. `.ci/deploy/restore.py` runs it, with the service stopped for `apply`.
//!
//! Usage: restore-table prepare|apply LIVE RESTORED FOLDER, with AWS's variables for region and credentials. Progress goes to
//! standard error, the result to standard output, in JSON.

use std::io::{Write as _, stdout};
use std::path::Path;
use std::process::ExitCode;

use admin::restore::TableRestore;
use serde_json::json;
use shared::config::AwsConfig;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("restore-table: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [step, live, restored, folder] = arguments.as_slice() else {
        return Err("usage: restore-table prepare|apply LIVE RESTORED FOLDER".into());
    };
    let aws = AwsConfig::from_environment()?;
    let restore = TableRestore::new(aws, live, restored, Path::new(folder), |line| eprintln!("    {line}"))?;
    let result = match step.as_str() {
        "prepare" => json!(restore.prepare()?),
        "apply" => json!(restore.apply()?),
        other => return Err(format!("{other} is neither prepare nor apply").into()),
    };
    Ok(writeln!(stdout(), "{result}")?)
}
