//! Broken programs, which are not the videos' fault.

use std::ffi::OsString;
use std::path::Path;

use video_conversion::engine::{ConversionTarget, ConvertedFiles, EngineError, check, convert};

use crate::support::{MINUTE, Place, frames, path_with, program};

const VIDEO: &str =
    "-f lavfi -i testsrc2=s=320x240:d=1 -f lavfi -i sine=d=1 -c:v libvpx -deadline realtime -c:a libopus";

async fn converted(path: &OsString, input: &Path) -> Result<ConvertedFiles, EngineError> {
    convert(path, input, ConversionTarget::Answer { max_seconds: 5 }, MINUTE).await
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

/// HDR videos need additional filters, which a build of ffmpeg may lack.
#[tokio::test]
async fn programs_without_the_filters_for_hdr_are_a_fault_of_the_machine() {
    let place = Place::new();
    let script =
        format!("case \"$*\" in *zscale*) exit 8 ;; *) exec {} \"$@\" ;; esac", program("ffmpeg").display());
    check(&path_with(&place, &[("ffmpeg", script)])).await.unwrap_err();
}

#[tokio::test]
async fn a_picture_that_may_change_its_size_is_encoded() {
    let place = Place::new();
    let input = place.made("good.mp4", "-f lavfi -i testsrc2=s=320x240:d=1 -c:v libx264 -pix_fmt yuv420p");
    let copied = converted(&path_with(&place, &[]), &input).await.unwrap();
    assert_eq!(frames(&copied.mp4), frames(&input));
    let script = format!(
        "case \"$*\" in *filter_units*) exit 1 ;; *) exec {} \"$@\" ;; esac",
        program("ffmpeg").display()
    );
    let encoded = converted(&path_with(&place, &[("ffmpeg", script)]), &input).await.unwrap();
    assert_ne!(frames(&encoded.mp4), frames(&input));
}

/// Otherwise the service would retry a hostile file until it becomes a dead letter, and roll back a release.
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
