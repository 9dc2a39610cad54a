//! Finds when a video is bright or loud, and where in the picture.

use std::path::Path;
use std::process::{Command, Stdio};

/// The sample rate of the decoded sound, in hertz.
const RATE: f64 = 8000.0;
/// The length of one measurement of the sound, in samples.
const WINDOW: usize = 80;
/// The thresholds of a marker: about half of its loudest sample, half of its brightness.
const LOUD: f32 = 0.2;
const BRIGHT: u8 = 128;

/// ffmpeg's arguments for a black, silent film that is white and has a tone for a fifth of a second at `at`.
pub(crate) fn marked(size: &str, seconds: f64, at: f64) -> String {
    let until = at + 0.2;
    format!(
        "-f lavfi -i color=black:s={size}:r=25:d={seconds},drawbox=c=white:t=fill:enable='between(t,{at},{until})' \
         -f lavfi -i aevalsrc='0.5*sin(2000*PI*t)*between(t,{at},{until})':d={seconds}:s=48000"
    )
}

/// The seconds at which sounds begin if all packets are played without pauses: browsers do not wait at gaps.
pub(crate) fn beeps(path: &Path, options: &[&str]) -> Vec<f64> {
    let decoded = decode(path, options, &["-vn", "-ac", "1", "-ar", "8000", "-f", "f32le"]);
    let samples: Vec<f32> =
        decoded.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes).abs()).collect();
    let loud = samples.chunks(WINDOW).map(|window| window.iter().any(|sample| *sample > LOUD));
    let windows = (0_u32..).map(f64::from).zip(loud);
    let mut before = false;
    let mut beeps = Vec::new();
    for (window, is_loud) in windows {
        if is_loud && !before {
            beeps.push(window * WINDOW as f64 / RATE);
        }
        before = is_loud;
    }
    beeps
}

/// The seconds at which the picture becomes bright.
pub(crate) fn flashes(path: &Path) -> Vec<f64> {
    let mut command = Command::new("ffprobe");
    command.args(["-v", "error", "-of", "csv=p=0", "-f", "lavfi", "-show_entries"]);
    command.args(["frame=pts_time:frame_tags=lavfi.signalstats.YAVG", "-i"]);
    command.arg(format!("movie={},signalstats", path.display()));
    let frames = String::from_utf8(command.output().unwrap().stdout).unwrap();
    let mut before = false;
    let mut flashes = Vec::new();
    for frame in frames.lines() {
        let mut fields = frame.split(',').map(|field| field.parse::<f64>().unwrap());
        let time = fields.next().unwrap();
        let brightness = fields.next().unwrap();
        let is_bright = brightness > f64::from(BRIGHT);
        if is_bright && !before {
            flashes.push(time);
        }
        before = is_bright;
    }
    flashes
}

/// The width, height and maximum brightness of the bright part of each frame.
pub(crate) fn bright_parts(
    path: &Path,
    (width, height): (usize, usize),
    options: &[&str],
) -> Vec<(usize, usize, u8)> {
    let size = format!("{width}x{height}");
    let decoded = decode(
        path,
        options,
        &["-an", "-s", &size, "-pix_fmt", "gray", "-fps_mode", "passthrough", "-f", "rawvideo"],
    );
    decoded.chunks_exact(width * height).map(|frame| bright_part(frame, width)).collect()
}

fn bright_part(frame: &[u8], width: usize) -> (usize, usize, u8) {
    let is_bright = |row: &[u8]| row.iter().any(|pixel| *pixel > BRIGHT);
    let columns =
        (0..width).filter(|column| frame.iter().skip(*column).step_by(width).any(|pixel| *pixel > BRIGHT));
    let rows = frame.chunks_exact(width).filter(|row| is_bright(row));
    (columns.count(), rows.count(), frame.iter().copied().max().unwrap_or_default())
}

fn decode(path: &Path, options: &[&str], how: &[&str]) -> Vec<u8> {
    let mut command = Command::new("ffmpeg");
    command.args(["-v", "error", "-nostdin"]).args(options).arg("-i").arg(path).args(how).arg("-");
    let output = command.stderr(Stdio::inherit()).output().unwrap();
    assert!(output.status.success(), "{}", path.display());
    output.stdout
}
