//! The pace of requests that write many candidates, each in one transaction.

use std::time::Duration;

use futures_util::future::join_all;
use shared::auth::access::AdmittedRequest;
use shared::domain::id::CandidateId;
use shared::domain::transition::project_counts::{SHARDS, shard_of};
use shared::http::body::import::TIME_LIMIT;
use shared::{Error, Result};

/// How many entries are begun per second.
// Each writes four units to the partition of its project, which takes 1,000 per second, and about 30 to the table, which
// takes 4,000 when it is new. The rest is left to other requests.
const PER_SECOND: u32 = 100;

/// An entry to be done.
pub(crate) struct LaneEntry<W> {
    /// The entry's place in the request.
    pub(crate) index: usize,
    pub(crate) candidate: CandidateId,
    /// The change that the entry asks for.
    pub(crate) work: W,
}

pub(crate) enum EntryOutcome<T> {
    Done(T),
    Failed(Error),
    /// There was no time.
    Pending,
}

impl<T> EntryOutcome<T> {
    /// Whether the same entry may succeed at another time, so that the report is not final.
    pub(crate) fn may_succeed_later(&self) -> bool {
        match self {
            Self::Done(_) => false,
            Self::Pending => true,
            Self::Failed(error) => may_succeed_later(error),
        }
    }
}

/// Whether what has failed so may succeed at another time: it is due neither to the entry nor to the state of its candidate.
pub(crate) fn may_succeed_later(error: &Error) -> bool {
    error.status().is_server_error() || matches!(error, Error::Changed)
}

/// Does the entries, four at once and 100 a second, until the time limit. Returns what became of them by their places.
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

/// Does the entries of one shard of the counts.
async fn do_in_turn<W, T, F>(
    access: &AdmittedRequest,
    entries: Vec<LaneEntry<W>>,
    work: &impl Fn(LaneEntry<W>) -> F,
) -> Vec<(usize, EntryOutcome<T>)>
where
    F: Future<Output = Result<T>>,
{
    // One after the other, so that no two transactions under way count in the same shard and conflict.
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
