//! Whether the time of a failed login reveals names: logins of a user, of six candidates with one email address and of
//! an unknown name, in turn.
//!
//! The figures `auc…` are the probability that a random login of the user, or of the six, takes longer than one of the
//! unknown name: 0.5 means no information. `tests/bench login-timing [ROUNDS]` measures another number of rounds than
//! 1,000.
#![recursion_limit = "256"]

use chrono::TimeDelta;
use serde_json::json;
use shared::clock::Stopwatch;
use tests::app::{FULL_COST, TestApp};
use tests::figures::{median, print_value, round_to};

/// Keeps failures per name below ten in a quarter of an hour.
const BETWEEN: TimeDelta = TimeDelta::minutes(2);

#[tokio::main(flavor = "current_thread")]
async fn main() {
    // Cargo adds --bench.
    let rounds = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(1_000);
    let app = TestApp::start_with(&FULL_COST).await;
    let owner = app.owner().await;
    let email = app.next_email();
    for _ in 0..6 {
        let project = owner.running_project(json!({})).await;
        owner.invite(&project, json!({ "email": email })).await.choose_password().await;
    }
    // All names have failed equally often, because failures affect the time as well.
    let names = ["nobody".to_owned(), owner.username, email];
    let mut times = [Vec::new(), Vec::new(), Vec::new()];
    for number in 0..rounds {
        app.clock().advance(BETWEEN);
        // The order rotates, because the first login of a round finds colder caches.
        for which in (0..names.len()).map(|turn| (number + turn) % names.len()) {
            let stopwatch = Stopwatch::start();
            app.anonymous().log_in("acme", &names[which], "a wrong password").await.expect(401);
            times[which].push(stopwatch.elapsed().as_secs_f64());
        }
    }
    let [nobody, user, six] = times;
    print_value("rounds", rounds);
    print_value("auc_user", round_to(auc(&user, &nobody), 3));
    print_value("auc_six", round_to(auc(&six, &nobody), 3));
    print_value("median_nobody_ms", round_to(median(nobody) * 1e3, 3));
    print_value("median_user_ms", round_to(median(user) * 1e3, 3));
    print_value("median_six_ms", round_to(median(six) * 1e3, 3));
}

fn auc(these: &[f64], others: &[f64]) -> f64 {
    let longer = these.iter().map(|one| others.iter().filter(|other| *other < one).count()).sum::<usize>();
    longer as f64 / (these.len() * others.len()) as f64
}
