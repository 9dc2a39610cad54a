//! Retention runs: one a day for each company, in steps that survive crashes.

use chrono::{DateTime, Days, TimeDelta, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::company::Company;
use crate::history::{EventType, FieldChanges, HasHistory as _, ResourceChange, facts};
use crate::id::{CandidateId, CompanyId, ProjectId};
use crate::retention::{GRACE, RetentionPolicy, RetentionVerdict};
use crate::time_zone::TimeZone;
use crate::timestamp::Timestamp;
use crate::work::WorkState;

/// Runs start at this hour of the day, in the company's time zone.
const HOUR: u32 = 2;
/// The duration of a lease. After it, another worker continues the run.
const LEASE: TimeDelta = TimeDelta::minutes(10);

/// The numbers of candidates that a run has found, among those old enough to be due or soon due.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct RunCounts {
    /// The number of candidates that the run has checked.
    pub looked_at: u64,
    /// The number of candidates that the run has erased.
    pub erased: u64,
    /// The number of candidates on hold who would be due now or within the days of notice.
    pub held: u64,
    /// The number of candidates who will be due within the days of notice.
    pub soon: u64,
    /// The number of candidates who are due by a rule that has not started.
    pub waiting: u64,
}

impl RunCounts {
    /// Counts a candidate with this verdict; one who is [`Due`](RetentionVerdict::Due) counts as erased.
    pub fn count(&mut self, verdict: RetentionVerdict) {
        self.looked_at += 1;
        match verdict {
            RetentionVerdict::Keep => {}
            RetentionVerdict::Held => self.held += 1,
            RetentionVerdict::Soon => self.soon += 1,
            RetentionVerdict::Waiting => self.waiting += 1,
            RetentionVerdict::Due => self.erased += 1,
        }
    }

    pub fn count_erased(&mut self, erased: usize) {
        self.looked_at += erased as u64;
        self.erased += erased as u64;
    }

    /// Adds other counts to these.
    pub fn add(&mut self, other: Self) {
        self.looked_at += other.looked_at;
        self.erased += other.erased;
        self.held += other.held;
        self.soon += other.soon;
        self.waiting += other.waiting;
    }

    /// Whether the company is told: candidates were erased, will soon be, or would have been without a hold.
    pub fn is_notable(self) -> bool {
        self.erased + self.held + self.soon > 0
    }
}

/// The position of a run: everything before it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunCursor {
    pub project: ProjectId,
    /// The identifier up to which the project's candidates are done.
    pub candidate: CandidateId,
}

/// Candidates of one project whom a run erases together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErasureBatch {
    pub project: ProjectId,
    pub candidates: Vec<CandidateId>,
}

/// A completed retention run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompletedRun {
    /// When the run ended.
    pub at: DateTime<Utc>,
    /// The numbers of candidates that the run has found.
    pub counts: RunCounts,
}

facts! {
    /// The facts of a run, which events tell beside those of the retention.
    pub struct RunFacts {
        /// The last retention run, which the event reports.
        last_run: ToldRun,
    }
}

/// A run as events show it.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct ToldRun {
    /// When the run ended.
    at: Timestamp,
    #[serde(flatten)]
    counts: RunCounts,
}

impl From<&CompletedRun> for RunFacts {
    fn from(run: &CompletedRun) -> Self {
        Self { last_run: ToldRun { at: Timestamp(run.at), counts: run.counts } }
    }
}

/// The runs of a company: the next one, or the current one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetentionRun {
    pub company: CompanyId,
    /// When the next run starts, or the current one continues.
    pub work: WorkState,
    /// When the next or current run was planned to start.
    pub planned_at: DateTime<Utc>,
    /// How far the run has come; `None` between two runs.
    pub cursor: Option<RunCursor>,
    /// The candidates whom the run is about to erase; `None` once it has recorded the result. If the run is interrupted in
    /// between, it counts them when it continues.
    pub erasing: Option<ErasureBatch>,
    /// The numbers of candidates that the current run has found so far.
    pub counts: RunCounts,
    /// The last run; `None` before the first.
    pub last: Option<CompletedRun>,
}

