//! Photos and CVs: sent along with the fields, validated, replaced and served.

use axum::http::Method;
use chrono::TimeDelta;
use image::ImageFormat::{Gif, Jpeg, Png, WebP};
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, Staff};
use tests::files::{Form, data_uri, fetch, pdf, photo, send_to};
use tests::http::{Request, Response};
use tests::{assert_refusal, assert_refusals};

const ADA: [(&str, &str); 2] = [("first_name", "Ada"), ("last_name", "Byron")];

/// A form with the fields that a candidate needs.
pub(crate) fn ada() -> Form {
    ADA.into_iter().fold(Form::new(), |form, (name, value)| form.text(name, value))
}

pub(crate) async fn given() -> (TestApp, Staff, String) {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    (app, owner, format!("{project}candidates/"))
}

/// A candidate with a photo and a CV.
pub(crate) async fn with_files(owner: &Staff, candidates: &str) -> String {
    let form = ada().file("photo", "me.jpg", "image/jpeg", &photo(Jpeg, 60, 40)).file(
        "cv",
        "cv.pdf",
        "application/pdf",
        &pdf(1000),
    );
    owner.send(Request::post(candidates).form(form)).await.expect(201).uri("resource_uri")
}

/// The way on from the URL in a field of the resource at `uri`, without any credential.
pub(crate) async fn follow(caller: &impl Caller, uri: &str, field: &str) -> Response {
    let url = caller.get(uri).await.expect(200).uri(field);
    caller.app().anonymous().get(&url).await
}

