//! Makes videos with ffmpeg and inspects them with ffprobe, as the service does.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;
use video_conversion::engine::{ConversionTarget, ConvertedFiles, EngineError, TimeLeft, convert};

/// Longer than any conversion in these tests takes.
pub(crate) const MINUTE: TimeLeft = TimeLeft::whole(Duration::from_secs(60));

/// A directory for a test's files.
pub(crate) struct Place(TempDir);

impl Place {
    /// Creates an empty directory.
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A path in the directory.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Makes a file in the directory with ffmpeg.
    pub(crate) fn made(&self, name: &str, args: &str) -> PathBuf {
        let path = self.path(name);
        ffmpeg(args, &path);
        path
    }

    /// Writes a file with these bytes.
    pub(crate) fn written(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        std::fs::write(self.path(name), bytes).unwrap();
        self.path(name)
    }
}

pub(crate) fn ffmpeg(args: &str, output: &Path) {
    let args = args.split_ascii_whitespace();
    let mut command = Command::new("ffmpeg");
    let status = command.args(["-v", "error", "-y", "-nostdin"]).args(args).arg(output).status().unwrap();
    assert!(status.success());
}

/// Returns these entries of the file's streams as ffprobe prints them, one line for each stream.
pub(crate) fn streams(path: &Path, entries: &str) -> Vec<String> {
    let entries = format!("stream={entries}");
    probe(path, &["-show_entries", &entries])
}

/// Runs ffprobe on a file and returns its lines.
pub(crate) fn probe(path: &Path, args: &[&str]) -> Vec<String> {
    let output =
        Command::new("ffprobe").args(["-v", "error", "-of", "csv=p=0"]).args(args).arg(path).output();
    let lines = String::from_utf8(output.unwrap().stdout).unwrap();
    lines.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// The checksum of every frame of a file's video.
pub(crate) fn frames(path: &Path) -> Vec<u8> {
    let mut command = Command::new("ffmpeg");
    let hash = ["-map", "0:v:0", "-c", "copy", "-f", "streamhash", "-"];
    command.args(["-v", "error", "-nostdin", "-i"]).arg(path).args(hash).output().unwrap().stdout
}

pub(crate) async fn converted(input: &Path) -> Result<ConvertedFiles, EngineError> {
    convert(&std::env::var_os("PATH").unwrap(), input, ConversionTarget::Video, MINUTE).await
}

/// The reason why the service refuses to convert a file.
pub(crate) async fn refusal(input: &Path) -> &'static str {
    match converted(input).await {
        Err(EngineError::Refused(reason)) => reason,
        other => panic!("{}: {other:?}", input.display()),
    }
}

/// A `PATH` that begins with a folder of shell scripts, which stand in for programs.
pub(crate) fn path_with(place: &Place, stand_ins: &[(&str, String)]) -> OsString {
    let folder = place.path("bin");
    std::fs::create_dir_all(&folder).unwrap();
    for (program, script) in stand_ins {
        // Another process writes the script: Linux does not start a file that is open for writing, and a program that a
        // concurrent test starts inherits this process's open files until its `exec`.
        let write = "printf '#!/bin/sh\\n%s\\n' \"$1\" >\"$0\" && chmod +x \"$0\"";
        let status = Command::new("sh").args(["-c", write]).arg(folder.join(program)).arg(script).status();
        assert!(status.unwrap().success());
    }
    let path = std::env::var_os("PATH").unwrap();
    std::env::join_paths(std::iter::once(folder).chain(std::env::split_paths(&path))).unwrap()
}

/// The path of an installed program.
pub(crate) fn program(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file()).unwrap()
}
