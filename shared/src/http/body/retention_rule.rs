//! The retention rule of a company or of a project, as clients send it.

use crate::domain::parse_enum;
use crate::domain::privacy::retention_rule::{DAYS, RetentionRule, RetentionStart};
use crate::http::BodyFields;

impl BodyFields {
    /// Reads how long candidates are kept. `days` is required; null keeps candidates for ever.
    pub fn retention_rule(&mut self) -> Option<RetentionRule> {
        // Required, because a client that forgets `days` would keep candidates whom it means to erase.
        self.require("days");
        let days = self.clearable_integer("days", *DAYS.start(), *DAYS.end());
        let from = self.text("from", parse_enum).unwrap_or(RetentionStart::LastActivity);
        Some(RetentionRule { days: days?, from })
    }
}
