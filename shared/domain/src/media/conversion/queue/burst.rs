//! Simulates one deadline with the real order of turns: ten executions convert 10,000 answers of two minutes, of three companies.
//! All answers wait from the beginning. `tests/benches/scale.md` shows the table.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use chrono::{DateTime, TimeDelta, Utc};

use super::ConversionQueue;
use crate::id::CompanyId;

const EXECUTIONS: usize = 10;
/// The time to convert two minutes in 1920×1080, as `functions/video-conversion/README.md` estimates it: 82 seconds of one
/// processor, on 1.7 processors.
const CONVERSION: TimeDelta = TimeDelta::seconds(48);

/// A company with waiting recordings, and how long its started recordings had waited.
struct CompanyBurst {
    queue: ConversionQueue,
    waiting: usize,
    waits: Vec<TimeDelta>,
}

impl CompanyBurst {
    fn of(name: &str, waiting: usize) -> Self {
        Self { queue: ConversionQueue::of(name.parse().unwrap()), waiting, waits: Vec::new() }
    }

    fn begin(&mut self, event: &str, now: DateTime<Utc>) {
        self.waiting -= 1;
        self.waits.push(now - DateTime::UNIX_EPOCH);
        self.queue = self.queue.clone().started(self.waiting.to_string(), event, now);
    }

    /// The company, the number of takes, and the minutes until half of them and all of them had begun.
    fn row(&self) -> String {
        let minutes = |wait: &TimeDelta| wait.num_minutes();
        let half = &self.waits[self.waits.len() / 2];
        let all = self.waits.last().unwrap();
        format!("{} | {} | {} | {}", self.queue.company, self.waits.len(), minutes(half), minutes(all))
    }
}

#[test]
fn a_burst_of_one_company_holds_up_no_other_and_all_are_converted() {
    let mut companies =
        [("large", 9_000), ("middle", 900), ("small", 100)].map(|(name, n)| CompanyBurst::of(name, n));
    let start = DateTime::<Utc>::UNIX_EPOCH;
    let mut executions: BinaryHeap<_> =
        (0..EXECUTIONS).map(|number| Reverse((start, number, None::<usize>))).collect();
    while let Some(Reverse((now, number, ended))) = executions.pop() {
        let event = number.to_string();
        if let Some(company) = ended {
            let queue = &mut companies[company].queue;
            *queue = queue.clone().ended(&event);
        }
        let mut turns: Vec<&ConversionQueue> = companies.iter().map(|company| &company.queue).collect();
        ConversionQueue::sort_by_turn(&mut turns, now);
        let turns: Vec<_> = turns.into_iter().map(|queue| queue.company.clone()).collect();
        let place =
            |id: &CompanyId| companies.iter().position(|company| company.queue.company == *id).unwrap();
        let next = turns.iter().map(place).find(|place| companies[*place].waiting > 0);
        if let Some(next) = next {
            companies[next].begin(&event, now);
            executions.push(Reverse((now + CONVERSION, number, Some(next))));
        }
    }
    assert!(companies.iter().all(|company| company.waiting == 0));
    let rows = companies.each_ref().map(CompanyBurst::row);
    assert_eq!(rows, ["large | 9000 | 440 | 799", "middle | 900 | 82 | 154", "small | 100 | 12 | 26"]);
}
