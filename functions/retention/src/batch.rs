//! Erases candidates, some at once and at a pace that leaves the table to requests.

use std::time::Duration;

use futures_util::stream::{self, StreamExt as _};
use shared::auth::SystemAccess;
use shared::domain::candidate::Candidate;
use shared::domain::history::erasure::ErasureReason;
use shared::domain::id::CandidateId;
use shared::store::VersionedItem;
use shared::{Error, Result, log_failure};
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep_until};

/// Candidates who are erased in parallel.
const PARALLEL: usize = 8;

/// Has the batches of an invocation wait for each other, first come, first served: so kinds of work that have
/// batches ready take turns.
pub(crate) struct Pace {
    pause: Duration,
    // Fair: who has waited longest is next.
    next_at: Mutex<Option<Instant>>,
}

impl Pace {
    pub(crate) fn new(pause: Duration) -> Self {
        Self { pause, next_at: Mutex::default() }
    }

    /// Waits until another batch may start. The first starts at once.
    pub(crate) async fn wait(&self) {
        let mut next_at = self.next_at.lock().await;
        if let Some(next_at) = *next_at {
            sleep_until(next_at).await;
        }
        *next_at = Some(Instant::now() + self.pause);
    }
}

/// What became of the candidates of a batch.
#[derive(Debug, Default)]
pub(crate) struct BatchResult {
    /// How many were erased.
    pub(crate) erased: usize,
    /// How many a concurrent change or a hold has saved.
    pub(crate) moved_on: usize,
    /// Those who could not be erased, as far as is known: an answer may be lost.
    pub(crate) failed: Vec<CandidateId>,
}

/// Erases candidates, each in one transaction with the effect that erases the rest.
pub(crate) async fn erase(
    system: &SystemAccess,
    candidates: Vec<VersionedItem<Candidate>>,
    reason: ErasureReason,
) -> BatchResult {
    let erasures = candidates.into_iter().map(|candidate| async move {
        let erasure = erase_one(system, &candidate, reason).await;
        (candidate.id, erasure)
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

async fn erase_one(
    system: &SystemAccess,
    candidate: &VersionedItem<Candidate>,
    reason: ErasureReason,
) -> Result<()> {
    system.commit(system.store.delete_candidate(candidate, reason, system.now)?).await
}
