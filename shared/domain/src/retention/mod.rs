//! Retention: when candidates are erased because they have been kept long enough.

pub mod company_erasure;
pub mod erased_ratings;
pub mod review;
pub mod run;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::candidate::{Candidate, CandidateStatus};
use crate::history::{EventType, FieldValue, HasHistory, ResourceRef, facts};
use crate::id::CompanyId;
use crate::privacy::retention_rule::{ProjectRetention, RetentionRule, RetentionStart};
use crate::project::{Project, ProjectStatus};
use crate::timestamp::Timestamp;

/// How long a first or stricter rule waits before it erases anything.
// Time to read the dry run and to correct a mistake.
pub const GRACE: TimeDelta = TimeDelta::days(7);
/// The permitted numbers of days until an unanswered request for erasure is carried out; the maximum is the default.
pub const REQUEST_DAYS: std::ops::RangeInclusive<u32> = 0..=30;
/// The permitted days of notice: a run counts candidates whose erasure is at most that far ahead as `soon`.
pub const NOTICE_DAYS: std::ops::RangeInclusive<u32> = 0..=90;
/// The default days of notice.
pub const DEFAULT_NOTICE_DAYS: u32 = 14;

impl RetentionRule {
    /// Whether this rule can erase a candidate earlier than `other`.
    fn is_stricter_than(self, other: Self) -> bool {
        match (self.days, other.days) {
            (None, _) => false,
            (Some(_), None) => true,
            // After a project's close, the days count from the last activity or later, so a change to the last activity is stricter.
            (Some(days), Some(others)) => {
                days < others
                    || (self.from == RetentionStart::LastActivity
                        && other.from == RetentionStart::ProjectClosed)
            }
        }
    }

    /// When this rule erases a candidate; `None` if it keeps them.
    pub fn due_at(self, candidate: &Candidate, project: &Project) -> Option<DateTime<Utc>> {
        let start = match self.from {
            RetentionStart::LastActivity => candidate.last_activity(),
            RetentionStart::ProjectClosed => project.closed_since()?.max(candidate.last_activity()),
        };
        Some(start + TimeDelta::days(self.days?.into()))
    }
}

/// A rule, and when it starts to erase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScheduledRule {
    pub rule: RetentionRule,
    /// The time before which the rule erases nothing; `None` for a rule that keeps candidates.
    pub starts_at: Option<DateTime<Utc>>,
}

impl ScheduledRule {
    /// Keeps candidates.
    pub const KEEP: Self = Self { rule: RetentionRule::KEEP, starts_at: None };

    /// Replaces this rule by `rule` at `now`. A first or stricter rule starts after [`GRACE`]; any other starts when this one
    /// starts or started.
    pub fn replaced_by(self, rule: RetentionRule, now: DateTime<Utc>) -> Self {
        let starts_at = if rule.is_stricter_than(self.rule) { Some(now + GRACE) } else { self.starts_at };
        Self { rule, starts_at: starts_at.filter(|_| rule.days.is_some()) }
    }

    /// Whether the rule may erase at `now`.
    pub fn is_in_force(self, now: DateTime<Utc>) -> bool {
        self.starts_at.is_some_and(|starts_at| starts_at <= now)
    }

    /// When the rule erases a candidate; `None` if it keeps them.
    pub fn due_at(self, candidate: &Candidate, project: &Project) -> Option<DateTime<Utc>> {
        let due_at = self.rule.due_at(candidate, project)?;
        self.starts_at.map(|starts_at| due_at.max(starts_at))
    }

    /// The verdict on a candidate at `now`; [`Soon`](RetentionVerdict::Soon) if they are due within `notice_days`.
    pub fn judge(
        self,
        candidate: &Candidate,
        project: &Project,
        notice_days: u32,
        now: DateTime<Utc>,
    ) -> RetentionVerdict {
        let Some(due_at) = self.rule.due_at(candidate, project) else { return RetentionVerdict::Keep };
        if due_at > now + TimeDelta::days(notice_days.into()) {
            return RetentionVerdict::Keep;
        }
        if candidate.hold_at(now).is_some() {
            RetentionVerdict::Held
        } else if due_at > now {
            RetentionVerdict::Soon
        } else if self.is_in_force(now) {
            RetentionVerdict::Due
        } else {
            RetentionVerdict::Waiting
        }
    }
}

/// A retention run's decision about a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetentionVerdict {
    /// Keep the candidate, who is not due soon.
    Keep,
    /// Keep the candidate, who is due or soon due, but on hold.
    Held,
    /// Keep the candidate for now: they will be due within the days of notice.
    Soon,
    /// Keep the candidate for now: they are due, but the rule is not in force yet.
    Waiting,
    /// Erase the candidate.
    Due,
}

