//! Writes the OpenAPI document that the code makes: `cargo build --workspace --examples && target/debug/examples/document > functions/docs/openapi.json`.
#![expect(clippy::print_stdout, reason = "this is where the document goes")]

use std::process::ExitCode;

fn main() -> ExitCode {
    match tests::document::written() {
        Ok(document) => {
            print!("{document}");
            ExitCode::SUCCESS
        }
        Err(problems) => {
            for problem in problems {
                eprintln!("{problem}");
            }
            ExitCode::FAILURE
        }
    }
}
