//! Restores a table's items from another table. `.ci/deploy/restore.py` runs it; the service must be stopped during
//! `apply`.
//!
//! Usage: restore-table prepare|apply LIVE RESTORED FOLDER. It takes AWS's environment variables for region and
//! credentials. Prints progress to standard error and the result to standard output, as JSON.

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
