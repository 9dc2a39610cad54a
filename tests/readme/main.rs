//! Executes the shell blocks of the documentation in order, in one bash session against the local service, and compares
//! their output with the text shown below them.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod document;
mod guide;
mod order;
mod service;
mod suites;

use std::fmt::Write as _;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use image::ImageFormat;
use tempfile::TempDir;
use tests::files::{pdf, photo};
use tests::videos::recorded;
use tokio::process::Command;

use document::{blocks, is_shown_as};
use service::Service;

/// Ends a session that hangs.
const PATIENCE: Duration = Duration::from_secs(180);

/// Executes scripts in one session in this folder and returns the output of each, errors included. Scripts after one that
/// hangs have no output.
async fn executed(folder: &Path, scripts: impl Iterator<Item = String>) -> Vec<String> {
    let (mut session, mut printed) = (String::new(), Vec::new());
    for (index, script) in scripts.enumerate() {
        let out = folder.join(format!("{index}.out"));
        writeln!(session, "exec >'{}' 2>&1\n{script}", out.display()).unwrap();
        printed.push(out);
    }
    let path = folder.join("session.sh");
    std::fs::write(&path, session).unwrap();
    let mut bash = Command::new("bash");
    bash.arg(&path).current_dir(folder).stdin(Stdio::null()).kill_on_drop(true);
    let ended = tokio::time::timeout(PATIENCE, bash.status()).await;
    if let Ok(status) = ended {
        status.unwrap();
    }
    printed.iter().map(|out| std::fs::read_to_string(out).unwrap_or_default()).collect()
}

/// A folder in which the repository's folder `localstack` is, as its readers have it.
fn workshop() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let repository = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../localstack"));
    std::os::unix::fs::symlink(repository, folder.path().join("localstack")).unwrap();
    folder
}

/// A folder with the files that the walkthrough uploads.
fn files() -> TempDir {
    let folder = workshop();
    let film = "-f lavfi -i testsrc2=s=640x360:r=25:d=2 -f lavfi -i sine=d=2 -c:v mpeg4 -c:a aac";
    for (name, bytes) in [
        ("me.jpg", photo(ImageFormat::Jpeg, 64, 48)),
        ("cv.pdf", pdf(1000)),
        ("welcome.mov", recorded(film, "mov")),
    ] {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    folder
}

#[tokio::test]
async fn every_block_prints_the_text_below_it() {
    let service = Service::start().await;
    let mut walk = blocks("README.md", "## Use it");
    walk.extend(blocks("localstack/walkthrough.md", "# Walkthrough"));
    walk.extend(blocks("localstack/README.md", "## Local endpoints"));
    let folder = files();
    let printed = executed(folder.path(), walk.iter().map(|block| service.fill_in(&block.script))).await;

    for (block, printed) in walk.iter().zip(&printed) {
        let shown = service.at_its_port(&block.shown);
        assert!(is_shown_as(printed, &shown), "{}\nprints\n{printed}\nrather than\n{shown}", block.place);
    }
}

#[tokio::test]
async fn the_start_shows_how_to_begin() {
    let service = Service::start().await;
    let said = service.announcement();
    let addresses = document::fenced("README.md", "API     http://localhost:8080/api/v3");
    let shown = addresses.lines().count();
    let login: Vec<&str> = said.lines().filter(|line| !line.is_empty()).take(shown).collect();
    assert!(is_shown_as(&login.join("\n"), &service.at_its_port(&addresses)), "{said}");

    let lines = said.lines().filter_map(|line| {
        let line = line.strip_prefix("Move the clock ahead by a day: ").unwrap_or(line);
        (line.starts_with("TOKEN=") || line.starts_with("curl ")).then(|| line.to_owned())
    });
    let folder = tempfile::tempdir().unwrap();
    let printed = executed(folder.path(), lines).await;
    let [token, created, listed, clock] = &printed[..] else { panic!("{printed:?}") };
    assert_eq!(token, "");
    assert!(created.contains(r#""name":"Backend engineer""#), "{created}");
    assert!(
        listed.contains(r#""total_count":1"#) && listed.contains(r#""name":"Backend engineer""#),
        "{listed}"
    );
    assert!(clock.starts_with(r#"{"now":""#), "{clock}");
}
