//! That an interview goes on after it was completed.

use std::fmt;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Candidate;
use crate::text::TextLines;

/// Why an interview was reopened: up to 200 characters in several lines, not blank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline, extend("minLength" = 1))]
pub struct ReopeningReason(TextLines<200>);

impl ReopeningReason {
    /// Parses `text` like [`TextLines::parse`].
    pub fn parse(text: &str) -> Result<Self, String> {
        TextLines::parse_visible(text).map(Self)
    }
}

impl fmt::Display for ReopeningReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The last reopening of a candidate's interview.
// The last one only: the history has the moments and authors of all, and a reason of before explains nothing any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reopening {
    /// Shown to managers only.
    pub reason: ReopeningReason,
    pub reopened_at: DateTime<Utc>,
    /// How often the interview was reopened, this time included. Each time gives one more take of each question.
    pub count: u32,
}

impl Candidate {
    /// Whether the interview has been going on since it was reopened. Its takes and texts are those with which it was complete,
    /// and later ones.
    pub fn is_in_reopened_interview(&self) -> bool {
        let reopened_at = self.reopening.as_ref().map(|last| last.reopened_at);
        // Not one that was begun anew since.
        self.is_in_interview() && reopened_at.is_some() && reopened_at == self.started_at
    }

    /// Whether the interview was reopened after `at`.
    pub(crate) fn was_reopened_after(&self, at: DateTime<Utc>) -> bool {
        self.reopening.as_ref().is_some_and(|last| last.reopened_at > at)
    }
}
