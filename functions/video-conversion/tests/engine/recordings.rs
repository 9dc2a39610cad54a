//! Recordings as devices and users really make them: turned phones, frozen cameras, gaps in the sound, trimmed films.

use std::path::{Path, PathBuf};

use video_conversion::engine::{ConversionTarget, ConvertedFiles, EngineError, convert};

use crate::markers::{beeps, bright_parts, flashes, marked};
use crate::support::{MINUTE, Place, converted, frames, probe, refusal, streams};

const H264: &str = "-c:v libx264 -preset ultrafast -pix_fmt yuv420p";
const VP8: &str = "-c:v libvpx -deadline realtime -cpu-used 8";
const SIGHT: &str = "-f lavfi -i testsrc2=s=320x180:r=25:d=4";
const SOUND: &str = "-f lavfi -i sine=d=4";

/// Converts the answer to a question with a minute to answer.
pub(crate) async fn answered(input: &Path) -> Result<ConvertedFiles, EngineError> {
    let target = ConversionTarget::Answer { max_seconds: 62 };
    convert(&std::env::var_os("PATH").unwrap(), input, target, MINUTE).await
}

/// The renditions with picture and sound.
fn films(made: &ConvertedFiles) -> Vec<&PathBuf> {
    std::iter::once(&made.mp4).chain(&made.flv).collect()
}

/// Asserts that in all renditions flash and beep come at this second.
fn assert_in_time(made: &ConvertedFiles, seconds: f64, name: &str) {
    for film in films(made) {
        let seen = flashes(film);
        let heard = beeps(film, &[]);
        let near = |times: &[f64]| times.len() == 1 && (times[0] - seconds).abs() < 0.15;
        assert!(near(&seen) && near(&heard), "{name}: {seen:?}, {heard:?} in {}", film.display());
    }
}

/// Replaces the first occurrence of a box name.
fn rename_first(bytes: &mut [u8], from: &[u8; 4], to: &[u8; 4]) {
    let at = bytes.windows(4).position(|window| window == from).unwrap();
    bytes[at..at + 4].copy_from_slice(to);
}

#[tokio::test]
async fn a_stream_that_cannot_be_decoded_gives_way_to_the_next_one() {
    let place = Place::new();
    let film = marked("320x180", 4.0, 2.0);
    let silence = "-f lavfi -i anullsrc=d=4:r=48000";
    // iPhones store spatial audio before stereo.
    let two_sounds = format!("{film} {silence} -map 0 -map 2 -map 1 {H264} -c:a aac");
    let mut bytes = std::fs::read(place.made("spatial.mov", &two_sounds)).unwrap();
    rename_first(&mut bytes, b"mp4a", b"apac");
    rename_first(&mut bytes, b"esds", b"dapa");
    let spatial = place.written("apac.mov", bytes);
    let foreign = place
        .made("foreign.mkv", &format!("{film} {silence} -map 0 -map 2 -map 1 {H264} -c:a:0 tta -c:a:1 aac"));
    let black = "-f lavfi -i color=red:s=320x180:r=25:d=4";
    let two_sights = place.made(
        "sights.mkv",
        &format!("{film} {black} -map 2 -map 0 -map 1 -c:v:0 ffv1 -c:v:1 libx264 -c:a aac"),
    );
    for input in [spatial, foreign, two_sights] {
        let name = input.display().to_string();
        let made = converted(&input).await.unwrap_or_else(|failure| panic!("{name}: {failure:?}"));
        assert_in_time(&made, 2.0, &name);
        assert_in_time(&answered(&input).await.unwrap(), 2.0, &name);
    }
}

