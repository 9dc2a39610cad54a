//! Hostile files that take over a program and leave processes behind to spy on the next file.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::time::Duration;

use video_conversion::engine::{ConversionTarget, EngineError, TimeLeft, convert};

use crate::support::{MINUTE, Place, path_with, program};

const TARGET: ConversionTarget = ConversionTarget::Answer { max_seconds: 5 };

/// Shell scripts that start a process in a way that lets it outlive its program.
const WAYS: [(&str, &str); 5] = [
    ("another session", "setsid sh -c \"$spy\" &"),
    ("a double fork", "( ( setsid sh -c \"$spy\" >/dev/null 2>&1 & ) & )"),
    ("closed pipes", "setsid sh -c \"$spy\" <&- >&- 2>&- &"),
    ("a process that has others", "setsid sh -c \"sh -c \\\"$spy\\\" & sh -c \\\"$spy\\\" & wait\" &"),
    ("signals that are ignored", "setsid sh -c \"trap '' TERM HUP INT; $spy\" &"),
];

/// A stand-in for ffmpeg that leaves a process, which copies the next recording, and continues with `then`.
fn spying(place: &Place, way: &str, then: &str) -> String {
    let spy = format!(
        "while :; do touch {ran}; cat {next} >>{stolen} 2>/dev/null; sleep 0.01; done",
        ran = place.path("ran").display(),
        next = place.path("next").display(),
        stolen = place.path("stolen").display(),
    );
    let ran = place.path("ran");
    format!("spy='{spy}'\n{way}\nwhile [ ! -e {} ]; do sleep 0.01; done\n{then}", ran.display())
}

/// The command lines of processes that name `folder`.
fn processes_about(folder: &Path) -> Vec<String> {
    let folder = folder.to_str().unwrap();
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let lines = processes.filter_map(|process| std::fs::read_to_string(process.path().join("cmdline")).ok());
    lines.filter(|line| line.contains(folder)).collect()
}

#[tokio::test]
async fn nothing_outlives_a_program_to_see_the_next_recording() {
    let recording = "-f lavfi -i testsrc2=s=64x48:d=1 -c:v libvpx -deadline realtime";
    for (way, command) in WAYS {
        let place = Place::new();
        let input = place.made("hostile.webm", recording);
        let go_on = format!("exec {} \"$@\"", program("ffmpeg").display());
        let hostile = spying(&place, command, &go_on);
        let script = format!("case \"$*\" in *hostile*) ;; *) {go_on} ;; esac\n{hostile}");
        let path = path_with(&place, &[("ffmpeg", script)]);
        // The leftover process holds the program's output open, but the conversion must not wait for it.
        convert(&path, &input, TARGET, MINUTE).await.unwrap_or_else(|failure| panic!("{way}: {failure:?}"));
        assert!(place.path("ran").exists(), "{way}");
        assert_eq!(processes_about(&place.path("stolen")), Vec::<String>::new(), "{way}");
        let next = place.made("next.webm", recording);
        std::fs::rename(&next, place.path("next")).unwrap();
        convert(&path, &place.path("next"), TARGET, MINUTE).await.unwrap();
        assert_eq!(std::fs::read(place.path("stolen")).unwrap_or_default(), b"", "{way}");
    }
}

#[tokio::test]
async fn nothing_outlives_a_program_that_is_stopped() {
    let place = Place::new();
    let input = place.made("hostile.webm", "-f lavfi -i testsrc2=s=64x48:d=1 -c:v libvpx -deadline realtime");
    let go_on = format!("exec {} \"$@\"", program("ffmpeg").display());
    let hostile = spying(&place, WAYS[0].1, "sleep 600");
    let script = format!("case \"$*\" in *hostile*) ;; *) {go_on} ;; esac\n{hostile}");
    let path = path_with(&place, &[("ffmpeg", script)]);
    let ran = place.path("ran");
    let conversion = convert(&path, &input, TARGET, MINUTE);
    let spy_runs = async {
        while !ran.exists() {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        ended = conversion => panic!("{ended:?}"),
        () = spy_runs => {}
    }
    assert_eq!(processes_about(&place.path("stolen")), Vec::<String>::new());
}

#[tokio::test]
async fn a_program_may_start_only_so_many_processes() {
    let place = Place::new();
    let input = place.written("hostile.webm", "anything");
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap();
    let most = |limits: &str| {
        let line = limits.lines().find(|line| line.starts_with("Max processes")).unwrap();
        line.split_whitespace().nth(2).unwrap().to_owned()
    };
    let (own, seen) = (most(&limits), place.path("seen"));
    // The service sets the limit just after the program has started, so wait for it.
    let script = format!(
        "case \"$*\" in *hostile*) ;; *) exec {} \"$@\" ;; esac\n\
        until awk '$1 == \"Max\" && $2 == \"processes\" && $3 != \"{own}\" {{ exit 1 }}' /proc/$$/limits; [ $? = 1 ]; do :; done\n\
        cat /proc/$$/limits >{}\nexit 1",
        program("ffprobe").display(),
        seen.display()
    );
    let path = path_with(&place, &[("ffprobe", script)]);
    let failure = convert(&path, &input, TARGET, TimeLeft::whole(Duration::from_secs(20))).await.unwrap_err();
    assert!(matches!(failure, EngineError::Refused(_)), "{failure:?}");
    let limit: u64 = most(&std::fs::read_to_string(seen).unwrap()).parse().unwrap();
    assert!((256..100_000).contains(&limit), "{limit}");
}
