//! Decodes and re-encodes pictures, so that only pixels are served.
//!
//! Camera metadata (location, device), and data hidden behind or between the pixels, are dropped.

mod chunks;
mod header;
mod writing;

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hasher};
use std::io::Cursor;

use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, Limits, Rgba};

use self::header::PictureHeader;
use crate::domain::media::file::FileType;

const MAX_PIXELS: u64 = 40_000_000;
const MAX_SIDE: u32 = 20_000;
/// The maximum memory for pixels at any moment, in bytes per pixel of the largest picture that is accepted.
// Enough to rotate a picture with three bytes per pixel.
const MEMORY_PER_PIXEL: u64 = 6;
/// The maximum number of pixels of a logo.
// Logos are decoded by a function with little memory.
const MAX_LOGO_PIXELS: u64 = 4_000_000;
/// The maximum width and height of a stored logo: twice the size at which it is shown, for dense screens.
const LOGO_SIDES: (u32, u32) = (360, 120);
/// The maximum number of scans of a JPEG.
// Progressive encoders write about ten; each costs a pass over the picture.
const MAX_SCANS: usize = 24;
/// The maximum size of a colour profile, in bytes.
// The profiles of cameras and screens are far shorter.
const MAX_PROFILE: usize = 16 * 1024;

const NO_PICTURE: &str = "Upload a valid image: JPEG, PNG, GIF or WebP.";
const BROKEN: &str = "This image is broken or incomplete.";
const TOO_COSTLY: &str = "This image needs too much memory. Save it with fewer pixels, 8 bits per channel and without progressive encoding.";

/// Checks the format and size of a picture without decoding; costs at most one pass over the bytes.
pub(super) fn inspect(bytes: &[u8]) -> Result<(), String> {
    recognise(bytes, MAX_PIXELS).map(drop)
}

/// The type of a stored picture, which this service has re-encoded.
pub(super) fn stored_type(bytes: &[u8]) -> Result<FileType, String> {
    match recognise(bytes, MAX_PIXELS)?.0 {
        ImageFormat::Jpeg => Ok(FileType::Jpeg),
        ImageFormat::Png => Ok(FileType::Png),
        _ => Err(NO_PICTURE.to_owned()),
    }
}

fn recognise(bytes: &[u8], max_pixels: u64) -> Result<(ImageFormat, PictureHeader), String> {
    use ImageFormat::{Gif, Jpeg, Png, WebP};
    let format = image::guess_format(bytes).ok();
    let format = format.filter(|format| matches!(format, Gif | Jpeg | Png | WebP)).ok_or(NO_PICTURE)?;
    let header = PictureHeader::read(format, bytes).ok_or(BROKEN)?;
    check_size(header.width, header.height, max_pixels)?;
    if header.scans > MAX_SCANS {
        return Err(TOO_COSTLY.to_owned());
    }
    Ok((format, header))
}

fn check_size(width: u32, height: u32, max_pixels: u64) -> Result<(), String> {
    match u64::from(width) * u64::from(height) {
        0 => Err(BROKEN.to_owned()),
        pixels if pixels > max_pixels || width.max(height) > MAX_SIDE => {
            let most = max_pixels / 1_000_000;
            Err(format!(
                "Ensure this image has no more than {most} megapixels and {MAX_SIDE} pixels per side."
            ))
        }
        _ => Ok(()),
    }
}

/// Re-encodes a picture and rotates it upright: as PNG if it was PNG or GIF or has transparency, otherwise as JPEG.
///
/// Decoders panic on some files, so the caller must catch panics.
pub(super) fn re_encode(bytes: &[u8]) -> Result<(Vec<u8>, FileType), String> {
    let (format, (picture, profile)) = decode_within(bytes, MAX_PIXELS)?;
    // Not as JPEG, which would blur drawings and has no transparency.
    let drawn = matches!(format, ImageFormat::Png | ImageFormat::Gif);
    let (written, file_type) = if drawn || picture.color().has_alpha() {
        (writing::png(&picture, profile)?, FileType::Png)
    } else {
        (writing::jpeg(&picture, profile)?, FileType::Jpeg)
    };
    Ok((written, file_type))
}

/// Re-encodes a logo as a small PNG on a white background.
///
/// Decoders panic on some files, so the caller must catch panics.
pub(super) fn re_encode_logo(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let (_, (picture, profile)) = decode_within(bytes, MAX_LOGO_PIXELS)?;
    let mut picture = on_white(picture);
    let (width, height) = LOGO_SIDES;
    if picture.width() > width || picture.height() > height {
        picture = picture.thumbnail(width, height);
    }
    writing::png(&DynamicImage::ImageRgb8(picture.into_rgb8()), profile)
}

