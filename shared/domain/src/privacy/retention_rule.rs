//! How long candidates are kept, as companies and projects set it.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::names::named;

/// The permitted numbers of days.
pub const DAYS: std::ops::RangeInclusive<u32> = 7..=3650;

named! {
    /// The moment when a candidate's days begin to count.
    pub enum RetentionStart {
        /// The last thing that happened to the candidate.
        LastActivity = "last_activity",
        /// The close of the project, or the candidate's last activity if that is later. Candidates of open projects are kept.
        ProjectClosed = "project_closed",
    }
}

/// How long candidates are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct RetentionRule {
    /// The number of days, in [`DAYS`]; `None` keeps candidates for ever.
    #[schemars(description = "The number of days; null keeps candidates for ever.")]
    pub days: Option<u32>,
    /// The event from which the days are counted.
    pub from: RetentionStart,
}

impl RetentionRule {
    /// Keeps candidates until a user deletes them.
    // No other default: laws differ by country, and deleting unexpectedly is worse than asking.
    pub const KEEP: Self = Self { days: None, from: RetentionStart::LastActivity };
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectRetention {
    /// The project's own rule, which replaces the company's.
    pub own: Option<RetentionRule>,
    /// Before this time, no rule erases the project's candidates: neither the project's own nor, once that is removed, the company's.
    pub starts_at: Option<DateTime<Utc>>,
}
