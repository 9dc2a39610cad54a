//! The From header: a company's name before an address, quoted or encoded so that the name cannot alter the header.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::domain::text::Email;

/// The maximum length that SES accepts, name included.
const LONGEST: usize = 320;
/// The bytes of text per encoded word: RFC 2047 limits a word to 75 characters, of which 60 are base64.
const BYTES_PER_WORD: usize = 45;

/// `name <address>`: the name is quoted, or encoded if it is not plain ASCII, and truncated to fit.
pub(super) fn sender(name: &str, address: &Email) -> String {
    let address = address.as_str();
    let room = LONGEST.saturating_sub(address.len() + " <>".len());
    let name: String = name.chars().filter(|character| !character.is_control()).collect();
    let name = if is_plain(&name) { quoted(&name, room) } else { encoded(&name, room) };
    if name.is_empty() { address.to_owned() } else { format!("{name} <{address}>") }
}

/// Whether `name` can be quoted unchanged, and lenient mail programs do not read it as an encoded word.
fn is_plain(name: &str) -> bool {
    name.bytes().all(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\'))
        && !name.contains("=?")
}

fn quoted(name: &str, room: usize) -> String {
    // Plain names are ASCII, so a byte is a character.
    let end = name.len().min(room.saturating_sub(2));
    match name[..end].trim() {
        "" => String::new(),
        name => format!("\"{name}\""),
    }
}

/// Splits `name` between characters into encoded words, which mail programs join without the spaces. Omits words that do not fit.
fn encoded(name: &str, room: usize) -> String {
    let mut words = String::new();
    let mut rest = name.trim();
    while !rest.is_empty() {
        let (chunk, after) = rest.split_at(rest.floor_char_boundary(BYTES_PER_WORD));
        let word = format!("=?UTF-8?B?{}?=", STANDARD.encode(chunk));
        if words.len() + word.len() + 1 > room {
            break;
        }
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(&word);
        rest = after;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sender(name: &str) -> String {
        super::sender(name, &Email::parse("jobs@acme.example").unwrap())
    }

    /// The text of several encoded words.
    fn decoded(name: &str) -> String {
        let words = name.split(' ').map(|word| {
            assert!(word.len() <= 75, "{word}");
            let text = word.strip_prefix("=?UTF-8?B?").unwrap().strip_suffix("?=").unwrap();
            // Each word must be decodable by itself.
            String::from_utf8(STANDARD.decode(text).unwrap()).unwrap()
        });
        words.collect()
    }

    fn decoded_name(header: &str) -> String {
        decoded(header.strip_suffix(" <jobs@acme.example>").unwrap())
    }

    #[test]
    fn plain_names_are_quoted() {
        for name in ["Acme", "Acme, Inc.", "Acme <ceo@other.example>", "a@b: (c); [d]", "O'Neil & Sons"] {
            assert_eq!(sender(name), format!("\"{name}\" <jobs@acme.example>"));
        }
        assert_eq!(sender(" "), "jobs@acme.example");
    }

    #[test]
    fn other_names_are_encoded() {
        for name in [
            "Müller AG",
            "株式会社🎥",
            "The \"A\" Team",
            "back\\slash",
            "=?UTF-8?B?QQ==?=",
            "\"x\" <a@b.c>, y",
        ] {
            let header = sender(name);
            assert!(header.is_ascii() && !header.contains('"'), "{header}");
            assert_eq!(header.matches('<').count(), 1);
            assert_eq!(decoded_name(&header), name);
        }
    }

    #[test]
    fn a_line_break_cannot_begin_another_header() {
        let header = sender("Acme\r\nBcc: all@other.example");
        assert_eq!(header, "\"AcmeBcc: all@other.example\" <jobs@acme.example>");
        assert!(!sender("Ä\r\nBcc: x\0").contains(char::is_control));
    }

    #[test]
    fn long_names_are_cut_between_characters() {
        for name in ["x".repeat(400), "é".repeat(150), "🎥".repeat(150), format!("a{}", "é".repeat(150))]
        {
            let header = sender(&name);
            assert!(header.len() <= LONGEST && header.len() > 200, "{header}");
            if !name.is_ascii() {
                assert!(name.starts_with(&decoded_name(&header)));
            }
        }
        let long = Email::parse(&format!("{}@{}.example", "a".repeat(64), ["b"; 90].join("."))).unwrap();
        let header = super::sender("Müller", &long);
        assert!(header.len() <= LONGEST && header.ends_with(&format!("<{}>", long.as_str())), "{header}");
    }
}
