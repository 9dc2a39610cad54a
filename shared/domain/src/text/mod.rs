//! Text from clients: trimmed, limited, free of control characters.
//!
//! People paste texts from word processors, chats and terminals. All kinds of line breaks and blanks become plain ones, and
//! invisible characters are dropped, because people cannot find them in a form. Identifiers, addresses and keys with invisible
//! characters are refused instead, because they are compared with others.
//!
//! Deserialisation checks limits and forbidden characters too, because an archive of a company may come from anybody. A stricter
//! check makes stored texts unreadable, so change the stored texts first.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::{Deserialize, Deserializer, Error as _};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

mod address;
mod email;
mod external_id;
mod fold;
mod username;
mod web_link;

pub use address::is_loopback;
pub(super) use address::problem_of_address;
pub use email::Email;
pub(super) use email::is_domain;
pub use external_id::ExternalId;
pub use fold::{fold_accents, fold_case, is_login};
pub use username::Username;
pub use web_link::WebLink;

const BLANK: &str = "This field may not be blank.";

/// One line of at most `MAX` characters, possibly empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[schemars(inline, description = "", extend("maxLength" = MAX))]
pub struct TextLine<const MAX: usize>(String);

impl<const MAX: usize> TextLine<MAX> {
    /// Trims `text`, replaces line breaks and tabs by a space, drops control characters and normalises the rest to Unicode
    /// NFC. Fails if the text is too long.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = normalised(text);
        let parts = text.split(['\n', '\t']).map(str::trim).filter(|part| !part.is_empty());
        Self::check(parts.collect::<Vec<_>>().join(" "))
    }

    /// Trims `text` and normalises it to Unicode NFC. Fails if it is too long or contains a control character.
    pub(super) fn parse_exact(text: &str) -> Result<Self, String> {
        // Programs may put directional marks around copied text.
        let text = text.trim_matches(|character: char| character.is_whitespace() || is_hidden(character));
        // Keyboards compose accents differently: texts that look alike must have the same length and compare equal.
        Self::check(text.nfc().collect())
    }

    /// Wraps `text` unchanged. Fails if it is too long or contains a control character.
    fn check(text: String) -> Result<Self, String> {
        check_characters(&text, &[])?;
        check_length(&text, MAX)?;
        Ok(Self(text))
    }

    /// Parses `text` like [`TextLine::parse`] and refuses blank text.
    pub(super) fn parse_visible(text: &str) -> Result<Self, String> {
        let line = Self::parse(text)?;
        if line.is_visible() { Ok(line) } else { Err(BLANK.to_owned()) }
    }

    fn is_visible(&self) -> bool {
        self.0.chars().any(is_visible)
    }

    /// Parses a telephone number or an address after removing invisible marks. Fails if it is too long or contains a control
    /// character.
    pub fn parse_unmarked(text: &str) -> Result<Self, String> {
        Self::parse_exact(&without_marks(text))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<const MAX: usize> fmt::Display for TextLine<MAX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de, const MAX: usize> Deserialize<'de> for TextLine<MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::check(String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// Whether readers see the character: no white space, no combining mark, none of Unicode's ignorable characters.
fn is_visible(character: char) -> bool {
    !is_ignorable(character) && !character.is_whitespace() && !is_combining_mark(character)
}

/// Whether the character is one of Unicode's ignorable characters, which programs show as nothing.
fn is_ignorable(character: char) -> bool {
    matches!(
        character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{e0000}'..='\u{e0fff}'
    )
}

/// The text in Unicode NFC, with `\n` as the only line break and without forbidden characters except tabs.
fn normalised(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let visible = text.chars().map(|character| if is_line_break(character) { '\n' } else { character });
    // Keyboards compose accents differently: texts that look alike must have the same length and compare equal.
    visible.filter(|character| matches!(character, '\n' | '\t') || !is_forbidden(*character)).nfc().collect()
}

/// Whether the character ends a line or a page (UAX #14, classes BK, CR, LF and NL).
fn is_line_break(character: char) -> bool {
    matches!(character, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Fails if a text has a forbidden character that is not `allowed`.
fn check_characters(text: &str, allowed: &[char]) -> Result<(), String> {
    // Most texts are ASCII. The fast path matters because each read of an item checks its texts.
    let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    if is_plain || !text.chars().any(|character| is_forbidden(character) && !allowed.contains(&character)) {
        Ok(())
    } else {
        Err("Control characters are not allowed.".to_owned())
    }
}

fn check_length(text: &str, max: usize) -> Result<(), String> {
    // Most texts need no count: the number of characters never exceeds the number of bytes.
    if text.len() <= max || text.chars().count() <= max {
        Ok(())
    } else {
        Err(format!("Ensure this field has no more than {max} characters."))
    }
}

/// Control characters, and invisible ones that reorder or hide the text around them.
fn is_forbidden(character: char) -> bool {
    character.is_control() || is_hidden(character) || matches!(character, '\u{2028}' | '\u{2029}')
}

/// Invisible characters that reorder or hide the text around them.
pub(super) fn is_hidden(character: char) -> bool {
    matches!(
        character,
        '\u{200b}' | '\u{202a}'..='\u{202e}' | '\u{2060}' | '\u{2066}'..='\u{2069}' | '\u{feff}'
    )
}

/// Removes the invisible marks that come with a pasted telephone number or address.
pub(super) fn without_marks(text: &str) -> String {
    // Names and sentences keep directional marks, which put their letters and punctuation in order.
    let is_mark =
        |character| is_hidden(character) || matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}');
    text.chars().filter(|character| !is_mark(*character)).collect()
}

/// The name of a person or thing.
pub type ShortName = VisibleLine<150>;

/// One line of at most `MAX` characters, not blank.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[schemars(inline, extend("minLength" = 1))]
pub struct VisibleLine<const MAX: usize>(TextLine<MAX>);

impl<const MAX: usize> VisibleLine<MAX> {
    /// Parses `text` like [`TextLine::parse`].
    pub fn parse(text: &str) -> Result<Self, String> {
        TextLine::parse_visible(text).map(Self)
    }

    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl<'de, const MAX: usize> Deserialize<'de> for VisibleLine<MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let line = TextLine::deserialize(deserializer)?;
        if line.is_visible() { Ok(Self(line)) } else { Err(D::Error::custom(BLANK)) }
    }
}

impl<const MAX: usize> fmt::Display for VisibleLine<MAX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Several lines of at most `MAX` characters, possibly empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline, description = "", extend("maxLength" = MAX))]
pub struct TextLines<const MAX: usize>(String);

