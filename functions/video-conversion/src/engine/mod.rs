//! Makes the renditions of an untrusted video.
//!
//! ffmpeg runs as a separate program without settings, credentials or sockets, on one file in an accepted container,
//! for a limited processor time.

mod codecs;
mod known;
#[cfg(target_os = "linux")]
mod leftover;
mod packets;
mod parameter_sets;
mod picture;
mod plan;
mod probe;
mod sandbox;
mod tool;

use std::ffi::OsStr;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;
use tokio::sync::OnceCell;

use plan::ConversionPlan;
use probe::ProbeReport;
use tool::{InputFile, ToolOutput, Tools};

pub use sandbox::hide_process;

const TOO_SLOW: &str = "This video takes too long to convert. Upload a shorter or smaller one.";
const BROKEN: &str = "The video is broken or incomplete.";

/// How much shorter than declared a rendition may be, as a fraction of the declared length.
const TOLERANCE: f64 = 0.1;
/// A conversion is killed when it takes this many times the estimated time.
const UNDERESTIMATE: f64 = 2.0;
/// The kernel's signal to a program that exceeds its processor time or memory.
const SIGKILL: i32 = 9;
/// The time limit of one attempt to convert a recording.
// The function's timeout is 15 minutes; the rest is for storing the result.
const ATTEMPT: Duration = Duration::from_secs(13 * 60);
/// The part of [`ATTEMPT`] that preparation may use; downloading the largest file takes less.
const PREPARATION: Duration = Duration::from_secs(2 * 60);
/// The position of the thumbnail, as a fraction of the video: after any fade-in.
const THUMBNAIL_AT: f64 = 0.1;

/// The renditions of a video. Dropping it deletes the files.
#[derive(Debug)]
pub struct ConvertedFiles {
    /// H.264 and AAC in mp4, playable while it loads.
    pub mp4: PathBuf,
    /// The streams of `mp4` in flv; `None` for answers.
    pub flv: Option<PathBuf>,
    /// JPEG.
    pub thumbnail: PathBuf,
    /// The length in seconds, at least one.
    pub seconds: u32,
    /// The width in pixels, as displayed.
    pub width: u32,
    /// The height in pixels, as displayed.
    pub height: u32,
    _directory: TempDir,
}

/// The kind of result.
#[derive(Debug, Clone, Copy)]
pub enum ConversionTarget {
    /// The renditions of a video, which must be complete.
    Video,
    /// An mp4 of an answer, cut off after `max_seconds`. Parts that have not arrived are missing.
    Answer { max_seconds: u32 },
}

impl ConversionTarget {
    fn max_seconds(self) -> f64 {
        match self {
            // One second more, so that the limit is seen to be exceeded.
            Self::Video => plan::MAX_SECONDS + 1.0,
            Self::Answer { max_seconds } => f64::from(max_seconds),
        }
    }

    /// The largest frame that is decoded, in pixels.
    // Decoders allocate the frame that a file declares, and a file of a few bytes may declare a huge one.
    fn max_pixels(self) -> u32 {
        match self {
            Self::Video => tool::MAX_PIXELS,
            // 4K: more than any browser records.
            Self::Answer { .. } => 3840 * 2160,
        }
    }

    /// The maximum estimated time for re-encoding, in seconds of one processor.
    fn max_work(self) -> f64 {
        match self {
            Self::Video => plan::MAX_WORK,
            // The limit is proportional to the time that a candidate may record, so that no answer delays others for
            // long.
            Self::Answer { max_seconds } => 2.5 * f64::from(max_seconds) + 2.0,
        }
    }

    /// Whether a file with sound but no picture is converted.
    // A candidate whose camera failed has still answered, but staff can upload another video.
    fn may_lack_picture(self) -> bool {
        matches!(self, Self::Answer { .. })
    }

    fn may_be_short(self) -> bool {
        matches!(self, Self::Answer { .. })
    }
}