/// Puts a white background behind a picture with transparency.
// Most logos are made for white paper: dark letters would vanish on dark pages and in dark mails. Changes the picture
// in place, because a copy would need as much memory again.
fn on_white(picture: DynamicImage) -> DynamicImage {
    if !picture.color().has_alpha() {
        return picture;
    }
    let mut picture = picture.into_rgba8();
    for Rgba([red, green, blue, alpha]) in picture.pixels_mut() {
        for part in [red, green, blue] {
            let distance = u16::from(u8::MAX - *part) * u16::from(*alpha) / u16::from(u8::MAX);
            *part = u8::MAX - u8::try_from(distance).unwrap_or(u8::MAX);
        }
        *alpha = u8::MAX;
    }
    DynamicImage::ImageRgba8(picture)
}

/// Decodes a picture of at most `max_pixels`.
fn decode_within(bytes: &[u8], max_pixels: u64) -> Result<(ImageFormat, Decoded), String> {
    let (format, header) = recognise(bytes, max_pixels)?;
    let decoded = if header.has_end {
        decode(bytes, format, &header, max_pixels)?
    } else {
        decode_without_end(bytes, &header, max_pixels)?
    };
    Ok((format, decoded))
}

/// Pixels, upright, with 8 bits per channel, and their colour profile.
type Decoded = (DynamicImage, Option<Vec<u8>>);

/// Decodes a JPEG that lacks its end marker but no pixel, since viewers show such pictures. Refuses a truncated one.
fn decode_without_end(bytes: &[u8], header: &PictureHeader, max_pixels: u64) -> Result<Decoded, String> {
    // The first half of the end marker may be there.
    let bytes = bytes.strip_suffix(&[0xFF]).unwrap_or(bytes);
    let decode_with = |filling: u8| {
        let whole = [bytes, &[filling; 32], &[0xFF, header::END_OF_IMAGE]].concat();
        decode(&whole, ImageFormat::Jpeg, header, max_pixels)
    };
    let hash = |(picture, _): &Decoded| {
        let mut hasher = DefaultHasher::new();
        hasher.write(picture.as_bytes());
        hasher.finish()
    };
    // The decoder pads a truncated picture with the bytes that follow. Decoding with two paddings gives different
    // pixels only for a truncated picture. The paddings differ from their first bit on.
    let other = hash(&decode_with(0xA5)?);
    let decoded = decode_with(0)?;
    if hash(&decoded) == other { Ok(decoded) } else { Err(BROKEN.to_owned()) }
}

fn decode(
    bytes: &[u8],
    format: ImageFormat,
    header: &PictureHeader,
    max_pixels: u64,
) -> Result<Decoded, String> {
    let max_memory = MEMORY_PER_PIXEL * max_pixels;
    let bytes = match format {
        // A colour profile of 521 KB once unpacked to 512 MB, several times in one request.
        ImageFormat::Png => Cow::Owned(chunks::essential(bytes)),
        _ => Cow::Borrowed(bytes),
    };
    let mut reader = ImageReader::with_format(Cursor::new(&*bytes), format);
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(max_memory);
    reader.limits(limits.clone());
    let mut decoder = reader.into_decoder().map_err(refusal)?;
    // Check the size again: a file may have two headers.
    let (width, height) = decoder.dimensions();
    check_size(width, height, max_pixels)?;
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    limits.max_alloc = max_memory.checked_sub(memory(&decoder, header, orientation));
    if limits.max_alloc.is_none() {
        return Err(TOO_COSTLY.to_owned());
    }
    decoder.set_limits(limits).map_err(refusal)?;
    let profile = decoder.icc_profile().ok().flatten().filter(|profile| is_worth_keeping(profile));
    let picture = DynamicImage::from_decoder(decoder).map_err(refusal)?;
    let mut picture = if picture.color().has_alpha() {
        DynamicImage::ImageRgba8(picture.into_rgba8())
    } else {
        DynamicImage::ImageRgb8(picture.into_rgb8())
    };
    // Apply the orientation, because re-encoding drops it with the metadata.
    picture.apply_orientation(orientation);
    Ok((picture, profile))
}

fn refusal(error: ImageError) -> String {
    match error {
        ImageError::Limits(_) => TOO_COSTLY.to_owned(),
        _ => BROKEN.to_owned(),
    }
}

