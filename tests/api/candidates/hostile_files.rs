//! Files that mean harm: none is taken, and none brings the service down.

use std::io::{Cursor, Write};

use image::ImageFormat::{Gif, Jpeg, Png, WebP};
use serde_json::json;
use tests::app::TestApp;
use tests::assert_refusals;
use tests::caller::{Caller, Staff};
use tests::files::{Form, data_uri, pdf, photo};
use tests::hostile;
use tests::http::Request;

/// Files that a browser might run.
const ACTIVE: [(&str, &str); 14] = [
    ("svg", "<svg xmlns=\"http://www.w3.org/2000/svg\" onload=\"alert(1)\"/>"),
    (
        "svg with a prologue",
        "<?xml version=\"1.0\"?><svg xmlns=\"http://www.w3.org/2000/svg\"><script/></svg>",
    ),
    ("svg with a doctype", "<!DOCTYPE svg [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><svg>&x;</svg>"),
    ("html", "<html><script>alert(document.cookie)</script></html>"),
    ("html in capitals", "  \n<HTML><BODY ONLOAD=alert(1)>"),
    ("html behind a mark", "\u{feff}<!doctype html><img src=x onerror=alert(1)>"),
    ("html comment", "<!-- --><script>alert(1)</script>"),
    ("xml bomb", "<?xml version=\"1.0\"?><!DOCTYPE z [<!ENTITY a \"b\">]><z>&a;</z>"),
    ("xslt", "<?xml-stylesheet type=\"text/xsl\" href=\"#\"?><x/>"),
    ("php", "<?php system($_GET['c']); ?>"),
    ("html application", "<hta:application/><script language=vbscript>"),
    ("mhtml", "<mime><script>"),
    ("script tag", "<script src=//evil.example/x.js></script>"),
    ("iframe", "<iframe src=javascript:alert(1)>"),
];

