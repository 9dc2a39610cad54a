//! Checks whether all pictures of an H.264 stream have the same size and shape, because a copy declares these only
//! once.

use std::path::Path;

use super::Failure;
use super::tool::{InputFile, QUICK, Tools};

/// The maximum bytes to read: the sets of an hour with five key frames a second.
const MAX_BYTES: u64 = 1024 * 1024;

/// Whether all sequence parameter sets of a video stream are equal. Writes them to the file `output`.
// Streams of a phone that was turned while recording, and of joined clips, have several.
pub(super) async fn are_constant(
    tools: &Tools<'_>,
    input: &Path,
    stream: u32,
    output: &Path,
) -> Result<bool, Failure> {
    let mut how = vec!["-map".to_owned(), format!("0:{stream}")];
    // The first filter writes the container's sets before each key frame, the second drops everything else.
    let filters = "-c copy -bsf:v h264_mp4toannexb,filter_units=pass_types=7 -f h264 -fs";
    how.extend(filters.split_ascii_whitespace().map(str::to_owned));
    how.push(MAX_BYTES.to_string());
    let answer = tools.make(&InputFile::whole(input), &how, output, QUICK).await?;
    if !answer.status.success() {
        return Ok(false);
    }
    let sets = tokio::fs::read(output).await?;
    Ok(is_repetition(&sets))
}

/// Whether a byte stream consists of one repeated unit.
fn is_repetition(stream: &[u8]) -> bool {
    // Units begin after the bytes 0, 0, 1, which no unit contains. Zeros at the end are padding.
    let mut starts = stream.windows(3).enumerate().filter(|(_, bytes)| *bytes == [0, 0, 1]).map(|(at, _)| at);
    let Some(mut start) = starts.next() else { return false };
    let mut first: Option<&[u8]> = None;
    for end in starts.chain([stream.len()]) {
        let unit = &stream[start + 3..end];
        let unit = unit.iter().rposition(|byte| *byte != 0).map_or(&unit[..0], |last| &unit[..=last]);
        if **first.get_or_insert(unit) != *unit {
            return false;
        }
        start = end;
    }
    true
}
