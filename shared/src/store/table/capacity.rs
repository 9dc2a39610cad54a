//! The DynamoDB calls and capacity of a request.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use aws_sdk_dynamodb::types::ConsumedCapacity;

use crate::clock::Stopwatch;

/// The DynamoDB calls of one request, their capacity, and the time since its start.
#[derive(Debug)]
pub struct RequestUsage {
    stopwatch: Stopwatch,
    calls: AtomicU32,
    /// Capacity units in thousandths: DynamoDB charges in halves, and atomics hold integers.
    read_millis: AtomicU64,
    write_millis: AtomicU64,
    commits: AtomicU32,
}

impl Default for RequestUsage {
    /// No calls yet; the time starts to run now.
    fn default() -> Self {
        Self::new(Stopwatch::start())
    }
}

impl RequestUsage {
    /// No calls yet; the time runs since the start of `stopwatch`.
    pub(crate) fn new(stopwatch: Stopwatch) -> Self {
        Self {
            stopwatch,
            calls: AtomicU32::default(),
            read_millis: AtomicU64::default(),
            write_millis: AtomicU64::default(),
            commits: AtomicU32::default(),
        }
    }
}

impl RequestUsage {
    /// The time since the request started.
    pub fn elapsed(&self) -> Duration {
        self.stopwatch.elapsed()
    }

    /// The number of calls, retries included.
    pub fn calls(&self) -> u32 {
        self.calls.load(Ordering::Relaxed)
    }

    /// Read capacity units.
    pub fn read_units(&self) -> f64 {
        units(&self.read_millis)
    }

    /// Write capacity units.
    pub fn write_units(&self) -> f64 {
        units(&self.write_millis)
    }

    pub(crate) fn commits(&self) -> u32 {
        self.commits.load(Ordering::Relaxed)
    }

    pub(in crate::store) fn count_commit(&self) {
        self.commits.fetch_add(1, Ordering::Relaxed);
    }

    pub(in crate::store) fn count_call(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    pub(in crate::store) fn count_reads<'a>(&self, consumed: impl IntoIterator<Item = &'a ConsumedCapacity>) {
        add(&self.read_millis, consumed);
    }

    pub(in crate::store) fn count_writes<'a>(
        &self,
        consumed: impl IntoIterator<Item = &'a ConsumedCapacity>,
    ) {
        add(&self.write_millis, consumed);
    }
}

fn units(millis: &AtomicU64) -> f64 {
    millis.load(Ordering::Relaxed) as f64 / 1000.0
}

fn add<'a>(millis: &AtomicU64, consumed: impl IntoIterator<Item = &'a ConsumedCapacity>) {
    let units: f64 = consumed.into_iter().filter_map(|consumed| consumed.capacity_units).sum();
    millis.fetch_add((units * 1000.0).round() as u64, Ordering::Relaxed);
}
