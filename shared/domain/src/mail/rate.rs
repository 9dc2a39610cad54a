//! Limits the mails that clients can cause for one person, and the changes that candidates make themselves.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::Refusal;

/// The maximum number of mails to one person per hour that clients may cause.
pub const MAX_MAILS: usize = 5;
/// How long a mail counts towards the maximum.
const WINDOW: TimeDelta = TimeDelta::hours(1);

/// The recent times of an action whose frequency is limited.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RecentMoments(Vec<DateTime<Utc>>);

impl RecentMoments {
    /// Counts an action at `now`. If `most` actions are within `window` already, fails with the time until the next one is
    /// allowed.
    pub fn count(&mut self, window: TimeDelta, most: usize, now: DateTime<Utc>) -> Result<(), TimeDelta> {
        self.0.retain(|at| *at + window > now);
        if let Some(oldest) = self.0.first().filter(|_| self.0.len() >= most) {
            return Err(*oldest + window - now);
        }
        self.0.push(now);
        Ok(())
    }

    /// Whether no action is recorded.
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

/// The maximum number of changes per hour that candidates make to their own item: profile, files, consents, request for erasure.
pub const MAX_OWN_CHANGES: u32 = 100;
/// The maximum number of written answers that a candidate stores per hour, repeated ones included.
// One every six seconds, continuously.
pub const MAX_TEXTS: u32 = 600;

/// The maximum number of mails with the latest link that a candidate gets per hour.
pub const MAX_LINKS: u32 = 5;

/// The number of changes in the current hour, which begins with its first change. Changes are limited because each adds an entry
/// to the history, which an erasure reads whole and an export page by page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeRate {
    since: DateTime<Utc>,
    count: u32,
}

impl ChangeRate {
    /// The rate after another change at `now`. After `most` changes in the hour, fails with the time until the next one is
    /// allowed.
    pub fn counted(rate: Option<Self>, most: u32, now: DateTime<Utc>) -> Result<Self, TimeDelta> {
        match rate.filter(|rate| now < rate.since + WINDOW) {
            None => Ok(Self { since: now, count: 1 }),
            Some(rate) if rate.count >= most => Err(rate.since + WINDOW - now),
            Some(rate) => Ok(Self { count: rate.count + 1, ..rate }),
        }
    }
}

/// Why a request is refused now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusedOrThrottled {
    /// The current state does not allow it.
    Refused(Refusal),
    /// Too many requests; the time until the next one is allowed.
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
