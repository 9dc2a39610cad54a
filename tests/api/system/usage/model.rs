//! What the requests of a history ask for, and what they may ask for next.

use std::collections::BTreeMap;

use chrono::{DateTime, Datelike as _, TimeDelta, Utc};
use proptest::prelude::*;
use proptest::sample::select;
use proptest_state_machine::ReferenceStateMachine;
use tests::clock::ManualClock;

/// The seconds of a recording.
const SECONDS: u64 = 2;
/// How often a candidate may record the answer.
pub(super) const TAKES: usize = 10;
/// How long a step takes that has everything done that waits.
pub(super) const SETTLING: TimeDelta = TimeDelta::minutes(2);
/// How long deletions may wait that have died.
pub(super) const DELETING: TimeDelta = TimeDelta::minutes(47);

/// Candidates invited, interviews completed, answers converted, and their seconds.
pub(super) type Counts = [u64; 4];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Invited,
    Expired,
    Interviewing,
    Interviewed,
    Gone,
}

/// Of candidates who are not deleted.
const THERE: [Phase; 4] = [Phase::Invited, Phase::Expired, Phase::Interviewing, Phase::Interviewed];

/// What the requests so far have asked for.
#[derive(Debug, Clone)]
pub(super) struct UsageModel {
    pub(super) now: DateTime<Utc>,
    candidates: Vec<Phase>,
    /// How often each candidate has recorded the answer.
    takes: Vec<usize>,
    pub(super) months: BTreeMap<String, Counts>,
    /// Whether events may have no number yet.
    pub(super) is_unsettled: bool,
    noted: Option<Box<Self>>,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum UsageStep {
    Invite,
    InviteAgain(usize),
    Expire(usize),
    Begin(usize),
    /// Records an answer, and has it converted.
    Record(usize),
    Complete(usize),
    Reopen(usize),
    Delete(usize),
    /// Has everything done that waits.
    Settle,
    /// Everything that waits begins, and the process dies after so many writes.
    Kill(usize),
    Wait(i64),
    /// Goes to the last half-hour of the month.
    ToEndOfMonth,
    Note,
    /// Restores the table and the bucket to what was noted.
    Restore,
}

impl UsageModel {
    fn count(&mut self, place: usize, count: u64) {
        let month = self.now.format("%Y-%m").to_string();
        self.months.entry(month).or_default()[place] += count;
        self.is_unsettled = true;
    }

    fn may_record(&self, candidate: usize) -> bool {
        self.candidates.get(candidate) == Some(&Phase::Interviewing) && self.takes[candidate] < TAKES
    }

    fn end_of_month(&self) -> DateTime<Utc> {
        let last = self.now.date_naive().with_day(28).unwrap() + TimeDelta::days(4);
        last.with_day(1).unwrap().and_hms_opt(0, 0, 0).unwrap().and_utc()
    }

    fn in_phase(&self, phases: &[Phase]) -> Vec<usize> {
        let found = self.candidates.iter().enumerate().filter(|(_, phase)| phases.contains(phase));
        found.map(|(candidate, _)| candidate).collect()
    }

    /// Whether what was noted without a number would get one in its own month.
    fn may_restore(&self) -> bool {
        let month = |of: &Self| (of.now.year(), of.now.month());
        self.noted.as_ref().is_some_and(|noted| !noted.is_unsettled || month(noted) == month(self))
    }
}

impl ReferenceStateMachine for UsageModel {
    type State = Self;
    type Transition = UsageStep;

    fn init_state() -> BoxedStrategy<Self> {
        let now = ManualClock::START.parse().unwrap();
        let (candidates, takes, months, is_unsettled, noted) = Default::default();
        Just(Self { now, candidates, takes, months, is_unsettled, noted }).boxed()
    }