#[tokio::test]
async fn a_stream_that_is_not_wanted_is_left_out() {
    let place = Place::new();
    let text = place.written("text.srt", "1\n00:00:00,000 --> 00:00:02,000\nHello.\n");
    let cover = place.made("cover.png", "-f lavfi -i testsrc2=s=64x64:d=1 -frames:v 1");
    let with_text = format!("{SIGHT} {SOUND} -i {} -map 0 -map 1 -map 2", text.display());
    let with_cover = format!("{SIGHT} {SOUND} -i {} -map 0 -map 1 -map 2", cover.display());
    let with_sound = format!("{SIGHT} {SOUND} {SOUND} -map 0 -map 1 -map 2");
    for (name, how) in [
        ("text.mp4", format!("{with_text} {H264} -c:a aac -c:s mov_text")),
        ("srt.mkv", format!("{with_text} {H264} -c:a aac -c:s srt")),
        ("ass.mkv", format!("{with_text} {H264} -c:a aac -c:s ass")),
        ("vtt.webm", format!("{with_text} {VP8} -c:a libopus -c:s webvtt")),
        (
            "cover.mp4",
            format!(
                "{with_cover} -c:v:0 libx264 -pix_fmt:v:0 yuv420p -c:a aac -c:v:1 copy -disposition:v:1 attached_pic"
            ),
        ),
        (
            "attached.mkv",
            format!(
                "{SIGHT} {SOUND} {H264} -c:a aac -attach {} -metadata:s:t mimetype=image/png",
                cover.display()
            ),
        ),
        ("dts.mkv", format!("{with_sound} {H264} -c:a:0 aac -c:a:1 dca -strict -2")),
        ("timecode.mov", format!("{SIGHT} {SOUND} {H264} -c:a aac -timecode 01:00:00:00")),
    ] {
        let made =
            converted(&place.made(name, &how)).await.unwrap_or_else(|failure| panic!("{name}: {failure:?}"));
        for film in films(&made) {
            assert_eq!(streams(film, "codec_name"), ["h264", "aac"], "{name}");
        }
    }
    // If the only sound cannot be decoded, the picture remains.
    let only = place.made("only.mkv", &format!("{SIGHT} {SOUND} {H264} -c:a dca -strict -2"));
    assert_eq!(streams(&converted(&only).await.unwrap().mp4, "codec_name"), ["h264"]);
}

#[tokio::test]
async fn the_last_picture_of_a_camera_that_froze_is_held() {
    let place = Place::new();
    let second = "-f lavfi -i testsrc2=s=320x180:r=25:d=1";
    let frame = "-f lavfi -i testsrc2=s=320x180:r=25:d=0.04";
    let sound = "-f lavfi -i sine=d=20";
    for (name, how) in [
        ("copied.mp4", format!("{second} {sound} {H264} -c:a aac")),
        ("reordered.mp4", format!("{second} {sound} -c:v libx264 -bf 3 -pix_fmt yuv420p -c:a aac")),
        ("encoded.webm", format!("{second} {sound} {VP8} -c:a libopus -live 1")),
        ("frame.mp4", format!("{frame} {sound} {H264} -c:a aac")),
        ("frame.webm", format!("{frame} {sound} {VP8} -c:a libopus -live 1")),
        ("frame.avi", format!("{frame} {sound} -c:v mjpeg -c:a pcm_s16le")),
    ] {
        let input = place.made(name, &how);
        for made in [converted(&input).await, answered(&input).await] {
            let made = made.unwrap_or_else(|failure| panic!("{name}: {failure:?}"));
            assert_eq!((made.seconds, made.width, made.height), (20, 320, 180), "{name}");
            for seconds in streams(&made.mp4, "duration") {
                assert!((19.8..20.3).contains(&seconds.parse::<f64>().unwrap()), "{name}: {seconds}");
            }
            assert_eq!(streams(&made.thumbnail, "codec_name,width,height"), ["mjpeg,320,180"], "{name}");
        }
    }
    let copied = place.path("copied.mp4");
    assert_eq!(frames(&converted(&copied).await.unwrap().mp4), frames(&copied), "it is still copied");
}

#[tokio::test]
async fn a_voice_without_a_picture_is_an_answer() {
    let place = Place::new();
    let beep = "-f lavfi -i aevalsrc='0.5*sin(2000*PI*t)*between(t,2,2.2)':d=4:s=48000";
    for (name, how) in [
        ("sound.webm", format!("{beep} -c:a libopus")),
        ("sound.mp4", format!("{beep} -c:a aac")),
        ("foreign.mkv", format!("{SIGHT} {beep} -c:v ffv1 -c:a aac")),
        ("late.mkv", format!("{beep} -c:a aac -output_ts_offset 100")),
    ] {
        let input = place.made(name, &how);
        let made = answered(&input).await.unwrap_or_else(|failure| panic!("{name}: {failure:?}"));
        assert_eq!((made.seconds, made.width, made.height), (4, 640, 360), "{name}");
        assert_eq!(streams(&made.mp4, "codec_name"), ["h264", "aac"], "{name}");
        let heard = beeps(&made.mp4, &[]);
        assert!(heard.len() == 1 && (1.9..2.1).contains(&heard[0]), "{name}: {heard:?}");
        assert_eq!(streams(&made.thumbnail, "width,height"), ["640,360"], "{name}");
        // For a video, the service refuses the file: staff can choose another one.
        refusal(&input).await;
    }
}

