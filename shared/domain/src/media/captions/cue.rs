//! Cues of WebVTT: parsed as sent, and written with only times, positions and plain text.

use std::fmt;
use std::fmt::Write as _;
use std::iter::Peekable;
use std::str::Lines;

use htmlize::unescape;

use crate::text::is_hidden;

pub(super) const NO_WEBVTT: &str =
    "Send captions as WebVTT: a first line WEBVTT, then cues, each after an empty line.";
const ARROW: &str = "-->";

/// Reads one cue after another.
pub(super) struct CueReader<'a> {
    lines: Peekable<Lines<'a>>,
    /// The number of the line that was read last, from 1.
    number: usize,
    /// When the last read cue begins, in milliseconds.
    begins_at: u64,
}

impl<'a> CueReader<'a> {
    /// A reader of the cues after the header of a file.
    pub(super) fn after_header(file: &'a str) -> Result<Self, String> {
        let mut reader = Self { lines: file.lines().peekable(), number: 0, begins_at: 0 };
        reader.skip_header()?;
        Ok(reader)
    }

    fn next_line(&mut self) -> Option<&'a str> {
        self.number += 1;
        self.lines.next()
    }

    /// Reads up to the next empty line.
    fn rest_of_block(&mut self) -> Vec<&'a str> {
        std::iter::from_fn(|| self.next_line().filter(|line| !line.is_empty())).collect()
    }

    fn skip_header(&mut self) -> Result<(), String> {
        let rest = self.next_line().and_then(|line| line.strip_prefix("WEBVTT"));
        let is_signature = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']));
        // Reject a cue in the header block, which would be lost silently.
        if !is_signature || self.rest_of_block().iter().any(|line| line.contains(ARROW)) {
            return Err(NO_WEBVTT.to_owned());
        }
        Ok(())
    }

    /// The next cue with text; `None` at the end of the file.
    pub(super) fn next_cue(&mut self) -> Result<Option<Cue>, String> {
        while self.lines.peek().is_some() {
            let Some(first) = self.next_line().filter(|line| !line.is_empty()) else { continue };
            if is_block(first, "NOTE") || is_block(first, "STYLE") || is_block(first, "REGION") {
                self.rest_of_block();
                continue;
            }
            let times = if first.contains(ARROW) { Some(first) } else { self.next_line() };
            let (begins_at, ends_at, settings) = self.read_times(times.unwrap_or_default())?;
            let before = self.number;
            let lines = self.rest_of_block();
            if let Some(index) = lines.iter().position(|line| line.contains(ARROW)) {
                self.number = before + index + 1;
                return Err(self.refusal("leave an empty line before the times of the next cue"));
            }
            let text = plain(&lines.join("\n"));
            if !text.is_empty() {
                return Ok(Some(Cue { begins_at, ends_at, settings, text }));
            }
        }
        Ok(None)
    }

    /// Reads a line such as `00:01.000 --> 00:04.000 align:start`.
    fn read_times(&mut self, line: &str) -> Result<(u64, u64, String), String> {
        let times = line.split_once(ARROW).and_then(|(begins, rest)| {
            let mut rest = rest.split_ascii_whitespace();
            Some((milliseconds(begins.trim())?, milliseconds(rest.next()?)?, rest))
        });
        let Some((begins_at, ends_at, settings)) = times else {
            return Err(self.refusal("write the times of a cue as 00:01.000 --> 00:04.000"));
        };
        if ends_at <= begins_at {
            return Err(self.refusal("let the cue end after it begins"));
        }
        // Cues may overlap, because people may talk at the same time.
        if begins_at < self.begins_at {
            return Err(self.refusal("sort the cues by the times at which they begin"));
        }
        self.begins_at = begins_at;
        let settings = settings.filter(|setting| is_position(setting));
        Ok((begins_at, ends_at, settings.fold(String::new(), |all, setting| format!("{all} {setting}"))))
    }

    fn refusal(&self, advice: &str) -> String {
        format!("Line {}: {advice}.", self.number)
    }
}

/// Whether a block that begins with this line is of `kind`, which is not a cue.
fn is_block(line: &str, kind: &str) -> bool {
    let rest = line.strip_prefix(kind);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t'])) && !line.contains(ARROW)
}

