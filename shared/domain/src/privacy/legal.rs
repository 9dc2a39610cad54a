//! Legal texts: what a company tells candidates, and what it asks them to accept.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::{CompanyId, InvalidId};
use crate::language::Language;
use crate::names::{named, parse_enum};
use crate::text::TextLines;

named! {
    /// A kind of legal text.
    pub enum LegalKind {
        /// How the company handles personal data.
        PrivacyPolicy = "privacy_policy",
        /// The text that candidates consent to.
        Consent = "consent",
    }
}

/// A legal text in one language, or the URL of one: plain text of up to 10,000 characters, not blank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline, extend("minLength" = 1))]
pub struct LegalWording(TextLines<10_000>);

impl LegalWording {
    /// Cleans up `text` like [`TextLines::parse`]. Fails if it is too long or blank.
    pub fn parse(text: &str) -> Result<Self, String> {
        TextLines::parse_visible(text).map(Self)
    }
}

impl fmt::Display for LegalWording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The identifier of a legal text, such as `consent-3`.
// Not a ULID: consents name a text by kind and version, so the identifier can be derived from a consent and back without a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct LegalTextId {
    pub kind: LegalKind,
    /// The version, from 1.
    pub version: u32,
}

impl fmt::Display for LegalTextId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.kind.as_str(), self.version)
    }
}

impl FromStr for LegalTextId {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let (kind, version) = text.rsplit_once('-').ok_or(InvalidId)?;
        let kind = parse_enum(kind).map_err(|_| InvalidId)?;
        let id = Self { kind, version: version.parse().map_err(|_| InvalidId)? };
        // An identifier has only one spelling: no sign, no leading zeros.
        if id.version > 0 && id.to_string() == text { Ok(id) } else { Err(InvalidId) }
    }
}

impl From<LegalTextId> for String {
    fn from(id: LegalTextId) -> Self {
        id.to_string()
    }
}

impl TryFrom<String> for LegalTextId {
    type Error = InvalidId;

    fn try_from(text: String) -> Result<Self, InvalidId> {
        text.parse()
    }
}

/// One version of a legal text. It never changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LegalText {
    pub id: LegalTextId,
    /// The company that published the text.
    pub company: CompanyId,
    /// The text by language; empty for the version that retires the kind.
    pub texts: BTreeMap<Language, LegalWording>,
    /// Whether candidates must accept the text to advance.
    pub is_required: bool,
    pub created_at: DateTime<Utc>,
}

/// The latest version of a kind of legal text, without its wording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatestVersion {
    pub version: u32,
    /// Whether candidates must accept the text to advance.
    pub is_required: bool,
    /// The languages in which the text exists; empty if the version retires the kind.
    pub languages: BTreeSet<Language>,
}

/// The latest versions of a company's legal texts. Part of the company's item, which admission loads anyway.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LegalRegister(BTreeMap<LegalKind, LatestVersion>);

impl LegalRegister {
    /// Whether no text was ever published.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of versions of a kind.
    pub fn count(&self, kind: LegalKind) -> u32 {
        self.0.get(&kind).map_or(0, |latest| latest.version)
    }

    /// The current version of a kind; `None` if there is none or the kind is retired.
    pub fn current(&self, kind: LegalKind) -> Option<&LatestVersion> {
        self.0.get(&kind).filter(|latest| !latest.languages.is_empty())
    }

    pub(crate) fn set_latest(&mut self, kind: LegalKind, latest: LatestVersion) {
        self.0.insert(kind, latest);
    }

    /// The texts that candidates must accept to advance.
    pub fn required(&self) -> Vec<LegalTextId> {
        let current = LegalKind::ALL.into_iter().filter_map(|kind| Some((kind, self.current(kind)?)));
        let required = current.filter(|(_, current)| current.is_required);
        required.map(|(kind, current)| LegalTextId { kind, version: current.version }).collect()
    }

    /// All texts, or only the current ones, by kind and oldest first.
    pub fn texts(&self, only_current: bool) -> Vec<LegalTextId> {
        let first = |kind| match self.current(kind) {
            Some(current) if only_current => Some(current.version),
            None if only_current => None,
            _ => Some(1),
        };
        let first = LegalKind::ALL.into_iter().filter_map(|kind| Some((kind, first(kind)?)));
        // Versions have no gaps, so the identifiers are known without a query.
        first
            .flat_map(|(kind, first)| {
                (first..=self.count(kind)).map(move |version| LegalTextId { kind, version })
            })
            .collect()
    }
}

/// A legal text that a company is about to publish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LegalDraft {
    pub kind: LegalKind,
    /// The text by language; empty to retire the kind.
    pub texts: BTreeMap<Language, LegalWording>,
    /// Whether candidates must accept the text to advance.
    pub is_required: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> LegalTextId {
        text.parse().unwrap()
    }

    #[test]
    fn identifiers_have_one_spelling() {
        assert_eq!(id("privacy_policy-3"), LegalTextId { kind: LegalKind::PrivacyPolicy, version: 3 });
        for other in ["consent", "consent-", "consent-0", "consent-01", "consent-+1", "Consent-1", "x-1"] {
            assert!(other.parse::<LegalTextId>().is_err(), "{other}");
        }
    }
}
