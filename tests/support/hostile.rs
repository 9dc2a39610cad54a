//! Hostile pictures: they crash decoders, or decompress to far more than their size.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;

const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";
/// Width, height and the other fields of the header of a PNG of one pixel.
const ONE_PIXEL: (u32, u32, [u8; 5]) = (1, 1, [8, 6, 0, 0, 0]);

/// A PNG whose palette length is not a multiple of three, which makes the decoder panic.
pub fn broken_palette() -> Vec<u8> {
    let pixels = packed(&[0, 0], 0);
    png((1, 1, [8, 3, 0, 0, 0]), &[(b"PLTE", &[0, 0, 0, 0]), (b"IDAT", &pixels)])
}

/// A PNG of one pixel whose colour profile decompresses to `size` bytes, a thousand times its size.
pub fn profile_bomb(size: usize) -> Vec<u8> {
    let profile = [b"p\0\0", &packed(&[], size)[..]].concat();
    png(ONE_PIXEL, &[(b"iCCP", &profile), (b"IDAT", &packed(&[0, 1, 2, 3, 4], 0))])
}

/// A PNG of one pixel with `count` texts of each kind. Each text decompresses to `size` bytes.
pub fn text_bomb(size: usize, count: usize) -> Vec<u8> {
    let text = packed(&[], size);
    let (latin, unicode) = (
        [b"Raw profile type iptc\0\0", &text[..]].concat(),
        [b"XML:com.adobe.xmp\0\x01\0\0\0", &text[..]].concat(),
    );
    let mut chunks: Vec<(&[u8; 4], &[u8])> = Vec::new();
    for _ in 0..count {
        chunks.extend([(b"zTXt", &latin[..]), (b"iTXt", &unicode[..])]);
    }
    let pixels = packed(&[0, 1, 2, 3, 4], 0);
    chunks.push((b"IDAT", &pixels));
    png(ONE_PIXEL, &chunks)
}

/// A PNG of one pixel whose pixel data decompresses to `size` bytes.
pub fn pixel_bomb(size: usize) -> Vec<u8> {
    png(ONE_PIXEL, &[(b"IDAT", &packed(&[0, 1, 2, 3, 4], size))])
}

/// A black PNG with this colour type and these bits per channel. `turn` is its Exif orientation.
pub fn black_png(width: u32, height: u32, bits: u8, color: u8, turn: u8) -> Vec<u8> {
    let channels = match color {
        2 => 3,
        4 => 2,
        6 => 4,
        _ => 1,
    };
    let row = (width as usize * channels * usize::from(bits)).div_ceil(8) + 1;
    let exif = [b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0", &[turn, 0, 0, 0, 0, 0, 0, 0][..]].concat();
    let pixels = packed(&[], row * height as usize);
    png((width, height, [bits, color, 0, 0, 0]), &[(b"eXIf", &exif), (b"IDAT", &pixels)])
}

/// A grey JPEG whose coefficients come in `scans` scans, each of a few bytes without information.
pub fn many_scans(width: u16, height: u16, scans: usize) -> Vec<u8> {
    let segment = |marker: u8, data: &[u8]| {
        let length = (data.len() as u16 + 2).to_be_bytes();
        [&[0xFF, marker], &length[..], data].concat()
    };
    let size = [height.to_be_bytes(), width.to_be_bytes()].concat();
    let mut jpeg = vec![0xFF, 0xD8];
    jpeg.extend(segment(0xDB, &[&[0][..], &[1; 64]].concat()));
    jpeg.extend(segment(0xC2, &[&[8][..], &size, &[1, 1, 0x11, 0]].concat()));
    let mut codes = [0; 16];
    codes[0] = 1;
    // Two Huffman tables with one code of one bit: a difference of zero, and a run of 32767 empty blocks.
    jpeg.extend(segment(0xC4, &[&[0x00][..], &codes, &[0x00]].concat()));
    jpeg.extend(segment(0xC4, &[&[0x10][..], &codes, &[0xE0]].concat()));
    let blocks = usize::from(width.div_ceil(8)) * usize::from(height.div_ceil(8));
    jpeg.extend(segment(0xDA, &[1, 1, 0, 0, 0, 0]));
    jpeg.extend(vec![0; blocks.div_ceil(8)]);
    for scan in 0..scans {
        let approximation = if scan == 0 { 0x01 } else { 0x10 };
        jpeg.extend(segment(0xDA, &[1, 1, 0, 1, 63, approximation]));
        for _ in 0..blocks.div_ceil(32_767) {
            // A zero and fourteen ones, padded with a one; a zero byte must follow 0xFF.
            jpeg.extend([0x7F, 0xFF, 0x00]);
        }
    }
    jpeg.extend([0xFF, 0xD9]);
    jpeg
}

/// The checksum at the end of a PNG chunk, over its type and data.
pub fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xEDB8_8320 * (crc & 1)))
    })
}

fn png((width, height, rest): (u32, u32, [u8; 5]), chunks: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
    let header = [&width.to_be_bytes(), &height.to_be_bytes(), &rest[..]].concat();
    let mut png = SIGNATURE.to_vec();
    for (name, data) in [(b"IHDR", &header[..])].iter().chain(chunks).chain(&[(b"IEND", &[][..])]) {
        let chunk = [&name[..], data].concat();
        png.extend((data.len() as u32).to_be_bytes());
        png.extend(&chunk);
        png.extend(crc32(&chunk).to_be_bytes());
    }
    png
}

/// Compresses `first`, followed by `zeros` zeros.
fn packed(first: &[u8], zeros: usize) -> Vec<u8> {
    static PIECE: [u8; 1 << 16] = [0; 1 << 16];
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
    packed.write_all(first).expect("packed");
    for start in (0..zeros).step_by(PIECE.len()) {
        packed.write_all(&PIECE[..PIECE.len().min(zeros - start)]).expect("packed");
    }
    packed.finish().expect("packed")
}
