//! Recorded answers of two minutes: from the end of the recording until it is pending, and from then until it plays, copied
//! (H.264 and Opus in mp4) and re-encoded (VP8 in WebM).
#![recursion_limit = "256"]

use std::error::Error;

use serde_json::{Value, json};
use shared::clock::Stopwatch;
use tests::app::TestApp;
use tests::takes::Interviewee;
use tests::videos::recorded;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const RUNS: usize = 3;
const SECONDS: u32 = 120;
/// Parts of five seconds.
const PARTS: usize = 24;
/// Bits per second of the candidate's uplink, whose time is added to what is measured.
const UPLINK: f64 = 5e6;

const PICTURE: &str =
    "-f lavfi -i testsrc2=s=1280x720:r=24:d=120 -f lavfi -i sine=d=120 -b:a 64k -c:a libopus";
/// What a browser's recorder writes, with its bit rate.
const COPIED: &str = "-c:v libx264 -preset ultrafast -profile:v baseline -pix_fmt yuv420p -g 48 -b:v 1M -maxrate 1M -bufsize 1M \
                      -movflags frag_keyframe+empty_moov+default_base_moof";
const ENCODED: &str = "-c:v libvpx -deadline realtime -cpu-used 8 -g 48 -b:v 1M -live 1";

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<()> {
    for (name, container, how) in [("copied", "mp4", COPIED), ("encoded", "webm", ENCODED)] {
        let film = recorded(&format!("{PICTURE} {how}"), container);
        let (mut pending, mut playable) = (Vec::new(), Vec::new());
        for _ in 0..RUNS {
            let (stopped, converted) = measure(&film).await?;
            pending.push(stopped);
            playable.push(converted);
        }
        print(json!({
            "figure": "answer_seconds", "conversion": name, "bytes": film.len(),
            "stop_to_pending": median(pending), "pending_to_playable": median(playable),
        }));
    }
    Ok(())
}

/// The seconds from the stop of a recording until it is pending, and from then until it plays.
async fn measure(film: &[u8]) -> Result<(f64, f64)> {
    let app = TestApp::start().await;
    let person = Interviewee::asked(&app, json!({ "takes": 1, "answer_seconds": SECONDS })).await;
    let take = person.begin().await;
    let parts: Vec<&[u8]> = film.chunks(film.len().div_ceil(PARTS)).collect();
    let (last, earlier) = parts.split_last().ok_or("no parts")?;
    for (number, part) in (1..).zip(earlier) {
        person.send(take, number, part).await;
    }
    let stopwatch = Stopwatch::start();
    person.send(take, parts.len(), last).await;
    let finished = person.finish(take, Some(parts.len()), SECONDS).await;
    #[expect(clippy::cast_precision_loss, reason = "a part has less than 8 MiB")]
    let sending = last.len() as f64 * 8.0 / UPLINK;
    let stopped = stopwatch.elapsed().as_secs_f64() + sending;
    if finished["status"] != "pending" {
        return Err(format!("not finished: {finished}").into());
    }
    let stopwatch = Stopwatch::start();
    app.settle().await;
    let converted = stopwatch.elapsed().as_secs_f64();
    let answer = person.answer().await;
    if answer["status"] == "successful" && answer["seconds"] == SECONDS {
        Ok((stopped, converted))
    } else {
        Err(format!("not converted: {answer}").into())
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    (values[values.len() / 2] * 100.0).round() / 100.0
}

#[expect(clippy::print_stdout, reason = "standard output is what a benchmark is for")]
fn print(figure: Value) {
    println!("{figure}");
}