/// A film of a white square on black, which lies for three seconds and then stands, in one stream.
fn turned(place: &Place, codec: &str, container: &str, joined: &str) -> PathBuf {
    for (name, size, at) in [("0", "320x180", "x=120:y=50"), ("1", "180x320", "x=50:y=120")] {
        let square = format!("drawbox={at}:w=80:h=80:color=white:t=fill");
        place.made(
            &format!("{name}.{container}"),
            &format!("-f lavfi -i color=black:s={size}:r=15,{square} -t 3 {codec}"),
        );
    }
    let list = place.written("list", format!("file 0.{container}\nfile 1.{container}\n"));
    place.made(joined, &format!("-f concat -i {} -c copy", list.display()))
}

#[tokio::test]
async fn a_phone_that_is_turned_while_it_records_shows_everything_in_its_shape() {
    for (name, codec, container, joined) in [
        ("re-encoded", VP8, "webm", "turned.webm"),
        ("JPEG", "-c:v mjpeg", "mkv", "turned.mkv"),
        // Chromium records avc3, whose stream contains the parameter sets.
        (
            "H.264 in Matroska",
            "-c:v libx264 -pix_fmt yuv420p -x264-params repeat-headers=1",
            "mkv",
            "turned.mkv",
        ),
        ("H.264 in mp4", "-c:v libx264 -pix_fmt yuv420p -x264-params repeat-headers=1", "mp4", "turned.mp4"),
    ] {
        let place = Place::new();
        let input = turned(&place, codec, container, joined);
        let made = converted(&input).await.unwrap_or_else(|failure| panic!("{name}: {failure:?}"));
        assert_eq!((made.seconds, made.width, made.height), (6, 320, 180), "{name}");
        for film in films(&made) {
            let squares = bright_parts(film, (320, 180), &[]);
            let sides: Vec<_> = [5, squares.len() - 5].map(|frame| squares[frame]).into();
            // In the second frame, the square's 80 pixels are scaled from a frame of 320 lines to 180.
            for ((width, height, _), side) in sides.into_iter().zip([80, 45]) {
                assert!(
                    width.abs_diff(side) <= 3 && height.abs_diff(side) <= 3,
                    "{name}: {width} {height}, not {side}"
                );
            }
        }
    }
}

#[tokio::test]
async fn a_picture_is_copied_under_the_name_that_all_players_know() {
    let place = Place::new();
    let input = place.made("avc3.mp4", &format!("{SIGHT} {H264} -x264-params repeat-headers=1 -tag:v avc3"));
    assert_eq!(streams(&input, "codec_tag_string"), ["avc3"]);
    let made = converted(&input).await.unwrap();
    assert_eq!(frames(&made.mp4), frames(&input), "it is copied");
    assert_eq!(streams(&made.mp4, "codec_tag_string"), ["avc1"]);
}

#[tokio::test]
async fn times_that_begin_later_than_0_are_no_length() {
    let place = Place::new();
    let film = marked("320x180", 4.0, 2.0);
    for seconds in [1, 100, 4000] {
        for (name, codecs) in [
            ("late.webm", format!("{VP8} -c:a libopus")),
            ("late.mkv", format!("{H264} -c:a aac")),
            // FLV declares a length, the other containers an end.
            ("late.flv", format!("{H264} -c:a aac -ar 44100")),
            ("late.wmv", "-c:v wmv2 -b:v 1M -c:a wmav2".to_owned()),
        ] {
            let input = place.made(name, &format!("{film} {codecs} -output_ts_offset {seconds}"));
            for made in [converted(&input).await, answered(&input).await] {
                let made = made.unwrap_or_else(|failure| panic!("{name}, {seconds}: {failure:?}"));
                assert_eq!(made.seconds, 4, "{name}, {seconds}");
                assert_in_time(&made, 2.0, &format!("{name}, {seconds}"));
            }
            // Half a WMV declares no length, so the service cannot tell that it is incomplete.
            if !name.ends_with(".wmv") {
                let mut bytes = std::fs::read(&input).unwrap();
                bytes.truncate(bytes.len() / 2);
                refusal(&place.written("half", bytes)).await;
            }
        }
    }
}

