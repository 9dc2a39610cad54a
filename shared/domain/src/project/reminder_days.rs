//! When the candidates of a project are reminded automatically.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A number of days before a deadline, from 1 to 14.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct ReminderDay(#[schemars(range(min = 1, max = 14))] u8);

impl ReminderDay {
    /// Checks a number of days. The error is a message for the client.
    pub fn new(days: u64) -> Result<Self, String> {
        let days = u8::try_from(days).ok().filter(|days| (1..=14).contains(days));
        days.map(Self).ok_or_else(|| "Use whole numbers from 1 to 14.".to_owned())
    }
}

/// The days before a deadline on which candidates are reminded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ReminderDays(BTreeSet<ReminderDay>);

impl ReminderDays {
    /// The maximum number of reminders before a deadline.
    pub const MAX: usize = 3;

    /// Collects days. Fails with a message if a day occurs twice.
    pub fn new(days: Vec<ReminderDay>) -> Result<Self, String> {
        let count = days.len();
        let days = BTreeSet::from_iter(days);
        if days.len() < count {
            return Err("Each day may appear only once.".to_owned());
        }
        Ok(Self(days))
    }

    /// The days, ascending.
    pub fn iter(&self) -> impl Iterator<Item = ReminderDay> {
        self.0.iter().copied()
    }

    /// The times of the reminders before this deadline that are after `now`, ascending.
    pub fn moments(&self, deadline: DateTime<Utc>, now: DateTime<Utc>) -> Vec<DateTime<Utc>> {
        let moments = self.0.iter().rev().map(|day| deadline - TimeDelta::days(day.0.into()));
        moments.filter(|moment| *moment > now).collect()
    }
}
