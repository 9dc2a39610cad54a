//! Forms as clients write them: names of files, types, encodings and charsets.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use image::ImageFormat::{Jpeg, Png};
use serde_json::json;
use tests::caller::Caller;
use tests::files::{Form, fetch, pdf, photo};
use tests::http::Request;
use tests::{assert_refusal, assert_refusals};

use super::files::{ada, follow, given};

const NO_HEADERS: &str = "";

/// Base64 in lines, as mail libraries write it.
fn lines(bytes: &[u8]) -> String {
    let text = STANDARD.encode(bytes);
    text.as_bytes().chunks(76).map(|line| format!("{}\r\n", String::from_utf8_lossy(line))).collect()
}

fn quoted_printable(bytes: &[u8]) -> String {
    let line = |line: &[u8]| line.iter().map(|byte| format!("={byte:02X}")).collect::<String>();
    bytes.chunks(25).map(line).collect::<Vec<_>>().join("=\r\n")
}

#[tokio::test]
async fn a_file_is_taken_however_its_part_is_declared() {
    let (app, owner, candidates) = given().await;
    let (png, cv) = (photo(Png, 4, 4), pdf(100));
    let rtf = br"{\rtf1\ansi Ada}";
    let base64 = "Content-Type: image/png\r\nContent-Transfer-Encoding: BASE64\r\n";
    let quoted = "Content-Transfer-Encoding: quoted-printable\r\n";
    let (encoded_photo, encoded_cv) = (lines(&png), quoted_printable(&cv));
    for (parameters, headers, bytes, served) in [
        // From memory, without a name.
        (&b"name=\"photo\""[..], "Content-Type: image/png\r\n", &png[..], "image/png"),
        (b"name=\"photo\"", NO_HEADERS, &png, "image/png"),
        (b"name=\"cv\"", NO_HEADERS, &cv, "application/pdf"),
        (b"name=\"cv\"", "Content-Type: text/plain\r\n", rtf, "application/rtf"),
        (b"name=\"cv\"", "Content-Type: text/richtext\r\n", b"Ada Byron", "text/plain; charset=utf-8"),
        (b"name=\"cv\"; filename=\"\"", NO_HEADERS, b"Ada Byron", "text/plain; charset=utf-8"),
        // With an extended name alone, and on either side of a plain one.
        (b"name=\"photo\"; filename*=UTF-8''Zo%C3%AB.png", NO_HEADERS, &png, "image/png"),
        (
            b"name=\"cv\"; filename*=UTF-8''Zo%C3%AB; filename=\"Zo\"",
            NO_HEADERS,
            b"Ada",
            "text/plain; charset=utf-8",
        ),
        (
            b"name=\"cv\"; filename=\"Zo\"; filename*=UTF-8''Zo%C3%AB",
            NO_HEADERS,
            b"Ada",
            "text/plain; charset=utf-8",
        ),
        // With names in Latin-1 and Shift-JIS, and one that looks like a parameter.
        (b"name=\"cv\"; filename=\"Zo\xEB.txt\"", NO_HEADERS, b"Ada", "text/plain; charset=utf-8"),
        (b"name=\"photo\"; filename=\"\x83\x81.png\"", NO_HEADERS, &png, "image/png"),
        (b"filename=\"a; name=b.txt\"; name=\"cv\"", NO_HEADERS, b"Ada", "text/plain; charset=utf-8"),
        // Encoded for mails.
        (b"name=\"photo\"; filename=\"a.png\"", base64, encoded_photo.as_bytes(), "image/png"),
        (b"name=\"cv\"; filename=\"a.pdf\"", quoted, encoded_cv.as_bytes(), "application/pdf"),
        // A charset in the wrong place.
        (
            b"name=\"cv\"; filename=\"a.txt\"",
            "Content-Transfer-Encoding: utf-8\r\n",
            b"Ada",
            "text/plain; charset=utf-8",
        ),
        (b"name=\"photo\"; filename=\"a.png\"", "Content-Transfer-Encoding: binary\r\n", &png, "image/png"),
    ] {
        let form = ada().part(parameters, headers, bytes);
        let created = owner.send(Request::post(&candidates).form(form)).await.expect(201);
        let field = if String::from_utf8_lossy(parameters).contains("\"photo\"") { "photo" } else { "cv" };
        let found = app.anonymous().get(&created.uri(field)).await.expect(302);
        let file = fetch(found.header("location").unwrap(), &[]).await;
        assert_eq!(file.header("content-type"), served, "{}", String::from_utf8_lossy(parameters));
        if served == "application/pdf" {
            assert_eq!(file.body, cv);
        }
    }
}

