//! Counts the instructions of a function's process with callgrind, a tool of Valgrind. Unlike times, counts are
//! reproducible.

use std::error::Error;
use std::path::Path;

use tokio::process::Command;

use crate::function::Function;

/// How often to count. The least count is used, because hash maps are seeded at random.
pub const RUNS: usize = 5;

/// Whether Valgrind is installed.
pub async fn is_installed() -> bool {
    Command::new("valgrind").arg("--version").output().await.is_ok_and(|output| output.status.success())
}

/// Counts the instructions of a function's process, in millions, from its start to its end after `ask`. Writes the
/// profile, for `callgrind_annotate`, to the file `profile`.
///
/// # Errors
/// If the function or `ask` fails, or there is no profile at the end.
pub async fn instructions(
    binary: &Path,
    variables: impl IntoIterator<Item = (&&'static str, &String)>,
    profile: &Path,
    ask: impl AsyncFnOnce(&mut Function) -> Result<(), Box<dyn Error>>,
) -> Result<f64, Box<dyn Error>> {
    let mut command = Command::new("valgrind");
    command
        .args(["--quiet", "--tool=callgrind"])
        .arg(format!("--callgrind-out-file={}", profile.display()))
        .arg(binary);
    let mut function = Function::start(command, variables).await?;
    function.ready().await?;
    ask(&mut function).await?;
    function.terminate().await?;
    let report = std::fs::read_to_string(profile)?;
    let total = report.lines().find_map(|line| line.strip_prefix("totals: ")).ok_or("no totals")?;
    Ok(total.trim().parse::<f64>()? / 1e6)
}