/// The peak memory for pixels, in bytes: the decoder's buffers, the conversion to 8 bits per channel, or the rotation,
/// whichever needs most.
fn memory(decoder: &impl ImageDecoder, header: &PictureHeader, orientation: Orientation) -> u64 {
    use Orientation::{FlipHorizontal, FlipVertical, NoTransforms, Rotate180};
    let color = decoder.color_type();
    let (width, height) = decoder.dimensions();
    let pixels = u64::from(width) * u64::from(height);
    let written = if color.has_alpha() { 4 } else { 3 } * pixels;
    let decoded = decoder.total_bytes();
    let converted = if decoded == written { 0 } else { decoded + written };
    let turned = match orientation {
        NoTransforms | Rotate180 | FlipHorizontal | FlipVertical => 0,
        _ => 2 * written,
    };
    (header.working_bytes + decoded).max(converted).max(turned)
}

/// Whether the colour profile is short, and RGB like the re-encoded picture.
fn is_worth_keeping(profile: &[u8]) -> bool {
    profile.len() <= MAX_PROFILE && profile.get(16..20) == Some(b"RGB ")
}

#[cfg(test)]
mod tests {
    use image::{Rgb, RgbImage, RgbaImage};

    use super::*;

    fn encoded(picture: impl Into<DynamicImage>, format: ImageFormat) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        picture.into().write_to(&mut bytes, format).unwrap();
        bytes.into_inner()
    }

    fn gradient() -> RgbImage {
        RgbImage::from_fn(40, 20, |x, y| Rgb([x as u8 * 6, y as u8 * 12, 90]))
    }

    /// An Exif segment with a quarter rotation and a location.
    fn with_exif(jpeg: &[u8]) -> Vec<u8> {
        let tiff = b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0Berlin";
        let body = [&b"Exif\0\0"[..], tiff].concat();
        let length = u16::try_from(body.len() + 2).unwrap().to_be_bytes();
        [&jpeg[..2], &[0xFF, 0xE1], &length, &body, &jpeg[2..]].concat()
    }

    #[test]
    fn a_picture_keeps_its_pixels_and_loses_its_metadata() {
        let photo = with_exif(&encoded(gradient(), ImageFormat::Jpeg));
        let (written, file_type) = re_encode(&[&photo[..], b"<script>alert(1)</script>"].concat()).unwrap();
        assert_eq!(file_type, FileType::Jpeg);
        let picture = image::load_from_memory(&written).unwrap();
        assert_eq!((picture.width(), picture.height()), (20, 40), "upright");
        for trace in [&b"Exif"[..], b"Berlin", b"script"] {
            assert!(!written.windows(trace.len()).any(|window| window == trace), "{trace:?}");
        }
    }

    #[test]
    fn each_format_is_re_encoded_in_a_suitable_format() {
        let glass = RgbaImage::from_pixel(8, 8, Rgba([1, 2, 3, 100]));
        for (bytes, file_type) in [
            (encoded(gradient(), ImageFormat::Jpeg), FileType::Jpeg),
            (encoded(gradient(), ImageFormat::WebP), FileType::Jpeg),
            (encoded(gradient(), ImageFormat::Png), FileType::Png),
            (encoded(gradient(), ImageFormat::Gif), FileType::Png),
            (encoded(glass.clone(), ImageFormat::WebP), FileType::Png),
            (encoded(glass, ImageFormat::Png), FileType::Png),
        ] {
            let (written, written_as) = re_encode(&bytes).unwrap();
            assert_eq!(written_as, file_type);
            let guessed = image::guess_format(&written).unwrap().to_mime_type();
            assert_eq!(guessed, file_type.content_type());
        }
    }

    #[test]
    fn a_cut_picture_is_refused_wherever_it_is_cut_unless_no_pixel_is_missing() {
        // The end markers hold no pixels.
        for (format, end) in [(ImageFormat::Jpeg, 2), (ImageFormat::Png, 12), (ImageFormat::WebP, 0)] {
            let whole = encoded(gradient(), format);
            let needed = whole.len() - end;
            for length in 0..needed {
                assert!(re_encode(&whole[..length]).is_err(), "{format:?} cut after {length} bytes");
            }
            for length in needed..whole.len() {
                assert!(re_encode(&whole[..length]) == re_encode(&whole), "{format:?} of {length} bytes");
            }
        }
    }

    #[test]
    fn a_bomb_is_refused_before_it_is_decoded() {
        let mut png = encoded(gradient(), ImageFormat::Png);
        png[16..24].copy_from_slice(&[0, 0, 0x4E, 0x20, 0, 0, 0x4E, 0x20]);
        // The header's checksum.
        let crc = crc32(&png[12..29]).to_be_bytes();
        png[29..33].copy_from_slice(&crc);
        assert!(inspect(&png).unwrap_err().contains("40 megapixels"));
    }

    fn crc32(bytes: &[u8]) -> u32 {
        !bytes.iter().fold(!0, |crc, byte| {
            (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xEDB8_8320 * (crc & 1)))
        })
    }
}
