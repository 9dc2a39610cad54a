//! Starts the program that `localstack/run` starts.

use std::path::PathBuf;
use std::process::Stdio;

use tempfile::TempDir;
use tests::binaries;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// The address in the documents.
const SHOWN: &str = "localhost:8080";
/// The port of receivers of webhooks in the documents.
const RECEIVER_PORT: &str = "8090";
/// The last line that it prints before it answers.
const READY: &str = "Ctrl-C stops it.";

/// The service with no data, on a port of its own. Dropping it ends the process and deletes its files.
pub(crate) struct Service {
    announcement: String,
    _process: Child,
    _folder: TempDir,
}

impl Service {
    pub(crate) async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program: &PathBuf = &binaries::of_workspace()["embedded"];
        let mut command = Command::new(program);
        command.args(["--fresh", "--port", "0"]).env("TMPDIR", folder.path()).kill_on_drop(true);
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let mut announcement = String::new();
        while !announcement.ends_with(READY) {
            let line = lines.next_line().await.unwrap().unwrap_or_else(|| panic!("it ended: {announcement}"));
            announcement += "\n";
            announcement += &line;
        }
        Self { announcement, _process: process, _folder: folder }
    }

    /// The output of its start.
    pub(crate) fn announcement(&self) -> &str {
        &self.announcement
    }

    /// The text after `word` in the announcement, up to a blank.
    fn said_after(&self, word: &str) -> &str {
        let (_, rest) = self.announcement.split_once(word).unwrap_or_else(|| panic!("{}", self.announcement));
        rest.split_whitespace().next().unwrap()
    }

    /// A text of the documents with the address of this service.
    pub(crate) fn at_its_port(&self, text: &str) -> String {
        let address = self.said_after("API     http://").trim_end_matches("/api/v3");
        text.replace(SHOWN, address)
    }

    /// A script of the documents with the address and the password of this service.
    pub(crate) fn fill_in(&self, script: &str) -> String {
        self.at_its_port(script).replace('…', self.said_after(", password "))
    }

    /// A script of the documents as [`fill_in`](Self::fill_in) makes it, with a port for its receiver that nothing uses.
    pub(crate) fn fill_in_receiver(&self, script: &str, port: u16) -> String {
        self.fill_in(script).replace(RECEIVER_PORT, &port.to_string())
    }
}