/// The retention of a company.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetentionPolicy {
    pub company: CompanyId,
    /// The rule for projects without one of their own.
    pub scheduled: ScheduledRule,
    /// The days until an unanswered request for erasure is carried out, in [`REQUEST_DAYS`].
    pub request_days: u32,
    /// The days of notice, in [`NOTICE_DAYS`].
    pub notice_days: u32,
}

impl RetentionPolicy {
    /// The policy of a company that has set none.
    pub fn keep(company: CompanyId) -> Self {
        Self {
            company,
            scheduled: ScheduledRule::KEEP,
            request_days: *REQUEST_DAYS.end(),
            notice_days: DEFAULT_NOTICE_DAYS,
        }
    }

    /// The rule that applies to a project.
    pub fn applied_to(&self, project: &Project) -> ScheduledRule {
        let ProjectRetention { own, starts_at } = project.retention;
        match own {
            Some(rule) => ScheduledRule { rule, starts_at },
            None => {
                // The start is `None` if the company's rule keeps candidates.
                let starts_at =
                    self.scheduled.starts_at.map(|company| starts_at.map_or(company, |own| company.max(own)));
                ScheduledRule { starts_at, ..self.scheduled }
            }
        }
    }
}

impl Candidate {
    /// When something last happened to the candidate, or until when they may still act.
    pub fn last_activity(&self) -> DateTime<Utc> {
        use CandidateStatus::{Confirmed, Expired, Interviewing, Invited};
        // A future deadline counts as activity while candidates may still act, so that those in an open interview are kept. A
        // project with such candidates cannot be closed.
        let deadline =
            self.profile.deadline.filter(|_| matches!(self.status, Invited | Confirmed | Interviewing));
        // Candidates who expired before `expired_at` was stored have only the deadline.
        let expired_at = self.expired_at.or(self.profile.deadline.filter(|_| self.status == Expired));
        let moments = [
            self.invited_at,
            self.confirmed_at,
            self.started_at,
            self.interviewed_at,
            self.reminded_at,
            self.aborted_at,
            self.skipped_at,
            expired_at,
            deadline,
        ];
        let evaluated = self.evaluations.values().map(|report| report.at);
        let scored = self.scores.values().map(|score| score.saved_at);
        let last = moments.into_iter().flatten().chain(evaluated).chain(scored).max();
        // The identifier contains the creation time.
        last.unwrap_or_default().max(self.id.created_at())
    }
}

impl Project {
    /// Gives the project a rule of its `own` at `now`; `None` returns it to the company's rule in `policy`.
    pub fn with_retention(
        &self,
        policy: &RetentionPolicy,
        own: Option<RetentionRule>,
        now: DateTime<Utc>,
    ) -> Self {
        if own == self.retention.own {
            return self.clone();
        }
        let rule = own.unwrap_or(policy.scheduled.rule);
        // Returning to a stricter rule of the company waits as long as setting one.
        let ScheduledRule { starts_at, .. } = policy.applied_to(self).replaced_by(rule, now);
        Self { retention: ProjectRetention { own, starts_at }, ..self.clone() }
    }

    /// When the project was closed; `None` while it is open.
    pub(super) fn closed_since(&self) -> Option<DateTime<Utc>> {
        self.closed_at.filter(|_| self.status == ProjectStatus::Closed)
    }
}

facts! {
    /// The facts of a company's retention: values that its events contain.
    pub struct RetentionFacts {
        /// The number of days that candidates are kept; null keeps them for ever.
        days: Option<u32>,
        /// The event from which the days are counted.
        from: RetentionStart,
        /// The days until an unanswered request for erasure is carried out.
        request_days: u32,
        /// The days of notice before an erasure.
        notice_days: u32,
        /// When the rule starts to erase candidates; null for a rule that keeps them.
        starts_at: Option<Timestamp>,
    }
}

impl HasHistory for RetentionPolicy {
    const CREATED: EventType = EventType::RetentionUpdated;
    const UPDATED: Option<EventType> = Some(EventType::RetentionUpdated);
    const DELETED: Option<EventType> = None;

    fn place(&self) -> (&CompanyId, ResourceRef) {
        (&self.company, ResourceRef::Retention)
    }

    fn history_fields(&self) -> Vec<(&'static str, FieldValue)> {
        let Self { scheduled: ScheduledRule { rule, starts_at }, request_days, notice_days, company: _ } =
            self;
        let facts = RetentionFacts {
            days: rule.days,
            from: rule.from,
            request_days: *request_days,
            notice_days: *notice_days,
            starts_at: starts_at.map(Timestamp),
        };
        facts.into_fields().into()
    }
}

#[cfg(test)]
mod tests;