impl<const MAX: usize> TextLines<MAX> {
    /// Replaces every line break by `\n`, drops control characters except tabs, trailing blanks and empty lines around the text,
    /// and normalises the rest to Unicode NFC. Lines keep their indentation. Fails if the text is too long.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = normalised(text);
        let lines: Vec<_> = text.trim_end().split('\n').map(str::trim_end).collect();
        let first = lines.iter().position(|line| !line.is_empty()).unwrap_or(lines.len());
        Self::check(lines[first..].join("\n"))
    }

    /// Wraps `text` unchanged. Fails if it is too long or contains a control character.
    fn check(text: String) -> Result<Self, String> {
        check_characters(&text, &['\n', '\t'])?;
        check_length(&text, MAX)?;
        Ok(Self(text))
    }

    /// The length in bytes.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Parses `text` like [`TextLines::parse`] and refuses blank text.
    pub(super) fn parse_visible(text: &str) -> Result<Self, String> {
        let lines = Self::parse(text)?;
        if lines.0.chars().any(is_visible) { Ok(lines) } else { Err(BLANK.to_owned()) }
    }
}

impl<'de, const MAX: usize> Deserialize<'de> for TextLines<MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::check(String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl<const MAX: usize> fmt::Display for TextLines<MAX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_text_that_no_client_could_send_is_not_read() {
        use crate::media::video::FileName;
        for text in ["a\r\nBcc: x@y.example", "a\0", "\u{202e}a", &"a".repeat(151)] {
            assert!(serde_json::from_value::<ShortName>(text.into()).is_err(), "{text:?}");
            assert!(serde_json::from_value::<TextLine<150>>(text.into()).is_err(), "{text:?}");
            assert!(
                serde_json::from_value::<TextLines<150>>(text.replace("\r\n", "\r").into()).is_err(),
                "{text:?}"
            );
        }
        for blank in ["", " ", "\u{301}"] {
            assert!(serde_json::from_value::<ShortName>(blank.into()).is_err(), "{blank:?}");
        }
        for link in ["javascript:alert(1)", "https:", "ftp://a.example"] {
            assert!(serde_json::from_value::<WebLink>(link.into()).is_err(), "{link}");
        }
        for address in ["a", "a@b", "a b@c.example", "a@b.example, c@d.example"] {
            assert!(serde_json::from_value::<Email>(address.into()).is_err(), "{address}");
        }
        assert!(serde_json::from_value::<Username>("a b".into()).is_err());
        assert!(serde_json::from_value::<ExternalId>("a\u{200b}b".into()).is_err());
        assert!(serde_json::from_value::<FileName>("a\nb".into()).is_err());
        assert_eq!(serde_json::from_value::<TextLines<3>>("a\nb".into()).unwrap().to_string(), "a\nb");
    }

    #[test]
    fn lines_are_trimmed_bounded_and_printable() {
        assert_eq!(TextLine::<5>::parse("  Zoë \t").unwrap().as_str(), "Zoë");
        assert_eq!(TextLine::<3>::parse("Zoe\u{308}").unwrap().as_str(), "Zoë");
        assert!(TextLine::<5>::parse("123456").unwrap_err().contains("no more than 5"));
        for hidden in ["a\nb", "a\0b", "a\r\nBcc: x", "a\u{202e}b", "a\u{2028}b", "a\u{2060}b"] {
            assert!(TextLine::<99>::parse_exact(hidden).is_err(), "{hidden:?}");
        }
        for gap in ["\n", "\r\n", "\t", " \u{2028}\u{2029} ", "\u{b}", "\u{c}", "\u{85}\r"] {
            assert_eq!(TextLine::<3>::parse(&format!("a{gap}b")).unwrap().as_str(), "a b", "{gap:?}");
        }
        for hidden in ["\0", "\u{1b}", "\u{7f}", "\u{200b}", "\u{2060}", "\u{202e}", "\u{feff}"] {
            assert_eq!(TextLine::<2>::parse(&format!("a{hidden}b")).unwrap().as_str(), "ab", "{hidden:?}");
        }
        for pasted in ["\u{202a}Kim\u{202c}", "\u{2068}Kim\u{2069} ", "\u{feff} Kim\u{200b}"] {
            assert_eq!(TextLine::<3>::parse(pasted).unwrap().as_str(), "Kim");
        }
        for blank in ["\u{202a}\u{202c}", " \u{a0} ", "\u{200d}", "\u{3164}", "\u{ad}", "\u{301}"] {
            assert!(ShortName::parse(blank).is_err(), "{blank:?}");
        }
    }

    #[test]
    fn numbers_and_addresses_lose_marks_that_are_pasted_with_them() {
        for pasted in [
            "\u{202a}+49 170 1234567\u{202c}",
            "\u{202d}+49 170 1234567\u{202c}\u{a0}",
            "\u{2066}\u{2068}+49\u{2069} 170\u{200e} 1234567\u{2069}",
            "\u{200f}+49 170 \u{61c}1234567",
            "\u{feff}+49 170\u{200b} 1234567",
        ] {
            assert_eq!(TextLine::<50>::parse_unmarked(pasted).unwrap().as_str(), "+49 170 1234567");
        }
        assert!(TextLine::<50>::parse_unmarked("+49\n170").is_err());
    }

    #[test]
    fn lines_keep_their_indentation_and_lose_what_shows_nothing() {
        for (sent, kept) in [
            ("1 Main St \r\nLondon\n", "1 Main St\nLondon"),
            (" \n\n  if a:\n\tb()\n\n  else:\u{a0}\n\n", "  if a:\n\tb()\n\n  else:"),
            ("a\u{b}b\u{c}c\u{85}d\u{2028}e\u{2029}f\rg\r\nh", "a\nb\nc\nd\ne\nf\ng\nh"),
            ("a\0b\u{1b}c\u{200b}d\u{2060}e\u{feff}f\u{202e}g\u{2066}h\u{9f}i", "abcdefghi"),
            ("می\u{200c}خواهم 👩\u{200d}🔬 \u{200f}a", "می\u{200c}خواهم 👩\u{200d}🔬 \u{200f}a"),
            ("Zoe\u{308}", "Zoë"),
            ("\u{2028}\u{200b} \t", ""),
        ] {
            let lines = TextLines::<30>::parse(sent).unwrap().to_string();
            assert_eq!(lines, kept, "{sent:?}");
            assert_eq!(TextLines::<30>::parse(&lines).unwrap().to_string(), kept, "a second time: {sent:?}");
            assert_eq!(serde_json::from_value::<TextLines<30>>(lines.into()).unwrap().to_string(), kept);
        }
        // The limit applies to the stored text.
        assert!(TextLines::<5>::parse("\r\n12\u{200b}\r\n45  \r\n").is_ok());
        assert!(TextLines::<5>::parse("123\n456").is_err());
    }
}