#[tokio::test]
async fn a_sound_with_a_hole_stays_in_time() {
    let film = marked("320x180", 6.0, 5.0);
    let one = "lt(t,1.9)+gt(t,3.95)";
    let many = "lt(mod(t,0.5),0.4)+gt(t,4)";
    let beginning = "gt(t,2)";
    for (hole, silence) in [("one", one), ("many", many), ("the beginning", beginning)] {
        for (name, codecs) in [
            ("live.webm", format!("{VP8} -c:a libopus -live 1")),
            ("copied.mp4", format!("{H264} -c:a aac")),
            (
                "fragmented.mp4",
                format!("{H264} -c:a aac -movflags frag_keyframe+delay_moov+default_base_moof"),
            ),
            ("copied.mkv", format!("{H264} -c:a aac")),
            ("copied.flv", format!("{H264} -c:a aac -ar 44100")),
        ] {
            let place = Place::new();
            let input = place.made(name, &format!("{film} -af aselect='{silence}' {codecs}"));
            let name = format!("{hole}, {name}");
            let made = converted(&input).await.unwrap_or_else(|failure| panic!("{name}: {failure:?}"));
            assert_in_time(&made, 5.0, &name);
            assert_in_time(&answered(&input).await.unwrap(), 5.0, &name);
        }
    }
    // Viewers see by the lips when the sound is off by less than a tenth of a second.
    let place = Place::new();
    let short = format!("{film} -af aselect='lt(t,1.9)+gt(t,1.99)' {VP8} -c:a libopus -live 1");
    let made = converted(&place.made("short.webm", &short)).await.unwrap();
    let heard = beeps(&made.mp4, &[]);
    assert!(heard.len() == 1 && (heard[0] - 5.0).abs() < 0.06, "{heard:?}");
}

#[tokio::test]
async fn a_sound_without_a_hole_is_copied() {
    let place = Place::new();
    for (name, codec) in [
        ("plain.mp4", "aac"),
        ("fragmented.mp4", "aac -movflags frag_keyframe+delay_moov+default_base_moof"),
        ("plain.mkv", "aac"),
        ("plain.flv", "aac -ar 44100"),
        ("telephone.mov", "aac -ar 16000"),
    ] {
        let input = place.made(name, &format!("{SIGHT} {SOUND} {H264} -c:a {codec}"));
        let rates = |path: &Path| {
            probe(path, &["-select_streams", "a", "-show_entries", "stream=sample_rate,channels"])
        };
        assert_eq!(rates(&converted(&input).await.unwrap().mp4), rates(&input), "{name}");
    }
}

#[tokio::test]
async fn colours_of_a_high_dynamic_range_become_usual_ones() {
    let place = Place::new();
    // Cameras record white at 203 nits. With 10 bits, there are 876 steps from black to white.
    for (name, transfer, white, tags) in [
        ("hlg.mp4", "arib-std-b67", 0.75, true),
        ("pq.mp4", "smpte2084", 0.58, true),
        ("untold.mkv", "arib-std-b67", 0.75, false),
    ] {
        let (primaries, matrix) = if tags { ("bt2020", "bt2020nc") } else { ("unknown", "unknown") };
        let picture = format!(
            "color=white:s=320x180:r=25:d=2,format=yuv420p10le,geq=lum='64+876*{white}':cb=512:cr=512,\
             setparams=range=tv:color_primaries={primaries}:color_trc={transfer}:colorspace={matrix}"
        );
        let master = "master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,1):max-cll=1000,400";
        let codec = if tags {
            format!("-c:v libx265 -preset ultrafast -x265-params log-level=none:{master}")
        } else {
            "-c:v libx264 -preset ultrafast".to_owned()
        };
        let input = place.made(name, &format!("-f lavfi -i {picture} {codec}"));
        assert_eq!(streams(&input, "color_transfer"), [transfer], "{name}");
        let made = converted(&input).await.unwrap_or_else(|failure| panic!("{name}: {failure:?}"));
        for film in films(&made) {
            let found = streams(film, "pix_fmt,color_range,color_space,color_transfer,color_primaries");
            assert_eq!(found, ["yuv420p,tv,bt709,bt709,bt709"], "{name}");
            assert!(probe(film, &["-show_entries", "stream_side_data=side_data_type"]).is_empty(), "{name}");
        }
        for picture in [&made.mp4, &made.thumbnail] {
            let (_, _, brightest) = bright_parts(picture, (320, 180), &[])[0];
            assert!((230..=250).contains(&brightest), "{name}: {brightest}");
        }
    }
    // A copy would keep the HDR tags.
    let marked = format!("{SIGHT} {H264} -bsf:v h264_metadata=transfer_characteristics=18");
    let made = converted(&place.made("marked.mp4", &marked)).await.unwrap();
    assert_eq!(streams(&made.mp4, "color_transfer"), ["bt709"]);
}
