//! Writes everything of a company as a signed archive into a folder: `functions/PORTABILITY.md` describes it.
//!
//! Usage: export-company COMPANY FOLDER, with the variables of the function `events` and AWS's for region and credentials.
//! Progress goes to standard error, the result to standard output, in JSON.

use std::io::{Write as _, stdout};
use std::path::Path;
use std::process::ExitCode;

use admin::export::CompanyExport;
use serde_json::json;
use shared::app::App;
use tokio::runtime::Builder;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("export-company: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [company, folder] = arguments.as_slice() else {
        return Err("usage: export-company COMPANY FOLDER".into());
    };
    let app = App::from_environment()?;
    let export = CompanyExport::new(&app, company.parse()?, |line| eprintln!("    {line}"));
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let result = runtime.block_on(export.write_to(Path::new(folder)))?;
    Ok(writeln!(stdout(), "{}", json!(result))?)
}
