//! Whether the time of a failed login tells that there is such a user: as many logins of one that there is as of one that
//! there is not, by turns, and how well the two can be told apart.
//!
//! The figure `auc` is the chance that a random login of the known user takes longer than one of the unknown: 0.5 when
//! nothing can be told. `tests/bench login-timing [PAIRS]` measures another number of pairs than 1,000.
#![recursion_limit = "256"]

use chrono::TimeDelta;
use serde_json::json;
use shared::clock::Stopwatch;
use tests::app::TestApp;

/// So that no ten failures of one name come within a quarter of an hour.
const BETWEEN: TimeDelta = TimeDelta::minutes(2);

#[tokio::main(flavor = "current_thread")]
async fn main() {
    // Cargo adds --bench.
    let pairs = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(1_000);
    let app = TestApp::start().await;
    // Both have failed as often lately, which is something else than being there.
    let names = [app.owner().await.username, "nobody".to_owned()];
    let mut times = [Vec::new(), Vec::new()];
    for number in 0..pairs {
        app.clock().advance(BETWEEN);
        // The one who goes first, by turns, finds other caches than the second.
        for which in [number % 2, 1 - number % 2] {
            let stopwatch = Stopwatch::start();
            app.anonymous().log_in("acme", &names[which], "a wrong password").await.expect(401);
            times[which].push(stopwatch.elapsed().as_secs_f64());
        }
    }
    let [known, unknown] = times;
    let longer = known.iter().map(|one| unknown.iter().filter(|other| *other < one).count()).sum::<usize>();
    let auc = longer as f64 / (known.len() * unknown.len()) as f64;
    print("pairs", pairs as f64);
    print("auc", auc);
    print("median_known_ms", median(known) * 1e3);
    print("median_unknown_ms", median(unknown) * 1e3);
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[expect(clippy::print_stdout, reason = "standard output is what a benchmark is for")]
fn print(figure: &str, value: f64) {
    println!("{}", json!({ "figure": figure, "value": (value * 1000.0).round() / 1000.0 }));
}
