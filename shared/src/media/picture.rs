//! Pictures: decoded and written anew, so that what is served is a picture and nothing else.
//!
//! Neither a place nor a device that the camera noted survives, nor what was hidden behind or between the pixels.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::PngEncoder;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageEncoder, ImageError, ImageFormat, ImageReader, Limits};

use crate::domain::file::FileType;

/// The most pixels.
const MAX_PIXELS: u64 = 40_000_000;
/// The most pixels along one side.
const MAX_SIDE: u32 = 20_000;
/// The most bytes that decoding may take: 40 megapixels of eight bytes each, and some.
const MAX_MEMORY: u64 = 400 * 1024 * 1024;
/// Hardly to be told from the original.
const JPEG_QUALITY: u8 = 90;
/// The longest colour profile that is kept; those of cameras and screens are far shorter.
const MAX_PROFILE: usize = 16 * 1024;

const NO_PICTURE: &str = "Upload a valid image: JPEG, PNG, GIF or WebP.";
const BROKEN: &str = "This image is broken or incomplete.";

/// Looks at the format and the size of a picture, without decoding it.
///
/// # Errors
/// The message for whoever sent it.
pub(super) fn inspect(bytes: &[u8]) -> Result<ImageFormat, String> {
    use ImageFormat::{Gif, Jpeg, Png, WebP};
    let format = image::guess_format(bytes).ok();
    let format = format.filter(|format| matches!(format, Gif | Jpeg | Png | WebP)).ok_or(NO_PICTURE)?;
    let (width, height) =
        ImageReader::with_format(Cursor::new(bytes), format).into_dimensions().map_err(|_| BROKEN)?;
    let pixels = u64::from(width) * u64::from(height);
    if pixels == 0 {
        return Err(BROKEN.to_owned());
    }
    if pixels > MAX_PIXELS || width.max(height) > MAX_SIDE {
        return Err("Ensure this image has no more than 40 megapixels, and 20000 along a side.".to_owned());
    }
    if format == Jpeg && !is_whole_jpeg(bytes) {
        return Err(BROKEN.to_owned());
    }
    Ok(format)
}

/// The picture, upright and without anything but its pixels and their colours: as JPEG, or as PNG where it was one, was
/// drawn, or has transparent parts.
///
/// # Errors
/// The message for whoever sent it.
pub(super) fn write_anew(bytes: &[u8]) -> Result<(Vec<u8>, FileType), String> {
    let format = inspect(bytes)?;
    let (picture, profile) = decode(bytes, format).map_err(|_| BROKEN)?;
    let drawn = matches!(format, ImageFormat::Png | ImageFormat::Gif);
    let (written, file_type) = if drawn || picture.color().has_alpha() {
        (png(picture, profile), FileType::Png)
    } else {
        (jpeg(picture, profile), FileType::Jpeg)
    };
    Ok((written.map_err(|_| BROKEN)?, file_type))
}

fn decode(bytes: &[u8], format: ImageFormat) -> Result<(DynamicImage, Option<Vec<u8>>), ImageError> {
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(MAX_MEMORY);
    reader.limits(limits);
    let mut decoder = reader.into_decoder()?;
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let profile = decoder.icc_profile().ok().flatten().filter(|profile| is_worth_keeping(profile));
    let mut picture = DynamicImage::from_decoder(decoder)?;
    picture.apply_orientation(orientation);
    Ok((picture, profile))
}

/// Whether a colour profile is one that the written picture can have: for red, green and blue.
fn is_worth_keeping(profile: &[u8]) -> bool {
    profile.len() <= MAX_PROFILE && profile.get(16..20) == Some(b"RGB ")
}

fn jpeg(picture: DynamicImage, profile: Option<Vec<u8>>) -> Result<Vec<u8>, ImageError> {
    let mut written = Vec::new();
    let mut encoder = JpegEncoder::new_with_quality(&mut written, JPEG_QUALITY);
    if let Some(profile) = profile {
        encoder.set_icc_profile(profile).map_err(ImageError::Unsupported)?;
    }
    encoder.encode_image(&DynamicImage::ImageRgb8(picture.into_rgb8()))?;
    Ok(written)
}

fn png(picture: DynamicImage, profile: Option<Vec<u8>>) -> Result<Vec<u8>, ImageError> {
    let mut written = Vec::new();
    let mut encoder = PngEncoder::new(&mut written);
    if let Some(profile) = profile {
        encoder.set_icc_profile(profile).map_err(ImageError::Unsupported)?;
    }
    let picture = if picture.color().has_alpha() {
        DynamicImage::ImageRgba8(picture.into_rgba8())
    } else {
        DynamicImage::ImageRgb8(picture.into_rgb8())
    };
    picture.write_with_encoder(encoder)?;
    Ok(written)
}

