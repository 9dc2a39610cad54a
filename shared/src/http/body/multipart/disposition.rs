//! Parses the header `Content-Disposition` of a form's part.

use std::borrow::Cow;

use mail_parser::decoders::charsets::map::charset_decoder;
use mail_parser::parsers::MessageStream;
use percent_encoding::percent_decode;

/// The maximum length in bytes of a file name whose encoded words (RFC 2047) are decoded.
// Several times the permitted length of a file name.
const MAX_ENCODED: usize = 4 * 1024;

/// The names in a part's `Content-Disposition`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Disposition {
    /// The name of the field.
    pub(super) name: Option<String>,
    /// The name of the file; browsers send an empty one if the user has chosen no file.
    pub(super) file_name: Option<String>,
}

impl Disposition {
    pub(super) fn parse(header: &[u8]) -> Self {
        let mut name = None;
        let mut plain = None;
        let mut extended = None;
        for parameter in parameters(header) {
            let mut sides = parameter.splitn(2, |byte| *byte == b'=').map(<[u8]>::trim_ascii);
            let (Some(key), Some(value)) = (sides.next(), sides.next()) else { continue };
            let place = match key.to_ascii_lowercase().as_slice() {
                b"name" => &mut name,
                b"filename" => &mut plain,
                b"filename*" => &mut extended,
                _ => continue,
            };
            place.get_or_insert_with(|| value.to_vec());
        }
        Self {
            name: name.map(|name| String::from_utf8_lossy(&name).into_owned()),
            // If a client sends both, the plain name is a substitute for old servers.
            file_name: extended
                .map(|value| extended_text(&value))
                .or_else(|| plain.map(|value| plain_name(&value))),
        }
    }
}

/// The parameters of a header such as `form-data; name="photo"; filename="me.png"`, without their quotes.
// `multer` is not used: it finds `name` inside file names and drops file names that are not UTF-8. An iterator, because a
// header may be as long as the body.
fn parameters(header: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let mut bytes = header.iter().copied().peekable();
    std::iter::from_fn(move || {
        bytes.peek()?;
        let mut parameter = Vec::new();
        let mut is_quoted = false;
        while let Some(byte) = bytes.next() {
            match byte {
                b'"' => is_quoted = !is_quoted,
                // Any other backslash belongs to a path, which browsers do not escape.
                b'\\' if is_quoted && matches!(bytes.peek(), Some(b'"' | b'\\')) => {
                    parameter.extend(bytes.next());
                }
                b';' if !is_quoted => break,
                _ => parameter.push(byte),
            }
        }
        Some(parameter)
    })
}

/// Decodes an extended value (RFC 8187), such as `UTF-8''na%C3%AFve.png`.
fn extended_text(value: &[u8]) -> String {
    let mut parts = value.splitn(3, |byte| *byte == b'\'');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(charset), Some(_language), Some(text)) => {
            let bytes: Vec<u8> = percent_decode(text).collect();
            let charset = String::from_utf8_lossy(charset);
            match std::str::from_utf8(&bytes) {
                Ok(text) => text.to_owned(),
                Err(_) => decode_text(&bytes, Some(&charset)).unwrap_or_else(|| display_name(&bytes)),
            }
        }
        _ => display_name(value),
    }
}

/// Decodes a plain file name, which mail libraries write in encoded words (RFC 2047).
fn plain_name(value: &[u8]) -> String {
    let name = display_name(value);
    if !name.contains("=?") || name.len() > MAX_ENCODED {
        return name;
    }
    let line = format!("{name}\n");
    let decoded = MessageStream::new(line.as_bytes()).parse_unstructured().into_text();
    decoded.map_or(name, Cow::into_owned)
}

/// Decodes a file name from UTF-8 or, for older clients, from windows-1252.
// The name is only displayed: wrong characters for any other encoding are no reason to refuse the file.
fn display_name(bytes: &[u8]) -> String {
    if let Ok(name) = std::str::from_utf8(bytes) {
        return name.to_owned();
    }
    let name = charset_decoder(b"windows-1252").map(|decode| decode(bytes)).unwrap_or_default();
    name.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// Decodes a text; `None` if the charset is unknown, or the text is not encoded in it.
pub(super) fn decode_text(bytes: &[u8], charset: Option<&str>) -> Option<String> {
    let text = charset_decoder(charset?.as_bytes())?(bytes);
    (!text.contains(char::REPLACEMENT_CHARACTER)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_names(header: &[u8], file_name: &str) {
        let Disposition { name, file_name: found } = Disposition::parse(header);
        let shown = String::from_utf8_lossy(header);
        assert_eq!((name.as_deref(), found.as_deref()), (Some("photo"), Some(file_name)), "{shown}");
    }

    #[test]
    fn names_are_read_as_clients_write_them() {
        for (header, file_name) in [
            ("form-data; name=\"photo\"; filename=\"Zoë.png\"".as_bytes(), "Zoë.png"),
            (b"form-data; name=photo; filename=my file.png", "my file.png"),
            (b"FORM-DATA; Name = photo ; FileName = a.png", "a.png"),
            (b"form-data; filename=\"a; name=b.png\"; name=\"photo\"", "a; name=b.png"),
            (br#"form-data; name="photo"; filename="an \"a\".png""#, "an \"a\".png"),
            (br#"form-data; name="photo"; filename="C:\me\a.png""#, r"C:\me\a.png"),
            (br#"form-data; name="photo"; filename="me\\"; x="y""#, r"me\"),
            (b"form-data; name=\"photo\"; filename=\"\"", ""),
            (b"form-data; name=\"photo\"; filename=\"open", "open"),
            // Extended: alone, before and after the plain substitute.
            (b"form-data; name=\"photo\"; filename*=UTF-8''Zo%C3%AB.png", "Zoë.png"),
            (b"form-data; name=\"photo\"; filename*=UTF-8''Zo%C3%AB.png; filename=\"Zo.png\"", "Zoë.png"),
            (b"form-data; name=\"photo\"; filename=\"Zo.png\"; filename*=iso-8859-1'en'Zo%EB.png", "Zoë.png"),
            (b"form-data; name=\"photo\"; filename=\"=?utf-8?B?Wm/Dqy5wbmc=?=\"; filename*=utf-8''Zo%C3%AB.png", "Zoë.png"),
            (b"form-data; name=\"photo\"; filename*=\"Zo.png\"", "Zo.png"),
            // Encoded words.
            (b"form-data; name=\"photo\"; filename=\"=?utf-8?B?Wm/Dqy5wbmc=?=\"", "Zoë.png"),
            (b"form-data; name=\"photo\"; filename=\"=?ISO-8859-1?Q?my_Zo=EB.png?=\"", "my Zoë.png"),
            (b"form-data; name=\"photo\"; filename=\"=?.png\"", "=?.png"),
            // Latin-1 is decoded; Shift-JIS shows wrong characters.
            (b"form-data; name=\"photo\"; filename=\"Zo\xEB.png\"", "Zoë.png"),
            (b"form-data; name=\"photo\"; filename=\"\x83\x81.png\"", "ƒ\u{fffd}.png"),
        ] {
            assert_names(header, file_name);
        }
        let absent = Disposition { name: None, file_name: None };
        for header in [&b""[..], b"form-data", b"form-data; name", b"form-data; filenames=a; names=b"] {
            assert_eq!(Disposition::parse(header), absent);
        }
    }
}