/// The time that is left for a conversion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeLeft {
    duration: Duration,
    is_cut: bool,
}

impl TimeLeft {
    /// The rest of an attempt's time after `used`.
    pub fn after(used: Duration) -> Self {
        let left = ATTEMPT.saturating_sub(used);
        // Retries during an outage of the store or the bucket may have used the rest.
        if used > PREPARATION { Self::cut(left) } else { Self::whole(left) }
    }

    /// The full time that a conversion may take.
    pub const fn whole(duration: Duration) -> Self {
        Self { duration, is_cut: false }
    }

    /// Less than the full time, because other work has used the rest: a timeout is then not the file's fault.
    pub const fn cut(duration: Duration) -> Self {
        Self { duration, is_cut: true }
    }
}

/// Why a conversion failed.
#[derive(Debug)]
pub enum EngineError {
    /// The file cannot be converted. Holds a message for the client; retrying is pointless.
    Refused(&'static str),
    /// A fault of this computer or its programs.
    Machine(std::io::Error),
}

/// Makes the renditions of the file `input` in its folder, with the programs in `path`, within `time`. Refuses the file
/// only if the programs still convert a known clip.
///
/// # Errors
/// See [`EngineError`].
pub async fn convert(
    path: &OsStr,
    input: &Path,
    target: ConversionTarget,
    time: TimeLeft,
) -> Result<ConvertedFiles, EngineError> {
    // Check the programs before the first file of a process: a broken program may produce wrong output without an
    // error.
    static WORKING: OnceCell<()> = OnceCell::const_new();
    WORKING.get_or_try_init(|| check(path)).await?;
    // Dropping the future kills ffmpeg.
    let outcome = tokio::time::timeout(time.duration, convert_file(path, input, target)).await;
    let out_of_time = |_| {
        if time.is_cut {
            return Err(Failure::Machine(std::io::Error::other(
                "other work has used the time of the conversion",
            )));
        }
        refused(TOO_SLOW, "no time is left")
    };
    let refusal = match outcome.unwrap_or_else(out_of_time) {
        Ok(files) => return Ok(files),
        Err(Failure::Machine(error)) => return Err(EngineError::Machine(error)),
        Err(Failure::Refused(refusal)) => refusal,
    };
    // The exit status does not tell whether the file or every file crashes the programs, so convert a known clip too.
    check(path).await?;
    let FileRefusal { reason, details, has_crashed } = refusal;
    if has_crashed {
        tracing::warn!(target: "conversion", details, "a file has crashed a program");
    }
    tracing::info!(target: "conversion", reason, details, "refused");
    Err(EngineError::Refused(reason))
}

/// Converts a known clip with the programs in `path`.
///
/// # Errors
/// If the programs do not convert it.
pub async fn check(path: &OsStr) -> std::io::Result<()> {
    known::convert_clip(path).await
}

impl From<std::io::Error> for EngineError {
    fn from(error: std::io::Error) -> Self {
        Self::Machine(error)
    }
}

/// Why a file was not converted, before the programs are checked.
#[derive(Debug)]
enum Failure {
    /// The file's fault, provided that the programs work.
    Refused(FileRefusal),
    Machine(std::io::Error),
}

/// The reasons for refusing a file.
#[derive(Debug)]
struct FileRefusal {
    /// The message for the client.
    reason: &'static str,
    /// The details, for the log.
    details: String,
    /// Whether a signal other than `SIGKILL` has ended a program.
    has_crashed: bool,
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::Machine(error)
    }
}

