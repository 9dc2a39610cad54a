//! The delay from a change to its event in the feed, while 1,000 candidates are imported.
//!
//! The table's stream is read four times a second, as Lambda reads it, by one function at a time.
#![recursion_limit = "256"]
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use shared::clock::Stopwatch;
use tests::app::TestApp;
use tests::caller::Caller;
use tests::http::Request;
use tests::logs::Recording;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const ENTRIES: usize = 1_000;
/// The pause between two reads of the stream.
const POLL: Duration = Duration::from_millis(250);
/// The pause between two looks at what is committed and what the feed shows.
const LOOK: Duration = Duration::from_millis(5);

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<()> {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    app.settle().await;
    let latest = owner.get("/companies/acme/events/?page_size=1").await.expect(200).json();
    let mut next = format!("/companies/acme/events/?page_size=100&after={}", latest["meta"]["latest"]);

    let recording = Recording::start();
    let is_over = Arc::new(AtomicBool::new(false));
    let stream = tokio::spawn({
        let (app, is_over) = (app.clone(), is_over.clone());
        async move {
            while !is_over.load(Ordering::Acquire) {
                tokio::time::sleep(POLL).await;
                app.settle().await;
            }
        }
    });
    let entries: Vec<Value> = (0..ENTRIES).map(|number| entry(&app, number)).collect();
    let request = Request::post(&format!("{project}candidates/import/")).json(&entries.into());
    let stopwatch = Stopwatch::start();
    let import = tokio::spawn({
        let owner = owner.clone();
        async move { drop(owner.send(request).await.expect(200)) }
    });
    let (mut committed, mut shown) = (Vec::new(), Vec::new());
    while shown.len() < ENTRIES {
        let count = owner.get(&project).await.expect(200).json()["candidates_count"].as_u64();
        let count = usize::try_from(count.ok_or("no count")?)?;
        committed.resize(count, stopwatch.elapsed().as_secs_f64());
        let page = owner.get(&next).await.expect(200).json();
        let events = page["objects"].as_array().map_or(0, Vec::len);
        shown.resize(shown.len() + events, stopwatch.elapsed().as_secs_f64());
        page["meta"]["next"].as_str().ok_or("no link")?.clone_into(&mut next);
        tokio::time::sleep(LOOK).await;
    }
    is_over.store(true, Ordering::Release);
    import.await?;
    stream.await?;

    let mut delays: Vec<f64> =
        shown.iter().zip(&committed).map(|(shown, committed)| shown - committed).collect();
    delays.sort_by(f64::total_cmp);
    print("median_seconds", delays[ENTRIES / 2]);
    print("p99_seconds", delays[ENTRIES * 99 / 100]);
    print("import_seconds", committed.last().copied().unwrap_or_default());
    let text = recording.text();
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let delivered: Vec<Value> = lines.filter(|line| line["message"] == "delivered").collect();
    print("starts_of_the_outbox", delivered.len() as f64);
    print("records", delivered.iter().filter_map(|line| line["records"].as_f64()).sum());
    app.assert_sound();
    Ok(())
}

fn entry(app: &TestApp, number: usize) -> Value {
    json!({
        "first_name": "Ada",
        "last_name": format!("Lovelace-{number}"),
        "email": format!("ada.{number}@mail.example"),
        "deadline": app.clock().in_days(7),
    })
}

#[expect(clippy::print_stdout, reason = "standard output is what a benchmark is for")]
fn print(figure: &str, value: f64) {
    println!("{}", json!({ "figure": figure, "value": (value * 1e3).round() / 1e3 }));
}