    fn transitions(model: &Self) -> BoxedStrategy<UsageStep> {
        let of = |phase: Phase, step: fn(usize) -> UsageStep| {
            model.in_phase(&[phase]).into_iter().map(step).collect::<Vec<UsageStep>>()
        };
        let recording = (0..model.candidates.len()).filter(|candidate| model.may_record(*candidate));
        let next = [
            recording.map(UsageStep::Record).collect(),
            of(Phase::Invited, UsageStep::Begin),
            of(Phase::Invited, UsageStep::Expire),
            of(Phase::Expired, UsageStep::InviteAgain),
            of(Phase::Interviewing, UsageStep::Complete),
            of(Phase::Interviewed, UsageStep::Reopen),
        ]
        .concat();
        let deletions: Vec<UsageStep> = model.in_phase(&THERE).into_iter().map(UsageStep::Delete).collect();
        let one_of = |steps: Vec<UsageStep>| {
            if steps.is_empty() { Just(UsageStep::Invite).boxed() } else { select(steps).boxed() }
        };
        prop_oneof![
            14 => one_of(next),
            5 => Just(UsageStep::Invite),
            2 => one_of(deletions),
            4 => Just(UsageStep::Settle),
            5 => (0..7_usize).prop_map(UsageStep::Kill),
            3 => select(vec![1, 20, 24 * 5]).prop_map(UsageStep::Wait),
            2 => Just(UsageStep::ToEndOfMonth),
            2 => Just(UsageStep::Note),
            2 => Just(UsageStep::Restore),
        ]
        .boxed()
    }

    fn preconditions(model: &Self, step: &UsageStep) -> bool {
        let is = |candidate: usize, phases: &[Phase]| {
            model.candidates.get(candidate).is_some_and(|phase| phases.contains(phase))
        };
        match *step {
            UsageStep::InviteAgain(candidate) => is(candidate, &[Phase::Expired]),
            UsageStep::Expire(candidate) | UsageStep::Begin(candidate) => is(candidate, &[Phase::Invited]),
            UsageStep::Record(candidate) => model.may_record(candidate),
            UsageStep::Complete(candidate) => is(candidate, &[Phase::Interviewing]),
            UsageStep::Reopen(candidate) => is(candidate, &[Phase::Interviewed]),
            UsageStep::Delete(candidate) => is(candidate, &THERE),
            UsageStep::Restore => model.may_restore(),
            _ => true,
        }
    }

    fn apply(mut model: Self, step: &UsageStep) -> Self {
        match *step {
            UsageStep::Invite => {
                model.candidates.push(Phase::Invited);
                model.takes.push(0);
                model.count(0, 1);
            }
            UsageStep::InviteAgain(candidate) => {
                model.candidates[candidate] = Phase::Invited;
                model.count(0, 1);
            }
            UsageStep::Expire(candidate) => model.candidates[candidate] = Phase::Expired,
            UsageStep::Begin(candidate) => model.candidates[candidate] = Phase::Interviewing,
            UsageStep::Record(candidate) => {
                model.takes[candidate] += 1;
                model.count(2, 1);
                model.count(3, SECONDS);
                model.now += SETTLING;
                model.is_unsettled = false;
            }
            UsageStep::Complete(candidate) => {
                model.candidates[candidate] = Phase::Interviewed;
                model.count(1, 1);
            }
            UsageStep::Reopen(candidate) => model.candidates[candidate] = Phase::Interviewing,
            UsageStep::Delete(candidate) => model.candidates[candidate] = Phase::Gone,
            UsageStep::Settle => {
                model.now += SETTLING;
                model.is_unsettled = false;
            }
            UsageStep::Kill(_) => {}
            UsageStep::Wait(hours) => {
                // Days without a number would make events count in another month.
                if hours > 1 {
                    model.now += SETTLING;
                    model.is_unsettled = false;
                }
                model.now += TimeDelta::hours(hours);
            }
            UsageStep::ToEndOfMonth => {
                model.now += SETTLING;
                model.is_unsettled = false;
                model.now = model.now.max(model.end_of_month() - TimeDelta::minutes(30));
            }
            UsageStep::Note => {
                model.noted = None;
                model.noted = Some(Box::new(model.clone()));
            }
            UsageStep::Restore => {
                let noted = model.noted.clone().unwrap();
                model.months = noted.months;
                for (number, phase) in model.candidates.iter_mut().enumerate() {
                    // Candidates who were deleted since are deleted again, and those who were created since are not there.
                    let then = noted.candidates.get(number).copied().unwrap_or(Phase::Gone);
                    *phase = if *phase == Phase::Gone { Phase::Gone } else { then };
                    model.takes[number] = noted.takes.get(number).copied().unwrap_or_default();
                }
                model.now += DELETING + SETTLING + SETTLING;
                model.is_unsettled = false;
            }
        }
        model
    }
}
