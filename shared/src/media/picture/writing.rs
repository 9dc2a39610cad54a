//! Encodes pictures, using little memory apart from the result.

use std::io::{self, Write};

use image::codecs::jpeg::JpegEncoder;
use image::{DynamicImage, ImageEncoder};
use png::{BitDepth, ColorType, Compression, Encoder, EncodingError, Filter, Info};

use super::BROKEN;

/// At this quality, a picture is visually indistinguishable from the original.
const JPEG_QUALITY: u8 = 90;
/// The maximum size of an encoded picture, in bytes: several times that of a photo with 40 megapixels.
const MAX_WRITTEN: usize = 64 * 1024 * 1024;

const TOO_DETAILED: &str = "This image is too detailed. Save it with fewer pixels, or as JPEG.";

/// A buffer that drops and counts the bytes beyond [`MAX_WRITTEN`].
#[derive(Default)]
struct LimitedBuffer {
    bytes: Vec<u8>,
    dropped: usize,
}

impl Write for LimitedBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (kept, dropped) = bytes.split_at(bytes.len().min(MAX_WRITTEN - self.bytes.len()));
        self.bytes.extend_from_slice(kept);
        self.dropped += dropped.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl LimitedBuffer {
    fn whole(self) -> Result<Vec<u8>, String> {
        if self.dropped > 0 { Err(TOO_DETAILED.to_owned()) } else { Ok(self.bytes) }
    }
}

pub(super) fn jpeg(picture: &DynamicImage, profile: Option<Vec<u8>>) -> Result<Vec<u8>, String> {
    let mut written = LimitedBuffer::default();
    let mut encoder = JpegEncoder::new_with_quality(&mut written, JPEG_QUALITY);
    if let Some(profile) = profile {
        encoder.set_icc_profile(profile).map_err(|_| BROKEN)?;
    }
    encoder.encode_image(picture).map_err(|_| BROKEN)?;
    written.whole()
}

/// Encodes a PNG with 8 bits per channel, row by row.
pub(super) fn png(picture: &DynamicImage, profile: Option<Vec<u8>>) -> Result<Vec<u8>, String> {
    let mut written = LimitedBuffer::default();
    // Row by row, because the encoder of `image` would first pack the whole picture in memory.
    write_png(&mut written, picture, profile).map_err(|_| BROKEN)?;
    written.whole()
}

fn write_png(
    written: &mut LimitedBuffer,
    picture: &DynamicImage,
    profile: Option<Vec<u8>>,
) -> Result<(), EncodingError> {
    let mut info = Info::with_size(picture.width(), picture.height());
    info.icc_profile = profile.map(Into::into);
    let mut encoder = Encoder::with_info(written, info)?;
    encoder.set_color(if picture.color().has_alpha() { ColorType::Rgba } else { ColorType::Rgb });
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(Compression::Fast);
    encoder.set_filter(Filter::Adaptive);
    let mut writer = encoder.write_header()?;
    let mut rows = writer.stream_writer()?;
    rows.write_all(picture.as_bytes())?;
    rows.finish()?;
    writer.finish()
}
