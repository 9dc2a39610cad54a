//! Interviews that the company has cancelled.

use std::fmt;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::account::Creator;
use crate::text::TextLines;

/// Why an interview was cancelled: up to 200 characters in several lines, not blank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline, extend("minLength" = 1))]
pub struct CancellationReason(TextLines<200>);

impl CancellationReason {
    /// Cleans up `text` like [`TextLines::parse`]. Fails if it is too long or blank.
    pub fn parse(text: &str) -> Result<Self, String> {
        TextLines::parse_visible(text).map(Self)
    }
}

impl fmt::Display for CancellationReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The cancellation of a candidate's interview, which is final.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cancellation {
    /// Shown to managers only.
    pub reason: CancellationReason,
    pub at: DateTime<Utc>,
    /// The manager who cancelled, whose account may have been deleted since.
    pub by: Option<Creator>,
}
