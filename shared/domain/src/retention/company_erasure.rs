//! The erasure of a company, at the end of its contract.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::id::{CandidateId, CompanyId, ProjectId};
use crate::names::named;
use crate::work::WorkState;

/// The time after which another worker continues an erasure that has stopped.
const LEASE: TimeDelta = TimeDelta::minutes(10);
/// How long requests and functions may go on that were under way when the logins ended.
// A function runs for 15 minutes at most.
const UNDER_WAY: TimeDelta = TimeDelta::minutes(20);
/// How long webhooks may take to accept the last events.
const DELIVERY: TimeDelta = TimeDelta::days(1);
/// How often the holds of candidates are looked at.
const HOLD_PAUSE: TimeDelta = TimeDelta::hours(1);
/// How long the identifier of an erased company cannot be used.
// Records of deletions are kept for as long: those of the former company must not erase anything of a new one.
const REMEMBERED: TimeDelta = TimeDelta::days(60);
/// The most candidates on hold that are named.
pub const MAX_NAMED: usize = 100;

named! {
    /// A step of the erasure of a company. It begins when those before it have nothing left to do.
    pub enum ErasureStep {
        /// Deletes named tokens and ends the access of staff.
        Access = "access",
        /// Deletes candidates, and waits for those on hold.
        Candidates = "candidates",
        /// Waits for requests that began before the end of the logins and for the outbox, then erases projects.
        Projects = "projects",
        /// Deletes welcome videos.
        Videos = "videos",
        /// Deletes labels.
        Labels = "labels",
        /// Deletes staff.
        Customers = "customers",
        /// Waits for the outbox: for the rest of each deletion, for uploads, and for the numbers of events.
        Outbox = "outbox",
        /// Waits until webhooks have accepted the last events.
        Deliveries = "deliveries",
        /// Deletes webhooks.
        Webhooks = "webhooks",
        /// Erases the histories of everything that was deleted.
        Histories = "histories",
        /// Erases what is left of the company: counts, retention, legal texts.
        Company = "company",
    }
}

/// The outcome of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepResult {
    /// There is nothing left to do.
    Clear,
    /// It has deleted something, and there may be more.
    Worked,
    /// It waits for others to finish.
    Waiting,
    /// It waits for these candidates, who are on hold.
    Held(Vec<HeldCandidate>),
}

/// A candidate on hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldCandidate {
    pub project: ProjectId,
    pub candidate: CandidateId,
}

/// The erasure of a company. Its item takes the place of the company's, so whatever needs the company finds none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompanyErasure {
    pub company: CompanyId,
    /// When the logins ended.
    pub begun_at: DateTime<Utc>,
    /// The first step that was not clear when the erasure was last continued.
    // The step is no place to continue from: each invocation begins with the first step, so that nothing is missed that came
    // later.
    pub step: ErasureStep,
    /// The time since when that has been the step.
    pub step_since: DateTime<Utc>,
    /// Candidates on hold that it waits for, up to [`MAX_NAMED`].
    pub held: Vec<HeldCandidate>,
    /// The time at which the erasure goes on.
    pub work: WorkState,
    /// When it ended; `None` before.
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

    /// Has the erasure go on at `now`.
    pub fn resume(self, now: DateTime<Utc>) -> Self {
        Self { work: WorkState::due(now), ..self }
    }

    /// Ends the lease after `step` was found not to be clear at `now`.
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

    /// Whether everything has ended that was under way when the logins ended.
    pub fn is_quiet(&self, now: DateTime<Utc>) -> bool {
        now >= self.begun_at + UNDER_WAY
    }

    /// Whether webhooks have had their time to accept the last events.
    pub fn may_give_up_deliveries(&self, now: DateTime<Utc>) -> bool {
        now >= self.since(ErasureStep::Deliveries, now) + DELIVERY
    }

    /// When the identifier may be used again; `None` before the end.
    pub fn forgotten_at(&self) -> Option<DateTime<Utc>> {
        Some(self.ended_at? + REMEMBERED)
    }

    fn since(&self, step: ErasureStep, now: DateTime<Utc>) -> DateTime<Utc> {
        if self.step == step { self.step_since } else { now }
    }
}
