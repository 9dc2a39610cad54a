//! Mails to staff about ended interviews, i.e. completed ones and those that time ended with answers: the interviews that await
//! the next mail, and the reminders to evaluate.

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::id::{CompanyId, CustomerId};
use crate::staff::ended_interviews::{EndedInterview, EndedInterviews};
use crate::staff::reminder::EvaluationReminders;

/// How long staff are not told after an interview has ended, so that several interviews share one mail.
const GATHERING: TimeDelta = TimeDelta::minutes(5);
/// The minimum time between two mails to one person.
const PAUSE: TimeDelta = TimeDelta::hours(1);
/// How long the time of the last mail is kept, and how long interviews of a given-up mail wait for another mail.
const KEPT: TimeDelta = TimeDelta::days(90);

/// A position in a company's feed: staff have not been told of interviews that ended after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InterviewWave {
    pub company: CompanyId,
    /// The number of the event before the first one that ended such an interview.
    pub after: u64,
    /// When the schedule reads the feed after that event.
    pub read_at: DateTime<Utc>,
}

impl InterviewWave {
    /// The wave that begins at `now`. `number` is that of the event that has ended the first interview.
    pub fn begun(company: CompanyId, number: u64, now: DateTime<Utc>) -> Self {
        Self { company, after: number - 1, read_at: now + GATHERING }
    }
}

/// The ended interviews that await a mail to a member of staff, and when it is due.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InterviewNotice {
    pub company: CompanyId,
    /// The recipient.
    pub customer: CustomerId,
    /// The interviews that the next mail will be about.
    #[serde(default, skip_serializing_if = "EndedInterviews::is_empty")]
    pub waiting: EndedInterviews,
    /// The number of the last event that was taken into account: reading a wave again must add nothing twice.
    pub reached: u64,
    /// When the last mail was handed to the outbox.
    pub mailed_at: Option<DateTime<Utc>>,
    /// When the next mail is due; `None` if no interview waits, or only those of a given-up mail.
    pub next_mail_at: Option<DateTime<Utc>>,
    /// The reminders to evaluate, which are independent of these mails.
    #[serde(default, skip_serializing_if = "EvaluationReminders::is_empty")]
    pub reminders: EvaluationReminders,
}

impl InterviewNotice {
    /// An empty notice, for a customer who never had a mail about ended interviews.
    pub fn new(company: CompanyId, customer: CustomerId) -> Self {
        Self {
            company,
            customer,
            waiting: EndedInterviews::default(),
            reached: 0,
            mailed_at: None,
            next_mail_at: None,
            reminders: EvaluationReminders::default(),
        }
    }

    /// Adds interviews, with the numbers of their events, after the feed was read up to `reached` at `now`. Skips events that
    /// were already taken into account.
    pub fn with_ended(
        mut self,
        interviews: impl IntoIterator<Item = (u64, EndedInterview)>,
        reached: u64,
        now: DateTime<Utc>,
    ) -> Self {
        let known = self.reached;
        let mut has_new = false;
        for (_, one) in interviews.into_iter().filter(|(number, _)| *number > known) {
            self.waiting.add(one);
            has_new = true;
        }
        self.reached = known.max(reached);
        if has_new {
            let next = self.mailed_at.map_or(now, |mailed_at| now.max(mailed_at + PAUSE));
            self.next_mail_at = Some(self.next_mail_at.unwrap_or(next));
        }
        self
    }

    /// Removes and returns the waiting interviews, for a mail that is handed to the outbox at `now`.
    pub fn handed_over(mut self, now: DateTime<Utc>) -> (Self, EndedInterviews) {
        let told = std::mem::take(&mut self.waiting);
        (Self { mailed_at: Some(now), next_mail_at: None, ..self }, told)
    }

    /// Puts back the interviews of a mail that was given up at `now`. The next mail, which another interview must cause, will be
    /// about them too.
    // They cause no mail themselves: otherwise, a mail that SES refuses would be tried every hour forever.
    pub fn with_given_up(mut self, told: EndedInterviews, now: DateTime<Utc>) -> Self {
        let waiting = std::mem::replace(&mut self.waiting, told);
        for one in waiting.listed {
            self.waiting.add(one);
        }
        for (project, count) in waiting.more {
            *self.waiting.more.entry(project).or_default() += count;
        }
        self.mailed_at = self.mailed_at.or(Some(now));
        self
    }

