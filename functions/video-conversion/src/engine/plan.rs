//! Decides how a video is converted. It does not run ffmpeg.

use super::picture::{self, MAX_ENCODED, MIN_SIDE, ODD_SIZE, STILL};
use super::probe::{self, MIN_CUT, ProbeReport, ProbeStream};
use super::{BROKEN, ConversionTarget};

/// The maximum length, in seconds.
pub(super) const MAX_SECONDS: f64 = 3600.0;
/// The longer and shorter side of the largest frame that is copied; larger ones are re-encoded.
const MAX_COPIED: (u32, u32) = (1920, 1080);
/// Level 4.2 of H.264, which browsers and phones decode in hardware.
const MAX_LEVEL: i32 = 42;
/// The maximum bit rate of a file that is copied, all streams together.
const MAX_BIT_RATE: f64 = 8_000_000.0;
/// The maximum estimated time of re-encoding, in seconds of one processor: half of the function's time. README.md gives
/// the reasons, and how the next three constants are measured.
pub(super) const MAX_WORK: f64 = 660.0;
/// Seconds of one processor to decode, encode and tone-map a million pixels.
const DECODING: f64 = 0.006;
const ENCODING: f64 = 0.011;
const TONE_MAPPING: f64 = 0.014;
/// The maximum frame rate of re-encoding.
const FRAME_RATE: f64 = 30.0;
/// The maximum size of a rendition, in bytes.
const MAX_BYTES: &str = "2147483648";
/// The longest silence before a sound, or sound after the last picture, that is left as it is, in seconds.
const MAX_LATE: f64 = 0.1;
/// The maximum total gap in a copied sound, in seconds. Players close gaps, so longer ones break the lip sync.
const MAX_GAPS: f64 = 0.05;

const NO_VIDEO: &str = "This file contains no video stream.";
pub(super) const TOO_LONG: &str = "The video is longer than one hour. Upload a shorter one.";
const TOO_MUCH: &str = "The video is too long for its dimensions and frame rate. Upload a shorter or smaller one, or use \
                        H.264 of at most 1920x1080 and 8 Mbit/s, which may last one hour.";

/// How to convert one video.
#[derive(Debug, PartialEq)]
pub(super) struct ConversionPlan {
    picture: Picture,
    sound: Option<Sound>,
    /// The length of the hidden beginning, in seconds, if ffmpeg does not skip it by itself.
    pub(super) lead: Option<f64>,
    /// When the sound ends, in seconds; `None` unless the last picture must be held until then.
    held_until: Option<f64>,
    /// When the file begins, in seconds.
    start: f64,
    /// The end that the file declares, in seconds; `None` if the result may be shorter.
    declared_end: Option<f64>,
}

#[derive(Debug, PartialEq)]
enum Picture {
    Copied {
        stream: u32,
    },
    Encoded {
        stream: u32,
        filters: String,
    },
    /// Black, for a sound without a picture.
    Still,
}

#[derive(Debug, PartialEq)]
struct Sound {
    stream: u32,
    is_copied: bool,
}