/// Parses `MM:SS.mmm` or `HH:MM:SS.mmm` to milliseconds.
fn milliseconds(text: &str) -> Option<u64> {
    let (clock, fraction) = text.split_once('.')?;
    let mut units = clock.rsplit(':');
    let seconds = two_digits(units.next()?)?;
    let minutes = two_digits(units.next()?)?;
    let hours = units.next().map_or(Some(0), two_digits)?;
    let is_complete = units.next().is_none() && seconds < 60 && minutes < 60 && fraction.len() == 3;
    is_complete.then_some(((hours * 60 + minutes) * 60 + seconds) * 1000 + digits(fraction)?)
}

fn two_digits(text: &str) -> Option<u64> {
    digits(text).filter(|_| text.len() == 2)
}

/// A number without a sign.
fn digits(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// Whether a setting places the cue in the picture. Regions do not count, because their definitions are dropped, and neither does
/// vertical text, which no language of the service uses.
fn is_position(setting: &str) -> bool {
    let Some((name, value)) = setting.split_once(':') else { return false };
    let (place, align) = value.split_once(',').map_or((value, None), |(place, align)| (place, Some(align)));
    match name {
        "line" => {
            let is_line = digits(place.strip_prefix('-').unwrap_or(place)).is_some_and(|line| line < 100);
            (is_line || is_percentage(place)) && matches!(align, None | Some("start" | "center" | "end"))
        }
        "position" => {
            is_percentage(place) && matches!(align, None | Some("line-left" | "center" | "line-right"))
        }
        "size" => is_percentage(value),
        "align" => matches!(value, "start" | "center" | "end" | "left" | "right"),
        _ => false,
    }
}

fn is_percentage(text: &str) -> bool {
    let number = text.strip_suffix('%').unwrap_or_default();
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let is_short = (1..=3).contains(&whole.len()) && (1..=3).contains(&fraction.len());
    is_short
        && digits(fraction)
            .is_some_and(|fraction| digits(whole).is_some_and(|whole| whole + fraction.min(1) <= 100))
}

/// One cue, whose text is plain.
pub(super) struct Cue {
    begins_at: u64,
    ends_at: u64,
    /// The settings, each after a space.
    settings: String,
    /// The lines, none of them empty.
    text: String,
}

impl fmt::Display for Cue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { begins_at, ends_at, settings, text } = self;
        writeln!(f, "{} {ARROW} {}{settings}", CueTime(*begins_at), CueTime(*ends_at))?;
        for character in text.chars() {
            match character {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                // Otherwise, a text could contain an arrow.
                '>' => f.write_str("&gt;")?,
                other => f.write_char(other)?,
            }
        }
        f.write_char('\n')
    }
}

/// Milliseconds as WebVTT writes them.
struct CueTime(u64);

impl fmt::Display for CueTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0 / 1000 % 60;
        let minutes = self.0 / 60_000 % 60;
        let hours = self.0 / 3_600_000;
        write!(f, "{hours:02}:{minutes:02}:{seconds:02}.{:03}", self.0 % 1000)
    }
}

/// The text of a cue without tags, with character references resolved.
fn plain(cue: &str) -> String {
    let mut text = String::new();
    let mut rest = cue;
    while let Some(at) = rest.find('<') {
        text.push_str(&unescape(&rest[..at]));
        // A tag may span lines. One that is not closed extends to the end, as in browsers.
        rest = rest[at..].split_once('>').unwrap_or_default().1;
    }
    text.push_str(&unescape(rest));
    let lines = text.split(['\n', '\u{2028}', '\u{2029}']).map(|line| {
        // References may stand for control characters. Marks that hide or reorder other text have no place in captions.
        let is_kept = |character: &char| {
            !is_hidden(*character) && (character.is_whitespace() || !character.is_control())
        };
        let line: String = line.chars().filter(is_kept).collect();
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    });
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_kept_and_all_else_is_not() {
        for kept in
            ["line:0", "line:-1", "line:100%", "position:0.5%,line-left", "size:100.000%", "align:right"]
        {
            assert!(is_position(kept), "{kept}");
        }
        for dropped in [
            "line:",
            "line:-",
            "line:--1",
            "line:5%,x",
            "line:101%",
            "position:5",
            "size:100.5%",
            "size:%",
            "size:.5%",
            "size:1.%",
            "size:50%,center",
            "align:x",
            "vertical:rl",
            "region:r",
            "a",
            ":",
            "line:1e2",
            "line:100",
        ] {
            assert!(!is_position(dropped), "{dropped}");
        }
    }
}
