//! Programs that do not work: no fault of the videos.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use video_conversion::engine::{ConversionTarget, ConvertedFiles, EngineError, check, convert};

use crate::support::{MINUTE, Place};

const VIDEO: &str =
    "-f lavfi -i testsrc2=s=320x240:d=1 -f lavfi -i sine=d=1 -c:v libvpx -deadline realtime -c:a libopus";

/// A folder in which shell scripts stand in for programs, before those of this computer.
fn path_with(place: &Place, stand_ins: &[(&str, String)]) -> OsString {
    let folder = place.path("bin");
    std::fs::create_dir_all(&folder).unwrap();
    for (program, script) in stand_ins {
        // By another process: Linux starts no file that is open for writing, and a program that another test starts at the
        // same time has what is open here until it begins.
        let write = "printf '#!/bin/sh\\n%s\\n' \"$1\" >\"$0\" && chmod +x \"$0\"";
        let status = Command::new("sh").args(["-c", write]).arg(folder.join(program)).arg(script).status();
        assert!(status.unwrap().success());
    }
    let path = std::env::var_os("PATH").unwrap();
    std::env::join_paths(std::iter::once(folder).chain(std::env::split_paths(&path))).unwrap()
}

async fn converted(path: &OsString, input: &Path) -> Result<ConvertedFiles, EngineError> {
    convert(path, input, ConversionTarget::Answer { max_seconds: 5 }, MINUTE).await
}

fn program(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file()).unwrap()
}

#[tokio::test]
async fn programs_that_fail_on_every_file_are_a_fault_of_the_machine() {
    let place = Place::new();
    let input = place.made("good.webm", VIDEO);
    for (fault, script) in [
        ("a crash", "kill -SEGV $$"),
        ("no memory", "kill -KILL $$"),
        ("a program that cannot be started", "exit 126"),
        ("a missing library", "echo 'error while loading shared libraries' >&2; exit 127"),
        ("an unknown option", "echo \"Unrecognized option 'max_alloc'.\" >&2; exit 8"),
        ("another answer", "echo nothing"),
    ] {
        for name in ["ffmpeg", "ffprobe"] {
            let stand_in = Place::new();
            let path = path_with(&stand_in, &[(name, script.to_owned())]);
            let failure = converted(&path, &input).await.unwrap_err();
            assert!(matches!(failure, EngineError::Machine(_)), "{fault} of {name}: {failure:?}");
            check(&path).await.expect_err(fault);
        }
    }
    check(&path_with(&place, &[])).await.unwrap();
    converted(&path_with(&place, &[]), &input).await.unwrap();
}

/// Otherwise one hostile file would be retried, become a dead letter, and take a release back.
#[tokio::test]
async fn a_file_that_crashes_a_working_program_is_refused() {
    let place = Place::new();
    let input = place.made("hostile.webm", VIDEO);
    for signal in ["SEGV", "KILL"] {
        let crashing = |name: &str| {
            let program = program(name);
            format!(
                "case \"$*\" in *hostile*) kill -{signal} $$ ;; *) exec {} \"$@\" ;; esac",
                program.display()
            )
        };
        for name in ["ffmpeg", "ffprobe"] {
            let failure = converted(&path_with(&place, &[(name, crashing(name))]), &input).await.unwrap_err();
            assert!(matches!(failure, EngineError::Refused(_)), "{signal} of {name}: {failure:?}");
            std::fs::remove_file(place.path("bin").join(name)).unwrap();
        }
    }
}
