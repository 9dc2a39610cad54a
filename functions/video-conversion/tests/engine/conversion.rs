//! Conversions of typical videos, made with ffmpeg and checked with ffprobe.

use std::time::Duration;

use video_conversion::engine::{ConversionTarget, EngineError, TimeLeft, convert};

use crate::support::{MINUTE, Place, converted, frames, probe, refusal, streams};

const SIGHT: &str = "-f lavfi -i testsrc2=s=640x360:r=25:d=3";
const SOUND: &str = "-f lavfi -i sine=d=3";
const H264: &str = "-c:v libx264 -preset ultrafast -pix_fmt yuv420p";

#[tokio::test]
async fn a_video_that_fits_is_passed_on_as_it_is() {
    let place = Place::new();
    let args = format!("{SIGHT} {SOUND} {H264} -c:a aac -metadata comment=Berlin -metadata title=Secret");
    let input = place.made("in.mp4", &args);
    let made = converted(&input).await.unwrap();
    assert_eq!((made.seconds, made.width, made.height), (3, 640, 360));
    assert_eq!(streams(&made.mp4, "codec_name"), ["h264", "aac"]);
    assert_eq!(streams(made.flv.as_ref().unwrap(), "codec_name"), ["h264", "aac"]);
    assert_eq!(frames(&made.mp4), frames(&input), "the same pictures, bit by bit");
    assert_eq!(streams(&made.thumbnail, "codec_name,width,height"), ["mjpeg,640,360"]);

    let bytes = std::fs::read(&made.mp4).unwrap();
    for trace in [&b"Secret"[..], b"Berlin"] {
        let found = |path| std::fs::read(path).unwrap().windows(trace.len()).any(|window| window == trace);
        assert!(found(&input));
        assert!(![&made.mp4, made.flv.as_ref().unwrap(), &made.thumbnail].into_iter().any(found));
    }
    let place_of = |name: &[u8]| bytes.windows(4).position(|window| window == name).unwrap();
    assert!(place_of(b"moov") < place_of(b"mdat"), "it plays while it is loaded");
    let directory = made.mp4.parent().unwrap().to_owned();
    drop(made);
    assert!(!directory.exists());
}

#[tokio::test]
async fn a_phone_held_upright_gives_an_upright_video() {
    let place = Place::new();
    let lying = place.made("lying.mp4", &format!("{SIGHT} {SOUND} {H264} -c:a aac"));
    let mut turned = std::fs::read(lying).unwrap();
    // Players rotate the picture by this matrix in the header of the first track.
    let matrix = turned.windows(4).position(|window| window == b"tkhd").unwrap() + 44;
    let quarter: [u32; 9] = [0, 0x0001_0000, 0, 0xFFFF_0000, 0, 0, 0, 0, 0x4000_0000];
    turned[matrix..matrix + 36].copy_from_slice(&quarter.map(u32::to_be_bytes).concat());
    let input = place.written("phone.mp4", turned);
    let made = converted(&input).await.unwrap();
    assert_eq!((made.width, made.height), (360, 640));
    for path in [&made.mp4, made.flv.as_ref().unwrap(), &made.thumbnail] {
        assert_eq!(streams(path, "width,height")[0], "360,640");
        assert!(probe(path, &["-show_entries", "stream_side_data=rotation"]).is_empty());
    }
}

#[tokio::test]
async fn recordings_of_all_common_devices_are_converted() {
    let vp9 = "-c:v libvpx -deadline realtime -c:a libopus";
    for (name, how, shown) in [
        ("silent.mp4", format!("{SIGHT} {H264} -an"), (640, 360)),
        ("browser.webm", format!("{SIGHT} {SOUND} {vp9}"), (640, 360)),
        ("odd.mkv", format!("-f lavfi -i testsrc2=s=641x361:d=3 {SOUND} -c:v ffv1 -c:a flac"), (0, 0)),
        ("odd.avi", format!("-f lavfi -i testsrc2=s=641x361:d=3 {SOUND} -c:v mpeg4 -c:a mp3"), (640, 360)),
        // No presentation times.
        ("new.avi", format!("{SIGHT} {SOUND} {H264} -c:a mp3"), (640, 360)),
        ("large.mov", format!("-f lavfi -i testsrc2=s=2560x1440:d=1 {SOUND} {H264}"), (1280, 720)),
        (
            "deep.mp4",
            format!("{SIGHT} {SOUND} -c:v libx264 -preset ultrafast -pix_fmt yuv422p10le"),
            (640, 360),
        ),
        (
            "phone.mov",
            format!("{SIGHT} {SOUND} -c:v libx265 -x265-params log-level=none -c:a aac"),
            (640, 360),
        ),
        ("tv.mpg", format!("{SIGHT} {SOUND} -c:v mpeg2video -c:a mp2"), (640, 360)),
        ("windows.wmv", format!("{SIGHT} {SOUND} -c:v wmv2 -c:a wmav2"), (640, 360)),
        ("old.flv", format!("{SIGHT} {SOUND} -c:v flv -c:a mp3 -ar 44100"), (640, 360)),
        ("dv.mp4", format!("-f lavfi -i testsrc2=s=720x576:d=3 {H264} -aspect 16:9"), (1024, 576)),
        ("surround.mkv", format!("{SIGHT} {SOUND} {H264} -c:a ac3 -ac 6"), (640, 360)),
    ] {
        let place = Place::new();
        let input = place.made(name, &how);
        if shown == (0, 0) {
            assert!(converted(&input).await.is_err(), "{name}");
            continue;
        }
        let made = converted(&input).await.unwrap_or_else(|failure| panic!("{name}: {failure:?}"));
        assert_eq!((made.width, made.height), shown, "{name}");
        for path in [&made.mp4, made.flv.as_ref().unwrap()] {
            let found = streams(path, "codec_name,pix_fmt");
            assert_eq!(found[0], "h264,yuv420p", "{name}");
            assert_eq!(found.get(1).map(String::as_str), how.contains("sine").then_some("aac"), "{name}");
        }
        let thumbnail = std::fs::metadata(&made.thumbnail).unwrap().len();
        assert!((500..200_000).contains(&thumbnail), "{name}: {thumbnail}");
    }
}