#[tokio::test]
async fn parts_that_are_no_files_are_refused_with_what_to_do() {
    let (app, owner, candidates) = given().await;
    let before = app.table().snapshot().await;
    let mut refusals = Vec::new();
    for (parameters, headers, text) in [
        ("name=\"cv\"", NO_HEADERS, "undefined"),
        ("name=\"cv\"", "Content-Type: text/plain; charset=utf-8\r\n", "~/cv.pdf"),
        ("name=\"photo\"", NO_HEADERS, "null"),
        ("name=\"photo\"", "Content-Type: image/png\r\n", "null"),
        ("name=\"photo\"; filename=\"a.png\"", "Content-Transfer-Encoding: base64\r\n", "!"),
        ("name=\"cv\"; filename=\"a.txt\"", "Content-Transfer-Encoding: quoted-printable\r\n", "=ZZ"),
        ("name=\"last_name\"", "Content-Transfer-Encoding: base64\r\n", "Byron!"),
    ] {
        let form = Form::new().text("first_name", "Ada");
        let form = if text == "Byron!" { form } else { form.text("last_name", "Byron") };
        let form = form.part(parameters, headers, text.as_bytes());
        refusals.push(owner.send(Request::post(&candidates).form(form)).await);
    }
    let twice = ada().file("photo", "a.png", "image/png", &photo(Png, 4, 4)).text("photo", "");
    refusals.push(owner.send(Request::post(&candidates).form(twice)).await);
    assert_refusals!(refusals, @r#"
        2 x 400 {"cv":["Send this file as a multipart/form-data part with a file name."]}
        400 {"photo":["Use data:<mime type>;base64,<data>, or a multipart/form-data part with a file name."]}
        400 {"photo":["Upload a valid image: JPEG, PNG, GIF or WebP."]}
        400 {"photo":["The content of this part is not what its Content-Transfer-Encoding declares. Send it as it is, without this header."]}
        400 {"cv":["The content of this part is not what its Content-Transfer-Encoding declares. Send it as it is, without this header."]}
        400 {"last_name":["The content of this part is not what its Content-Transfer-Encoding declares. Send it as it is, without this header."]}
        400 {"photo":["This field appears twice. Send it once."]}
        "#);
    assert_eq!(app.table().snapshot().await, before);
    assert!(app.object_keys().is_empty());
}

#[tokio::test]
async fn texts_of_a_form_are_read_as_they_are_declared() {
    let (_app, owner, candidates) = given().await;
    let latin = "Content-Type: text/plain; charset=ISO-8859-1\r\n";
    let json = "Content-Type: application/json\r\n";
    let form = Form::new()
        .part("name=\"first_name\"", latin, b"Zo\xEB")
        // Declared by the library, although it is UTF-8.
        .part("name=\"last_name\"", latin, "Müller".as_bytes())
        .part("name=\"phone\"; filename=\"blob\"", NO_HEADERS, b"123")
        .part("name=\"partner_data\"; filename=\"blob\"", json, br#"{"ats": 7}"#)
        // Nothing reads these, which only responses have.
        .text("status", "a")
        .text("status", "b")
        .part("name=\"company\"", NO_HEADERS, b"\xFF");
    let created = owner.send(Request::post(&candidates).form(form)).await.expect(201).json();
    let names = (&created["first_name"], &created["last_name"], &created["partner_data"]);
    assert_eq!(names, (&json!("Zoë"), &json!("Müller"), &json!({ "ats": 7 })));

    // Each with what is wrong with it, and not as missing besides.
    let form = Form::new()
        .part("name=\"first_name\"", "Content-Type: text/plain; charset=klingon\r\n", b"Zo\xEB")
        .text("last_name", "Byron")
        .text("last_name", "King")
        .text("gender", &"x".repeat(64 * 1024 + 1));
    assert_refusal!(owner.send(Request::post(&candidates).form(form)).await, @r#"
        400 {
          "first_name":["Encode text as UTF-8."],
          "gender":["Ensure this field has no more than 64 KiB."],
          "last_name":["This field appears twice. Send it once."]
        }
        "#);
}

#[tokio::test]
async fn a_data_uri_is_read_as_browsers_and_libraries_write_it() {
    let (_app, owner, candidates) = given().await;
    let jpeg = photo(Jpeg, 9, 9);
    let base64 = STANDARD.encode(&jpeg);
    for uri in [
        format!("data:image/jpeg;base64,{}", lines(&jpeg)),
        format!(" data:image/jpeg;base64,{base64}\n"),
        format!("DATA:image/jpeg;BASE64,{base64}"),
        format!("data:image/jpeg;name=a.jpg; base64,{base64}"),
        format!("data:;base64,{}", STANDARD_NO_PAD.encode(&jpeg)),
        format!(
            "data:image/jpeg;base64,{}",
            base64.replace('+', "%2B").replace('/', "%2F").replace('=', "%3D")
        ),
    ] {
        let json = json!({ "first_name": "Ada", "last_name": "Byron", "photo": uri });
        let candidate = owner.post(&candidates, json).await.expect(201).uri("resource_uri");
        follow(&owner, &candidate, "photo").await.expect(302);
        let form = ada().text("photo", &uri);
        owner.send(Request::post(&candidates).form(form)).await.expect(201);
    }
    let mut refusals = Vec::new();
    for uri in ["data:image/jpeg,abc", "data:image/jpeg;base64", "data:image/jpeg;base64,a", "database"] {
        let json = json!({ "first_name": "Ada", "last_name": "Byron", "photo": uri });
        refusals.push(owner.post(&candidates, json).await);
    }
    assert_refusals!(refusals, @r#"4 x 400 {"photo":["Use data:<mime type>;base64,<data>, or a multipart/form-data part with a file name."]}"#);
    // A value that was read comes back with a line break from an editor.
    let candidate = ada().file("photo", "a.jpg", "image/jpeg", &jpeg);
    let created = owner.send(Request::post(&candidates).form(candidate)).await.expect(201);
    let kept = json!({ "photo": format!("{}\n", created.uri("photo")) });
    let kept = owner.patch(&created.uri("resource_uri"), kept).await.expect(200).json();
    assert_ne!(kept["photo"], "");
}