async fn convert_file(
    path: &OsStr,
    input: &Path,
    target: ConversionTarget,
) -> Result<ConvertedFiles, Failure> {
    // ffmpeg runs in another folder, where a relative path would not lead to the file.
    let input = tokio::fs::canonicalize(input).await?;
    let directory = tempfile::tempdir_in(input.parent().unwrap_or(&input))?;
    let tools = Tools::new(path, directory.path(), target.max_pixels());
    let [mp4, flv, thumbnail, parameter_sets] =
        ["video.mp4", "video.flv", "thumbnail.jpg", "parameter-sets"].map(|name| directory.path().join(name));

    let probed = ProbeReport::of(&tools, &input, target.max_seconds()).await?;
    let plan = |may_copy_picture| {
        ConversionPlan::of(&probed, target, may_copy_picture).or_else(|reason| refused(reason, "by its plan"))
    };
    let mut chosen = plan(true)?;
    if let Some(stream) = chosen.copied_picture()
        && !parameter_sets::are_constant(&tools, &input, stream, &parameter_sets).await?
    {
        chosen = plan(false)?;
    }
    let plan = chosen;
    let upload = InputFile { path: &input, from: plan.lead };
    let how = plan.mp4(target.max_seconds());
    make(&tools, &upload, &how, &mp4, whole(target.max_work() * UNDERESTIMATE)).await?;
    // Measure the mp4, because the upload may declare any length and size.
    let made = ProbeReport::of(&tools, &mp4, target.max_seconds()).await?;
    let seconds = made.format.duration.unwrap_or_default();
    if seconds <= 0.0 || plan.is_short(seconds, TOLERANCE) {
        return refused(BROKEN, "shorter than announced");
    }
    if seconds > plan::MAX_SECONDS {
        return refused(plan::TOO_LONG, "longer than announced");
    }
    let Some(video) = made.streams.iter().find(|stream| stream.is_video()) else {
        return refused(BROKEN, "nothing to be seen");
    };
    // Make the flv from the mp4, which is already upright and whose container ffmpeg has written, not the client.
    let flv = match target {
        ConversionTarget::Video => {
            make(&tools, &InputFile::whole(&mp4), &plan::flv(), &flv, tool::QUICK).await?;
            Some(flv)
        }
        ConversionTarget::Answer { .. } => None,
    };
    // Take the thumbnail between the first and the last picture, which may be identical: the sound may outlast the
    // pictures.
    let first = video.extent.start.unwrap_or_default();
    let at = first + (video.extent.last - first) * THUMBNAIL_AT - made.format.start();
    let at = InputFile { path: &mp4, from: Some(at) };
    make(&tools, &at, &picture::thumbnail(video), &thumbnail, tool::QUICK).await?;
    let width = video.width;
    let height = video.height;
    Ok(ConvertedFiles { mp4, flv, thumbnail, seconds: length(seconds), width, height, _directory: directory })
}

/// Runs ffmpeg, and fails if the output is empty.
async fn make(
    tools: &Tools<'_>,
    input: &InputFile<'_>,
    how: &[String],
    output: &Path,
    processor_seconds: u64,
) -> Result<(), Failure> {
    let answer = tools.make(input, how, output, processor_seconds).await?;
    let bytes = tokio::fs::metadata(output).await.map_or(0, |file| file.len());
    // ffmpeg also reports success if it has found no frame to write.
    if answer.status.success() && bytes > 0 { Ok(()) } else { Err(failed(BROKEN, &answer)) }
}

/// Rounds to whole seconds, as players show them.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and an hour")]
fn length(seconds: f64) -> u32 {
    seconds.round().max(1.0) as u32
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates, which is meant")]
fn whole(number: f64) -> u64 {
    number.round() as u64
}

fn refused<T>(reason: &'static str, details: &str) -> Result<T, Failure> {
    Err(Failure::Refused(FileRefusal { reason, details: details.to_owned(), has_crashed: false }))
}

/// The refusal of a file after a program has failed on it.
fn failed(reason: &'static str, output: &ToolOutput) -> Failure {
    let details = format!("{}: {}", output.status, output.complaint);
    let signal = output.status.signal();
    let reason = if signal == Some(SIGKILL) { TOO_SLOW } else { reason };
    Failure::Refused(FileRefusal {
        reason,
        details,
        has_crashed: signal.is_some_and(|signal| signal != SIGKILL),
    })
}
