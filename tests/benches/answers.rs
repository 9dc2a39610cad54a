//! Recorded answers of two minutes: from the end of the recording until it is pending, and from then until it plays, copied
//! (H.264 and Opus in mp4) and re-encoded (VP8 in WebM); and what five of them cost, at public prices. Then what the drafts of one
//! written answer cost; `tests/bench answers drafts` measures these alone.
#![recursion_limit = "256"]

use std::error::Error;

use serde_json::{Value, json};
use shared::clock::Stopwatch;
use tests::app::TestApp;
use tests::caller::{Caller, last_segment};
use tests::figures::{median, print, round, round_to};
use tests::http::Request;
use tests::logs::Recording;
use tests::takes::Interviewee;
use tests::videos::recorded;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const RUNS: usize = 3;
const SECONDS: u32 = 120;
/// Parts of five seconds.
const PARTS: usize = 24;
/// Bits per second of the candidate's uplink, whose time is added to what is measured.
const UPLINK: f64 = 5e6;

/// Drafts of one written answer of 1,500 characters that is typed in five minutes.
const DRAFTS: usize = 150;
/// Drafts whose requests are looked at one by one.
const SHOWN_DRAFTS: [usize; 4] = [1, 2, 80, DRAFTS];
/// Recorded answers of one candidate whose cost is measured.
const ANSWERS: usize = 5;
/// The memory of the function that converts videos, and of most others, in gigabytes.
const CONVERSION_MEMORY: f64 = 3008.0 / 1024.0;
const MEMORY: f64 = 0.5;

const PICTURE: &str =
    "-f lavfi -i testsrc2=s=1280x720:r=24:d=120 -f lavfi -i sine=d=120 -b:a 64k -c:a libopus";
/// Films as recorders of browsers write them, at their bit rates.
const COPIED: &str = "-c:v libx264 -preset ultrafast -profile:v baseline -pix_fmt yuv420p -g 48 -b:v 1M -maxrate 1M -bufsize 1M \
                      -movflags frag_keyframe+empty_moov+default_base_moof";
const ENCODED: &str = "-c:v libvpx -deadline realtime -cpu-used 8 -g 48 -b:v 1M -live 1";

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<()> {
    if std::env::args().any(|argument| argument == "drafts") {
        return drafts().await;
    }
    for (name, container, how) in [("copied", "mp4", COPIED), ("encoded", "webm", ENCODED)] {
        let film = recorded(&format!("{PICTURE} {how}"), container);
        let (mut pending, mut playable) = (Vec::new(), Vec::new());
        for _ in 0..RUNS {
            let (stopped, converted) = measure(&film).await?;
            pending.push(stopped);
            playable.push(converted);
        }
        print(&json!({
            "figure": "answer_seconds", "conversion": name, "bytes": film.len(),
            "stop_to_pending": round(median(pending)), "pending_to_playable": round(median(playable)),
        }));
        cost(name, &film).await?;
    }
    drafts().await
}

