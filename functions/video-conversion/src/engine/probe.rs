//! Inspects a file with ffprobe.

use std::path::Path;

use serde::{Deserialize, Deserializer};

use super::tool::Tools;
use super::{Failure, failed, refused};

const NO_VIDEO: &str = "This file is broken, or not in a supported video format.";

/// The entries to show.
const ENTRIES: &str = "format=duration,size:\
                    stream=index,codec_type,codec_name,pix_fmt,width,height,sample_aspect_ratio,field_order,\
                    nb_read_packets,channels,level:\
                    stream_disposition=attached_pic:stream_side_data=rotation";

#[derive(Debug, Deserialize)]
pub(super) struct ProbeReport {
    pub(super) format: ProbeFormat,
    #[serde(default)]
    pub(super) streams: Vec<ProbeStream>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ProbeFormat {
    /// In seconds; some recorders omit it.
    #[serde(default, deserialize_with = "number")]
    pub(super) duration: Option<f64>,
    /// In bytes.
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
    /// The packets of the part that is converted, about one for each frame.
    // Counted: a rate, a length and a number of frames are what the file says about itself.
    #[serde(default, deserialize_with = "number")]
    pub(super) nb_read_packets: Option<f64>,
    #[serde(default)]
    pub(super) channels: u32,
    #[serde(default)]
    pub(super) level: i32,
    #[serde(default)]
    pub(super) disposition: StreamDisposition,
    #[serde(default)]
    pub(super) side_data_list: Vec<SideData>,
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

    /// The rotation for display, in degrees.
    pub(super) fn rotation(&self) -> f64 {
        self.side_data_list.iter().find_map(|data| data.rotation).unwrap_or_default().rem_euclid(360.0)
    }

    /// The width of a pixel divided by its height.
    pub(super) fn pixel_ratio(&self) -> f64 {
        quotient(&self.sample_aspect_ratio, ':').unwrap_or(1.0)
    }
}

impl ProbeReport {
    /// Inspects the first `max_seconds` of a file.
    pub(super) async fn of(tools: &Tools<'_>, input: &Path, max_seconds: f64) -> Result<Self, Failure> {
        let answer = tools.probe(input, ENTRIES, max_seconds).await?;
        if !answer.status.success() {
            return Err(failed(NO_VIDEO, &answer));
        }
        serde_json::from_slice(&answer.stdout).or_else(|error| refused(NO_VIDEO, &error.to_string()))
    }
}

/// The quotient of two positive numbers separated by `sign`.
fn quotient(text: &str, sign: char) -> Option<f64> {
    let (x, y) = text.split_once(sign)?;
    let (x, y) = (x.parse::<f64>().ok()?, y.parse::<f64>().ok()?);
    (x > 0.0 && y > 0.0).then_some(x / y)
}

/// ffprobe writes numbers as strings and omits unknown ones.
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    Ok(text.and_then(|text| text.parse().ok()).filter(|number: &f64| number.is_finite()))
}
