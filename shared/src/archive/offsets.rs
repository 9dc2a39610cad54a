//! The offsets of lines in the list of media, so that a page of the list can be read alone.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{MEDIA, Result};

/// The file of the offsets. It is in the archive's folder but not part of the archive.
pub const MEDIA_OFFSETS: &str = "media.offsets";
/// How many lines lie between two offsets.
const STEP: u64 = 100;

/// The offsets in bytes of every hundredth line of the list, followed by the list's length.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MediaOffsets(Vec<u64>);

/// A range of whole lines of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MediaRange {
    /// The offset of the first byte.
    pub from: u64,
    /// The offset after the last byte (exclusive).
    pub to: u64,
    /// How many lines at its start come before the wanted ones.
    pub before: usize,
}

impl MediaOffsets {
    /// Writes the file of offsets for the list in `folder`. Returns the number of the list's lines.
    pub fn write(folder: &Path) -> Result<u64> {
        let mut offsets = Vec::new();
        let mut lines = 0;
        let mut offset = 0;
        for line in BufReader::new(File::open(folder.join(MEDIA))?).lines() {
            if lines % STEP == 0 {
                offsets.push(offset);
            }
            lines += 1;
            offset += line?.len() as u64 + 1;
        }
        offsets.push(offset);
        fs::write(folder.join(MEDIA_OFFSETS), serde_json::to_vec(&Self(offsets))?)?;
        Ok(lines)
    }

    /// The range that holds the `count` lines after the first `before` ones, or fewer at the end of the list; `None` if
    /// `before` is past the end.
    pub fn range_of(&self, before: u64, count: u64) -> Option<MediaRange> {
        let offset = |step: u64| self.0.get(usize::try_from(step).ok()?).copied();
        let to = offset((before + count).div_ceil(STEP)).or(self.0.last().copied())?;
        let from = offset(before / STEP).filter(|from| *from < to)?;
        Some(MediaRange { from, to, before: usize::try_from(before % STEP).ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_is_found_by_its_offsets() {
        for length in [0, 1, 99, 100, 101, 250] {
            let lines: Vec<String> =
                (0..length).map(|number| "x".repeat(number % 7) + &number.to_string()).collect();
            let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
            let folder = std::env::temp_dir().join(format!("offsets-{}-{length}", std::process::id()));
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(MEDIA), &text).unwrap();
            assert_eq!(MediaOffsets::write(&folder).unwrap(), length as u64);
            let offsets: MediaOffsets =
                serde_json::from_slice(&fs::read(folder.join(MEDIA_OFFSETS)).unwrap()).unwrap();
            fs::remove_dir_all(&folder).unwrap();
            for (before, count) in
                (0..=length + 1).flat_map(|before| [1, 20, 99, 100].map(|count| (before, count)))
            {
                let expected: Vec<&str> = lines.iter().skip(before).take(count).map(String::as_str).collect();
                let range = offsets.range_of(before as u64, count as u64);
                let found: Vec<&str> = range.map_or_else(Vec::new, |range| {
                    let part =
                        &text[usize::try_from(range.from).unwrap()..usize::try_from(range.to).unwrap()];
                    part.lines().skip(range.before).take(count).collect()
                });
                assert_eq!(found, expected, "{count} of {length} after {before}");
            }
        }
    }
}
