//! Decides how a video is converted, apart from running ffmpeg.

use super::probe::{ProbeReport, ProbeStream};
use super::{BROKEN, ConversionTarget};

/// The maximum length, in seconds.
pub(super) const MAX_SECONDS: f64 = 3600.0;
/// Larger frames are not copied: longer and shorter side.
const MAX_COPIED: (u32, u32) = (1920, 1080);
/// Re-encoded frames fit into this size.
const MAX_ENCODED: (u32, u32) = (1280, 720);
/// Level 4.2 of H.264, which browsers and phones decode in hardware.
const MAX_LEVEL: i32 = 42;
/// The maximum bit rate of a file that is copied, all streams together.
const MAX_BIT_RATE: f64 = 8_000_000.0;
/// The minimum side of encoders, in pixels.
const MIN_SIDE: u32 = 16;
/// The maximum aspect ratio.
const MAX_RATIO: u32 = 20;
/// The longer side of a thumbnail, in pixels.
const THUMBNAIL: u32 = 640;
/// The maximum estimated work of re-encoding, in seconds of one processor: half of the function's time. README.md gives
/// the reasons and how the next two are measured.
pub(super) const MAX_WORK: f64 = 660.0;
/// Seconds of one processor to decode a million pixels, and to encode them.
const DECODING: f64 = 0.006;
const ENCODING: f64 = 0.011;
/// Higher frame rates are reduced.
const FRAME_RATE: f64 = 30.0;
/// The maximum size of a rendition, in bytes.
const MAX_BYTES: &str = "2147483648";

const NO_VIDEO: &str = "This file contains no video stream.";
pub(super) const TOO_LONG: &str = "The video is longer than one hour. Upload a shorter one.";
const TOO_MUCH: &str = "The video is too long for its dimensions and frame rate. Upload a shorter or smaller one, or use \
                        H.264 of at most 1920x1080 and 8 Mbit/s, which may last one hour.";
const NO_LENGTH: &str = "The video has no duration.";
const ODD_SIZE: &str = "The dimensions of this video are not supported.";

/// How to convert one video.
#[derive(Debug, PartialEq)]
pub(super) struct ConversionPlan {
    /// The index of the video stream.
    video: u32,
    /// The size of the re-encoded frames; `None` if the stream is copied.
    scaled: Option<(u32, u32)>,
    /// The audio stream.
    audio: Option<AudioStream>,
    /// The declared length, in seconds.
    pub(super) announced: Option<f64>,
}

#[derive(Debug, PartialEq)]
struct AudioStream {
    stream: u32,
    /// Whether it is copied.
    is_copied: bool,
}

impl ConversionPlan {
    /// The plan for a file, or the reason why it cannot be converted.
    pub(super) fn of(probed: &ProbeReport, target: ConversionTarget) -> Result<Self, &'static str> {
        let video = probed.streams.iter().find(|stream| stream.is_video()).ok_or(NO_VIDEO)?;
        let announced = match target {
            ConversionTarget::Video => probed.format.duration,
            // An answer cannot be recorded again because of a wrong declaration, and the rest is cut off.
            ConversionTarget::Answer { .. } => probed
                .format
                .duration
                .filter(|seconds| *seconds > 0.0)
                .map(|seconds| seconds.min(target.max_seconds())),
        };
        if announced.is_some_and(|seconds| seconds <= 0.0) {
            return Err(NO_LENGTH);
        }
        if announced.is_some_and(|seconds| seconds > MAX_SECONDS) {
            return Err(TOO_LONG);
        }
        let Some(frames) = video.nb_read_packets.filter(|packets| *packets > 0.0) else { return Err(BROKEN) };
        if f64::from(video.width) * f64::from(video.height) > f64::from(target.max_pixels()) {
            return Err(ODD_SIZE);
        }
        let scaled = if fits(probed, video) { None } else { Some(scaled_to_fit(shown(video)?, MAX_ENCODED)) };
        // An unknown length is the longest.
        let seconds = announced.unwrap_or(target.max_seconds());
        if scaled.is_some_and(|size| work(video, frames, size, seconds) > target.max_work()) {
            return Err(TOO_MUCH);
        }
        let audio = probed.streams.iter().find(|stream| stream.codec_type == "audio" && stream.channels > 0);
        let audio = audio.map(|stream| AudioStream {
            stream: stream.index,
            is_copied: stream.codec_name == "aac" && stream.channels <= 2,
        });
        Ok(Self { video: video.index, scaled, audio, announced })
    }

    /// ffmpeg's arguments for the mp4, which is cut off after `max_seconds`.
    pub(super) fn mp4(&self, max_seconds: f64) -> Vec<String> {
        let mut how = vec!["-map".to_owned(), format!("0:{}", self.video)];
        match self.scaled {
            None => how.extend(words("-c:v copy")),
            Some((width, height)) => {
                how.extend(words("-c:v libx264 -preset veryfast -crf 23 -maxrate 2500k -bufsize 5000k"));
                how.extend(words("-profile:v high -level 4.0 -pix_fmt yuv420p -g 60"));
                how.extend(["-fpsmax".to_owned(), FRAME_RATE.to_string()]);
                how.extend(["-vf".to_owned(), format!("scale={width}:{height},setsar=1")]);
            }
        }
        if let Some(AudioStream { stream, is_copied }) = self.audio {
            how.extend(["-map".to_owned(), format!("0:{stream}")]);
            how.extend(words(if is_copied { "-c:a copy" } else { "-c:a aac -b:a 128k -ac 2 -ar 48000" }));
        }
        // Phones write the place and the device into a video, which its viewers are not meant to learn.
        how.extend(words("-map_metadata -1 -map_chapters -1 -sn -dn -fflags +bitexact"));
        // A file that declares less than its length must not fill the disk.
        how.extend(["-t".to_owned(), max_seconds.to_string(), "-fs".to_owned(), MAX_BYTES.to_owned()]);
        // The index at the beginning of the file lets browsers play before they have it all.
        how.extend(words("-movflags +faststart -threads 2 -f mp4"));
        how
    }
}

