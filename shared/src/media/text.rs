//! Detects whether bytes are text, in which encoding, and richtext.

use crate::domain::media::file::FileType;

/// Commands of richtext and enriched text that have no meaning in HTML.
const RICHTEXT: &str = "bigger bold excerpt fixed flushboth flushleft flushright footing heading indent indentright \
                        italic lt nl nofill np outdent paragraph samepage signature smaller underline";
/// Names of tags that make browsers take a text for a page or a script.
const HTML: [&str; 29] = [
    "a", "applet", "b", "base", "body", "br", "div", "embed", "font", "form", "frame", "frameset", "h1",
    "head", "html", "iframe", "img", "input", "link", "math", "meta", "object", "p", "script", "style",
    "svg", "table", "title", "xml",
];

/// The type of a text; `None` if the bytes are no text, or are markup that a browser might take for a page.
pub(super) fn recognise(bytes: &[u8]) -> Option<FileType> {
    let utf16 = [(b"\xFF\xFE", u16::from_le_bytes as fn([u8; 2]) -> u16), (b"\xFE\xFF", u16::from_be_bytes)];
    for (mark, read) in utf16 {
        if let Some(rest) = bytes.strip_prefix(mark) {
            let (pairs, odd) = rest.as_chunks();
            let text = String::from_utf16(&pairs.iter().map(|pair| read(*pair)).collect::<Vec<_>>()).ok()?;
            return (odd.is_empty() && is_plain(&text)).then_some(FileType::TextUtf16);
        }
    }
    match std::str::from_utf8(bytes) {
        Ok(text) if is_richtext(text) => Some(FileType::RichText),
        Ok(text) => is_plain(text.strip_prefix('\u{feff}').unwrap_or(text)).then_some(FileType::Text),
        Err(_) => single_byte(bytes),
    }
}

const UNDEFINED_IN_WINDOWS_1252: [u8; 5] = [0x81, 0x8D, 0x8F, 0x90, 0x9D];

/// Detects Western European encodings.
fn single_byte(bytes: &[u8]) -> Option<FileType> {
    let ascii = bytes.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let others = bytes.iter().filter(|byte| **byte >= 0xC0).count();
    let has_undefined = bytes.iter().any(|byte| UNDEFINED_IN_WINDOWS_1252.contains(byte));
    // Refuse text in other alphabets: it would be served with the wrong characters.
    if others > ascii || has_undefined {
        return None;
    }
    let has_typography = bytes.iter().any(|byte| (0x80..0xA0).contains(byte));
    // Replace typographic characters: the checks below would take them for control characters.
    let text: String =
        bytes.iter().map(|byte| if (0x80..0xA0).contains(byte) { '-' } else { char::from(*byte) }).collect();
    let found = if has_typography { FileType::TextWindows1252 } else { FileType::TextLatin1 };
    is_plain(&text).then_some(found)
}

/// Whether the text is readable and has no markup.
fn is_plain(text: &str) -> bool {
    !has_controls(text) && !text.trim_start().starts_with('<') && !text.trim().is_empty()
}

fn has_controls(text: &str) -> bool {
    text.contains(|character: char| {
        character.is_control() && !matches!(character, '\t' | '\n' | '\r' | '\u{c}')
    })
}

/// Whether a text has richtext commands and no HTML tags.
fn is_richtext(text: &str) -> bool {
    let mut has_commands = false;
    for tag in text.split('<').skip(1) {
        let tag = tag.strip_prefix('/').unwrap_or(tag);
        let end = tag.find(|character: char| !character.is_ascii_alphanumeric()).unwrap_or(tag.len());
        let name = tag[..end].to_ascii_lowercase();
        let rest = &tag[end..];
        if HTML.contains(&name.as_str()) || name.is_empty() && rest.starts_with(['!', '?']) {
            return false;
        }
        has_commands |= rest.starts_with('>') && RICHTEXT.split(' ').any(|command| command == name);
    }
    has_commands && !has_controls(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf16(text: &str, write: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(write).collect()
    }

    #[test]
    fn encodings_are_told_apart() {
        let text = "\u{feff}Zoë – Mathématicienne, Łódź";
        for (bytes, file_type) in [
            ("Zoë – Łódź\n".as_bytes().to_vec(), FileType::Text),
            ("\u{feff}Zoë".as_bytes().to_vec(), FileType::Text),
            ("анна".as_bytes().to_vec(), FileType::Text),
            (b"Zo\xEB M\xFCller, caf\xE9\r\n\x0C2".to_vec(), FileType::TextLatin1),
            (b"\x93Zo\xEB\x94 \x96 10 \x80".to_vec(), FileType::TextWindows1252),
            (utf16(text, u16::to_le_bytes), FileType::TextUtf16),
            (utf16(text, u16::to_be_bytes), FileType::TextUtf16),
        ] {
            assert_eq!(recognise(&bytes), Some(file_type), "{bytes:?}");
        }
    }

    #[test]
    fn binary_data_and_markup_are_refused() {
        let page = "\u{feff}<html>";
        for bytes in [
            &utf16(page, u16::to_le_bytes)[..],
            &utf16(page, u16::to_be_bytes),
            &utf16("\u{feff}a\0b", u16::to_le_bytes),
            &utf16("\u{feff}  ", u16::to_le_bytes),
            b"\xFF\xFEa\0b",
            b"\xFF\xFE\0\xD8",
            b"\xFF\xFE",
            b"Zo\xEB \0",
            b"Zo\xEB \x81",
            b" \xA0<p>Zo\xEB",
            // Cyrillic in Windows-1251.
            b"\xC0\xED\xED\xE0 \xCA\xE0\xF0\xE5\xED\xE8\xED\xE0",
            b"\x89PNG\r\n\x1A\n",
            b"\xFF\xD8\xFF\xE0",
        ] {
            assert_eq!(recognise(bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn richtext_is_known_by_its_commands() {
        let sample = "<bold>Now</bold> is the time for\n<italic>all</italic> good men\n <smaller>(and \
                      <lt>women>)</smaller> to\n<ignoreme></ignoreme> come\nto the aid of their\n<nl>\nbeloved \
                      <nl><nl>country. <comment> Stupid\nquote! </comment> -- the end\n";
        let enriched = "Ada <Bold>Byron</Bold>\n\n<color><param>red</param>1 << 2</color>";
        for text in [sample, enriched, "a <nl> b"] {
            assert_eq!(recognise(text.as_bytes()), Some(FileType::RichText), "{text}");
        }
        for (text, file_type) in [
            ("a < b and <c>", Some(FileType::Text)),
            ("see <bold@example.com>", Some(FileType::Text)),
            ("see <script>alert(1)</script> <bold>", Some(FileType::Text)),
            ("<bold><script>alert(1)</script></bold>", None),
            ("<bold><IMG src=x onerror=alert(1)>", None),
            ("<!DOCTYPE html><bold>", None),
            ("<?xml version='1.0'?><bold/>", None),
            ("<bold>\0</bold>", None),
            ("<center>x</center>", None),
        ] {
            assert_eq!(recognise(text.as_bytes()), file_type, "{text}");
        }
    }
}
