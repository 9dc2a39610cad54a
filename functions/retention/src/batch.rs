//! Erases candidates, some at once and at a pace that leaves the table to requests.

use futures_util::stream::{self, StreamExt as _};
use shared::auth::SystemAccess;
use shared::domain::candidate::Candidate;
use shared::domain::history::erasure::ErasureReason;
use shared::domain::id::CandidateId;
use shared::store::VersionedItem;
use shared::{Error, log_failure};

/// Candidates who are erased in parallel.
const PARALLEL: usize = 8;

/// The outcome of a batch.
#[derive(Debug, Default)]
pub(crate) struct BatchResult {
    /// How many were erased.
    pub(crate) erased: usize,
    /// How many a concurrent change or a hold has saved.
    pub(crate) moved_on: usize,
    /// The candidates who could not be erased, as far as is known: an answer may be lost.
    pub(crate) failed: Vec<CandidateId>,
}

/// Erases candidates, each in one transaction with the effect that erases the rest.
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
            // The next day decides again.
            Err(Error::Changed | Error::NotFound | Error::Refused(_)) => batch.moved_on += 1,
            Err(error) => {
                log_failure!(target: "retention", &error, %candidate, "could not erase the candidate");
                batch.failed.push(candidate);
            }
        }
    }
    batch
}
