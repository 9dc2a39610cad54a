//! Builds the programs that tests and benchmarks start.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use serde_json::Value;

/// Builds binaries with Cargo, and returns the path of each by name. `arguments` are those of `cargo build`.
///
/// Cargo rebuilds only outdated binaries.
///
/// # Panics
/// If the build fails. Cargo prints the errors to standard error.
#[expect(clippy::expect_used, clippy::panic, reason = "nothing can be tested without the binaries")]
pub fn build<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> BTreeMap<String, PathBuf> {
    let mut cargo = Command::new(env!("CARGO"));
    // Remove the variables that Cargo sets for a test's package: otherwise build scripts would run again, because their
    // environment differs.
    for (name, _) in std::env::vars_os() {
        if name
            .to_str()
            .is_some_and(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_"))
        {
            cargo.env_remove(name);
        }
    }
    let output = cargo
        .args(["build", "--locked", "--quiet", "--message-format", "json-render-diagnostics"])
        .args(["--manifest-path", concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml")])
        .args(arguments)
        .stderr(Stdio::inherit())
        .output()
        .expect("cargo can be started");
    assert!(output.status.success(), "cargo build failed");
    let messages = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    messages
        .filter_map(|line| {
            let message: Value = serde_json::from_slice(line).unwrap_or_else(|_| panic!("cargo prints JSON"));
            let executable = message["executable"].as_str()?;
            Some((message["target"]["name"].as_str()?.to_owned(), executable.into()))
        })
        .collect()
}

/// All binaries of the workspace, built once per process.
///
/// # Panics
/// If the build fails.
pub fn of_workspace() -> &'static BTreeMap<String, PathBuf> {
    static BINARIES: LazyLock<BTreeMap<String, PathBuf>> = LazyLock::new(|| build(["--workspace", "--bins"]));
    &BINARIES
}
