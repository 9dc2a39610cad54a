//! Distinguishes broken programs from a broken file, by a clip that working programs convert.

use std::ffi::OsStr;
use std::io;
use std::time::Duration;

use super::{ConversionTarget, ConvertedFiles, Failure, convert_file};

/// One second of VP8 and Opus in WebM, as browsers record it, so that the programs decode, scale, encode and copy.
/// README.md has the command that made it.
const CLIP: &[u8] = include_bytes!("known.webm");
/// The time limit for the clip, in case a program hangs. It usually takes a fifth of a second.
const TIME: Duration = Duration::from_secs(60);

pub(super) async fn convert_clip(path: &OsStr) -> io::Result<()> {
    let directory = tempfile::tempdir()?;
    let input = directory.path().join("known.webm");
    tokio::fs::write(&input, CLIP).await?;
    match tokio::time::timeout(TIME, convert_file(path, &input, ConversionTarget::Video)).await {
        Ok(Ok(ConvertedFiles { seconds: 1, width: 64, height: 48, .. })) => Ok(()),
        Ok(Ok(other)) => Err(failure(format!("{other:?}"))),
        Ok(Err(Failure::Refused(refusal))) => Err(failure(refusal.details)),
        Ok(Err(Failure::Machine(error))) => Err(error),
        Err(_) => Err(failure("no time is left".to_owned())),
    }
}

fn failure(details: String) -> io::Error {
    io::Error::other(format!("ffmpeg and ffprobe fail on a known clip: {details}"))
}
