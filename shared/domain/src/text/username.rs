//! User names as PRECIS (RFC 8265) allows them, except names that look like others (UTS #39).

use precis_profiles::UsernameCaseMapped;
use precis_profiles::precis_core::profile::PrecisFastInvocation;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::{Deserialize, Deserializer, Error as _};
use unicode_security::{RestrictionLevel, RestrictionLevelDetection, skeleton};

use super::{TextLine, is_login};

/// A user name: one line without spaces, at most 254 characters, unique in the company ignoring case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline, extend("minLength" = 1))]
pub struct Username(TextLine<254>);

impl Username {
    /// Parses a name of the PRECIS profile `UsernameCaseMapped`, and keeps its case. The error is a message for the client.
    pub fn parse(text: &str) -> Result<Self, String> {
        let sent = TextLine::<254>::parse_exact(text)?;
        if sent.is_empty() {
            return Err("This field may not be blank.".to_owned());
        }
        if sent.as_str().chars().any(char::is_whitespace) {
            return Err("A username may not contain spaces.".to_owned());
        }
        if !is_login(sent.as_str()) {
            return Err("This username is too long.".to_owned());
        }
        let enforced = UsernameCaseMapped::enforce(sent.as_str());
        // `prepare` maps full-width and half-width characters, which people type by accident, to the usual ones.
        let (Ok(enforced), Ok(prepared)) = (enforced, UsernameCaseMapped::prepare(sent.as_str())) else {
            return Err("Use only letters, digits and ASCII punctuation.".to_owned());
        };
        if looks_like_another(&enforced) {
            return Err("This username could be mistaken for another. Use letters of one script.".to_owned());
        }
        // Keep the case as sent. Keys of the table use the folded name; keys by visual form would make `barn` and `bam` the same
        // name.
        TextLine::parse_exact(&prepared).map(Self)
    }

    /// The name in its original case.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl<'de> Deserialize<'de> for Username {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let line = TextLine::deserialize(deserializer)?;
        // Skip the check for look-alike names, which is too slow for each read of an account.
        if line.is_empty() || line.as_str().chars().any(char::is_whitespace) {
            return Err(D::Error::custom("not a username"));
        }
        Ok(Self(line))
    }
}

/// Whether a name has invisible characters, mixes scripts that share letters, or looks entirely like ASCII letters.
fn looks_like_another(name: &str) -> bool {
    // Leave out ASCII punctuation: it is allowed, belongs to no script, and UTS #39 does not cover it.
    let word: String =
        name.chars().filter(|character| !character.is_ascii() || character.is_alphanumeric()).collect();
    name.contains(['\u{200c}', '\u{200d}'])
        || !word.check_restriction_level(RestrictionLevel::HighlyRestrictive)
        || !name.is_ascii() && skeleton(&word).all(|character| character.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_every_script_are_taken() {
        for (sent, kept) in [
            ("Zoë@example.com", "Zoë@example.com"),
            ("Zoe\u{308}", "Zoë"),
            ("grace.hopper+1!", "grace.hopper+1!"),
            ("анна-1", "анна-1"),
            ("Άννα", "Άννα"),
            ("李明", "李明"),
            ("taro太郎", "taro太郎"),
            ("ｇｒａｃｅ", "grace"),
            ("יוסי", "יוסי"),
        ] {
            assert_eq!(Username::parse(sent).as_ref().map(Username::as_str), Ok(kept), "{sent}");
        }
    }

    #[test]
    fn names_that_are_none_or_could_be_taken_for_others_are_refused() {
        for bad in [
            "",
            "a b",
            "a\u{a0}b",
            "a\u{3000}b",
            "ad\u{200b}min",
            "ad\u{200c}min",
            "ad\u{200d}min",
            "ad\u{2060}min",
            "ad\u{ad}min",
            "ad\u{fe0f}min",
            "क्\u{200d}ष",
            // Some or all Latin letters replaced by Cyrillic ones.
            "аdmin",
            "асе",
            // Greek letters.
            "αdmin",
            "ονο",
            // A letter that looks like an ASCII one.
            "admın",
            "ɑdmin",
            "𝐚dmin",
            "ⓐdmin",
            "☃",
            "😀",
            "a\u{202e}b",
            // A right-to-left name that ends in a left-to-right letter.
            "אa",
            "ﷺ",
            "\u{fdfa}",
        ] {
            assert!(Username::parse(bad).is_err(), "{bad:?}");
        }
    }
}
