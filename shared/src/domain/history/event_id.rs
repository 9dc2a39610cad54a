//! The identifiers of events.

use std::fmt;
use std::str::FromStr;

use crate::domain::id::InvalidId;

/// The identifier of an event: its resource and version, and its second.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventId {
    /// The identifier of the history.
    pub history: String,
    /// The version of the resource after the change.
    pub version: u64,
    /// The time of the change, in seconds since 1970.
    pub second: i64,
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The second, because the versions of a restored table count again from an earlier one.
        write!(f, "evt_{}_{}_{}", self.history, self.version, self.second)
    }
}

impl FromStr for EventId {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let parse = || {
            let (rest, second) = text.strip_prefix("evt_")?.rsplit_once('_')?;
            let (history, version) = rest.rsplit_once('_')?;
            let history = history.to_owned();
            Some(Self { history, version: version.parse().ok()?, second: second.parse().ok()? })
        };
        parse().ok_or(InvalidId)
    }
}
