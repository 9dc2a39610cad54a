//! What is in a file, as ffprobe tells it.

use std::path::Path;

use serde::{Deserialize, Deserializer};

use super::tool::Tools;
use super::{Failure, refused};

const NO_VIDEO: &str = "This file is broken, or not in a supported video format.";

/// What is asked for.
const WHAT: &str = "format=duration,size:\
                    stream=index,codec_type,codec_name,pix_fmt,width,height,sample_aspect_ratio,field_order,\
                    avg_frame_rate,channels,duration,level:\
                    stream_disposition=attached_pic:stream_side_data=rotation";

/// What is in a file.
#[derive(Debug, Deserialize)]
pub(super) struct Probed {
    pub(super) format: Format,
    #[serde(default)]
    pub(super) streams: Vec<Stream>,
}

/// The file as a whole.
#[derive(Debug, Deserialize)]
pub(super) struct Format {
    /// In seconds; some recorders do not write it.
    #[serde(default, deserialize_with = "number")]
    pub(super) duration: Option<f64>,
    /// In bytes.
    #[serde(default, deserialize_with = "number")]
    pub(super) size: Option<f64>,
}

/// A part that is played along with the others.
#[derive(Debug, Deserialize)]
pub(super) struct Stream {
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
    avg_frame_rate: String,
    #[serde(default)]
    pub(super) channels: u32,
    #[serde(default)]
    pub(super) level: i32,
    #[serde(default)]
    pub(super) disposition: Disposition,
    #[serde(default)]
    pub(super) side_data_list: Vec<SideData>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Disposition {
    attached_pic: u8,
}

#[derive(Debug, Deserialize)]
pub(super) struct SideData {
    rotation: Option<f64>,
}

impl Stream {
    /// Whether it moves, unlike the cover of an album.
    pub(super) fn is_video(&self) -> bool {
        self.codec_type == "video" && self.disposition.attached_pic == 0
    }

    /// By how much a player turns the picture, in degrees.
    pub(super) fn rotation(&self) -> f64 {
        self.side_data_list.iter().find_map(|data| data.rotation).unwrap_or_default().rem_euclid(360.0)
    }

    /// How much wider than high a pixel is.
    pub(super) fn pixel_ratio(&self) -> f64 {
        quotient(&self.sample_aspect_ratio, ':').unwrap_or(1.0)
    }

    /// How many pictures a second has on average, if it is known.
    pub(super) fn frame_rate(&self) -> Option<f64> {
        quotient(&self.avg_frame_rate, '/')
    }
}

impl Probed {
    /// Looks into a file.
    pub(super) async fn of(tools: &Tools<'_>, input: &Path) -> Result<Self, Failure> {
        let answer = tools.probe(input, WHAT).await?;
        if !answer.status.success() {
            return refused(NO_VIDEO, &answer.complaint);
        }
        serde_json::from_slice(&answer.stdout).or_else(|error| refused(NO_VIDEO, &error.to_string()))
    }
}

/// What two positive numbers on either side of a sign come to.
fn quotient(text: &str, sign: char) -> Option<f64> {
    let (x, y) = text.split_once(sign)?;
    let (x, y) = (x.parse::<f64>().ok()?, y.parse::<f64>().ok()?);
    (x > 0.0 && y > 0.0).then_some(x / y)
}

/// ffprobe writes numbers as text, and leaves out what it does not know.
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    Ok(text.and_then(|text| text.parse().ok()).filter(|number: &f64| number.is_finite()))
}
