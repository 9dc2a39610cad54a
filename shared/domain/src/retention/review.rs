//! Reviews of a company's candidates: the verdict on each at a given time. Runs erase by them, and clients list their result in advance.

use chrono::{DateTime, TimeDelta, Utc};

use crate::candidate::Candidate;
use crate::id::{CandidateId, ProjectId};
use crate::privacy::retention_rule::{RetentionRule, RetentionStart};
use crate::project::Project;
use crate::retention::{RetentionPolicy, RetentionVerdict, ScheduledRule};

/// A review of a company's candidates.
#[derive(Debug, Clone)]
pub struct RetentionReview {
    /// The policy of the company.
    pub policy: RetentionPolicy,
    /// A rule to try instead of all others, as if it had long been in force.
    pub trial: Option<RetentionRule>,
    /// The only project to review; `None` for all.
    pub project: Option<ProjectId>,
    /// Candidates due within these days are [`RetentionVerdict::Soon`].
    pub notice_days: u32,
    /// The time for which the review gives verdicts.
    pub at: DateTime<Utc>,
}

impl RetentionReview {
    /// The review of a run that erases at `now`.
    pub fn of_run(policy: RetentionPolicy, now: DateTime<Utc>) -> Self {
        let notice_days = policy.notice_days;
        Self { policy, trial: None, project: None, notice_days, at: now }
    }

    /// The rule that applies to the candidates of a project.
    pub fn scheduled(&self, project: &Project) -> ScheduledRule {
        match self.trial {
            Some(rule) => ScheduledRule { rule, starts_at: Some(DateTime::UNIX_EPOCH) },
            None => self.policy.applied_to(project),
        }
    }

    /// The verdict on a candidate at the time of the review.
    pub fn judge(&self, candidate: &Candidate, project: &Project) -> RetentionVerdict {
        self.scheduled(project).judge(candidate, project, self.notice_days, self.at)
    }

    /// The entry of a candidate who is erased at the time of this review, or would be without a hold; `None` if they are kept.
    pub fn find_due(&self, candidate: &Candidate, project: &Project) -> Option<DueCandidate> {
        let scheduled = self.scheduled(project);
        let is_held = match self.judge(candidate, project) {
            RetentionVerdict::Due => false,
            // The verdict on a candidate on hold does not say whether they are due yet or the rule is in force; `due_at` does.
            RetentionVerdict::Held => true,
            RetentionVerdict::Keep | RetentionVerdict::Soon | RetentionVerdict::Waiting => return None,
        };
        let due_at = scheduled.due_at(candidate, project).filter(|due_at| *due_at <= self.at)?;
        Some(DueCandidate { due_at, reason: scheduled.rule.from, is_held })
    }

    /// The newest candidate who can be due or soon due, so that newer ones need not be read. `None` if all candidates of the
    /// project are kept.
    pub fn last_candidate(&self, project: &Project) -> Option<CandidateId> {
        let RetentionRule { days, from } = self.scheduled(project).rule;
        let last_start = self.at + TimeDelta::days(self.notice_days.into()) - TimeDelta::days(days?.into());
        if from == RetentionStart::ProjectClosed && project.closed_since()? > last_start {
            return None;
        }
        // Identifiers begin with the creation time, and no activity precedes the creation.
        Some(CandidateId::first_of(last_start + TimeDelta::milliseconds(1)).previous())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueCandidate {
    /// Since when the candidate is due.
    pub due_at: DateTime<Utc>,
    /// The event from which the days are counted.
    pub reason: RetentionStart,
    /// Whether a hold prevents the erasure.
    pub is_held: bool,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::candidate::CandidateStatus;
    use crate::id::Id;
    use crate::project::ProjectStatus;
    use crate::samples;

    fn moment(milliseconds: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::milliseconds(milliseconds)
    }

    fn moments() -> impl Strategy<Value = DateTime<Utc>> {
        // Few values, so that many coincide to the millisecond.
        (0..12_i64, -1..=1_i64).prop_map(|(day, milliseconds)| moment(day * 86_400_000 + milliseconds))
    }

    fn rules() -> impl Strategy<Value = RetentionRule> {
        let from = prop_oneof![Just(RetentionStart::LastActivity), Just(RetentionStart::ProjectClosed)];
        (proptest::option::of(7..10_u32), from).prop_map(|(days, from)| RetentionRule { days, from })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(5_000))]

        #[test]
        fn all_who_are_left_out_are_kept(
            (rule, trial) in (rules(), proptest::option::of(rules())),
            (created, invited_at, closed_at) in (moments(), proptest::option::of(moments()), proptest::option::of(moments())),
            (at, notice_days, starts_at) in (moments(), 0..4_u32, moments()),
            random in any::<u64>(),
        ) {
            let ulid = ulid::Ulid::from_parts(u64::try_from(created.timestamp_millis()).unwrap_or(0), random.into());
            let candidate =
                Candidate { id: Id::new(ulid), status: CandidateStatus::Skipped, invited_at, ..samples::candidate() };
            let status = if closed_at.is_some() { ProjectStatus::Closed } else { ProjectStatus::Running };
            let project = Project { status, closed_at, ..samples::project() };
            let scheduled = ScheduledRule { rule, starts_at: rule.days.map(|_| starts_at) };
            let policy = RetentionPolicy { scheduled, ..RetentionPolicy::keep(project.company.clone()) };
            let review = RetentionReview { policy, trial, project: None, notice_days, at };
            let verdict = review.judge(&candidate, &project);
            let is_listed = review.find_due(&candidate, &project).is_some();
            prop_assert_eq!(is_listed, verdict == RetentionVerdict::Due, "nobody is on hold");
            if review.last_candidate(&project).is_none_or(|last| candidate.id > last) {
                prop_assert_eq!(verdict, RetentionVerdict::Keep);
            }
        }
    }
}
