//! Files that are not videos, or pretend to be. The service must refuse them, and open no file or URL that they name.

use std::net::TcpListener;

use crate::support::{Place, converted, refusal};

const NO_VIDEO: &str = "This file is broken, or not in a supported video format.";
const VIDEO: &str = "-f lavfi -i testsrc2=s=320x240:d=4 -f lavfi -i sine=d=4 -c:v libx264 -c:a aac";

#[tokio::test]
async fn files_without_video_are_refused() {
    let place = Place::new();
    let noise: Vec<u8> = (0u32..200_000).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let header = b"\0\0\0\x20ftypisom\0\0\x02\0isomiso2avc1mp41";
    let written: &[(&str, Vec<u8>)] = &[
        ("empty.mp4", Vec::new()),
        ("one.mp4", vec![0]),
        ("text.mp4", b"Dear Sir or Madam,\n".repeat(500)),
        ("page.mp4", b"<!doctype html><script>alert(1)</script>".to_vec()),
        ("drawing.svg", b"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>".to_vec()),
        ("archive.mp4", [b"PK\x03\x04".to_vec(), noise.clone()].concat()),
        ("program.mp4", [b"\x7fELF".to_vec(), noise.clone()].concat()),
        ("noise.mp4", noise.clone()),
        ("header.mp4", header.to_vec()),
        ("header-noise.mp4", [&header[..], &noise].concat()),
        (
            "webm-noise.webm",
            [b"\x1a\x45\xdf\xa3\x01\0\0\0\0\0\0\x1fB\x86\x81\x01".to_vec(), noise.clone()].concat(),
        ),
        ("flv-noise.flv", [b"FLV\x01\x05\0\0\0\x09\0\0\0\0".to_vec(), noise].concat()),
        ("nested.mp4", [&header[..], &nested(20_000)].concat()),
    ];
    for (name, bytes) in written {
        let input = place.written(name, bytes);
        assert!(converted(&input).await.is_err(), "{name}");
        refusal(&input).await;
    }
}

/// Nested boxes that all claim to reach to the end of the file.
fn nested(depth: usize) -> Vec<u8> {
    b"\0\0\0\0moov\0\0\0\0trak\0\0\0\0mdia".repeat(depth)
}

#[tokio::test]
async fn pictures_and_sounds_are_refused() {
    let place = Place::new();
    for (name, how) in [
        ("still.png", "-f lavfi -i testsrc2=s=320x240:d=1 -frames:v 1"),
        ("still.jpg", "-f lavfi -i testsrc2=s=320x240:d=1 -frames:v 1"),
        ("moving.gif", "-f lavfi -i testsrc2=s=320x240:d=1"),
        ("sound.mp3", "-f lavfi -i sine=d=2"),
        ("sound.wav", "-f lavfi -i sine=d=2"),
        ("sound.m4a", "-f lavfi -i sine=d=2 -c:a aac"),
        ("channel.ts", "-f lavfi -i testsrc2=s=320x240:d=1 -c:v mpeg2video"),
        ("sound.ogg", "-f lavfi -i sine=d=2 -c:a libvorbis"),
        ("narrow.mkv", "-f lavfi -i testsrc2=s=1600x16:d=1 -c:v mpeg4"),
        ("tiny.mkv", "-f lavfi -i testsrc2=s=8x8:d=1 -c:v mpeg4"),
    ] {
        refusal(&place.made(name, how)).await;
    }
    let cover = place.made("cover.png", "-f lavfi -i testsrc2=s=320x240:d=1 -frames:v 1");
    let album = format!(
        "-f lavfi -i sine=d=2 -i {} -map 0 -map 1 -c:v copy -disposition:v attached_pic",
        cover.display()
    );
    refusal(&place.made("album.m4a", &album)).await;
}

