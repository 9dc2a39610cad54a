//! Imports a company from an archive in a folder, in the format of `functions/PORTABILITY.md`.
//!
//! Usage: import-company FOLDER ((--key X)… | --accept-key) [--as NAME] [--keep-grants] [--allow-missing] [--erased
//! FILE]…. It takes the environment variables of the function `events`, and AWS's for region and credentials. Prints
//! progress to standard error and the result to standard output, as JSON.

use std::io::{Write as _, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

use admin::import::{ArchiveImport, ImportOptions, TrustedKeys};
use serde_json::json;
use shared::app::App;
use shared::domain::privacy::receipt::ReceiptKey;
use tokio::runtime::Builder;

const USAGE: &str = "usage: import-company FOLDER ((--key X)… | --accept-key) [--as NAME] [--keep-grants] [--allow-missing] [--erased FILE]…";

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("import-company: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let (folder, options) = read(std::env::args().skip(1))?;
    let app = App::from_environment()?;
    let import = ArchiveImport::new(&app, &folder, options, |line| eprintln!("    {line}"))?;
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let result = runtime.block_on(import.run())?;
    Ok(writeln!(stdout(), "{}", json!(result))?)
}

fn read(mut arguments: impl Iterator<Item = String>) -> Result<(PathBuf, ImportOptions)> {
    let mut folder = None;
    let mut keys = Vec::new();
    let mut accepts_key = false;
    let mut name = None;
    let mut keeps_grants = false;
    let mut allows_missing = false;
    let mut erased = Vec::new();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--key" => keys.push(ReceiptKey::parse(&arguments.next().ok_or(USAGE)?)?),
            "--accept-key" => accepts_key = true,
            "--as" => name = Some(arguments.next().ok_or(USAGE)?.parse()?),
            "--keep-grants" => keeps_grants = true,
            "--allow-missing" => allows_missing = true,
            "--erased" => erased.push(PathBuf::from(arguments.next().ok_or(USAGE)?)),
            option if option.starts_with("--") => return Err(USAGE.into()),
            path if folder.is_none() => folder = Some(PathBuf::from(path)),
            _ => return Err(USAGE.into()),
        }
    }
    let trusted = match (keys.is_empty(), accepts_key) {
        (false, false) => TrustedKeys::Named(keys),
        (true, true) => TrustedKeys::OfArchive,
        _ => return Err(USAGE.into()),
    };
    let options = ImportOptions { trusted, name, keeps_grants, allows_missing, erased };
    Ok((folder.ok_or(USAGE)?, options))
}
