//! Erases candidates in concurrent batches, at a pace that leaves capacity of the table to requests.

use futures_util::stream::{self, StreamExt as _};
use shared::auth::SystemAccess;
use shared::domain::candidate::Candidate;
use shared::domain::history::erasure::ErasureReason;
use shared::domain::id::CandidateId;
use shared::store::VersionedItem;
use shared::{Error, log_failure};

/// The number of candidates that are erased concurrently.
const PARALLEL: usize = 8;

/// The outcome of a batch.
#[derive(Debug, Default)]
pub(crate) struct BatchResult {
    /// How many candidates were erased.
    pub(crate) erased: usize,
    /// How many candidates were kept, because of a hold or a concurrent change.
    pub(crate) moved_on: usize,
    /// Candidates whose erasure failed. Some may be erased nevertheless: the response may have been lost.
    pub(crate) failed: Vec<CandidateId>,
}

/// Erases candidates: each in one transaction, which also records the effect that erases the rest.
pub(crate) async fn erase(
    system: &SystemAccess,
    candidates: Vec<VersionedItem<Candidate>>,
    reason: ErasureReason,
) -> BatchResult {
    let erasures = candidates.into_iter().map(|candidate| async move {
        let erasure =
            async { system.commit(system.store.delete_candidate(&candidate, reason, system.now)?).await };
        (candidate.id, erasure.await)
    });
    let mut results = stream::iter(erasures).buffer_unordered(PARALLEL);
    let mut batch = BatchResult::default();
    while let Some((candidate, result)) = results.next().await {
        match result {
            Ok(()) => batch.erased += 1,
            // The next nightly run decides again.
            Err(Error::Changed | Error::NotFound | Error::Refused(_)) => batch.moved_on += 1,
            Err(error) => {
                log_failure!(target: "retention", &error, %candidate, "could not erase the candidate");
                batch.failed.push(candidate);
            }
        }
    }
    batch
}