impl ConversionPlan {
    /// The plan for a file, or the reason why it cannot be converted.
    pub(super) fn of(
        probed: &ProbeReport,
        target: ConversionTarget,
        may_copy_picture: bool,
    ) -> Result<Self, &'static str> {
        let first = |is_kind: fn(&ProbeStream) -> bool| {
            probed.streams.iter().find(|stream| is_kind(stream) && stream.is_usable())
        };
        let video = first(ProbeStream::is_video);
        let audio = first(ProbeStream::is_sound);
        let start = probed.format.start();
        let end_of = |stream: Option<&ProbeStream>| stream.map_or(start, |stream| stream.extent.end);
        let seconds = (end_of(video).max(end_of(audio)) - start).min(target.max_seconds());
        if seconds > MAX_SECONDS {
            return Err(TOO_LONG);
        }
        let picture = match video {
            Some(video) => Picture::of(video, probed, target, seconds, may_copy_picture)?,
            // A candidate cannot repeat an answer for its listeners, and the voice is most of it.
            None if audio.is_some() && target.may_lack_picture() => Picture::Still,
            None => return Err(no_picture(probed)),
        };
        let sound = audio.map(|stream| Sound {
            stream: stream.index,
            is_copied: stream.codec_name == "aac"
                && stream.channels <= 2
                && stream.extent.hidden <= MIN_CUT
                && stream.extent.gaps() <= MAX_GAPS
                && stream.extent.start.is_some_and(|first| first - start <= MAX_LATE),
        });
        let held_until = (end_of(audio) > end_of(video) + MAX_LATE)
            .then(|| (end_of(audio) - start).min(target.max_seconds()));
        let lead = probed.format.lead();
        // If part of the beginning is hidden, the declared length includes it.
        let declared_end = probed.format.duration.filter(|_| !target.may_be_short() && lead.is_none());
        Ok(Self { picture, sound, lead, held_until, start, declared_end })
    }

    /// The index of the copied video stream; `None` if the picture is not copied.
    pub(super) fn copied_picture(&self) -> Option<u32> {
        if let Picture::Copied { stream } = self.picture { Some(stream) } else { None }
    }

    /// Whether a result of `seconds` lacks more than `tolerance` of the declared length.
    pub(super) fn is_short(&self, seconds: f64, tolerance: f64) -> bool {
        // Some containers declare a length, others an end, so assume the shorter length.
        self.declared_end.is_some_and(|end| {
            let length = if end > self.start { end - self.start } else { end };
            seconds < length * (1.0 - tolerance) - 0.5
        })
    }

    /// ffmpeg's arguments for the mp4, cut off after `max_seconds`.
    pub(super) fn mp4(&self, max_seconds: f64) -> Vec<String> {
        let mut how = self.picture.arguments();
        if let Some(end) = self.held_until {
            // If the picture ends before the sound, as when a camera freezes, players show nothing or stop.
            let duration = format!("if(eq(NEXT_PTS,NOPTS),max(DURATION,{end:.3}/TB-PTS),DURATION)");
            how.extend(["-bsf:v".to_owned(), format!("setts=duration='{duration}'")]);
        }
        if let Some(Sound { stream, is_copied }) = self.sound {
            how.extend(["-map".to_owned(), format!("0:{stream}")]);
            how.extend(words(if is_copied {
                "-c:a copy"
            } else {
                // Fill gaps with silence: players do not wait at gaps.
                "-c:a aac -b:a 128k -ac 2 -ar 48000 -af aresample=async=1:min_hard_comp=0.05:first_pts=0"
            }));
        }
        // Drop the metadata: phones store the location and the device, which viewers must not learn.
        how.extend(words("-map_metadata -1 -map_chapters -1 -sn -dn -fflags +bitexact"));
        // A file that is longer than declared must not fill the disk.
        how.extend(["-t".to_owned(), max_seconds.to_string(), "-fs".to_owned(), MAX_BYTES.to_owned()]);
        // With the index at the beginning, browsers can play while they load.
        how.extend(words("-movflags +faststart -threads 2 -f mp4"));
        how
    }
}

impl Picture {
    fn of(
        video: &ProbeStream,
        probed: &ProbeReport,
        target: ConversionTarget,
        seconds: f64,
        may_copy: bool,
    ) -> Result<Self, &'static str> {
        if f64::from(video.width) * f64::from(video.height) > f64::from(target.max_pixels()) {
            return Err(ODD_SIZE);
        }
        let stream = video.index;
        let bit_rate = probed.format.size.map(|bytes| bytes * 8.0 / seconds);
        if may_copy && bit_rate.is_some_and(|rate| rate <= MAX_BIT_RATE) && fits(video) {
            return Ok(Self::Copied { stream });
        }
        let size = picture::scaled_to_fit(picture::shown(video)?, MAX_ENCODED);
        if work(video, size, seconds) > target.max_work() {
            return Err(TOO_MUCH);
        }
        Ok(Self::Encoded { stream, filters: picture::filters(video, size) })
    }

    /// ffmpeg's arguments for the mp4's picture.
    fn arguments(&self) -> Vec<String> {
        let (stream, filters) = match self {
            Self::Copied { stream } => {
                // Browsers record avc3, which some players do not support. With constant parameters, only the tag
                // differs from avc1.
                let copied = ["-map", &format!("0:{stream}"), "-c:v", "copy", "-tag:v", "avc1"];
                return copied.map(str::to_owned).into();
            }
            Self::Encoded { stream, filters } => (format!("0:{stream}"), ["-vf", filters].map(str::to_owned)),
            Self::Still => {
                let frame = format!("color=c=black:s={}x{}:r=1:d=1[still]", STILL.0, STILL.1);
                ("[still]".to_owned(), ["-filter_complex".to_owned(), frame])
            }
        };
        let mut how: Vec<String> = filters.into();
        how.extend(["-map".to_owned(), stream]);
        how.extend(words("-c:v libx264 -preset veryfast -crf 23 -maxrate 2500k -bufsize 5000k"));
        how.extend(words("-profile:v high -level 4.0 -pix_fmt yuv420p -g 60"));
        how.extend(["-fpsmax".to_owned(), FRAME_RATE.to_string()]);
        how
    }
}

/// ffmpeg's arguments for the flv, which is made from the mp4.
pub(super) fn flv() -> Vec<String> {
    words("-map 0 -c copy -map_metadata -1 -fflags +bitexact -flvflags +add_keyframe_index -f flv").collect()
}

/// The reason why a file has no usable picture.
fn no_picture(probed: &ProbeReport) -> &'static str {
    let mut videos = probed.streams.iter().filter(|stream| stream.is_video()).peekable();
    if videos.peek().is_none() {
        NO_VIDEO
    } else if videos.any(ProbeStream::is_decoded) {
        BROKEN
    } else {
        probe::NO_VIDEO
    }
}

