//! Time and memory of the worst pictures: hostile ones, and the largest of each kind. Prints one line of JSON each, and
//! fails above the limits.

use std::error::Error;
use std::io::Cursor;

use image::{DynamicImage, ImageFormat, Rgb, RgbImage};
use serde_json::json;
use shared::clock::Stopwatch;
use shared::domain::media::file::FileKind;
use shared::media::CheckedFile;
use tests::function::peak_kilobytes;
use tests::hostile;

/// The maximum per picture.
const MAX_SECONDS: f64 = 2.0;
const MAX_MEGABYTES: u64 = 300;
/// 40 megapixels.
const WIDTH: u16 = 8_000;
const HEIGHT: u16 = 5_000;

/// Makes a picture.
type Maker = Box<dyn Fn() -> Vec<u8>>;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let (width, height) = (u32::from(WIDTH), u32::from(HEIGHT));
    let mut worst = (0.0, 0);
    let mut is_good = true;
    let black = |bits, color, turn| move || hostile::black_png(width, height, bits, color, turn);
    let photo = |format| move || photo(width, height, format);
    let makers: [(&str, Maker); 21] = [
        ("png with a broken palette", Box::new(hostile::broken_palette)),
        ("png with a profile of 256 MB", Box::new(|| hostile::profile_bomb(256 << 20))),
        ("png with a profile of 512 MB", Box::new(|| hostile::profile_bomb(512 << 20))),
        ("png with a profile of 16 MB", Box::new(|| hostile::profile_bomb(16 << 20))),
        ("png with 18 texts of 512 MB", Box::new(|| hostile::text_bomb(512 << 20, 9))),
        ("png with 10 GB behind its pixel", Box::new(|| hostile::pixel_bomb(10_000 << 20))),
        ("png, grey", Box::new(black(8, 0, 1))),
        ("png, grey with alpha", Box::new(black(8, 4, 1))),
        ("png", Box::new(black(8, 2, 1))),
        ("png, turned", Box::new(black(8, 2, 6))),
        ("png with alpha", Box::new(black(8, 6, 1))),
        ("png with alpha, turned", Box::new(black(8, 6, 6))),
        ("png, 16 bits", Box::new(black(16, 2, 1))),
        ("png with alpha, 16 bits", Box::new(black(16, 6, 1))),
        ("jpeg, grey, 24 scans", Box::new(|| hostile::many_scans(WIDTH, HEIGHT, 23))),
        ("jpeg, grey, 100 scans", Box::new(|| hostile::many_scans(WIDTH, HEIGHT, 99))),
        ("jpeg", Box::new(photo(ImageFormat::Jpeg))),
        (
            "jpeg without its end",
            Box::new(move || without_end(self::photo(width, height, ImageFormat::Jpeg))),
        ),
        ("gif", Box::new(photo(ImageFormat::Gif))),
        ("webp of 30 megapixels", Box::new(|| self::photo(6_000, 5_000, ImageFormat::WebP))),
        ("png of noise, 10 MB", Box::new(|| tests::files::noise(1_850, 1_850))),
    ];
    for (kind, make) in makers {
        let bytes = make();
        let size = bytes.len();
        // Resets the peak to this process's current memory.
        std::fs::write("/proc/self/clear_refs", "5")?;
        let before = peak_kilobytes(std::process::id());
        let stopwatch = Stopwatch::start();
        let outcome = CheckedFile::new(FileKind::Photo, bytes).await;
        let seconds = stopwatch.elapsed().as_secs_f64();
        let megabytes = peak_kilobytes(std::process::id()).saturating_sub(before) / 1_024;
        let outcome = outcome.map_or_else(|error| error.to_string(), |_| "accepted".to_owned());
        print(kind, size, seconds, megabytes, &outcome);
        worst = (seconds.max(worst.0), megabytes.max(worst.1));
        is_good &= seconds <= MAX_SECONDS && megabytes <= MAX_MEGABYTES;
    }
    print("the worst of each", 0, worst.0, worst.1, "");
    if is_good { Ok(()) } else { Err(format!("more than {MAX_SECONDS} s or {MAX_MEGABYTES} MB").into()) }
}

#[expect(clippy::print_stdout, reason = "standard output is what a benchmark is for")]
fn print(kind: &str, bytes: usize, seconds: f64, megabytes: u64, outcome: &str) {
    let seconds = (seconds * 100.0).round() / 100.0;
    println!(
        "{}",
        json!({
            "figure": "picture", "kind": kind, "bytes": bytes, "seconds": seconds, "peak_megabytes": megabytes, "outcome": outcome,
        })
    );
}

/// A JPEG without the mark of its end, so that it is decoded twice.
fn without_end(mut jpeg: Vec<u8>) -> Vec<u8> {
    jpeg.truncate(jpeg.len() - 2);
    jpeg
}

/// A photo with something to pack everywhere.
fn photo(width: u32, height: u32, format: ImageFormat) -> Vec<u8> {
    let picture = RgbImage::from_fn(width, height, |x, y| {
        let noise = (x.wrapping_mul(2_654_435_761) ^ y.wrapping_mul(40_503)) >> 28;
        Rgb([(x / 16 + noise) as u8, (y / 16 + noise) as u8, ((x + y) / 32) as u8])
    });
    let mut bytes = Cursor::new(Vec::new());
    let written = DynamicImage::from(picture).write_to(&mut bytes, format);
    written.map(|()| bytes.into_inner()).unwrap_or_default()
}
