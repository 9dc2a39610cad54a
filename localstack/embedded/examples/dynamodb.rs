//! Runs the local back end's DynamoDB alone, in memory, so that LocalStack can forward to it. Prints its port, and ends
//! when standard input is closed.

use std::io::{self, Read, Write};

use embedded::{Backend, Storage};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let backend = Backend::start(&Storage::Memory)?;
    let url = backend.environment("", "").remove("AWS_ENDPOINT_URL_DYNAMODB").unwrap_or_default();
    let port = url.rsplit(':').next().unwrap_or_default();
    writeln!(io::stdout(), "{port}")?;
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
