//! Limits the mails that clients can cause for one person, and the changes that candidates make themselves.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::Refusal;

/// The maximum per hour.
pub const MAX_MAILS: usize = 5;
/// How long a mail counts.
const WINDOW: TimeDelta = TimeDelta::hours(1);

/// When something was done lately that may only be done so often within a time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RecentMoments(Vec<DateTime<Utc>>);

impl RecentMoments {
    /// Counts one more at `now`. Fails with the time until it is allowed beyond `most` within `window`.
    pub fn count(&mut self, window: TimeDelta, most: usize, now: DateTime<Utc>) -> Result<(), TimeDelta> {
        self.0.retain(|at| *at + window > now);
        if let Some(oldest) = self.0.first().filter(|_| self.0.len() >= most) {
            return Err(*oldest + window - now);
        }
        self.0.push(now);
        Ok(())
    }

    /// Whether nothing was ever done.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The times of recent mails to one person that clients have asked for. Limits reminders, mails about new
/// deadlines, repeated invitations and invitations to a changed address, which could flood a mailbox.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MailRate(RecentMoments);

impl MailRate {
    /// Counts a mail requested at `now`. Fails with [`RefusedOrThrottled::TooMany`] beyond [`MAX_MAILS`] per hour.
    pub fn count(&mut self, now: DateTime<Utc>) -> Result<(), RefusedOrThrottled> {
        self.0.count(WINDOW, MAX_MAILS, now).map_err(RefusedOrThrottled::TooMany)
    }
}

/// The most changes of their own item that candidates make themselves in an hour: profile, files, consents, request for
/// erasure.
pub const MAX_OWN_CHANGES: u32 = 100;
/// The most written answers that a candidate stores in an hour, repeated ones included.
// One every six seconds, all the time.
pub const MAX_TEXTS: u32 = 600;

/// The most mails with the latest link that a candidate gets in an hour.
pub const MAX_LINKS: u32 = 5;

/// How many changes there were in the present hour, which begins with its first change. Each change leaves an entry of the
/// history, which the service reads whole to erase it, and page by page to export it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeRate {
    since: DateTime<Utc>,
    count: u32,
}

impl ChangeRate {
    /// The rate after another change at `now`. Fails with the time until it is allowed beyond `most` in an hour.
    pub fn counted(rate: Option<Self>, most: u32, now: DateTime<Utc>) -> Result<Self, TimeDelta> {
        match rate.filter(|rate| now < rate.since + WINDOW) {
            None => Ok(Self { since: now, count: 1 }),
            Some(rate) if rate.count >= most => Err(rate.since + WINDOW - now),
            Some(rate) => Ok(Self { count: rate.count + 1, ..rate }),
        }
    }
}

/// Why something may not be done now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusedOrThrottled {
    /// The current state does not allow it.
    Refused(Refusal),
    /// It was done too often; the time until it is allowed again.
    TooMany(TimeDelta),
}

impl From<Refusal> for RefusedOrThrottled {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_mails_an_hour_and_then_one_for_each_that_is_an_hour_old() {
        let at = |minutes: i64| DateTime::UNIX_EPOCH + TimeDelta::minutes(minutes);
        let mut rate = MailRate::default();
        for minute in 0..5 {
            assert_eq!(rate.count(at(minute)), Ok(()));
        }
        assert_eq!(rate.count(at(10)), Err(RefusedOrThrottled::TooMany(TimeDelta::minutes(50))));
        assert_eq!(rate.count(at(60)), Ok(()));
        assert_eq!(rate.count(at(60)), Err(RefusedOrThrottled::TooMany(TimeDelta::minutes(1))));
        assert_eq!(rate.count(at(200)), Ok(()));
        assert_eq!(rate.0.0.len(), 1, "older ones are forgotten");
    }

    #[test]
    fn changes_are_counted_by_the_hour_from_the_first_one() {
        let at = |minutes: i64| DateTime::UNIX_EPOCH + TimeDelta::minutes(minutes);
        let first = ChangeRate::counted(None, 2, at(0));
        let second = ChangeRate::counted(first.ok(), 2, at(50));
        assert_eq!(ChangeRate::counted(second.ok(), 2, at(59)), Err(TimeDelta::minutes(1)));
        let next = ChangeRate::counted(second.ok(), 2, at(60));
        assert_eq!(next, Ok(ChangeRate { since: at(60), count: 1 }));
    }
}
