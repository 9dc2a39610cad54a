//! Reports the progress of a step.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use shared::clock::Stopwatch;

const PAUSE: Duration = Duration::from_secs(10);

pub(super) struct Progress<'a> {
    verb: &'static str,
    table: &'a str,
    segments: u32,
    report: fn(&str),
    stopwatch: Stopwatch,
    state: Mutex<ProgressState>,
}

#[derive(Default)]
struct ProgressState {
    items: u64,
    /// The number of completed segments, in this and earlier runs.
    done: u32,
    done_earlier: u32,
    reported: Duration,
}

impl<'a> Progress<'a> {
    pub(super) fn new(verb: &'static str, table: &'a str, segments: u32, report: fn(&str)) -> Self {
        Self { verb, table, segments, report, stopwatch: Stopwatch::start(), state: Mutex::default() }
    }

    /// Sets the number of segments that earlier runs have completed.
    pub(super) fn continue_after(&self, done: u32) {
        self.update(|state| (state.done, state.done_earlier) = (done, done));
    }

    pub(super) fn count(&self, items: usize) {
        self.update(|state| state.items += items as u64);
    }

    pub(super) fn finish_segment(&self) {
        self.update(|state| state.done += 1);
    }

    fn update(&self, change: impl FnOnce(&mut ProgressState)) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut state);
        let elapsed = self.stopwatch.elapsed();
        if elapsed >= state.reported + PAUSE || state.done == self.segments {
            state.reported = elapsed;
            (self.report)(&self.line(&state, elapsed));
        }
    }

    fn line(&self, state: &ProgressState, elapsed: Duration) -> String {
        let ProgressState { items, done, done_earlier, .. } = *state;
        let verb = self.verb;
        let table = self.table;
        let segments = self.segments;
        let rate = items as f64 / elapsed.as_secs_f64().max(0.001);
        let mut line =
            format!("{verb} {items} items of {table}, {rate:.0} a second; {done} of {segments} segments");
        if done > done_earlier && done < segments {
            let left = elapsed.mul_f64(f64::from(segments - done) / f64::from(done - done_earlier));
            line += &format!(", {} min left", left.as_secs() / 60 + 1);
        }
        line
    }
}
