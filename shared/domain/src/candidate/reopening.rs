//! Interviews that continue after they were completed or ended by time.

use std::fmt;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Candidate, is_yes, yes};
use crate::text::TextLines;

/// Why an interview was reopened: up to 200 characters in several lines, not blank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline, extend("minLength" = 1))]
pub struct ReopeningReason(TextLines<200>);

impl ReopeningReason {
    /// Cleans up `text` like [`TextLines::parse`]. Fails if it is too long or blank.
    pub fn parse(text: &str) -> Result<Self, String> {
        TextLines::parse_visible(text).map(Self)
    }
}

impl fmt::Display for ReopeningReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The company's message to the candidate about a reopening: up to 300 characters in several lines, not blank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline, extend("minLength" = 1))]
pub struct ReopeningMessage(TextLines<300>);

impl ReopeningMessage {
    /// Cleans up `text` like [`TextLines::parse`]. Fails if it is too long or blank.
    pub fn parse(text: &str) -> Result<Self, String> {
        TextLines::parse_visible(text).map(Self)
    }
}

impl fmt::Display for ReopeningMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The last reopening of a candidate's interview.
// Only the last is stored: the history has the times and authors of all, and earlier reasons no longer explain anything.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reopening {
    /// Shown to managers only.
    pub reason: ReopeningReason,
    /// Shown to the candidate until they complete the interview again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<ReopeningMessage>,
    pub reopened_at: DateTime<Utc>,
    /// The number of reopenings, including this one. Each gives one more take of each question.
    pub count: u32,
    /// Whether the interview was complete before the reopening. Otherwise its time had ended.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub was_complete: bool,
}

impl Candidate {
    /// The last reopening, if the interview has been in progress since.
    pub fn reopened_interview(&self) -> Option<&Reopening> {
        // If the interview was begun again later, the reopening no longer applies.
        let is_current =
            |last: &&Reopening| self.is_in_interview() && self.started_at == Some(last.reopened_at);
        self.reopening.as_ref().filter(is_current)
    }

    /// The company's message about the reopening, while the reopened interview is in progress.
    pub fn reopening_message(&self) -> Option<&ReopeningMessage> {
        self.reopened_interview()?.message.as_ref()
    }

    /// Whether the interview is in progress and was complete before. Its takes and texts include those with which it was complete.
    pub fn is_in_completed_interview(&self) -> bool {
        self.reopened_interview().is_some_and(|last| last.was_complete)
    }

    /// Whether the interview was reopened after `at`.
    pub(crate) fn was_reopened_after(&self, at: DateTime<Utc>) -> bool {
        self.reopening.as_ref().is_some_and(|last| last.reopened_at > at)
    }
}
