//! Reads format and size of a picture from its first bytes, without decoding.

use image::ImageFormat;

const BYTES_PER_COEFFICIENT: u64 = 2;
/// Bytes per pixel that the WebP decoder uses: for luma and chroma, for all channels, or for either with a border.
const WEBP_LOSSY: u64 = 2;
const WEBP_LOSSLESS: u64 = 4;
const WEBP_EXTENDED: u64 = 4;

const START_OF_SCAN: u8 = 0xDA;
pub(super) const END_OF_IMAGE: u8 = 0xD9;

pub(super) struct PictureHeader {
    pub(super) width: u32,
    pub(super) height: u32,
    /// Memory that the decoder needs in addition to the pixels that it returns, in bytes.
    pub(super) working_bytes: u64,
    /// The number of the decoder's passes over the picture.
    pub(super) scans: usize,
    /// False for a JPEG without an end marker, which may be truncated.
    pub(super) has_end: bool,
}

impl PictureHeader {
    /// Reads the header; `None` if it is malformed, or if a JPEG of several scans is truncated.
    pub(super) fn read(format: ImageFormat, bytes: &[u8]) -> Option<Self> {
        match format {
            ImageFormat::Png => {
                let [width, height] = [array(bytes, 16)?, array(bytes, 20)?].map(u32::from_be_bytes);
                Some(Self::new(width, height, 0))
            }
            // The decoder unpacks palette indexes, row by row or all at once, before it looks up their colours.
            ImageFormat::Gif => Some(Self::new(short(bytes, 6)?, short(bytes, 8)?, 1)),
            ImageFormat::WebP => Self::of_webp(bytes),
            ImageFormat::Jpeg => Self::of_jpeg(bytes),
            _ => None,
        }
    }

    fn new(width: u32, height: u32, working_bytes_per_pixel: u64) -> Self {
        let working_bytes = u64::from(width) * u64::from(height) * working_bytes_per_pixel;
        Self { width, height, working_bytes, scans: 1, has_end: true }
    }

    fn of_webp(bytes: &[u8]) -> Option<Self> {
        match &array::<4>(bytes, 12)? {
            b"VP8X" => {
                let sides = [array(bytes, 24)?, array(bytes, 27)?];
                let [width, height] = sides.map(|[a, b, c]| u32::from_le_bytes([a, b, c, 0]) + 1);
                Some(Self::new(width, height, WEBP_EXTENDED))
            }
            b"VP8L" => {
                let packed = u32::from_le_bytes(array(bytes, 21)?);
                Some(Self::new((packed & 0x3FFF) + 1, ((packed >> 14) & 0x3FFF) + 1, WEBP_LOSSLESS))
            }
            b"VP8 " => Some(Self::new(short(bytes, 26)? & 0x3FFF, short(bytes, 28)? & 0x3FFF, WEBP_LOSSY)),
            _ => None,
        }
    }

    fn of_jpeg(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes.get(2..)?;
        let mut header = None;
        loop {
            match rest {
                [0xFF, 0xFF, ..] => rest = &rest[1..],
                [0xFF, START_OF_SCAN, ..] => {
                    let header: Self = header?;
                    return match scans(rest) {
                        (1, has_end) => Some(Self { working_bytes: 0, has_end, ..header }),
                        // Progressive: the decoder keeps the coefficients until the last scan.
                        (scans, true) => Some(Self { scans, ..header }),
                        // Truncated, so whole scans may be missing.
                        (_, false) => None,
                    };
                }
                [0xFF, marker, high, low, ..] if *marker >= 0xC0 => {
                    let (segment, next) =
                        rest.split_at_checked(2 + usize::from(u16::from_be_bytes([*high, *low])))?;
                    if is_start_of_frame(*marker) {
                        header = Some(Self::of_frame(segment)?);
                    }
                    rest = next;
                }
                _ => return None,
            }
        }
    }

    fn of_frame(segment: &[u8]) -> Option<Self> {
        let sides = [array(segment, 5)?, array(segment, 7)?];
        let [height, width] = sides.map(|side| u32::from(u16::from_be_bytes(side)));
        let samples = segment.get(10..)?.chunks_exact(3).map(|component| component[1]);
        let samples: Vec<u64> =
            samples.map(|factors| u64::from(factors >> 4) * u64::from(factors & 15)).collect();
        let all = samples.iter().sum::<u64>();
        let most = samples.iter().max().copied().filter(|most| *most > 0)?;
        let working_bytes = u64::from(width) * u64::from(height) * BYTES_PER_COEFFICIENT * all / most;
        Some(Self { width, height, working_bytes, scans: 1, has_end: true })
    }
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at + N)?.try_into().ok()
}

/// Two bytes, little-endian.
fn short(bytes: &[u8], at: usize) -> Option<u32> {
    array(bytes, at).map(u16::from_le_bytes).map(u32::from)
}

/// The number of scans of a JPEG, and whether it has an end marker. Within a scan, other bytes follow 0xFF.
fn scans(bytes: &[u8]) -> (usize, bool) {
    let mut count = 0;
    for pair in bytes.windows(2) {
        match pair {
            [0xFF, END_OF_IMAGE] => return (count, true),
            [0xFF, START_OF_SCAN] => count += 1,
            _ => {}
        }
    }
    (count, false)
}

/// SOF0 to SOF15, without the markers in this range that begin tables.
fn is_start_of_frame(marker: u8) -> bool {
    matches!(marker, 0xC0..=0xCF) && !matches!(marker, 0xC4 | 0xC8 | 0xCC)
}