/// Whether a JPEG has its end. The decoder does not mind: it paints what is missing grey.
fn is_whole_jpeg(bytes: &[u8]) -> bool {
    const START_OF_SCAN: u8 = 0xDA;
    const END: [u8; 2] = [0xFF, 0xD9];
    let mut rest = bytes.get(2..).unwrap_or_default();
    loop {
        match rest {
            [0xFF, 0xFF, ..] => rest = &rest[1..],
            // From here on the end cannot be anything else: within a scan, 0xFF is followed by other bytes.
            [0xFF, START_OF_SCAN, ..] => return rest.windows(2).any(|pair| pair == END),
            [0xFF, marker, high, low, ..] if *marker >= 0xC0 => {
                let length = usize::from(u16::from_be_bytes([*high, *low]));
                match rest.get(2 + length..) {
                    Some(next) => rest = next,
                    None => return false,
                }
            }
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use image::{Rgb, RgbImage, Rgba, RgbaImage};

    use super::*;

    fn encoded(picture: impl Into<DynamicImage>, format: ImageFormat) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        picture.into().write_to(&mut bytes, format).unwrap();
        bytes.into_inner()
    }

    fn gradient() -> RgbImage {
        RgbImage::from_fn(40, 20, |x, y| Rgb([x as u8 * 6, y as u8 * 12, 90]))
    }

    /// An Exif segment that says: turned by a quarter, taken in Berlin.
    fn with_exif(jpeg: &[u8]) -> Vec<u8> {
        let tiff = b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0Berlin";
        let body = [&b"Exif\0\0"[..], tiff].concat();
        let length = u16::try_from(body.len() + 2).unwrap().to_be_bytes();
        [&jpeg[..2], &[0xFF, 0xE1], &length, &body, &jpeg[2..]].concat()
    }

    #[test]
    fn a_picture_stays_what_it_shows_and_loses_the_rest() {
        let photo = with_exif(&encoded(gradient(), ImageFormat::Jpeg));
        let (written, file_type) = write_anew(&[&photo[..], b"<script>alert(1)</script>"].concat()).unwrap();
        assert_eq!(file_type, FileType::Jpeg);
        let picture = image::load_from_memory(&written).unwrap();
        assert_eq!((picture.width(), picture.height()), (20, 40), "upright");
        for trace in [&b"Exif"[..], b"Berlin", b"script"] {
            assert!(!written.windows(trace.len()).any(|window| window == trace), "{trace:?}");
        }
    }

    #[test]
    fn each_format_is_written_as_what_suits_it() {
        let glass = RgbaImage::from_pixel(8, 8, Rgba([1, 2, 3, 100]));
        for (bytes, file_type) in [
            (encoded(gradient(), ImageFormat::Jpeg), FileType::Jpeg),
            (encoded(gradient(), ImageFormat::WebP), FileType::Jpeg),
            (encoded(gradient(), ImageFormat::Png), FileType::Png),
            (encoded(gradient(), ImageFormat::Gif), FileType::Png),
            (encoded(glass.clone(), ImageFormat::WebP), FileType::Png),
            (encoded(glass, ImageFormat::Png), FileType::Png),
        ] {
            let (written, written_as) = write_anew(&bytes).unwrap();
            assert_eq!(written_as, file_type);
            let guessed = image::guess_format(&written).unwrap().to_mime_type();
            assert_eq!(guessed, file_type.content_type());
        }
    }

    #[test]
    fn a_cut_picture_is_refused_wherever_it_is_cut() {
        for format in [ImageFormat::Jpeg, ImageFormat::Png, ImageFormat::WebP] {
            let whole = encoded(gradient(), format);
            // What closes a PNG says nothing about the picture.
            let needed = if format == ImageFormat::Png { whole.len() - 12 } else { whole.len() };
            for length in 0..needed {
                assert!(write_anew(&whole[..length]).is_err(), "{format:?} cut after {length} bytes");
            }
        }
    }

    #[test]
    fn a_bomb_is_refused_before_it_is_decoded() {
        let mut png = encoded(gradient(), ImageFormat::Png);
        png[16..24].copy_from_slice(&[0, 0, 0x4E, 0x20, 0, 0, 0x4E, 0x20]);
        // The checksum of the header.
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