    /// Records the reminder of `day` about candidates who await an evaluation, oldest first, and returns those that it is about.
    /// `None` if no reminder is due: see [`EvaluationReminders::remind`].
    pub fn remind(mut self, day: NaiveDate, waiting: &[EndedInterview]) -> Option<(Self, EndedInterviews)> {
        let reminders = std::mem::take(&mut self.reminders);
        let (reminders, told) = reminders.remind(day, waiting)?;
        Some((Self { reminders, ..self }, told))
    }

    /// When the notice is deleted; `None` while a mail is due.
    pub fn forgotten_at(&self) -> Option<DateTime<Utc>> {
        let told = self.mailed_at.map(|at| at + KEPT);
        told.max(self.reminders.forgotten_at()).filter(|_| self.next_mail_at.is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Id;

    fn at(minute: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::minutes(minute)
    }

    fn person(project: u8, number: u8) -> EndedInterview {
        EndedInterview { project: Id::from_bytes([project; 16]), candidate: Id::from_bytes([number; 16]) }
    }

    fn notice() -> InterviewNotice {
        InterviewNotice::new("acme".parse().unwrap(), Id::from_bytes([9; 16]))
    }

    fn numbered(numbers: std::ops::RangeInclusive<u8>) -> Vec<(u64, EndedInterview)> {
        numbers.map(|number| (number.into(), person(1, number))).collect()
    }

    #[test]
    fn a_wave_is_gathered_for_five_minutes_from_the_event_before_its_first() {
        let wave = InterviewWave::begun("acme".parse().unwrap(), 7, at(0));
        assert_eq!((wave.after, wave.read_at), (6, at(5)));
    }

    #[test]
    fn mails_are_an_hour_apart_and_an_event_counts_once() {
        let first = notice().with_ended(numbered(1..=2), 4, at(0));
        assert_eq!((first.next_mail_at, first.reached, first.waiting.listed.len()), (Some(at(0)), 4, 2));
        // The same part of the feed is read again, and then a further part.
        let again = first.clone().with_ended(numbered(1..=2), 4, at(1));
        assert_eq!(again, first);
        let (mailed, told) = again.handed_over(at(2));
        assert_eq!((told.listed.len(), mailed.next_mail_at, mailed.waiting.is_empty()), (2, None, true));
        assert_eq!(mailed.clone().with_ended(numbered(1..=4), 4, at(3)), mailed, "all are known");
        let next = mailed.clone().with_ended(numbered(5..=5), 6, at(10));
        assert_eq!(next.next_mail_at, Some(at(62)));
        assert_eq!(next.with_ended(numbered(7..=7), 8, at(90)).next_mail_at, Some(at(62)), "it stays due");
        let late = mailed.with_ended(numbered(5..=5), 6, at(100));
        assert_eq!(late.next_mail_at, Some(at(100)));
    }

    #[test]
    fn beyond_fifty_they_are_counted_by_project_and_nobody_is_listed_twice() {
        let mut notice = notice().with_ended(numbered(1..=60), 60, at(0));
        assert_eq!((notice.waiting.listed.len(), notice.waiting.more.values().sum::<u32>()), (50, 10));
        notice = notice.with_ended([(61, person(1, 3)), (62, person(2, 99))], 62, at(1));
        assert_eq!(notice.waiting.more.values().copied().collect::<Vec<_>>(), [10, 1]);
        assert_eq!(notice.waiting.projects().len(), 2);
    }

    #[test]
    fn what_a_given_up_mail_was_about_waits_for_the_next_without_causing_one() {
        let (mailed, told) = notice().with_ended(numbered(1..=60), 60, at(0)).handed_over(at(1));
        let left = mailed.clone().with_given_up(told.clone(), at(9));
        assert_eq!((left.next_mail_at, left.forgotten_at()), (None, Some(at(1) + KEPT)));
        assert_eq!(left.waiting, told);
        // Interviews that ended in the meantime follow those of the given-up mail.
        let since = mailed.with_ended(numbered(61..=62), 62, at(2)).with_given_up(told, at(9));
        assert_eq!((since.waiting.listed.len(), since.waiting.more.values().sum::<u32>()), (50, 12));
        assert_eq!((since.next_mail_at, since.forgotten_at()), (Some(at(61)), None));
    }
}
