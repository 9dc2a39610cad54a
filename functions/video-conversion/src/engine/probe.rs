//! Inspects a file with ffprobe.

use std::path::Path;

use serde::Deserialize;

use super::packets::{PacketSurvey, StreamExtent, number};
use super::tool::Tools;
use super::{Failure, codecs, failed, refused};

pub(super) const NO_VIDEO: &str = "This file is broken, or not in a supported video format.";

/// The entries that ffprobe prints besides the packets.
const ENTRIES: &str = "format=start_time,duration,size:\
                    stream=index,codec_type,codec_name,pix_fmt,width,height,sample_aspect_ratio,field_order,\
                    color_transfer,color_primaries,color_space,channels,level:\
                    stream_disposition=attached_pic:stream_side_data=rotation";
/// The shortest hidden beginning, in seconds. Anything shorter is the priming of an audio codec.
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
    /// The length in seconds; in some containers, the end. Some recorders omit it.
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
    /// The measured extent of the converted part.
    // Measured, because a file may declare any rate, length and number of frames.
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
    /// Whether the stream is a video and not a still image, such as an album cover.
    pub(super) fn is_video(&self) -> bool {
        self.codec_type == "video" && self.disposition.attached_pic == 0
    }

    pub(super) fn is_sound(&self) -> bool {
        self.codec_type == "audio" && self.channels > 0
    }

    pub(super) fn is_decoded(&self) -> bool {
        codecs::is_decoded(&self.codec_name)
    }

    /// Whether the stream can be decoded and is not empty.
    // iPhones store a sound in Apple's own codec before the same sound in AAC.
    pub(super) fn is_usable(&self) -> bool {
        self.is_decoded() && self.extent.start.is_some()
    }

    /// The rotation for display in degrees: at least 0, below 360.
    pub(super) fn rotation(&self) -> f64 {
        self.side_data_list.iter().find_map(|data| data.rotation).unwrap_or_default().rem_euclid(360.0)
    }

    /// The width of a pixel divided by its height.
    pub(super) fn pixel_ratio(&self) -> f64 {
        quotient(&self.sample_aspect_ratio, ':').unwrap_or(1.0)
    }
}

impl ProbeFormat {
    /// The time of the first visible packet, in seconds: hidden packets are before 0.
    pub(super) fn start(&self) -> f64 {
        self.start_time.filter(|start| *start > -MIN_CUT).unwrap_or_default()
    }

    /// The length of the hidden beginning in seconds; `None` if it is too short to count.
    pub(super) fn lead(&self) -> Option<f64> {
        self.start_time.filter(|start| *start <= -MIN_CUT).map(|start| -start)
    }
}

impl ProbeReport {
    /// Inspects a file. Measures the first `max_seconds`, because no more is converted.
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

/// The quotient of two positive numbers separated by `sign`; `None` if the text is something else.
fn quotient(text: &str, sign: char) -> Option<f64> {
    let (x, y) = text.split_once(sign)?;
    let x = x.parse::<f64>().ok()?;
    let y = y.parse::<f64>().ok()?;
    (x > 0.0 && y > 0.0).then_some(x / y)
}
