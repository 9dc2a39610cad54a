//! The keys that clients give to their records.

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::{Deserialize, Deserializer, Error as _};

use super::{BLANK, TextLine, is_ignorable};

/// The client's key of a candidate or a project: one line of 1 to 200 visible characters, with white space between them
/// allowed. Compared exactly.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[schemars(inline, extend("minLength" = 1))]
pub struct ExternalId(TextLine<200>);

impl ExternalId {
    /// Parses a key. Fails if it is blank, too long, or contains invisible characters.
    pub fn parse(text: &str) -> Result<Self, String> {
        Self::check(TextLine::parse_exact(text)?)
    }

    fn check(line: TextLine<200>) -> Result<Self, String> {
        if !line.is_visible() {
            return Err(BLANK.to_owned());
        }
        // Different keys must not look alike, because people compare them on their screens.
        if line.as_str().chars().any(is_ignorable) {
            return Err("Invisible characters are not allowed.".to_owned());
        }
        Ok(Self(line))
    }

    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl<'de> Deserialize<'de> for ExternalId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let line = TextLine::deserialize(deserializer)?;
        Self::check(line).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_trimmed_composed_and_otherwise_kept() {
        for (sent, kept) in [
            (" 4711 ", "4711"),
            ("REQ#7/a b", "REQ#7/a b"),
            ("Zoe\u{308}", "Zoë"),
            ("\u{feff}4711\u{200b}", "4711"),
            ("求職者 7", "求職者 7"),
            ("ﷺ", "ﷺ"),
            ("a\u{a0}b", "a\u{a0}b"),
        ] {
            assert_eq!(ExternalId::parse(sent).as_ref().map(ExternalId::as_str), Ok(kept), "{sent}");
        }
        assert_ne!(ExternalId::parse("a"), ExternalId::parse("A"));
        assert!(ExternalId::parse(&"é".repeat(200)).is_ok());
        assert!(ExternalId::parse(&"é".repeat(201)).is_err());
    }

    #[test]
    fn keys_that_cannot_be_seen_are_refused() {
        for bad in [
            "",
            " ",
            "\u{301}",
            "a\0b",
            "a\tb",
            "a\nb",
            "a\u{200b}b",
            "a\u{200d}b",
            "a\u{ad}b",
            "a\u{fe0f}",
            "a\u{202e}b",
        ] {
            assert!(ExternalId::parse(bad).is_err(), "{bad:?}");
        }
    }
}
