//! CVs and photos that are whole, but not as programs usually write them.

use image::ImageFormat::Jpeg;
use serde_json::json;
use tests::assert_refusals;
use tests::caller::Caller;
use tests::files::{data_uri, fetch, pdf, photo, zip};
use tests::http::{Request, send_each};

use super::files::{ada, follow, given};

const WORD: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";

/// A Word document whose main part has this name.
fn word(main_part: &str) -> Vec<u8> {
    let types =
        format!("<Types><Override PartName=\"/{main_part}\" ContentType=\"{WORD}.main+xml\"/></Types>");
    zip(&[("[Content_Types].xml", &types), (main_part, "<w:document/>")])
}

#[tokio::test]
async fn cvs_are_known_whatever_surrounds_them() {
    let (app, owner, candidates) = given().await;
    let rtf = br"{\rtf1\ansi Ada}";
    let header = b"HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\n\r\n";
    for (bytes, served) in [
        (word("word/document2.xml"), WORD),
        (word("word/document22.xml"), WORD),
        (word("document.xml"), WORD),
        (word(r"word\document.xml"), WORD),
        ([b"\xEF\xBB\xBF", &pdf(100)[..]].concat(), "application/pdf"),
        ([b"\r\n\r\n \n", &pdf(100)[..]].concat(), "application/pdf"),
        ([header, &pdf(100)[..]].concat(), "application/pdf"),
        ([&pdf(100)[..], &[0; 4000]].concat(), "application/pdf"),
        ([&pdf(100)[..], &b"<p>Thank you</p>\r\n".repeat(100)].concat(), "application/pdf"),
        ([b"\xEF\xBB\xBF\r\n", &rtf[..]].concat(), "application/rtf"),
        ([&rtf[..], b"\r\n\0\0\x1A"].concat(), "application/rtf"),
    ] {
        let form = ada().file("cv", "cv", "application/octet-stream", &bytes);
        let created = owner.send(Request::post(&candidates).form(form)).await.expect(201);
        let found = app.anonymous().get(&created.uri("cv")).await.expect(302);
        let cv = fetch(found.header("location").unwrap(), &[]).await;
        assert_eq!((cv.header("content-type"), &cv.body), (served, &bytes));
    }
    let mut refusals = Vec::new();
    for bytes in [
        zip(&[("[Content_Types].xml", "<Types/>"), ("xl/workbook.xml", "<x/>")]),
        [b"\n", &pdf(100)[..100], b"\0"].concat(),
        [b"\n", &rtf[..], b"\x01"].concat(),
    ] {
        let form = ada().file("cv", "cv", "application/octet-stream", &bytes);
        refusals.push(owner.send(Request::post(&candidates).form(form)).await);
    }
    assert_refusals!(refusals, @r#"
        400 {"cv":["Upload a PDF, Word, OpenDocument text, PowerPoint (.ppt), RTF, richtext, PostScript, DVI or plain text file."]}
        2 x 400 {"cv":["This file is broken or incomplete."]}
        "#);
}

#[tokio::test]
async fn a_photo_may_lack_the_mark_of_its_end_but_no_pixel() {
    let (_app, owner, candidates) = given().await;
    let whole = photo(Jpeg, 60, 40);
    let sent = |bytes: &[u8]| json!({ "first_name": "Ada", "last_name": "Byron", "photo": data_uri("image/jpeg", bytes) });
    let mut served = Vec::new();
    for (missing, padding) in [(0, 0), (1, 0), (2, 0), (2, 9)] {
        let bytes = [&whole[..whole.len() - missing], &vec![0; padding]].concat();
        let candidate = owner.post(&candidates, sent(&bytes)).await.expect(201).uri("resource_uri");
        let found = follow(&owner, &candidate, "photo").await.expect(302);
        served.push(fetch(found.header("location").unwrap(), &[]).await.body);
    }
    assert!(served.iter().all(|picture| *picture == served[0]));
    let mut refusals =
        send_each([4, 40, 400], |missing| owner.post(&candidates, sent(&whole[..whole.len() - missing])))
            .await;
    // Whole scans may be missing, each of which makes the picture sharper.
    let progressive = include_bytes!("../../fuzz/corpus/picture/progressive.jpg");
    owner.post(&candidates, sent(progressive)).await.expect(201);
    let last_scan = progressive.windows(2).rposition(|pair| pair == [0xFF, 0xDA]).unwrap();
    refusals.push(owner.post(&candidates, sent(&progressive[..last_scan])).await);
    assert_refusals!(refusals, @r#"4 x 400 {"photo":["This image is broken or incomplete."]}"#);
}
