//! Captions of videos: WebVTT that is parsed and rewritten, so that only times and plain lines of text are served.

mod cue;

use std::fmt::Write as _;

use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};

use crate::digest::digest_of;
use crate::id::{CompanyId, VideoId};
use crate::language::Language;
use cue::CueReader;

/// The maximum size of captions, as sent and as stored, in bytes.
pub const MAX_CAPTIONS_BYTES: usize = 256 * 1024;
/// More than one per second of the longest video.
const MAX_CUES: usize = 5_000;

const TOO_LARGE: &str = "Ensure this file has no more than 256 KiB.";
const NO_TEXT: &str = "Encode captions as UTF-8, without control characters.";
const NO_CUES: &str = "This file has no captions: none of its cues has a text.";

/// The captions of a video in one language.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Captions {
    pub company: CompanyId,
    pub video: VideoId,
    pub language: Language,
    /// The cues.
    pub text: CaptionText,
}

/// WebVTT as this service writes it: cues sorted by their beginning, with times, settings of the position, and lines without markup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CaptionText(String);

impl CaptionText {
    /// Parses WebVTT. Leaves out comments, styles, regions, identifiers and markup.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        // Check the size before anything else reads the bytes.
        if bytes.len() > MAX_CAPTIONS_BYTES {
            return Err(TOO_LARGE.to_owned());
        }
        let text = str::from_utf8(bytes).map_err(|_| NO_TEXT)?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n").replace('\r', "\n");
        if text.chars().any(|character| character.is_control() && !matches!(character, '\n' | '\t')) {
            return Err(NO_TEXT.to_owned());
        }
        let mut reader = CueReader::after_header(&text)?;
        let mut written = "WEBVTT\n".to_owned();
        let mut count = 0;
        while let Some(cue) = reader.next_cue()? {
            count += 1;
            if count > MAX_CUES {
                return Err(format!("Ensure this file has no more than {MAX_CUES} cues."));
            }
            // Writing to a string does not fail.
            let _ = write!(written, "\n{cue}");
        }
        if count == 0 {
            return Err(NO_CUES.to_owned());
        }
        // Escaping makes a text up to five times as long.
        if written.len() > MAX_CAPTIONS_BYTES { Err(TOO_LARGE.to_owned()) } else { Ok(Self(written)) }
    }

    /// The text of the file.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A digest of these captions.
    pub fn digest(&self) -> String {
        digest_of(&self.0)
    }
}

