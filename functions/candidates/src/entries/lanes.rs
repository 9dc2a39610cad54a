//! Paces bulk requests, which write each candidate in one transaction.

use std::time::Duration;

use futures_util::future::join_all;
use shared::auth::access::AdmittedRequest;
use shared::domain::id::CandidateId;
use shared::domain::transition::project_counts::{SHARDS, shard_of};
use shared::http::body::import::TIME_LIMIT;
use shared::{Error, Result};

/// The maximum number of entries begun per second.
// An entry writes four units to the project's partition, which accepts 1,000 a second, and about 30 to the table, which
// accepts 4,000 when new. The rest is left to other requests.
const PER_SECOND: u32 = 100;

/// An entry to process.
pub(crate) struct LaneEntry<W> {
    /// The index of the entry in the request.
    pub(crate) index: usize,
    pub(crate) candidate: CandidateId,
    /// The requested change.
    pub(crate) work: W,
}

pub(crate) enum EntryOutcome<T> {
    Done(T),
    Failed(Error),
    /// Not processed before the time limit.
    Pending,
}

impl<T> EntryOutcome<T> {
    /// Whether a retry may succeed. Then the report is not final.
    pub(crate) fn may_succeed_later(&self) -> bool {
        match self {
            Self::Done(_) => false,
            Self::Pending => true,
            Self::Failed(error) => may_succeed_later(error),
        }
    }
}

/// Whether a retry may succeed, because neither the entry nor its candidate's state caused the error.
pub(crate) fn may_succeed_later(error: &Error) -> bool {
    error.status().is_server_error() || matches!(error, Error::Changed)
}

/// Processes entries, four concurrently and 100 per second, until the time limit. Returns each outcome with the entry's
/// index.
pub(crate) async fn do_in_lanes<W, T, F>(
    access: &AdmittedRequest,
    entries: Vec<LaneEntry<W>>,
    work: impl Fn(LaneEntry<W>) -> F,
) -> Vec<(usize, EntryOutcome<T>)>
where
    F: Future<Output = Result<T>>,
{
    let mut lanes: [Vec<LaneEntry<W>>; SHARDS as usize] = std::array::from_fn(|_| Vec::new());
    for entry in entries {
        lanes[usize::from(shard_of(entry.candidate))].push(entry);
    }
    let outcomes = join_all(lanes.map(|lane| do_in_turn(access, lane, &work))).await;
    outcomes.into_iter().flatten().collect()
}

/// Processes the entries of one counter shard.
async fn do_in_turn<W, T, F>(
    access: &AdmittedRequest,
    entries: Vec<LaneEntry<W>>,
    work: &impl Fn(LaneEntry<W>) -> F,
) -> Vec<(usize, EntryOutcome<T>)>
where
    F: Future<Output = Result<T>>,
{
    // Sequentially: concurrent transactions on the same counter shard would conflict.
    let pace = access.start_pace(Duration::from_secs(1) * u32::from(SHARDS) / PER_SECOND);
    let mut outcomes = Vec::with_capacity(entries.len());
    for entry in entries {
        let index = entry.index;
        let outcome = if access.age() >= TIME_LIMIT {
            EntryOutcome::Pending
        } else {
            pace.wait().await;
            work(entry).await.map_or_else(EntryOutcome::Failed, EntryOutcome::Done)
        };
        outcomes.push((index, outcome));
    }
    outcomes
}
