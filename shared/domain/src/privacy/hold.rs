//! Holds: candidates who must not be erased, for example during a lawsuit.

use std::fmt;

use chrono::{DateTime, Months, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::TextLines;

/// The maximum time until a hold ends: ten years.
const LONGEST: Months = Months::new(120);

/// Up to 500 characters in several lines, not blank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline, extend("minLength" = 1))]
pub struct HoldReason(TextLines<500>);

impl HoldReason {
    /// Cleans up `text` like [`TextLines::parse`]. Fails if it is too long or blank.
    pub fn parse(text: &str) -> Result<Self, String> {
        TextLines::parse_visible(text).map(Self)
    }
}

impl fmt::Display for HoldReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A hold. It prevents every erasure of the candidate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CandidateHold {
    /// The reason, shown to people who may manage holds, and in the candidate's data.
    pub reason: HoldReason,
    /// When the hold ends by itself; `None` if it does not.
    pub until: Option<DateTime<Utc>>,
}

impl CandidateHold {
    /// Checks that the end of a hold is after `now` and within ten years. The error is a message for the client.
    pub fn check_until(until: DateTime<Utc>, now: DateTime<Utc>) -> Result<DateTime<Utc>, String> {
        if until <= now {
            Err("Must be in the future.".to_owned())
        } else if now.checked_add_months(LONGEST).is_none_or(|latest| latest < until) {
            Err("Must be within ten years.".to_owned())
        } else {
            Ok(until)
        }
    }
}
