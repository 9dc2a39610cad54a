//! Converts the usage of a company in a month to a record and back.

use serde::Deserialize as _;
use serde_json::{Value, json};

use super::ArchiveRecord;
use crate::domain::archive::RecordKind;
use crate::domain::company::usage::{Month, UsageByMonth, UsageCounts};

/// The usage of a company in a month.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArchivedUsage {
    pub month: Month,
    pub counts: UsageCounts,
}

impl ArchivedUsage {
    /// The usage of each month that has any.
    pub fn all_of(usage: &UsageByMonth) -> impl Iterator<Item = Self> {
        usage.months().map(|(month, counts)| Self { month, counts })
    }

    /// The usage in a record; `None` if the record is invalid or has no usage.
    pub(super) fn of_record(id: &str, value: &Value) -> Option<Self> {
        let counts =
            UsageCounts::deserialize(value).ok().filter(|counts| *counts != UsageCounts::default())?;
        Some(Self { month: id.parse().ok()?, counts })
    }

    pub fn to_record(self) -> ArchiveRecord {
        ArchiveRecord::new(RecordKind::Usage, self.month.to_string(), json!(self.counts))
    }
}
