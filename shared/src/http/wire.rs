//! Types of values in answers.

use std::fmt;

use chrono::{DateTime, SecondsFormat, Utc};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

/// An absolute URL.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[schemars(inline, extend("format" = "uri"))]
pub struct Uri(String);

impl Uri {
    /// The URL in `text`, which must be absolute.
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// The URL.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The URL one segment below this one.
    pub fn join(&self, segment: impl fmt::Display) -> Self {
        Self(format!("{self}{segment}/"))
    }
}

impl fmt::Display for Uri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A moment: UTC, to the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema)]
#[schemars(inline, example = &"2026-11-08T22:59:00Z")]
pub struct Timestamp(pub DateTime<Utc>);

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_rfc3339_opts(SecondsFormat::Secs, true))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A text, or the empty string when there is none. Its schema is plain text, which generated clients handle best.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[schemars(inline, description = "")]
pub struct OrEmpty<T>(#[schemars(with = "String")] pub Option<T>);

impl<T: Serialize> Serialize for OrEmpty<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Some(text) => text.serialize(serializer),
            None => serializer.serialize_str(""),
        }
    }
}
