//! Inspects a file with ffprobe.

use std::path::Path;

use serde::Deserialize;

use super::packets::{PacketSurvey, StreamExtent, number};
use super::tool::Tools;
use super::{Failure, codecs, failed, refused};

pub(super) const NO_VIDEO: &str = "This file is broken, or not in a supported video format.";

/// The entries to show, besides the packets.
const ENTRIES: &str = "format=start_time,duration,size:\
                    stream=index,codec_type,codec_name,pix_fmt,width,height,sample_aspect_ratio,field_order,\
                    color_transfer,color_primaries,color_space,channels,level:\
                    stream_disposition=attached_pic:stream_side_data=rotation";
/// The smallest time before 0 that was cut off, in seconds. Less is the lead of an audio codec.
pub(super) const MIN_CUT: f64 = 0.1;

#[derive(Debug, Deserialize)]
pub(super) struct ProbeReport {
    pub(super) format: ProbeFormat,
    #[serde(default)]
    pub(super) streams: Vec<ProbeStream>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ProbeFormat {
    /// When the first packet is shown, in seconds.
    #[serde(default, deserialize_with = "number")]
    start_time: Option<f64>,
    /// The length in seconds; some recorders omit it. In some containers, it is the end instead.
    #[serde(default, deserialize_with = "number")]
    pub(super) duration: Option<f64>,
    /// The size in bytes.
    #[serde(default, deserialize_with = "number")]
    pub(super) size: Option<f64>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ProbeStream {
    pub(super) index: u32,
    #[serde(default)]
    pub(super) codec_type: String,
    #[serde(default)]
    pub(super) codec_name: String,
    #[serde(default)]
    pub(super) pix_fmt: String,
    #[serde(default)]
    pub(super) width: u32,
    #[serde(default)]
    pub(super) height: u32,
    #[serde(default)]
    pub(super) sample_aspect_ratio: String,
    #[serde(default)]
    pub(super) field_order: String,
    #[serde(default)]
    pub(super) color_transfer: String,
    #[serde(default)]
    pub(super) color_primaries: String,
    #[serde(default)]
    pub(super) color_space: String,
    #[serde(default)]
    pub(super) channels: u32,
    #[serde(default)]
    pub(super) level: i32,
    #[serde(default)]
    pub(super) disposition: StreamDisposition,
    #[serde(default)]
    pub(super) side_data_list: Vec<SideData>,
    /// The times of the part that is converted.
    // Counted: a rate, a length and a number of frames are what the file says about itself.
    #[serde(skip)]
    pub(super) extent: StreamExtent,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct StreamDisposition {
    attached_pic: u8,
}

#[derive(Debug, Deserialize)]
pub(super) struct SideData {
    rotation: Option<f64>,
}

impl ProbeStream {
    /// Whether it is a video and not a still image, such as an album cover.
    pub(super) fn is_video(&self) -> bool {
        self.codec_type == "video" && self.disposition.attached_pic == 0
    }

    pub(super) fn is_sound(&self) -> bool {
        self.codec_type == "audio" && self.channels > 0
    }

    /// Whether its codec is one of those that are decoded.
    pub(super) fn is_decoded(&self) -> bool {
        codecs::is_decoded(&self.codec_name)
    }

    /// Whether it is decoded, and holds something to show.
    // iPhones store a sound in Apple's own codec before the same sound in AAC.
    pub(super) fn is_usable(&self) -> bool {
        self.is_decoded() && self.extent.start.is_some()
    }

    /// The rotation for display, in degrees.
    pub(super) fn rotation(&self) -> f64 {
        self.side_data_list.iter().find_map(|data| data.rotation).unwrap_or_default().rem_euclid(360.0)
    }

    /// The width of a pixel divided by its height.
    pub(super) fn pixel_ratio(&self) -> f64 {
        quotient(&self.sample_aspect_ratio, ':').unwrap_or(1.0)
    }
}

impl ProbeFormat {
    /// When the file begins, in seconds: what was cut off comes before 0.
    pub(super) fn start(&self) -> f64 {
        self.start_time.filter(|start| *start > -MIN_CUT).unwrap_or_default()
    }

    /// The length of what comes before the beginning, in seconds.
    pub(super) fn lead(&self) -> Option<f64> {
        self.start_time.filter(|start| *start <= -MIN_CUT).map(|start| -start)
    }
}

impl ProbeReport {
    /// Inspects a file; only the first `max_seconds` are converted.
    pub(super) async fn of(tools: &Tools<'_>, input: &Path, max_seconds: f64) -> Result<Self, Failure> {
        let mut survey = PacketSurvey::new(max_seconds);
        let answer = tools.probe(input, ENTRIES, &mut survey).await?;
        if !answer.status.success() {
            return Err(failed(NO_VIDEO, &answer));
        }
        let mut report: Self =
            serde_json::from_slice(&answer.stdout).or_else(|error| refused(NO_VIDEO, &error.to_string()))?;
        for stream in &mut report.streams {
            stream.extent = survey.take(stream.index);
        }
        Ok(report)
    }
}

/// The quotient of two positive numbers separated by `sign`.
fn quotient(text: &str, sign: char) -> Option<f64> {
    let (x, y) = text.split_once(sign)?;
    let x = x.parse::<f64>().ok()?;
    let y = y.parse::<f64>().ok()?;
    (x > 0.0 && y > 0.0).then_some(x / y)
}