/// ffmpeg's arguments for the flv, made from the mp4.
pub(super) fn flv() -> Vec<String> {
    words("-map 0 -c copy -map_metadata -1 -fflags +bitexact -flvflags +add_keyframe_index -f flv").collect()
}

/// ffmpeg's arguments for the thumbnail, made from the mp4: the most typical frame at its position.
pub(super) fn thumbnail(mp4: &ProbeStream) -> Vec<String> {
    let (width, height) = scaled_to_fit((mp4.width, mp4.height), (THUMBNAIL, THUMBNAIL));
    let mut how = vec!["-vf".to_owned(), format!("scale={width}:{height},thumbnail=50")];
    how.extend(words(
        "-map 0:v:0 -an -frames:v 1 -pix_fmt yuvj420p -q:v 4 -map_metadata -1 -fflags +bitexact",
    ));
    how.extend(words("-f mjpeg"));
    how
}

/// The estimated work of re-encoding, in seconds of one processor.
fn work(video: &ProbeStream, frames: f64, scaled: (u32, u32), seconds: f64) -> f64 {
    // Decoding costs by the frames of the upload, encoding by those that are left of them.
    let decoded = f64::from(video.width) * f64::from(video.height) * frames;
    let encoded = f64::from(scaled.0) * f64::from(scaled.1) * frames.min(FRAME_RATE * seconds);
    (decoded * DECODING + encoded * ENCODING) / 1e6
}

/// Whether the video stream can be copied.
fn fits(probed: &ProbeReport, video: &ProbeStream) -> bool {
    let (long, short) = (video.width.max(video.height), video.width.min(video.height));
    let bit_rate =
        probed.format.size.zip(probed.format.duration).map(|(bytes, seconds)| bytes * 8.0 / seconds);
    video.codec_name == "h264"
        && video.pix_fmt == "yuv420p"
        // ffprobe reports a negative level if the stream has none.
        && (1..=MAX_LEVEL).contains(&video.level)
        && matches!(video.field_order.as_str(), "" | "progressive" | "unknown")
        && video.rotation() == 0.0
        && video.pixel_ratio() == 1.0
        && long <= MAX_COPIED.0
        && short <= MAX_COPIED.1
        && short >= MIN_SIDE
        && video.width.is_multiple_of(2)
        && video.height.is_multiple_of(2)
        && bit_rate.is_some_and(|rate| rate <= MAX_BIT_RATE)
}

/// The displayed size: upright, with square pixels.
fn shown(video: &ProbeStream) -> Result<(u32, u32), &'static str> {
    let (width, height) = (f64::from(video.width) * video.pixel_ratio(), f64::from(video.height));
    let (width, height) = (whole(width), whole(height));
    let (long, short) = (width.max(height), width.min(height));
    if short < MIN_SIDE || long > short.saturating_mul(MAX_RATIO) {
        return Err(ODD_SIZE);
    }
    // Phones store an upright video lying, with the angle by which players turn it.
    let lies = matches!(whole(video.rotation()), 45..135 | 225..315);
    Ok(if lies { (height, width) } else { (width, height) })
}

