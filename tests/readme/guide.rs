//! Executes the pages of the guide that the reference shows: the shell blocks of each page in one session, and each program by itself.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Output, Stdio};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::Command;

use crate::document::{Block, Language, blocks, is_shown_as};
use crate::service::Service;
use crate::{PATIENCE, executed, workshop};

/// The pages with blocks, by their titles.
const PAGES: [(&str, &str); 8] = [
    ("quickstart", "# Quickstart"),
    ("connect-an-ats", "# Connect an ATS"),
    ("invite-without-our-mails", "# Invite without our mails"),
    ("keep-a-copy-in-step", "# Keep a copy in step"),
    ("watch-without-an-account", "# Watch without an account"),
    ("without-a-secret", "# Without a secret"),
    ("sign-in", "# Sign in with your company's account"),
    ("leave", "# Leave"),
];

/// The script that takes the interview of a link, as it is called from the folder of a [workshop].
const INTERVIEW: &str = "localstack/take-interview";

/// A port that nothing listens at.
fn unused_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Runs a program whose reader follows the link that it prints, and returns all that it prints. The interview is taken as soon as there
/// is a link.
async fn run_with_reader(folder: &Path, program: &str, file: &str) -> String {
    let mut command = Command::new(program);
    command.arg(file).current_dir(folder).stdin(Stdio::null()).kill_on_drop(true);
    let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
    let mut printed = String::new();
    while let Some(line) = lines.next_line().await.unwrap() {
        if line.contains("/interview/") {
            take_interview(folder, &line).await;
        }
        printed += &format!("{line}\n");
    }
    process.stderr.take().unwrap().read_to_string(&mut printed).await.unwrap();
    printed
}

async fn take_interview(folder: &Path, link: &str) {
    let mut command = Command::new(folder.join(INTERVIEW));
    let Output { status, stdout, stderr } = command.arg(link).current_dir(folder).output().await.unwrap();
    let said = [stdout, stderr].map(|text| String::from_utf8(text).unwrap()).concat();
    assert!(status.success() && said == "interviewed\n", "{link}: {said}");
}

/// Executes the programs among these blocks. One that is not shown to print anything is written down, for a shell block to run.
async fn check_programs(service: &Service, folder: &Path, page: &str, walk: &[Block], port: u16) {
    for block in walk {
        let (program, ending) = match block.language {
            Language::Shell => continue,
            Language::Python => ("python3", "py"),
            Language::JavaScript => ("node", "mjs"),
        };
        let is_receiver = block.shown.is_empty();
        let file = if is_receiver { format!("receiver.{ending}") } else { format!("{page}.{ending}") };
        std::fs::write(folder.join(&file), service.fill_in_receiver(&block.script, port)).unwrap();
        if !is_receiver {
            let run = run_with_reader(folder, program, &file);
            let printed = tokio::time::timeout(PATIENCE, run).await.unwrap_or_default();
            assert_shown(service, block, &printed);
        }
    }
}

#[track_caller]
fn assert_shown(service: &Service, block: &Block, printed: &str) {
    let shown = service.at_its_port(&block.shown);
    assert!(is_shown_as(printed, &shown), "{}\nprints\n{printed}\nrather than\n{shown}", block.place);
}

#[tokio::test]
async fn every_page_of_the_guide_prints_the_text_below_its_blocks() {
    let service = Service::start().await;
    for (page, title) in PAGES {
        let walk = blocks(&format!("functions/docs/guide/{page}.md"), title);
        let (folder, port) = (workshop(), unused_port());
        check_programs(&service, folder.path(), page, &walk, port).await;
        let shell: Vec<&Block> = walk.iter().filter(|block| block.language == Language::Shell).collect();
        let scripts = shell.iter().map(|block| service.fill_in_receiver(&block.script, port));
        let printed = executed(folder.path(), scripts).await;
        for (block, printed) in shell.iter().zip(&printed) {
            assert_shown(&service, block, printed);
        }
    }
}
