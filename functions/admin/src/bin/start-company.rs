//! Starts a company that `import-company` has imported, as `functions/PORTABILITY.md` describes.
//!
//! Usage: start-company COMPANY. It takes the environment variables of the function `events`, and AWS's for region and
//! credentials. Prints the result to standard output, as JSON.

use std::io::{Write as _, stdout};
use std::process::ExitCode;

use admin::import::start_company;
use serde_json::json;
use shared::app::App;
use shared::archive::Result;
use tokio::runtime::Builder;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("start-company: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [company] = arguments.as_slice() else { return Err("usage: start-company COMPANY".into()) };
    let app = App::from_environment()?;
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let result = runtime.block_on(start_company(&app, company.parse()?))?;
    Ok(writeln!(stdout(), "{}", json!(result))?)
}
