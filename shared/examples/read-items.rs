//! Reads items that another release has written, a list of JSON objects on standard input, and tells how many of which
//! kind there are: `cargo run -p shared --example read-items < items.json`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this is what it is for")]

use std::collections::BTreeMap;
use std::process::ExitCode;

use serde_json::Value;

fn main() -> ExitCode {
    let items: Vec<Value> = match serde_json::from_reader(std::io::stdin()) {
        Ok(items) => items,
        Err(error) => {
            eprintln!("no list of items: {error}");
            return ExitCode::FAILURE;
        }
    };
    let (mut kinds, mut problems) = (BTreeMap::<&str, usize>::new(), 0);
    for item in items {
        let checked =
            serde_dynamo::to_item(&item).map_err(shared::Error::internal).and_then(shared::store::check);
        match checked {
            Ok(kind) => *kinds.entry(kind.unwrap_or("without a value")).or_default() += 1,
            Err(error) => {
                problems += 1;
                eprintln!("{} {}: {error}", item["pk"], item["sk"]);
            }
        }
    }
    println!("{kinds:?}");
    if problems == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
