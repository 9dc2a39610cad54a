//! Measures what requests consume per partition key, and enforces the limits of partitions.
//!
//! DynamoDB limits partitions, which hold one or many partition keys. Here each key has its own partition, as in a
//! large table, and DynamoDB neither splits partitions nor saves unused units for bursts.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::time::Duration;

use serde_json::Value;
use shared::clock::Stopwatch;

use crate::meter::{Load, Meter, Place};

/// The maximum read capacity units of a partition per second.
pub const MOST_READS: f64 = 3_000.0;
/// The maximum write capacity units of a partition per second.
pub const MOST_WRITES: f64 = 1_000.0;

const SECOND: Duration = Duration::from_secs(1);

/// The units that requests have consumed, in order of time.
pub struct Heat {
    meter: Meter,
    since: Stopwatch,
    loads: Vec<(Duration, Load)>,
    reported: f64,
    /// The units left in each partition; `None` without limits.
    left: Option<HashMap<Place, Left>>,
    refused: usize,
}

struct Left {
    at: Duration,
    reads: f64,
    writes: f64,
}

/// The maximum consumption under one partition key within a second.
#[derive(Debug, Clone)]
pub struct Peak {
    pub place: Place,
    /// Read capacity units.
    pub reads: f64,
    /// Write capacity units.
    pub writes: f64,
}

impl Heat {
    /// Starts with a table of these items, in DynamoDB's JSON.
    pub(crate) fn new(items: &[Value], is_limited: bool) -> Self {
        Self {
            meter: Meter::new(items),
            since: Stopwatch::start(),
            loads: Vec::new(),
            reported: 0.0,
            left: is_limited.then(HashMap::new),
            refused: 0,
        }
    }

    /// Whether every partition of a request has units left; always true without limits.
    pub(crate) fn admits(&mut self, operation: &str, request: &Value) -> bool {
        let Some(left) = &mut self.left else { return true };
        let (now, demand) = (self.since.elapsed(), self.meter.demand(operation, request));
        let has_units = |load: &Load| {
            let left = left.entry(load.place.clone()).or_insert_with(|| Left::full(now));
            left.refill(now);
            if load.writes > 0.0 { left.writes > 0.0 } else { left.reads > 0.0 }
        };
        let admits = demand.iter().all(has_units);
        if admits {
            self.spend(&demand);
        } else {
            self.refused += 1;
        }
        admits
    }

    /// Records the consumption of a request with this response.
    pub(crate) fn take(&mut self, operation: &str, request: &Value, response: &Value) {
        let loads = self.meter.take(operation, request, response);
        if operation == "Query" {
            // The units of a query are known only from its response.
            self.spend(&loads);
        }
        let now = self.since.elapsed();
        self.loads.extend(loads.into_iter().map(|load| (now, load)));
        let consumed = &response["ConsumedCapacity"];
        let parts = consumed.as_array().map_or(std::slice::from_ref(consumed), Vec::as_slice);
        self.reported += parts.iter().filter_map(|part| part["CapacityUnits"].as_f64()).sum::<f64>();
    }

    fn spend(&mut self, loads: &[Load]) {
        for load in loads {
            if let Some(left) = self.left.as_mut().and_then(|left| left.get_mut(&load.place)) {
                left.reads -= load.reads;
                left.writes -= load.writes;
            }
        }
    }

    /// The peaks of all partition keys, the one with the most writes first.
    pub fn peaks(&self) -> Vec<Peak> {
        let mut places = BTreeMap::<&Place, Vec<(Duration, f64, f64)>>::new();
        for (at, load) in &self.loads {
            places.entry(&load.place).or_default().push((*at, load.reads, load.writes));
        }
        let peak = |(place, loads): (&Place, Vec<(Duration, f64, f64)>)| Peak {
            place: place.clone(),
            reads: busiest(loads.iter().map(|(at, reads, _)| (*at, *reads))),
            writes: busiest(loads.iter().map(|(at, _, writes)| (*at, *writes))),
        };
        let mut peaks: Vec<Peak> = places.into_iter().map(peak).collect();
        peaks.sort_by(|one, other| other.writes.total_cmp(&one.writes));
        peaks
    }

    /// Returns the units consumed since the last call, or since the start.
    pub fn drain(&mut self) -> Vec<Load> {
        self.loads.drain(..).map(|(_, load)| load).collect()
    }

    /// The sum of all computed units, and the sum that responses report.
    pub fn units(&self) -> (f64, f64) {
        (self.loads.iter().map(|(_, load)| load.reads + load.writes).sum(), self.reported)
    }

    /// The sum of all write units.
    pub fn written(&self) -> f64 {
        self.loads.iter().map(|(_, load)| load.writes).sum()
    }

    /// The number of requests refused because a partition had no units left.
    pub fn refused(&self) -> usize {
        self.refused
    }
}

impl Left {
    fn full(at: Duration) -> Self {
        Self { at, reads: MOST_READS, writes: MOST_WRITES }
    }

    fn refill(&mut self, now: Duration) {
        let seconds = now.saturating_sub(self.at).as_secs_f64();
        self.at = now;
        self.reads = MOST_READS.min(self.reads + seconds * MOST_READS);
        self.writes = MOST_WRITES.min(self.writes + seconds * MOST_WRITES);
    }
}

impl Place {
    /// The partition key without identifiers, for display.
    pub fn pattern(&self) -> String {
        let part = |part: &str| if part.len() >= 20 { "…".to_owned() } else { part.to_owned() };
        format!("{} {}", self.schema, self.key.split('#').map(part).collect::<Vec<_>>().join("#"))
    }
}

/// The maximum sum of units within one second.
fn busiest(units: impl Iterator<Item = (Duration, f64)>) -> f64 {
    let (mut window, mut sum, mut most) = (VecDeque::new(), 0.0, 0.0_f64);
    for (at, units) in units {
        window.push_back((at, units));
        sum += units;
        while let Some((_, old)) = window.front().filter(|(first, _)| *first + SECOND <= at).copied() {
            sum -= old;
            window.pop_front();
        }
        most = most.max(sum);
    }
    most
}