/// Programs, archives and media by their first bytes.
const FOREIGN: [(&str, &[u8]); 20] = [
    ("windows program", b"MZ\x90\0\x03\0\0\0"),
    ("linux program", b"\x7fELF\x02\x01\x01\0"),
    ("mac program", b"\xcf\xfa\xed\xfe\x07\0\0\x01"),
    ("java class", b"\xca\xfe\xba\xbe\0\0\0\x34"),
    ("wasm", b"\0asm\x01\0\0\0"),
    ("gzip", b"\x1f\x8b\x08\0\0\0\0\0"),
    ("bzip2", b"BZh91AY&SY\x17\x72"),
    ("xz", b"\xfd7zXZ\0\0\x04"),
    ("7z", b"7z\xbc\xaf\x27\x1c\0\x04"),
    ("rar", b"Rar!\x1a\x07\x01\0"),
    ("zip without entries", b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"),
    ("zip entry alone", b"PK\x03\x04\x14\0\0\0\x08\0"),
    ("flash", b"FWS\x0a\0\0\0\0"),
    ("mp3", b"ID3\x04\0\0\0\0\0\0"),
    ("mp4", b"\0\0\0\x18ftypmp42\0\0\0\0"),
    ("tiff", b"II*\0\x08\0\0\0"),
    ("bmp", b"BM\x36\0\0\0\0\0\0\0"),
    ("icon", b"\0\0\x01\0\x01\0\x10\x10"),
    ("avif", b"\0\0\0\x1cftypavif\0\0\0\0"),
    ("zero bytes in a row", &[0; 64]),
];

/// A PNG that claims a size that it has not.
fn png_claiming(width: u32, height: u32) -> Vec<u8> {
    let mut png = photo(Png, 8, 8);
    png[16..20].copy_from_slice(&width.to_be_bytes());
    png[20..24].copy_from_slice(&height.to_be_bytes());
    let crc = hostile::crc32(&png[12..29]);
    png[29..33].copy_from_slice(&crc.to_be_bytes());
    png
}

fn gif_claiming(width: u16, height: u16) -> Vec<u8> {
    let mut gif = photo(Gif, 8, 8);
    gif[6..8].copy_from_slice(&width.to_le_bytes());
    gif[8..10].copy_from_slice(&height.to_le_bytes());
    gif
}

fn jpeg_claiming(width: u16, height: u16) -> Vec<u8> {
    let mut jpeg = photo(Jpeg, 8, 8);
    let frame = jpeg.windows(2).position(|marker| marker == [0xFF, 0xC0]).unwrap();
    jpeg[frame + 5..frame + 7].copy_from_slice(&height.to_be_bytes());
    jpeg[frame + 7..frame + 9].copy_from_slice(&width.to_be_bytes());
    jpeg
}

/// A ZIP archive whose entries claim to be as large unpacked as they are said to be.
fn zip_claiming(entries: &[(&str, u32)]) -> Vec<u8> {
    let (mut zip, mut directory) = (Cursor::new(Vec::new()), Vec::new());
    for (name, size) in entries {
        let offset = u32::try_from(zip.position()).unwrap();
        let name_length = u16::try_from(name.len()).unwrap().to_le_bytes();
        let sizes = [&[0; 4][..], &2u32.to_le_bytes(), &size.to_le_bytes(), &name_length].concat();
        let head = [b"\x14\0\0\0\x08\0\0\0\0\0", &sizes[..], &[0; 2]].concat();
        zip.write_all(&[b"PK\x03\x04", &head[..], name.as_bytes(), b"\x03\0"].concat()).unwrap();
        directory.extend(
            [b"PK\x01\x02\x14\0", &head[..], &[0; 10], &offset.to_le_bytes(), name.as_bytes()].concat(),
        );
    }
    let start = u32::try_from(zip.position()).unwrap();
    let count = u16::try_from(entries.len()).unwrap().to_le_bytes();
    let length = u32::try_from(directory.len()).unwrap().to_le_bytes();
    zip.write_all(&directory).unwrap();
    let end = [b"PK\x05\x06\0\0\0\0", &count[..], &count, &length, &start.to_le_bytes(), &[0; 2]].concat();
    zip.write_all(&end).unwrap();
    zip.into_inner()
}

/// Every hostile file as field, what it is, and its bytes.
fn files() -> Vec<(&'static str, String, Vec<u8>)> {
    let mut all = Vec::new();
    let mut add = |field, name: &str, bytes: Vec<u8>| all.push((field, name.to_owned(), bytes));
    for (name, text) in ACTIVE {
        for field in ["photo", "cv"] {
            add(field, name, text.into());
        }
        // These files are pictures only by their first bytes.
        for (format, magic) in
            [("gif", &b"GIF89a"[..]), ("png", b"\x89PNG\r\n\x1a\n"), ("jpeg", b"\xff\xd8\xff\xe0")]
        {
            add("photo", &format!("{name} called {format}"), [magic, text.as_bytes()].concat());
        }
        add("cv", &format!("{name} called pdf"), [b"%PDF-1.4\n", text.as_bytes()].concat());
    }
    for (name, bytes) in FOREIGN {
        for field in ["photo", "cv"] {
            add(field, name, bytes.to_vec());
        }
    }
    for format in [Jpeg, Png, Gif, WebP] {
        let whole = photo(format, 64, 64);
        for part in [1, 2, 4, 8, 16] {
            add("photo", &format!("{format:?} cut to 1/{part}"), whole[..(whole.len() - 20) / part].to_vec());
        }
        add("cv", &format!("{format:?} as a CV"), whole);
    }
    for (width, height) in [(20_000, 20_000), (65_535, 65_535), (0, 10), (10, 0), (1, 30_000), (6_400, 6_400)]
    {
        add("photo", &format!("png of {width}x{height}"), png_claiming(width, height));
        let [width, height] = [width, height].map(|side| u16::try_from(side).unwrap());
        add("photo", &format!("gif of {width}x{height}"), gif_claiming(width, height));
        add("photo", &format!("jpeg of {width}x{height}"), jpeg_claiming(width, height));
    }
    add("photo", "png with a broken palette", hostile::broken_palette());
    add("photo", "jpeg of 100 scans", hostile::many_scans(64, 64, 100));
    add("photo", "png of 16 bits a channel", hostile::black_png(8_000, 5_000, 16, 6, 1));
    add("photo", "png whose turn takes too much", hostile::black_png(8_000, 5_000, 8, 6, 6));
    add("photo", "png of 4294967295x1", png_claiming(u32::MAX, 1));
    add("photo", "png of 2147483647x2147483647", png_claiming(i32::MAX as u32, i32::MAX as u32));
    let types = ("[Content_Types].xml", 100);
    for (name, entries) in [
        ("bomb", vec![types, ("word/document.xml", 4_000_000_000)]),
        (
            "bomb of many parts",
            [vec![types, ("word/document.xml", 9)], vec![("word/x.xml", 90_000_000); 9]].concat(),
        ),
        ("bomb by ratio", vec![types, ("word/document.xml", 20_000_000)]),
        ("macros", vec![types, ("word/document.xml", 9), ("word/vbaProject.bin", 9)]),
        ("sheet", vec![types, ("xl/workbook.xml", 9)]),
        ("apk", vec![("AndroidManifest.xml", 9), ("classes.dex", 9)]),
        ("jar", vec![("META-INF/MANIFEST.MF", 9)]),
        ("archive", vec![("readme.txt", 9)]),
    ] {
        add("cv", name, zip_claiming(&entries));
    }
    add("cv", "too many parts", zip_claiming(&vec![("word/x", 1); 10_001]));
    let word = zip_claiming(&[types, ("word/document.xml", 9)]);
    for cut in [10, 30, 60, 90] {
        add("cv", &format!("document cut at {cut}"), word[..cut].to_vec());
    }
    for cut in [512, 1000] {
        let office = [b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", &vec![0xFF; cut][..]].concat();
        add("cv", "broken compound file", office);
    }
    add("cv", "cut pdf", pdf(5000)[..4000].to_vec());
    add("cv", "cut rtf", br"{\rtf1\ansi {\*\objdata 0105".to_vec());
    add("cv", "cut dvi", b"\xF7\x02\x01\x83\x92\xC0\x1C\x3B\x00\x00\x00".to_vec());
    add("cv", "blank", b" \n\t ".to_vec());
    add("cv", "text of another alphabet", b"\xc0\xed\xed\xe0 \xca\xe0\xf0\xe5\xed\xe8\xed\xe0".to_vec());
    add("cv", "escape sequences", b"\x1b]0;title\x07\x1b[2J".to_vec());
    for field in ["photo", "cv"] {
        add(field, "empty", Vec::new());
    }
    for seed in 0..20u32 {
        let noise = (0..400u32).map(|n| (2_654_435_761u32.wrapping_mul((n + 7) * (seed + 3)) >> 24) as u8);
        let noise: Vec<u8> = noise.collect();
        let field = if seed % 2 == 0 { "photo" } else { "cv" };
        add(field, &format!("noise {seed}"), [&[0x80], &noise[..]].concat());
    }
    all
}

async fn given() -> (TestApp, Staff, String) {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    (app, owner, format!("{project}candidates/"))
}

#[tokio::test]
async fn hostile_files_are_refused_each_with_a_reason() {
    let (app, owner, candidates) = given().await;
    let files = files();
    assert!(files.len() >= 200, "only {}", files.len());
    let before = app.table().snapshot().await;
    let mut refusals = Vec::new();
    for (field, name, bytes) in files {
        let form = Form::new().text("first_name", "Ada").text("last_name", "Byron");
        let form = form.file(field, "photo.jpg", "image/jpeg", &bytes);
        let refused = owner.send(Request::post(&candidates).form(form)).await;
        assert_eq!(refused.status, 400, "{name} as {field}: {refused}");
        refusals.push(refused);
        if field == "photo" && !bytes.is_empty() {
            let ada =
                json!({ "first_name": "Ada", "last_name": "Byron", "photo": data_uri("image/png", &bytes) });
            refusals.push(owner.post(&candidates, ada).await);
        }
    }
    assert_refusals!(refusals, @r#"
        88 x 400 {"photo":["Upload a valid image: JPEG, PNG, GIF or WebP."]}
        54 x 400 {"cv":["Upload a PDF, Word, OpenDocument text, PowerPoint (.ppt), RTF, richtext, PostScript, DVI or plain text file."]}
        82 x 400 {"photo":["Ensure this image has no more than 40 megapixels and 20000 pixels per side."]}
        82 x 400 {"photo":["This image is broken or incomplete."]}
        24 x 400 {"cv":["This file is broken or incomplete."]}
        2 x 400 {"photo":["This file is broken. Save it again and upload the new copy."]}
        6 x 400 {"photo":["This image needs too much memory. Save it with fewer pixels, 8 bits per channel and without progressive encoding."]}
        3 x 400 {"cv":["This file is too large when it is unpacked."]}
        400 {"cv":["Save this file without macros."]}
        400 {"cv":["This file has too many parts."]}
        400 {"photo":["The submitted file is empty."]}
        400 {"cv":["The submitted file is empty."]}
        "#);
    assert_eq!(app.table().snapshot().await, before);
    assert!(app.object_keys().is_empty());
}

/// A picture that is good, with something in it that is not: what is served is the picture alone.
#[tokio::test]
async fn hidden_data_in_a_valid_picture_is_not_served() {
    let (app, owner, candidates) = given().await;
    for (format, content_type) in [(Jpeg, "image/jpeg"), (Png, "image/png"), (Gif, "image/gif")] {
        for (name, text) in ACTIVE {
            let bytes = [&photo(format, 16, 16)[..], text.as_bytes()].concat();
            let ada =
                json!({ "first_name": "Ada", "last_name": "Byron", "photo": data_uri(content_type, &bytes) });
            let response = owner.post(&candidates, ada).await;
            if response.status == 400 {
                continue;
            }
            let address = response.expect(201).uri("photo");
            let found = app.anonymous().get(&address).await.expect(302);
            let served = tests::files::fetch(found.header("location").unwrap(), &[]).await;
            assert!(served.header("content-type").starts_with("image/"));
            let hidden = served.body.windows(text.len()).any(|window| window == text.as_bytes());
            assert!(!hidden, "{name} behind {format:?}");
        }
    }
}

/// Chunks that unpack to more than the pixels are left packed: the picture is taken without them.
#[tokio::test]
async fn compressed_chunks_without_pixels_are_dropped() {
    let (_app, owner, candidates) = given().await;
    for bomb in
        [hostile::profile_bomb(64 << 20), hostile::text_bomb(1 << 20, 9), hostile::pixel_bomb(1 << 20)]
    {
        let ada = json!({ "first_name": "Ada", "last_name": "Byron", "photo": data_uri("image/png", &bomb) });
        let address = owner.post(&candidates, ada).await.expect(201).uri("photo");
        let found = owner.get(&address).await.expect(302);
        let served = tests::files::fetch(found.header("location").unwrap(), &[]).await;
        assert!(served.body.len() < 200, "{} bytes", served.body.len());
    }
}

/// A file that breaks the decoder ends its own upload, not the function, and comes no second time.
#[tokio::test]
async fn a_file_over_which_the_decoder_panics_is_refused_as_an_upload_too() {
    let (app, owner, candidates) = given().await;
    let candidate = owner.post(&candidates, json!({ "first_name": "Ada", "last_name": "Byron" })).await;
    let candidate = candidate.expect(201).uri("resource_uri");
    let bytes = hostile::broken_palette();
    let announced = json!({ "field": "photo", "content_type": "image/png", "size": bytes.len() });
    let announced = owner.post(&format!("{candidate}uploads/"), announced).await.expect(201).json();
    tests::files::put(&announced, bytes).await;
    app.settle().await;
    let upload = owner.get(announced["resource_uri"].as_str().unwrap()).await.expect(200).json();
    assert_eq!(upload["status"], "failed", "{upload}");
    assert!(upload["error"].as_str().is_some_and(|error| error.contains("broken")), "{upload}");
    assert!(app.object_keys().is_empty());
}