#[tokio::test]
async fn a_recording_that_does_not_say_how_long_it_is_has_a_length() {
    let place = Place::new();
    let made =
        place.made("made.webm", &format!("{SIGHT} {SOUND} -c:v libvpx -deadline realtime -c:a libopus"));
    let live = place.made("live.webm", &format!("-i {} -c copy -f webm -live 1", made.display()));
    assert_eq!(probe(&live, &["-show_entries", "format=duration"]), ["N/A"]);
    assert_eq!(converted(&live).await.unwrap().seconds, 3);
}

#[tokio::test]
async fn the_thumbnail_is_not_the_black_beginning() {
    let place = Place::new();
    let fade = format!("-f lavfi -i smptebars=s=320x240:d=6:r=25 -vf fade=in:0:13 {H264}");
    let made = converted(&place.made("fade.mp4", &fade)).await.unwrap();
    let signal = format!("movie={},signalstats", made.thumbnail.display());
    let light = probe(
        std::path::Path::new(&signal),
        &["-f", "lavfi", "-show_entries", "frame_tags=lavfi.signalstats.YAVG"],
    );
    assert!(light[0].parse::<f64>().unwrap() > 60.0, "{light:?}");
}

#[tokio::test]
async fn a_conversion_that_takes_too_long_is_stopped() {
    let place = Place::new();
    let input = place.made("in.mkv", "-f lavfi -i testsrc2=s=1920x1080:r=30:d=20 -c:v mpeg4 -q:v 9");
    let path = std::env::var_os("PATH").unwrap();
    let time = Duration::from_millis(300);
    let failure = convert(&path, &input, ConversionTarget::Video, TimeLeft::cut(time)).await.unwrap_err();
    assert!(matches!(failure, EngineError::Machine(_)), "others have used the time: {failure:?}");
    let failure = convert(&path, &input, ConversionTarget::Video, TimeLeft::whole(time)).await.unwrap_err();
    assert!(
        matches!(
            failure,
            EngineError::Refused("This video takes too long to convert. Upload a shorter or smaller one.")
        ),
        "{failure:?}"
    );
    assert_eq!(std::fs::read_dir(input.parent().unwrap()).unwrap().count(), 1, "only what was sent is left");
}

#[test]
fn time_that_an_outage_has_used_is_none_that_a_file_may_lack() {
    let minutes = |minutes: u64| Duration::from_secs(minutes * 60);
    for (used, left) in [
        (minutes(0), TimeLeft::whole(minutes(13))),
        (minutes(2), TimeLeft::whole(minutes(11))),
        (minutes(3), TimeLeft::cut(minutes(10))),
        (minutes(14), TimeLeft::cut(minutes(0))),
    ] {
        assert_eq!(TimeLeft::after(used), left, "{used:?}");
    }
}

#[tokio::test]
async fn a_video_that_would_take_too_long_is_refused_before_its_conversion() {
    let place = Place::new();
    let clip = place.made("clip.mp4", "-f lavfi -i color=s=1920x1080:r=30:d=2 -c:v mpeg4 -q:v 31");
    let twenty_minutes = format!("-stream_loop 599 -i {} -c copy", clip.display());
    let reason = refusal(&place.made("long.mp4", &twenty_minutes)).await;
    assert!(reason.starts_with("The video is too long for its dimensions"), "{reason}");
}

#[tokio::test]
async fn a_computer_without_ffmpeg_is_no_fault_of_the_video() {
    let place = Place::new();
    let input = place.written("in.mp4", "anything");
    let nowhere = place.path("nowhere").into_os_string();
    let failure = convert(&nowhere, &input, ConversionTarget::Video, MINUTE).await.unwrap_err();
    assert!(matches!(failure, EngineError::Machine(_)), "{failure:?}");
}