/// The estimated work of re-encoding, in seconds of one processor.
fn work(video: &ProbeStream, scaled: (u32, u32), seconds: f64) -> f64 {
    let frames = video.extent.packets;
    // Decoding costs per frame of the upload, encoding per frame of the rendition.
    let decoded = f64::from(video.width) * f64::from(video.height) * frames;
    let pixels = f64::from(scaled.0) * f64::from(scaled.1);
    let encoded = pixels * frames.min(FRAME_RATE * seconds);
    let mapped = if picture::is_hdr(video) { pixels * frames } else { 0.0 };
    (decoded * DECODING + encoded * ENCODING + mapped * TONE_MAPPING) / 1e6
}

/// Whether the video stream can be copied, provided that its parameters are constant.
fn fits(video: &ProbeStream) -> bool {
    let long = video.width.max(video.height);
    let short = video.width.min(video.height);
    video.codec_name == "h264"
        && video.pix_fmt == "yuv420p"
        // ffprobe reports a negative level if the stream has none.
        && (1..=MAX_LEVEL).contains(&video.level)
        && matches!(video.field_order.as_str(), "" | "progressive" | "unknown")
        && video.rotation() == 0.0
        && video.pixel_ratio() == 1.0
        && !picture::is_hdr(video)
        && long <= MAX_COPIED.0
        && short <= MAX_COPIED.1
        && short >= MIN_SIDE
        && video.width.is_multiple_of(2)
        && video.height.is_multiple_of(2)
        // A copy would include the hidden packets.
        && video.extent.hidden == 0.0
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split_ascii_whitespace().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The plan for a file with `frames` in `seconds`, at 6 Mbit/s.
    fn planned(
        target: ConversionTarget,
        seconds: f64,
        frames: f64,
        codec: &str,
        (width, height): (u32, u32),
        transfer: &str,
    ) -> Result<(), &'static str> {
        let format = json!({ "size": (seconds * 750_000.0).to_string() });
        let video = json!({ "index": 0, "codec_type": "video", "codec_name": codec, "pix_fmt": "yuv420p", "level": 40,
            "width": width, "height": height, "color_transfer": transfer });
        let mut probed: ProbeReport =
            serde_json::from_value(json!({ "format": format, "streams": [video] })).unwrap();
        let extent = &mut probed.streams[0].extent;
        (extent.packets, extent.start, extent.end) = (frames, Some(0.0), seconds);
        ConversionPlan::of(&probed, target, true).map(drop)
    }

    #[test]
    fn re_encoded_videos_are_limited_by_the_functions_time() {
        for (longest, codec, size, rate, transfer) in [
            (60.0, "h264", (1920, 1080), 30.0, "bt709"),
            (60.0, "hevc", (640, 360), 30.0, "bt709"),
            (23.0, "hevc", (1280, 720), 30.0, "bt709"),
            (16.0, "hevc", (1920, 1080), 30.0, "bt709"),
            (16.0, "hevc", (1080, 1920), 29.97, "bt709"),
            (10.0, "hevc", (1920, 1080), 60.0, "bt709"),
            (10.0, "hevc", (1920, 1080), 30.0, "arib-std-b67"),
            (6.0, "hevc", (3840, 2160), 30.0, "bt709"),
            (5.0, "hevc", (3840, 2160), 30.0, "smpte2084"),
            (3.0, "hevc", (3840, 2160), 60.0, "bt709"),
        ] {
            let planned = |minutes: f64| {
                let seconds = minutes * 60.0;
                planned(ConversionTarget::Video, seconds, seconds * rate, codec, size, transfer)
            };
            assert_eq!(planned(longest), Ok(()), "{longest} {size:?} {rate} {transfer}");
            let expected = if longest < 60.0 { TOO_MUCH } else { TOO_LONG };
            assert_eq!(planned(longest + 1.0), Err(expected), "{longest} {size:?} {rate} {transfer}");
        }
    }

    #[test]
    fn answers_are_limited_by_their_time_to_answer() {
        for seconds in [30, 120, 300] {
            let target = ConversionTarget::Answer { max_seconds: seconds + 2 };
            let planned = |rate: f64, size, transfer| {
                let seconds = f64::from(seconds);
                planned(target, seconds, seconds * rate, "vp9", size, transfer)
            };
            assert_eq!(planned(60.0, (1920, 1080), "bt709"), Ok(()), "{seconds}");
            assert_eq!(planned(30.0, (3840, 2160), "bt709"), Ok(()), "{seconds}");
            assert_eq!(planned(30.0, (3840, 2160), "arib-std-b67"), Ok(()), "{seconds}");
            assert_eq!(planned(1000.0, (1920, 1080), "bt709"), Err(TOO_MUCH), "{seconds}");
            assert_eq!(planned(1.0, (7680, 4320), "bt709"), Err(ODD_SIZE), "{seconds}");
        }
    }
}