/// Prints the cost of the drafts of a written answer, which the page saves every two seconds. A function that waits until the draft before is
/// two seconds old is billed for that as well, which the clock of tests skips.
async fn drafts() -> Result<()> {
    let app = TestApp::start().await;
    let person = Interviewee::asked(&app, json!({ "kind": "text" })).await;
    let recording = Recording::start();
    for number in 1..=DRAFTS {
        let text = "ten lette ".repeat(number);
        let draft = Request::put(&format!("{}draft/", person.answer)).json(&json!({ "text": text }));
        person.candidate.send(draft).await.expect(204);
    }
    let lines = lines(&recording)?;
    let requests: Vec<&Value> = lines.iter().filter(|line| line["target"] == "request").collect();
    for number in SHOWN_DRAFTS {
        let line = requests.get(number - 1).ok_or("a draft has no line")?;
        print(&json!({
            "figure": "draft", "number": number, "characters": number * 10, "dynamodb_calls": line["dynamodb_calls"],
            "write_units": line["write_units"], "read_units": line["read_units"],
        }));
    }
    print_costs("drafts of an answer", &of_log(&lines));
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

/// Prints the cost of an interview with five answers, besides what `tests/bench cost` counts.
async fn cost(name: &str, film: &[u8]) -> Result<()> {
    let (app, [_dynamodb, s3]) = TestApp::start_with_counted_storage().await;
    let owner = app.owner().await;
    let settings = json!({ "allow_hash_login": true, "interview_platform": "builtin" });
    let project = owner.running_project(settings).await;
    let mut questions = Vec::new();
    for position in 1..=ANSWERS {
        let question = json!({ "text": "Why us?", "position": position, "answer_seconds": SECONDS });
        questions.push(
            owner.post(&format!("{project}questions/"), question).await.expect(201).uri("resource_uri"),
        );
    }
    let candidate = owner.invite(&project, json!({})).await;
    for _ in ["confirmed", "interviewing"] {
        candidate.advance(&candidate.uri).await.expect(200);
    }
    app.settle().await;
    let requests = || ["PUT", "LIST", "GET", "DELETE"].map(|method| s3.requests(method));
    let (recording, before) = (Recording::start(), requests());
    for question in &questions {
        let answer = format!("{}answers/{}/", candidate.uri, last_segment(question));
        let person = Interviewee { owner: owner.clone(), candidate: candidate.clone(), answer };
        let parts: Vec<&[u8]> = film.chunks(film.len().div_ceil(PARTS)).collect();
        let take = person.begin().await;
        for (number, part) in (1..).zip(&parts) {
            person.send(take, number, part).await;
        }
        person.finish(take, Some(parts.len()), SECONDS).await;
        app.settle().await;
    }
    candidate.get(&format!("{}interview/", candidate.uri)).await.expect(200);
    candidate.advance(&candidate.uri).await.expect(200);
    app.settle().await;
    let [puts, lists, gets, deletions] = requests();
    let mut amounts = of_log(&lines(&recording)?);
    amounts.extend([
        ("s3_puts", number(puts - before[0]), 5.0),
        ("s3_lists", number(lists - before[1]), 5.0),
        ("s3_gets", number(gets - before[2]), 0.4),
        ("s3_deletions", number(deletions - before[3]), 0.0),
    ]);
    print_costs(&format!("{ANSWERS} answers, {name}"), &amounts);
    Ok(())
}

/// A quantity that is paid for: its name, the amount, and the dollars for a million.
type Amount = (&'static str, f64, f64);

fn lines(recording: &Recording) -> Result<Vec<Value>> {
    let text = recording.text();
    Ok(text.lines().map(serde_json::from_str).collect::<std::result::Result<_, _>>()?)
}

/// The quantities of DynamoDB, the gateway and the functions, by the lines of the log.
fn of_log(lines: &[Value]) -> Vec<Amount> {
    let total = |field: &str| lines.iter().filter_map(|line| line[field].as_f64()).sum::<f64>();
    let memory = |line: &Value| if line["target"] == "conversion" { CONVERSION_MEMORY } else { MEMORY };
    let used = |line: &Value| Some(line["milliseconds"].as_f64()? * memory(line));
    let invocations = lines.iter().filter(|line| line["milliseconds"].is_number()).count();
    vec![
        ("write_units", total("write_units"), 0.625),
        ("read_units", total("read_units"), 0.125),
        ("requests", number(lines.iter().filter(|line| line["target"] == "request").count()), 1.0),
        ("invocations", number(invocations), 0.2),
        ("gigabyte_milliseconds", lines.iter().filter_map(used).sum(), 0.013_333_4),
    ]
}

/// Prints what something has taken, and what a thousand times as much costs.
fn print_costs(of: &str, amounts: &[Amount]) {
    let dollars = |amount: f64, price: f64| amount * 1000.0 * price / 1e6;
    for (figure, amount, price) in amounts {
        print(&json!({
            "figure": figure, "of": of, "value": round_to(*amount, 3),
            "dollars_per_1000": round_to(dollars(*amount, *price), 3),
        }));
    }
    let sum: f64 = amounts.iter().map(|(_, amount, price)| dollars(*amount, *price)).sum();
    print(&json!({ "figure": "dollars_per_1000", "of": of, "value": round_to(sum, 3) }));
}

#[expect(clippy::cast_precision_loss, reason = "these are small numbers")]
fn number(count: usize) -> f64 {
    count as f64
}