#[tokio::test]
async fn nothing_that_a_file_names_is_opened() {
    let place = Place::new();
    let target = place.made("target.mp4", VIDEO);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    let target = target.display();
    for (name, text) in [
        ("list.mp4", format!("#EXTM3U\n#EXTINF:4,\nfile://{target}\n#EXT-X-ENDLIST\n")),
        ("net.mp4", format!("#EXTM3U\n#EXTINF:4,\nhttp://{address}/a.ts\n#EXT-X-ENDLIST\n")),
        ("passwd.m3u8", "#EXTM3U\n#EXTINF:4,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n".to_owned()),
        ("script.mp4", format!("ffconcat version 1.0\nfile '{target}'\n")),
        (
            "dash.mpd",
            format!(
                "<?xml version='1.0'?><MPD xmlns='urn:mpeg:dash:schema:mpd:2011' type='static' mediaPresentationDuration='PT4S'><Period><AdaptationSet mimeType='video/mp4'><Representation id='1' bandwidth='9'><BaseURL>http://{address}/a.mp4</BaseURL></Representation></AdaptationSet></Period></MPD>"
            ),
        ),
        (
            "session.sdp",
            format!(
                "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video {} RTP/AVP 96\na=rtpmap:96 H264/90000\n",
                address.port()
            ),
        ),
        ("redirect.asx", format!("<asx version='3.0'><entry><ref href='http://{address}/a'/></entry></asx>")),
    ] {
        assert_eq!(refusal(&place.written(name, text)).await, NO_VIDEO, "{name}");
    }
    assert_eq!(listener.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock, "nobody has called");
}

#[tokio::test]
async fn a_video_that_was_cut_is_refused_wherever_it_was_cut() {
    let place = Place::new();
    let whole = std::fs::read(place.made("whole.mp4", VIDEO)).unwrap();
    let fast = std::fs::read(place.made("fast.mp4", &format!("{VIDEO} -movflags +faststart"))).unwrap();
    for (number, bytes) in [&whole, &fast].into_iter().enumerate() {
        for tenths in [1, 3, 5, 7] {
            let cut = &bytes[..bytes.len() * tenths / 10];
            refusal(&place.written(&format!("{number}-{tenths}.mp4"), cut)).await;
        }
    }
    // A truncated file of a known format: only the index has arrived.
    let index = fast.windows(4).position(|window| window == b"mdat").unwrap() + 4;
    let reason = refusal(&place.written("index.mp4", &fast[..index])).await;
    assert_eq!(reason, "The video is broken or incomplete.");
}

#[tokio::test]
async fn a_video_that_lies_about_itself_does_no_harm() {
    let place = Place::new();
    let video = place.made("true.mp4", VIDEO);
    let truth = converted(&video).await.unwrap();
    let bytes = std::fs::read(&video).unwrap();
    let find = |name: &[u8]| bytes.windows(4).position(|window| window == name).unwrap();
    // Each sample table claims to have four thousand million entries.
    for table in [b"stsz", b"stco", b"stsc", b"stts"] {
        let mut lie = bytes.clone();
        let entries = find(table) + if table == b"stsz" { 12 } else { 8 };
        lie[entries..entries + 4].fill(0xff);
        // Either refused, or converted with the true length and size.
        if let Ok(made) = converted(&place.written("table.mp4", lie)).await {
            assert_eq!((made.seconds, made.width, made.height), (truth.seconds, 320, 240));
        }
    }
    // The track header may declare any size: the size of the decoded picture counts.
    let mut lie = bytes.clone();
    let entry = find(b"avc1") + 4 + 24;
    lie[entry..entry + 4].fill(0xff);
    if let Ok(made) = converted(&place.written("size.mp4", lie)).await {
        assert_eq!((made.width, made.height), (320, 240));
    }
    // A box that contains itself.
    let mut lie = bytes.clone();
    let moov = find(b"moov");
    lie.copy_within(moov - 4..moov + 4, moov + 4);
    refusal(&place.written("loop.mp4", lie)).await;
}
