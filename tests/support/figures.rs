//! Prints the figures of benchmarks, and compares them with the last release.

use std::error::Error;

use serde_json::{Map, Value, json};

/// The reproducible figures of the last release: one JSON object per line, as benchmarks print them. `{ tests/bench
/// start; tests/bench requests; } | grep -e instructions -e megabytes > tests/benches/last-release.jsonl` records a
/// release.
const LAST_RELEASE: &str = include_str!("../benches/last-release.jsonl");
/// The maximum ratio of a figure to the last release's, unless a benchmark sets its own.
const TOLERANCE: f64 = 1.03;
/// The prefixes of numbers in a figure that do not measure the service.
const OTHERS: [&str; 3] = ["ratio", "floor", "goal"];

/// Prints figures, one JSON object per line.
pub struct Figures {
    is_release: bool,
    /// The names of the compared numbers; `None` for all that measure the service.
    compared: Option<&'static [&'static str]>,
    tolerance: f64,
    worse: Vec<String>,
}

impl Figures {
    /// Figures of binaries built with a Cargo profile. Only those of `release` are compared.
    pub fn of_profile(profile: &str) -> Self {
        Self { is_release: profile == "release", compared: None, tolerance: TOLERANCE, worse: Vec::new() }
    }

    /// Compares only these numbers, with a maximum ratio of `tolerance` to the last release's.
    pub fn comparing(self, numbers: &'static [&'static str], tolerance: f64) -> Self {
        Self { compared: Some(numbers), tolerance, ..self }
    }

    /// Prints a figure. If the last release has it, the line also shows the ratio of each compared number to the last
    /// release's.
    pub fn print(&mut self, figure: &Value) {
        let mut line = figure.as_object().cloned().unwrap_or_default();
        if let Some(last) = last(&line).filter(|_| self.is_release) {
            let mut ratios = Map::new();
            let is_compared = |name: &str| match self.compared {
                Some(compared) => compared.contains(&name),
                None => !OTHERS.iter().any(|start| name.starts_with(start)),
            };
            for (name, value) in line.iter().filter(|(name, _)| is_compared(name)) {
                let (Some(now), Some(then)) = (value.as_f64(), last.get(name).and_then(Value::as_f64)) else {
                    continue;
                };
                if now > then * self.tolerance {
                    let texts: Vec<&str> = texts_of(&line).collect();
                    self.worse.push(format!("{name} of {} is {now} instead of {then}", texts.join(", ")));
                }
                ratios.insert(name.clone(), round_to(now / then, 3).into());
            }
            line.insert("ratio_to_last_release".to_owned(), ratios.into());
        }
        print(&line.into());
    }

    /// # Errors
    /// If a figure exceeds the last release's by more than the tolerance.
    pub fn finish(self) -> Result<(), Box<dyn Error>> {
        if self.worse.is_empty() {
            return Ok(());
        }
        let percent = round((self.tolerance - 1.0) * 100.0);
        Err(format!("worse than the last release by more than {percent} %: {}", self.worse.join("; ")).into())
    }
}

/// The figure of the last release with the same texts.
fn last(figure: &Map<String, Value>) -> Option<Map<String, Value>> {
    let lines = LAST_RELEASE.lines().filter_map(|line| serde_json::from_str(line).ok());
    lines.into_iter().find(|last| texts_of(last).eq(texts_of(figure)))
}

/// The texts of a figure, which identify it.
fn texts_of(figure: &Map<String, Value>) -> impl Iterator<Item = &str> {
    figure.values().filter_map(Value::as_str)
}

/// Prints a figure as one line of JSON.
#[expect(clippy::print_stdout, reason = "standard output is what a benchmark is for")]
pub fn print(figure: &Value) {
    println!("{figure}");
}

/// Prints a figure that consists of a name and a value.
pub fn print_value(figure: &str, value: impl Into<Value>) {
    print(&json!({ "figure": figure, "value": value.into() }));
}

/// Rounds to two decimals.
pub fn round(value: f64) -> f64 {
    round_to(value, 2)
}

/// Rounds to this many decimals.
pub fn round_to(value: f64, decimals: i32) -> f64 {
    let factor = 10_f64.powi(decimals);
    (value * factor).round() / factor
}

/// The median; for an even number of values, the upper one.
///
/// # Panics
/// If `values` is empty.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
