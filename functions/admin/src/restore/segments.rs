//! Processes the segments of a table, several concurrently on each processor.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::thread;

use aws_sdk_dynamodb::types::TableDescription;
use futures_util::future::try_join_all;
use shared::config::AwsConfig;
use tokio::runtime::Builder;

use super::Result;
use super::progress::Progress;
use super::table::TableClient;

/// Concurrent segments per processor: while one waits for its page, others are parsed. Each may hold a page of 1 MB,
/// which takes about ten times as much memory.
const AT_ONCE: usize = 4;
/// Items per segment. A stopped run repeats the segments in progress.
const ITEMS_PER_SEGMENT: i64 = 100_000;
// Enough for all processors of a large machine, and only some hundred needless calls for a small table.
const FEWEST_SEGMENTS: i64 = 64;
// DynamoDB allows a million.
const MOST_SEGMENTS: i64 = 10_000;

/// The segments of a table and the threads that process them.
pub(super) struct SegmentPool {
    aws: AwsConfig,
    pub(super) total: u32,
}

impl SegmentPool {
    pub(super) fn new(aws: AwsConfig, total: u32) -> Self {
        Self { aws, total }
    }

    /// The number of segments for reading a table.
    pub(super) fn segments_for(table: &TableDescription) -> Result<u32> {
        // DynamoDB updates the item count every six hours.
        let items = table.item_count().unwrap_or_default();
        let wanted = (items / ITEMS_PER_SEGMENT).clamp(FEWEST_SEGMENTS, MOST_SEGMENTS);
        Ok(u32::try_from(wanted)?)
    }

    /// Calls `work` for each segment of `table` that is not done. Stops at the first error.
    pub(super) fn run(
        &self,
        progress: &Progress,
        table: &str,
        is_done: impl Fn(u32) -> bool,
        work: impl AsyncFn(&TableClient, u32) -> Result<()> + Sync,
    ) -> Result<()> {
        let waiting: VecDeque<u32> = (0..self.total).filter(|segment| !is_done(*segment)).collect();
        progress.continue_after(self.total - u32::try_from(waiting.len())?);
        let waiting = Mutex::new(waiting);
        let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        // Each processor has its own runtime and connections, so that threads share only the queue.
        let on_one_processor = || -> Result<()> {
            let runtime = Builder::new_current_thread().enable_all().build()?;
            let table = TableClient::new(&self.aws, table);
            let one_after_another = async || -> Result<()> {
                while let Some(segment) = next() {
                    work(&table, segment).await?;
                    progress.finish_segment();
                }
                Ok(())
            };
            let done = runtime.block_on(try_join_all((0..AT_ONCE).map(|_| one_after_another())));
            if done.is_err() {
                waiting.lock().unwrap_or_else(PoisonError::into_inner).clear();
            }
            done.map(drop)
        };
        thread::scope(|scope| {
            let threads = thread::available_parallelism().map_or(1, usize::from);
            let threads: Vec<_> = (0..threads).map(|_| scope.spawn(on_one_processor)).collect();
            let ended =
                threads.into_iter().map(|thread| thread.join().map_err(|_| "a thread has panicked")?);
            ended.collect()
        })
    }
}