impl<'de> Deserialize<'de> for CaptionText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(String::deserialize(deserializer)?.as_bytes()).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::cue::NO_WEBVTT;
    use super::*;

    fn read(text: &str) -> Result<String, String> {
        CaptionText::parse(text.as_bytes()).map(|text| text.as_str().to_owned())
    }

    fn cue(text: &str) -> String {
        let written = read(&format!("WEBVTT\n\n00:01.000 --> 00:04.000\n{text}\n"));
        written.map_or_else(
            |error| error,
            |text| text["WEBVTT\n\n00:00:01.000 --> 00:00:04.000\n".len()..].to_owned(),
        )
    }

    #[test]
    fn captions_keep_times_positions_and_lines() {
        let sent = "\u{feff}WEBVTT - Welcome\r\nKind: captions\r\n\r\nNOTE who speaks\r\n\r\nSTYLE\r\n::cue { color: red }\r\n\r\n\
            REGION\r\nid:r\r\n\r\n1\r\n00:01.000 --> 00:04.500 line:80%,end region:r position:50.5% vertical:rl align:start size:x\r\n\
            - Hello.\r\n- Hi!\r\n\r\n\r\n01:00:03.000\t-->\t01:00:05.000\r\nBye.";
        let written = "WEBVTT\n\n00:00:01.000 --> 00:00:04.500 line:80%,end position:50.5% align:start\n- Hello.\n- Hi!\n\n\
            01:00:03.000 --> 01:00:05.000\nBye.\n";
        assert_eq!(read(sent).unwrap(), written);
        assert_eq!(read(&sent.replace("\r\n", "\r")).unwrap(), written);
        assert_eq!(read(written).unwrap(), written);
    }

    #[test]
    fn a_text_is_plain() {
        for (sent, written) in [
            ("<b>Hi</b> <v Ada>there", "Hi there\n"),
            ("<script>alert(1)</script>", "alert(1)\n"),
            ("a <c.x\ny>b", "a b\n"),
            ("1 &lt; 2 &amp;&amp; 3 &#62; 2 &#x27;&quot;&nbsp;x", "1 &lt; 2 &amp;&amp; 3 &gt; 2 '\" x\n"),
            ("&lt;script&gt; --&gt;", "&lt;script&gt; --&gt;\n"),
            // All character references of HTML, also without the semicolon where HTML allows that, as browsers resolve them.
            ("Caf&eacute; &ndash; &euro;5&hellip; &copy 2026 &notit; &#x80;", "Café – €5… © 2026 ¬it; €\n"),
            ("&amp;eacute; &amp;lt;b&amp;gt;", "&amp;eacute; &amp;lt;b&amp;gt;\n"),
            ("a&#1;b&#x200B;c&#10;d&NewLine;e", "abc\nd\ne\n"),
            ("A & B &unknown; &#0; &#xD800; &#8238;", "A &amp; B &amp;unknown; \u{fffd} \u{fffd}\n"),
            ("a\u{202e}b\u{2028}c\td", "ab\nc d\n"),
            ("open <b", "open\n"),
        ] {
            assert_eq!(cue(sent), written, "{sent}");
        }
        assert_eq!(cue("<b></b>"), NO_CUES);
        let written = cue("Caf&eacute; &amp;eacute; < b");
        assert_eq!(cue(written.trim_end()), written, "read again");
    }

    #[test]
    fn cues_may_overlap_but_not_go_back() {
        let two = |second: &str| read(&format!("WEBVTT\n\n00:02.000 --> 00:09.000\na\n\n{second}\nb\n"));
        assert!(two("00:02.000 --> 00:03.000").is_ok());
        for (times, refusal) in [
            ("00:01.999 --> 00:03.000", "Line 6: sort the cues by the times at which they begin."),
            ("00:05.000 --> 00:05.000", "Line 6: let the cue end after it begins."),
            ("00:05.000 --> 00:04.000", "Line 6: let the cue end after it begins."),
        ] {
            assert_eq!(two(times).unwrap_err(), refusal);
        }
        for times in [
            "00:05,000 --> 00:06,000",
            "0:05.000 --> 00:06.000",
            "00:05.000 -> 00:06.000",
            "00:60.000 --> 01:01.000",
            "-00:05.000 --> 00:06.000",
            "00:05.000 -->",
            "00:05.00 --> 00:06.000",
            "00:05.000 --> 00:06.0000",
            "100:00:05.000 --> 100:00:06.000",
            "1:2:3:4 --> 5",
            "+0:05.000 --> 00:06.000",
            "",
        ] {
            let refusal = two(times).unwrap_err();
            assert!(
                refusal.ends_with(": write the times of a cue as 00:01.000 --> 00:04.000."),
                "{times}: {refusal}"
            );
        }
    }

    #[test]
    fn other_files_are_refused() {
        for (sent, refusal) in [
            ("", NO_WEBVTT),
            ("1\n00:00:01,000 --> 00:00:02,000\nSubRip\n", NO_WEBVTT),
            ("WEBVTTX\n\n", NO_WEBVTT),
            ("WEBVTT\n00:01.000 --> 00:02.000\nlost\n", NO_WEBVTT),
            ("WEBVTT\n\n", NO_CUES),
            ("WEBVTT\n\nNOTE 00:01\n00:01.000 --> 00:02.000\n", NO_CUES),
            ("WEBVTT\n\n00:01.000 --> 00:02.000\na\0b\n", NO_TEXT),
            (
                "WEBVTT\n\n00:01.000 --> 00:02.000\na\n00:02.000 --> 00:03.000\nb\n",
                "Line 5: leave an empty line before the times of the next cue.",
            ),
        ] {
            assert_eq!(read(sent).unwrap_err(), refusal, "{sent:?}");
        }
        assert_eq!(CaptionText::parse(b"WEBVTT\n\n\xff").unwrap_err(), NO_TEXT);
    }

    #[test]
    fn size_and_number_are_limited() {
        assert_eq!(CaptionText::parse(&vec![0; MAX_CAPTIONS_BYTES + 1]).unwrap_err(), TOO_LARGE);
        let many = |count| format!("WEBVTT\n{}", "\n00:01.000 --> 00:02.000\na\n".repeat(count));
        assert!(read(&many(MAX_CUES)).is_ok());
        assert_eq!(read(&many(MAX_CUES + 1)).unwrap_err(), "Ensure this file has no more than 5000 cues.");
        assert_eq!(cue(&"&".repeat(MAX_CAPTIONS_BYTES / 4)), TOO_LARGE);
    }
}
