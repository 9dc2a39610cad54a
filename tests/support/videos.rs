//! Typical videos, made and inspected with ffmpeg.

use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;

/// Two seconds of mp4 with sound, with few and small frames because most tests wait for conversions.
pub fn film() -> Vec<u8> {
    static FILM: OnceLock<Vec<u8>> = OnceLock::new();
    let how =
        "-f lavfi -i testsrc2=s=64x48:r=5:d=2 -f lavfi -i sine=d=2 -c:v libx264 -pix_fmt yuv420p -c:a aac";
    FILM.get_or_init(|| recorded(how, "mp4")).clone()
}

/// Makes a film in a container with ffmpeg.
///
/// # Panics
/// If ffmpeg fails.
pub fn recorded(how: &str, container: &str) -> Vec<u8> {
    let folder =
        std::env::temp_dir().join(format!("film-{}-{:?}", std::process::id(), std::thread::current().id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join(format!("film.{container}"));
    let mut ffmpeg = Command::new("ffmpeg");
    ffmpeg.args(["-v", "error", "-y", "-nostdin"]).args(how.split_ascii_whitespace()).arg(&path);
    assert!(ffmpeg.status().expect("ffmpeg").success());
    let bytes = std::fs::read(&path).expect("a film");
    std::fs::remove_dir_all(&folder).expect("the folder");
    bytes
}

/// The format and streams of a file, according to ffprobe.
///
/// # Panics
/// If ffprobe cannot read the file.
pub fn probed(bytes: &[u8]) -> Value {
    let path =
        std::env::temp_dir().join(format!("probed-{}-{:?}", std::process::id(), std::thread::current().id()));
    std::fs::write(&path, bytes).expect("a file");
    let mut ffprobe = Command::new("ffprobe");
    ffprobe.args(["-v", "error", "-of", "json", "-show_format", "-show_streams"]).arg(&path);
    let output = ffprobe.output().expect("ffprobe");
    std::fs::remove_file(&path).expect("the file");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}
