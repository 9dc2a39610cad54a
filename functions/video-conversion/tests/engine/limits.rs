//! Answers that would cost more than the time to answer allows.

use video_conversion::engine::{ConversionTarget, EngineError, convert};

use crate::support::{MINUTE, Place, path_with, program};

const SECONDS: u32 = 1;

/// The reason why the programs in `path` refuse an answer.
async fn refusal(path: &std::ffi::OsStr, input: &std::path::Path) -> &'static str {
    match convert(path, input, ConversionTarget::Answer { max_seconds: SECONDS }, MINUTE).await {
        Err(EngineError::Refused(reason)) => reason,
        other => panic!("{}: {other:?}", input.display()),
    }
}

/// A `PATH` whose ffmpeg records that it was started on the hostile file.
fn without_conversion(place: &Place) -> std::ffi::OsString {
    let ffmpeg = program("ffmpeg");
    let script = format!(
        "case \"$*\" in *hostile*) touch {} ;; esac; exec {} \"$@\"",
        place.path("started").display(),
        ffmpeg.display()
    );
    path_with(place, &[("ffmpeg", script)])
}

/// Neither length, rate nor size of the file shows its cost: ten frames of 8K in a hundredth of a second.
#[tokio::test]
async fn an_answer_with_huge_frames_is_refused_before_its_conversion() {
    let place = Place::new();
    let frames = "-f lavfi -i color=s=7680x4320:r=1000 -frames:v 10 -c:v libx264 -preset ultrafast -f matroska -live 1";
    let input = place.made("hostile.mkv", frames);
    let reason = refusal(&without_conversion(&place), &input).await;
    assert_eq!(reason, "The dimensions of this video are not supported.");
    assert!(!place.path("started").exists());
}

#[tokio::test]
async fn the_frames_of_an_answer_are_counted_before_its_conversion() {
    let place = Place::new();
    let frames = "-f lavfi -i color=s=1920x1080:r=1000 -frames:v 50 -c:v libx264 -preset ultrafast -g 50";
    let clip = place.made("clip.mkv", frames);
    let looped = format!("-stream_loop 39 -i {} -c copy -f matroska -live 1", clip.display());
    let input = place.made("hostile.mkv", &looped);
    let reason = refusal(&without_conversion(&place), &input).await;
    assert!(reason.starts_with("The video is too long for its dimensions and frame rate."), "{reason}");
    assert!(!place.path("started").exists());
}

/// Sounds do not extend the last picture beyond the time to answer either.
#[tokio::test]
async fn what_goes_on_after_the_time_to_answer_is_cut_off_and_costs_nothing() {
    let place = Place::new();
    let clip = place.made("clip.mkv", "-f lavfi -i color=s=1920x1080:r=30:d=2 -c:v mpeg4 -q:v 31");
    let minute = format!("-stream_loop 29 -i {} -c copy", clip.display());
    // Sound packets of two seconds each.
    let frozen = "-f lavfi -i testsrc2=s=320x180:r=25:d=0.2 -f lavfi -i sine=d=6:r=48000 -af asetnsamples=96000 -c:v mjpeg \
                  -c:a pcm_s16le";
    for (name, how) in [("minute.mkv", &*minute), ("frozen.mkv", frozen)] {
        let input = place.made(name, how);
        let path = std::env::var_os("PATH").unwrap();
        let target = ConversionTarget::Answer { max_seconds: SECONDS };
        let made = convert(&path, &input, target, MINUTE).await;
        assert_eq!(made.unwrap_or_else(|failure| panic!("{name}: {failure:?}")).seconds, SECONDS, "{name}");
    }
}

#[tokio::test]
async fn an_answer_that_takes_too_much_time_of_processors_is_refused() {
    let place = Place::new();
    let input =
        place.made("hostile.webm", "-f lavfi -i testsrc2=s=320x240:d=1 -c:v libvpx -deadline realtime");
    let ffmpeg = program("ffmpeg");
    let script = format!(
        // The service sets the limit just after the program has started, so wait for it.
        "case \"$*\" in *hostile*) until [ \"$(ulimit -t)\" != unlimited ]; do :; done; ulimit -t >{}; while :; do :; done ;;
         *) exec {} \"$@\" ;; esac",
        place.path("limit").display(),
        ffmpeg.display()
    );
    let reason = refusal(&path_with(&place, &[("ffmpeg", script)]), &input).await;
    assert_eq!(reason, "This video takes too long to convert. Upload a shorter or smaller one.");
    // Without this limit, the timeout would have ended the program.
    assert_eq!(std::fs::read_to_string(place.path("limit")).unwrap(), "9\n");
}