/// The largest size with the same aspect ratio that is not larger than the original and fits into the frame, upright or
/// not.
// Encoders need even sides.
fn scaled_to_fit(size: (u32, u32), frame: (u32, u32)) -> (u32, u32) {
    let (width, height) = (f64::from(size.0), f64::from(size.1));
    let frame = if width >= height { frame } else { (frame.1, frame.0) };
    let factor = (f64::from(frame.0) / width).min(f64::from(frame.1) / height).min(1.0);
    let [width, height] = [width, height].map(|side| (whole(side * factor) / 2 * 2).max(MIN_SIDE));
    (width, height)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates, which is meant")]
fn whole(number: f64) -> u32 {
    number.round() as u32
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split_ascii_whitespace().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pictures_keep_their_shape_and_become_even() {
        for (shown, frame, expected) in [
            ((1920, 1080), MAX_ENCODED, (1280, 720)),
            ((1080, 1920), MAX_ENCODED, (720, 1280)),
            ((641, 481), MAX_ENCODED, (640, 480)),
            ((320, 240), MAX_ENCODED, (320, 240)),
            ((1280, 720), (THUMBNAIL, THUMBNAIL), (640, 360)),
            ((4000, 200), MAX_ENCODED, (1280, 64)),
        ] {
            assert_eq!(scaled_to_fit(shown, frame), expected, "{shown:?}");
        }
    }

    /// The plan for a file with so many frames, at 6 Mbit/s if its length is known.
    fn planned(
        target: ConversionTarget,
        seconds: Option<f64>,
        frames: f64,
        codec: &str,
        (width, height): (u32, u32),
    ) -> Result<(), &'static str> {
        let format = match seconds {
            Some(seconds) => {
                json!({ "duration": seconds.to_string(), "size": (seconds * 750_000.0).to_string() })
            }
            None => json!({}),
        };
        let video = json!({ "index": 0, "codec_type": "video", "codec_name": codec, "pix_fmt": "yuv420p", "level": 40,
            "width": width, "height": height, "nb_read_packets": frames.to_string() });
        let probed = serde_json::from_value(json!({ "format": format, "streams": [video] })).unwrap();
        ConversionPlan::of(&probed, target).map(drop)
    }

    #[test]
    fn re_encoded_videos_are_limited_by_the_functions_time() {
        for (longest, codec, size, rate) in [
            (60.0, "h264", (1920, 1080), 30.0),
            (60.0, "hevc", (640, 360), 30.0),
            (23.0, "hevc", (1280, 720), 30.0),
            (16.0, "hevc", (1920, 1080), 30.0),
            (16.0, "hevc", (1080, 1920), 29.97),
            (10.0, "hevc", (1920, 1080), 60.0),
            (6.0, "hevc", (3840, 2160), 30.0),
            (3.0, "hevc", (3840, 2160), 60.0),
        ] {
            let planned = |minutes: f64| {
                let seconds = minutes * 60.0;
                planned(ConversionTarget::Video, Some(seconds), seconds * rate, codec, size)
            };
            assert_eq!(planned(longest), Ok(()), "{longest} {size:?} {rate}");
            let expected = if longest < 60.0 { TOO_MUCH } else { TOO_LONG };
            assert_eq!(planned(longest + 1.0), Err(expected), "{longest} {size:?} {rate}");
        }
    }

    #[test]
    fn what_a_file_does_not_say_or_says_wrongly_makes_it_no_cheaper() {
        let hd = (1920, 1080);
        // An hour in a file that says nothing, or that it lasts a second.
        for declared in [None, Some(1.0)] {
            let planned = |frames| planned(ConversionTarget::Video, declared, frames, "vp9", hd);
            assert_eq!(planned(3600.0 * 30.0), Err(TOO_MUCH), "{declared:?}");
            assert_eq!(planned(600.0 * 30.0), Ok(()), "{declared:?}");
        }
        assert_eq!(planned(ConversionTarget::Video, Some(9.0), 0.0, "vp9", hd), Err(BROKEN));
    }

    #[test]
    fn answers_are_limited_by_their_time_to_answer() {
        for seconds in [30, 120, 300] {
            let target = ConversionTarget::Answer { max_seconds: seconds + 2 };
            for declared in [None, Some(f64::from(seconds))] {
                let planned =
                    |rate: f64, size| planned(target, declared, f64::from(seconds) * rate, "vp9", size);
                assert_eq!(planned(60.0, (1920, 1080)), Ok(()), "{seconds}");
                assert_eq!(planned(30.0, (3840, 2160)), Ok(()), "{seconds}");
                assert_eq!(planned(1000.0, (1920, 1080)), Err(TOO_MUCH), "{seconds}");
                assert_eq!(planned(1.0, (7680, 4320)), Err(ODD_SIZE), "{seconds}");
            }
        }
    }
}
