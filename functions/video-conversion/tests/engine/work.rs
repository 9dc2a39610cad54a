//! Measures the work per second of video. `src/engine/plan.rs` derives the maximum length from it.

use std::path::Path;

use crate::support::{Place, converted};

/// Processor seconds of the ended child processes. The kernel counts in hundredths.
fn taken() -> f64 {
    let status = std::fs::read_to_string("/proc/self/stat").unwrap();
    let (_, fields) = status.rsplit_once(')').unwrap();
    let ticks = fields.split_whitespace().skip(13).take(2).map(|field| field.parse::<f64>().unwrap());
    ticks.sum::<f64>() / 100.0
}

/// A moving and noisy picture, like a camera's.
fn recorded(place: &Place, name: &str, size: &str, rate: u32, codec: &str) -> std::path::PathBuf {
    let picture = format!("testsrc2=s={size}:r={rate}:d=4,noise=alls=6:allf=t");
    place.made(name, &format!("-f lavfi -i {picture} -f lavfi -i sine=d=4 {codec} -c:a aac"))
}

async fn per_second(input: &Path) -> f64 {
    let before = taken();
    let made = converted(input).await.unwrap();
    (taken() - before) / f64::from(made.seconds)
}

#[tokio::test]
#[ignore = "measures, which says nothing while other tests run"]
#[expect(clippy::print_stdout, reason = "figures are what it is for")]
async fn what_a_second_of_video_takes() {
    let place = Place::new();
    let h264 = "-c:v libx264 -preset ultrafast -pix_fmt yuv420p";
    let hevc = "-c:v libx265 -preset ultrafast -pix_fmt yuv420p10le -x265-params log-level=none";
    for (name, size, rate, codec) in [
        ("mpeg4", "1280x720", 30, "-c:v mpeg4 -b:v 6M"),
        ("h264", "1920x1080", 30, &format!("{h264} -b:v 12M")),
        ("h264", "1920x1080", 60, &format!("{h264} -b:v 12M")),
        ("h264", "3840x2160", 30, &format!("{h264} -b:v 40M")),
        ("vp9", "1920x1080", 30, "-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -b:v 6M -pix_fmt yuv420p"),
        ("av1", "1920x1080", 30, "-c:v libsvtav1 -preset 12 -b:v 6M -pix_fmt yuv420p"),
        ("hevc, 10 bits", "1920x1080", 30, &format!("{hevc} -b:v 8M")),
        ("hevc, 10 bits", "3840x2160", 30, &format!("{hevc} -b:v 24M")),
        ("hevc, HLG", "1920x1080", 30, &format!("{hevc}:transfer=arib-std-b67 -b:v 8M")),
        ("h264, copied", "1280x720", 30, &format!("{h264} -g 30 -b:v 4M -maxrate 4M -bufsize 4M")),
    ] {
        let input = recorded(&place, "clip.mkv", size, rate, codec);
        println!("{name}, {size}, {rate} a second: {:.2}", per_second(&input).await);
    }
}