#[tokio::test]
async fn a_photo_and_a_cv_come_with_the_fields_and_are_fetched_without_a_header() {
    let (app, owner, candidates) = given().await;
    let form = ada()
        .text("partner_data", r#"{"ats": 7}"#)
        .file("photo", "me.jpg", "image/jpeg", &photo(Jpeg, 60, 40))
        .file("cv", "../../Ada's CV.exe", "application/x-msdownload", &pdf(1000));
    let created = owner.send(Request::post(&candidates).form(form)).await.expect(201);
    let candidate = created.json();
    assert_eq!((&candidate["first_name"], &candidate["partner_data"]["ats"]), (&json!("Ada"), &json!(7)));

    let found = app.anonymous().get(&created.uri("photo")).await.expect(302);
    assert_eq!(found.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(found.header("cache-control"), Some("private, no-store"));
    assert_eq!(found.header("referrer-policy"), Some("no-referrer"));
    assert_eq!(found.log().dynamodb_calls, 1);
    let picture = fetch(found.header("location").unwrap(), &[]).await;
    assert_eq!((picture.status.as_u16(), picture.header("content-type")), (200, "image/jpeg"));
    assert_eq!(picture.header("content-disposition"), "inline");
    let picture = image::load_from_memory(&picture.body).unwrap();
    assert_eq!((picture.width(), picture.height()), (60, 40));

    let found = app.anonymous().get(&created.uri("cv")).await.expect(302);
    let cv = fetch(found.header("location").unwrap(), &[]).await;
    assert_eq!(cv.header("content-type"), "application/pdf");
    assert!(cv.header("content-disposition").starts_with("attachment; filename=\"Ada Byron CV.pdf\""));
    assert_eq!(cv.body, pdf(1000));
    let part = fetch(found.header("location").unwrap(), &[("range", "bytes=5-7")]).await;
    assert_eq!((part.status.as_u16(), &part.body[..]), (206, &b"1.4"[..]));

    let head = app.send(Request::new(Method::HEAD, &created.uri("cv"))).await.expect(302);
    let head = send_to(Method::HEAD, head.header("location").unwrap(), &[], Vec::new()).await;
    assert_eq!((head.status.as_u16(), head.header("content-type")), (200, "application/pdf"));
}

#[tokio::test]
async fn a_photo_comes_as_a_data_uri_too_and_leaves_by_an_empty_one() {
    let (app, owner, candidates) = given().await;
    for (format, content_type, served) in [
        (Jpeg, "image/jpeg", "image/jpeg"),
        (Png, "image/png", "image/png"),
        (Gif, "image/gif", "image/png"),
        (WebP, "image/webp", "image/jpeg"),
    ] {
        let uri = data_uri(content_type, &photo(format, 30, 30));
        // Schemes have no case, nor has the name of the encoding.
        let uri = if format == Gif {
            uri.replacen("data:", "Data:", 1).replacen("base64", "BASE64", 1)
        } else {
            uri
        };
        let ada = json!({ "first_name": "Ada", "last_name": "Byron", "photo": uri });
        let candidate = owner.post(&candidates, ada).await.expect(201).uri("resource_uri");
        let found = follow(&owner, &candidate, "photo").await.expect(302);
        let picture = fetch(found.header("location").unwrap(), &[]).await;
        assert_eq!(picture.header("content-type"), served, "{format:?}");
    }
    app.settle().await;
    let before = app.object_keys();
    assert_eq!(before.len(), 4);

    let candidate = with_files(&owner, &candidates).await;
    // A candidate can be sent back as they were read.
    let read = owner.get(&candidate).await.expect(200).json();
    owner.patch(&candidate, read).await.expect(200);
    for (field, nothing) in [("photo", json!("")), ("cv", Value::Null)] {
        let changed = owner.patch(&candidate, json!({ field: nothing })).await.expect(200);
        assert_eq!(changed.json()[field], "");
        assert_eq!(owner.get(&candidate).await.expect(200).json()[field], "");
    }
    app.settle().await;
    assert_eq!(app.object_keys(), before, "what nobody has any more is deleted");
    let form = Form::new().file("photo", "", "application/octet-stream", b"").text("phone", "123");
    let changed = owner.send(Request::patch(&candidate).form(form)).await.expect(200).json();
    assert_eq!((&changed["photo"], &changed["phone"]), (&json!(""), &json!("123")), "no file was chosen");
}

#[tokio::test]
async fn another_photo_replaces_the_one_before() {
    let (app, owner, candidates) = given().await;
    let candidate = with_files(&owner, &candidates).await;
    let old = owner.get(&candidate).await.expect(200).uri("photo");
    let first = app.object_keys();
    let form = Form::new().file("photo", "b.png", "image/png", &photo(Png, 10, 10));
    owner.send(Request::patch(&candidate).form(form)).await.expect(200);
    app.anonymous().get(&old).await.expect_code(401, "invalid_credential");
    app.settle().await;
    let second = app.object_keys();
    assert_eq!(second.len(), 2);
    assert_eq!(first.iter().filter(|key| second.contains(key)).count(), 1, "the CV stays");
    let found = follow(&owner, &candidate, "photo").await.expect(302);
    assert_eq!(fetch(found.header("location").unwrap(), &[]).await.header("content-type"), "image/png");

    owner.delete(&candidate).await.expect(204);
    app.settle().await;
    assert!(app.object_keys().is_empty());
}

#[tokio::test]
async fn customers_have_photos_which_they_and_their_managers_change() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let (admin, hiring) = (app.staff("admin").await, app.staff("hiring-manager").await);
    let form = || Form::new().file("photo", "me.png", "image/png", &photo(Png, 8, 8));
    let change = || Request::patch(&hiring.uri).form(form());
    hiring.send(change()).await.expect(200);
    admin.send(change()).await.expect(200);
    assert_refusal!(hiring.send(Request::patch(&admin.uri).form(form())).await, @r#"
        403 {
          "code":"permission_denied",
          "detail":"You do not have the permission `manage_customers` here.",
          "permission":"manage_customers"
        }
    "#);
    let found = follow(&hiring, &hiring.uri, "photo").await.expect(302);
    assert_eq!(fetch(found.header("location").unwrap(), &[]).await.status, 200);

    let new = Form::new()
        .text("first_name", "Grace")
        .text("last_name", "Hopper")
        .text("email", "grace@acme.example")
        .text("account_type", "recruiter")
        .text("preferred_language", "en")
        .text("receive_interview_notifications", "false")
        .file("photo", "g.jpg", "image/jpeg", &photo(Jpeg, 8, 8));
    let created = owner.send(Request::post("/companies/acme/customers/").form(new)).await.expect(201);
    assert_eq!(created.json()["receive_interview_notifications"], false);
    app.anonymous().get(&created.uri("photo")).await.expect(302);
    let list = owner.get("/companies/acme/customers/").await.expect(200).json();
    let shown = list["objects"].as_array().unwrap().iter().filter(|customer| customer["photo"] != "");
    assert_eq!(shown.count(), 2);

    app.settle().await;
    assert_eq!(app.object_keys().len(), 2);
    owner.delete(&created.uri("resource_uri")).await.expect(204);
    app.settle().await;
    assert_eq!(app.object_keys().len(), 1);
}

#[tokio::test]
async fn errors_of_files_are_returned_with_all_others_and_nothing_is_stored() {
    let (app, owner, candidates) = given().await;
    let before = app.table().snapshot().await;
    let form = Form::new()
        .text("first_name", "Ada")
        .text("email", "ada")
        .file("photo", "x.jpg", "image/jpeg", b"<html>")
        .file("cv", "x.pdf", "application/pdf", b"MZ\x90\0");
    let refused = owner.send(Request::post(&candidates).form(form)).await;
    assert_refusal!(refused, @r#"
        400 {
          "cv":["Upload a PDF, Word, OpenDocument text, PowerPoint (.ppt), RTF, richtext, PostScript, DVI or plain text file."],
          "email":["Enter a valid email address."],
          "last_name":["This field is required."],
          "photo":["Upload a valid image: JPEG, PNG, GIF or WebP."]
        }
        "#);
    let mut refusals = Vec::new();
    for (photo, cv) in
        [(json!(7), json!("text")), (json!("data:image/png;base64,!"), json!("data:text/plain;base64,QQ=="))]
    {
        let ada = json!({ "first_name": "Ada", "last_name": "Byron", "photo": photo, "cv": cv });
        refusals.push(owner.post(&candidates, ada).await);
    }
    assert_refusals!(refusals, @r#"
        400 {"cv":["Send this file as a multipart/form-data part with a file name."],"photo":["Not a valid string."]}
        400 {"cv":["Send this file as a multipart/form-data part with a file name."],"photo":["Use data:<mime type>;base64,<data>, or a multipart/form-data part with a file name."]}
        "#);
    let entry = json!({ "first_name": "Ada", "last_name": "Byron", "photo": data_uri("image/png", &photo(Png, 4, 4)) });
    let import = owner.post(&format!("{candidates}import/"), json!([entry])).await.expect(200).json();
    assert_eq!(import["objects"][0]["status"], "failed");
    assert!(import["objects"][0]["errors"]["photo"].is_array(), "{import}");

    let twice = ada().file("photo", "a.png", "image/png", b"").file("photo", "b.png", "image/png", b"x");
    owner.send(Request::post(&candidates).form(twice)).await.expect(400);
    let form = |boundary: &str, body: &[u8]| {
        Request::post(&candidates).body(&format!("multipart/form-data{boundary}"), body)
    };
    for request in [
        form("", b"--x--"),
        form("; boundary=x", b""),
        form("; boundary=x", b"--y\r\n\r\n--y--"),
        form("; boundary=x", b"--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\ncut"),
        form("; boundary=x", b"--x\r\nContent-Disposition: form-data\r\n\r\nnameless\r\n--x--\r\n"),
    ] {
        let refused = owner.send(request).await.expect(400).json();
        assert!(
            refused["detail"].as_str().unwrap().starts_with("Multipart form parse error - "),
            "{refused}"
        );
        assert_eq!(refused["code"], "parse_error");
    }
    assert_refusal!(owner.send(Request::post(&candidates).body("text/plain", "x")).await, @r#"415 {"code":"unsupported_media_type","detail":"Send the body as application/json, or as multipart/form-data with files."}"#);
    let large = ada().file("cv", "cv.pdf", "application/pdf", &pdf(4_600 * 1024));
    let refused = owner.send(Request::post(&candidates).form(large)).await;
    assert_refusal!(refused, @r#"413 {"code":"too_large","detail":"The request body is too large. POST the file's metadata as JSON to …/uploads/ (videos: …/videos/), then upload the file to the URL in the answer."}"#);
    assert!(refused.json()["detail"].as_str().unwrap().contains("/uploads/"));
    assert_eq!(app.table().snapshot().await, before);
    assert!(app.object_keys().is_empty());
}

#[tokio::test]
async fn texts_are_served_as_they_are_and_with_their_encoding() {
    let (app, owner, candidates) = given().await;
    let text = "Zoë Müller – Łódź\n";
    let utf16 = |mark: &str| format!("{mark}{text}").encode_utf16().collect::<Vec<_>>();
    let richtext = "<bold>Zoë</bold> Müller<nl>\n<paragraph>Mathematician</paragraph>\n";
    for (declared, bytes, served) in [
        ("text/plain", text.into(), "text/plain; charset=utf-8"),
        ("text/plain", b"Zo\xEB M\xFCller\r\n".to_vec(), "text/plain; charset=iso-8859-1"),
        ("text/plain", b"Zo\xEB \x96 M\xFCller".to_vec(), "text/plain; charset=windows-1252"),
        (
            "text/plain",
            utf16("\u{feff}").into_iter().flat_map(u16::to_le_bytes).collect(),
            "text/plain; charset=utf-16",
        ),
        (
            "text/plain",
            utf16("\u{feff}").into_iter().flat_map(u16::to_be_bytes).collect(),
            "text/plain; charset=utf-16",
        ),
        ("text/richtext", richtext.into(), "text/richtext; charset=utf-8"),
        ("text/richtext", br"{\rtf1\ansi Zo\'eb}".to_vec(), "application/rtf"),
    ] {
        let form = ada().file("cv", "cv.txt", declared, &bytes);
        let created = owner.send(Request::post(&candidates).form(form)).await.expect(201);
        let found = app.anonymous().get(&created.uri("cv")).await.expect(302);
        let cv = fetch(found.header("location").unwrap(), &[]).await;
        assert_eq!((cv.header("content-type"), &cv.body), (served, &bytes));
        assert!(cv.header("content-disposition").starts_with("attachment; "));
        let head = app.send(Request::get(&created.uri("cv")).head()).await.expect(302);
        let head = send_to(Method::HEAD, head.header("location").unwrap(), &[], Vec::new()).await;
        assert_eq!(head.header("content-length"), bytes.len().to_string());
    }
    for bytes in
        [&b"\xC0\xED\xED\xE0 \xCA\xE0\xF0\xE5\xED"[..], b"\xFF\xFE<\0s\0>\0", b"<script>", b"\xFF\xFEa"]
    {
        let form = ada().file("cv", "cv.txt", "text/plain", bytes);
        assert_refusal!(owner.send(Request::post(&candidates).form(form)).await, @r#"400 {"cv":["Upload a PDF, Word, OpenDocument text, PowerPoint (.ppt), RTF, richtext, PostScript, DVI or plain text file."]}"#);
    }
}

#[tokio::test]
async fn only_the_url_of_ones_own_file_leaves_it_as_it_is() {
    let (app, owner, candidates) = given().await;
    let [one, other] = [with_files(&owner, &candidates).await, with_files(&owner, &candidates).await];
    let (shown, others) = (owner.get(&one).await.expect(200), owner.get(&other).await.expect(200));
    let form = Form::new().file("photo", "me.png", "image/png", &photo(Png, 8, 8));
    let hiring = app.staff("hiring-manager").await;
    let customers = hiring.send(Request::patch(&hiring.uri).form(form)).await.expect(200).uri("photo");
    let stored = app.object_keys();
    let mut refusals = Vec::new();
    for field in ["photo", "cv"] {
        let own = shown.uri(field);
        for kept in [&own, own.trim_end_matches('/')] {
            owner.patch(&one, json!({ field: kept })).await.expect(200);
        }
        let sent_as_form = Request::patch(&one).form(Form::new().text(field, &own));
        owner.send(sent_as_form).await.expect(200);
        let foreign = own.replace("https://hr.example", "https://evil.example");
        let other_kind = shown.uri(if field == "cv" { "photo" } else { "cv" });
        for wrong in [
            &others.uri(field),
            &customers,
            &foreign,
            &other_kind,
            &format!("{one}{field}/"),
            &format!("{one}{field}/../{field}/x/"),
            "https://evil.example/photo/cv/",
            "http://photo/",
        ] {
            refusals.push(owner.patch(&one, json!({ field: wrong })).await);
            let sent_as_form = Request::patch(&one).form(Form::new().text(field, wrong));
            refusals.push(owner.send(sent_as_form).await);
            let ada = json!({ "first_name": "Ada", "last_name": "Byron", field: wrong });
            refusals.push(owner.post(&candidates, ada).await);
        }
    }
    assert_refusals!(refusals, @r#"
        24 x 400 {"photo":["To keep the file, send the URL that this resource shows, or omit the field."]}
        24 x 400 {"cv":["To keep the file, send the URL that this resource shows, or omit the field."]}
        "#);
    hiring.patch(&hiring.uri, json!({ "photo": customers })).await.expect(200);
    assert_refusal!(hiring.patch(&hiring.uri, json!({ "photo": shown.uri("photo") })).await, @r#"400 {"photo":["To keep the file, send the URL that this resource shows, or omit the field."]}"#);
    app.settle().await;
    assert_eq!(app.object_keys(), stored);
}

#[tokio::test]
async fn orphaned_files_are_deleted() {
    let (app, owner, candidates) = given().await;
    let taken = ada().text("username", "ada");
    owner.send(Request::post(&candidates).form(taken.clone())).await.expect(201);
    let again = taken.file("photo", "a.jpg", "image/jpeg", &photo(Jpeg, 9, 9));
    assert_refusal!(owner.send(Request::post(&candidates).form(again)).await, @r#"400 {"username":["This username is already in use."]}"#);
    assert_eq!(app.object_keys().len(), 1);
    app.clock().advance(TimeDelta::minutes(6));
    app.sweep().await;
    app.settle().await;
    assert!(app.object_keys().is_empty());
}
