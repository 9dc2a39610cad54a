//! The erasure of a company, at the end of its contract.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::id::{CandidateId, CompanyId, ProjectId};
use crate::names::named;
use crate::work::WorkState;

/// The duration of a lease. After it, another worker continues the erasure.
const LEASE: TimeDelta = TimeDelta::minutes(10);
/// How long requests and functions that were running when the logins ended may continue.
// A function runs for at most 15 minutes.
const UNDER_WAY: TimeDelta = TimeDelta::minutes(20);
/// How long webhooks may take to accept the last events.
const DELIVERY: TimeDelta = TimeDelta::days(1);
/// How often the erasure checks the holds of candidates.
const HOLD_PAUSE: TimeDelta = TimeDelta::hours(1);
/// How long the identifier of an erased company cannot be reused.
// Records of deletions are kept for the same time: those of the former company must not erase data of a new one with its identifier.
const REMEMBERED: TimeDelta = TimeDelta::days(60);
/// The maximum number of candidates on hold that are named.
pub const MAX_NAMED: usize = 100;

named! {
    /// A step of the erasure of a company. It begins when all earlier steps have nothing left to do.
    pub enum ErasureStep {
        /// Deletes named tokens and ends the access of staff.
        Access = "access",
        /// Deletes candidates, and waits for those on hold.
        Candidates = "candidates",
        /// Waits for requests that began before the logins ended and for the outbox, then erases projects.
        Projects = "projects",
        /// Deletes welcome videos.
        Videos = "videos",
        /// Deletes labels.
        Labels = "labels",
        /// Deletes staff.
        Customers = "customers",
        /// Waits for the outbox: for the rest of each deletion, for uploads, and until all events are numbered.
        Outbox = "outbox",
        /// Waits until webhooks have accepted the last events.
        Deliveries = "deliveries",
        /// Deletes webhooks.
        Webhooks = "webhooks",
        /// Erases the histories of everything that was deleted.
        Histories = "histories",
        /// Erases the rest of the company: counts, retention, legal texts.
        Company = "company",
    }
}

/// The outcome of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepResult {
    /// Nothing is left to do.
    Clear,
    /// The step has deleted something, and there may be more.
    Worked,
    /// The step waits for other functions to finish.
    Waiting,
    /// The step waits for these candidates, who are on hold.
    Held(Vec<HeldCandidate>),
}

/// A candidate on hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldCandidate {
    pub project: ProjectId,
    pub candidate: CandidateId,
}

/// The erasure of a company. Its item replaces the company's item, so that code that needs the company finds none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompanyErasure {
    pub company: CompanyId,
    /// When the logins ended.
    pub begun_at: DateTime<Utc>,
    /// The first step that was not clear when the erasure was last continued.
    // For information only: each invocation starts with the first step, so that it misses nothing that arrived later.
    pub step: ErasureStep,
    /// Since when `step` has been the current step.
    pub step_since: DateTime<Utc>,
    /// The candidates on hold that the erasure waits for, up to [`MAX_NAMED`].
    pub held: Vec<HeldCandidate>,
    /// When the erasure continues.
    pub work: WorkState,
    /// When the erasure ended; `None` before.
    pub ended_at: Option<DateTime<Utc>>,
}

impl CompanyErasure {
    /// An erasure that begins at `now`.
    pub fn begun(company: CompanyId, now: DateTime<Utc>) -> Self {
        let (step, work) = (ErasureStep::Access, WorkState::due(now));
        Self { company, begun_at: now, step, step_since: now, held: Vec::new(), work, ended_at: None }
    }

    /// Leases the erasure to a worker that continues it from `now` on.
    pub fn lease(self, now: DateTime<Utc>) -> Self {
        Self { work: WorkState::leased(now + LEASE), ..self }
    }

    /// Makes the erasure continue at `now`.
    pub fn resume(self, now: DateTime<Utc>) -> Self {
        Self { work: WorkState::due(now), ..self }
    }

    /// Ends the lease after `step` turned out not to be clear at `now`.
    pub fn release(self, step: ErasureStep, result: StepResult, now: DateTime<Utc>) -> Self {
        let step_since = self.since(step, now);
        let (held, due_at) = match result {
            StepResult::Held(held) => (held, now + HOLD_PAUSE),
            StepResult::Clear | StepResult::Worked | StepResult::Waiting => (Vec::new(), now),
        };
        Self { step, step_since, held, work: WorkState::due(due_at), ..self }
    }

    /// The erasure after its end at `now`.
    pub fn ended(self, now: DateTime<Utc>) -> Self {
        let (step, work) = (ErasureStep::Company, WorkState::IDLE);
        Self { step, held: Vec::new(), work, ended_at: Some(now), ..self }
    }

    /// Whether everything that was running when the logins ended has certainly ended.
    pub fn is_quiet(&self, now: DateTime<Utc>) -> bool {
        now >= self.begun_at + UNDER_WAY
    }

    /// Whether webhooks have had enough time to accept the last events.
    pub fn may_give_up_deliveries(&self, now: DateTime<Utc>) -> bool {
        now >= self.since(ErasureStep::Deliveries, now) + DELIVERY
    }

    /// When the identifier can be reused; `None` before the erasure has ended.
    pub fn forgotten_at(&self) -> Option<DateTime<Utc>> {
        Some(self.ended_at? + REMEMBERED)
    }

    fn since(&self, step: ErasureStep, now: DateTime<Utc>) -> DateTime<Utc> {
        if self.step == step { self.step_since } else { now }
    }
}