impl RetentionPolicy {
    /// The history entry for a completed run.
    pub fn run_change(&self, run: &CompletedRun) -> ResourceChange {
        let (company, resource) = self.place();
        // The event carries the facts of the policy that the run has applied.
        let mut changes = FieldChanges::between(Some(self.history_fields()), self.history_fields());
        changes.changed.insert("last_run".to_owned());
        changes.tell(RunFacts::from(run).into_fields());
        ResourceChange::new(company, resource, vec![EventType::RetentionCompleted], changes)
    }
}

impl RetentionRun {
    /// The first run of a company, in the night after `now`.
    pub fn first(company: &Company, now: DateTime<Utc>) -> Self {
        let planned_at = next_night(company, now);
        let work = WorkState::due(planned_at);
        let counts = RunCounts::default();
        let company = company.id.clone();
        Self { company, work, planned_at, cursor: None, erasing: None, counts, last: None }
    }

    /// The first run of a company that was imported at `now`. It waits as long as a new rule does.
    // Time to notice that a rule no longer fits.
    pub fn first_after_import(company: &Company, now: DateTime<Utc>) -> Self {
        Self::first(company, now + GRACE)
    }

    /// Leases the run to a worker that continues it from `now` on.
    pub fn lease(self, now: DateTime<Utc>) -> Self {
        Self { work: WorkState::leased(now + LEASE), ..self }
    }

    /// Ends the lease of a run whose next step is due at once.
    pub fn release(self, now: DateTime<Utc>) -> Self {
        Self { work: WorkState::due(now), ..self }
    }

    /// The runs after the current one has ended at `now`.
    pub fn completed(self, company: &Company, now: DateTime<Utc>) -> Self {
        let last = Some(CompletedRun { at: now, counts: self.counts });
        Self { last, ..Self::first(company, now) }
    }
}

/// The first 02:00 after `now` in the company's time zone. If clocks skip it, the first moment after it.
fn next_night(company: &Company, now: DateTime<Utc>) -> DateTime<Utc> {
    let zone = TimeZone::named(company.timezone.as_str()).unwrap_or_else(TimeZone::utc);
    let today = zone.local_time(now).date_naive();
    let nights = (0..2).filter_map(|days| today.checked_add_days(Days::new(days))?.and_hms_opt(HOUR, 0, 0));
    let next = nights.map(|night| zone.first_moment(night)).find(|night| *night > now);
    next.unwrap_or(now + TimeDelta::days(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use crate::text::TextLine;

    fn next(zone: &str, now: &str) -> String {
        let company = Company { timezone: TextLine::parse(zone).unwrap(), ..samples::company() };
        next_night(&company, now.parse().unwrap()).to_rfc3339()
    }

    #[test]
    fn runs_start_at_two_in_the_night_wherever_the_company_is() {
        assert_eq!(next("", "2026-11-22T10:00:00Z"), "2026-11-23T02:00:00+00:00");
        assert_eq!(next("", "2026-11-22T01:59:59Z"), "2026-11-22T02:00:00+00:00");
        assert_eq!(next("", "2026-11-22T02:00:00Z"), "2026-11-23T02:00:00+00:00");
        assert_eq!(next("Europe/Berlin", "2026-11-22T00:30:00Z"), "2026-11-22T01:00:00+00:00");
        assert_eq!(next("Europe/Berlin", "2026-07-22T00:30:00Z"), "2026-07-23T00:00:00+00:00");
        assert_eq!(next("America/Los_Angeles", "2026-11-22T09:00:00Z"), "2026-11-22T10:00:00+00:00");
    }

    #[test]
    fn a_night_without_or_with_two_of_that_hour_has_one_run() {
        // 02:00 does not exist on 29 March, and comes twice on 25 October.
        assert_eq!(next("Europe/Berlin", "2026-03-28T12:00:00Z"), "2026-03-29T01:00:00+00:00");
        assert_eq!(next("Europe/Berlin", "2026-03-29T01:00:00Z"), "2026-03-30T00:00:00+00:00");
        assert_eq!(next("Europe/Berlin", "2026-10-24T12:00:00Z"), "2026-10-25T00:00:00+00:00");
        assert_eq!(next("Europe/Berlin", "2026-10-25T00:00:00Z"), "2026-10-26T01:00:00+00:00");
        // Samoa skipped all of 30 December 2011, so that night's run is at the beginning of the 31st.
        assert_eq!(next("Pacific/Apia", "2011-12-29T13:00:00Z"), "2011-12-30T10:00:00+00:00");
    }
}
