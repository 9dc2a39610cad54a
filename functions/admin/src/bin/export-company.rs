//! Writes a company as a signed archive into a folder, in the format of `functions/PORTABILITY.md`.
//!
//! Usage: export-company COMPANY FOLDER. It takes the environment variables of the function `export-writer`, and AWS's
//! for region and credentials, which must allow reading the receipt secret. Prints progress to standard error and the
//! result to standard output, as JSON.

use std::io::{Write as _, stdout};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use admin::export::export_company;
use serde_json::json;
use shared::app::App;
use shared::archive::{self, ExportObserver};
use shared::clock::Stopwatch;
use shared::domain::export::ExportProgress;
use tokio::runtime::Builder;

/// The time between two lines of progress.
const PAUSE: Duration = Duration::from_secs(5);

struct Terminal {
    since_line: Stopwatch,
}

impl ExportObserver for Terminal {
    async fn note(&mut self, progress: ExportProgress) -> archive::Result<()> {
        if self.since_line.elapsed() >= PAUSE {
            self.since_line = Stopwatch::start();
            let ExportProgress { records, media, percent } = progress;
            eprintln!("    {percent} %: {records} records, {media} files");
        }
        Ok(())
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("export-company: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> archive::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [company, folder] = arguments.as_slice() else {
        return Err("usage: export-company COMPANY FOLDER".into());
    };
    let app = App::from_environment()?;
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let observer = Terminal { since_line: Stopwatch::start() };
    let export = export_company(&app, company.parse()?, Path::new(folder), observer);
    let result = runtime.block_on(export)?;
    Ok(writeln!(stdout(), "{}", json!(result))?)
}
