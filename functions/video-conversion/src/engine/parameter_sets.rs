//! Looks whether the pictures of an H.264 stream keep their size and shape, which a copy declares once for all of them.

use std::path::Path;

use super::Failure;
use super::tool::{InputFile, QUICK, Tools};

/// The most that is read, in bytes: of an hour with five key frames a second.
const MAX_BYTES: u64 = 1024 * 1024;

/// Whether all sequence parameter sets of a video stream are the same. `output` is a file to write.
// The stream of a phone that is turned, or of clips that were joined, has several.
pub(super) async fn are_constant(
    tools: &Tools<'_>,
    input: &Path,
    stream: u32,
    output: &Path,
) -> Result<bool, Failure> {
    let mut how = vec!["-map".to_owned(), format!("0:{stream}")];
    // The first filter puts the sets that the container holds before each key frame, the second leaves out everything else.
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

/// Whether a byte stream consists of one unit, which is repeated.
fn is_repetition(stream: &[u8]) -> bool {
    // Units begin with the bytes 0, 0, 1, which occur in none of them, and end with none that is 0.
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
