//! The logo of a company: made small and flat, shown to everyone who has its URL, on the page and in mails.

use image::{DynamicImage, GenericImageView as _, ImageFormat, Rgba, RgbaImage};
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, Staff};
use tests::files::{Form, noise, photo};
use tests::hostile::{black_png, broken_palette, pixel_bomb};
use tests::http::{Request, Response, send_each};
use tests::{assert_refusal, assert_refusals};

const LOGO: &str = "/companies/acme/logo/";

async fn put(staff: &Staff, bytes: &[u8]) -> Response {
    let form = Form::new().file("file", "logo.png", "image/png", bytes);
    staff.send(Request::put(LOGO).form(form)).await
}

/// The picture at the URL of the logo, for everyone.
async fn fetched(app: &TestApp, url: &str) -> DynamicImage {
    let file = app.anonymous().get(url).await.expect(200);
    assert_eq!(file.header("content-type"), Some("image/png"));
    assert_eq!(file.header("cache-control"), Some("public, max-age=3600"));
    assert_eq!(file.header("x-content-type-options"), Some("nosniff"));
    image::load_from_memory_with_format(&file.body, ImageFormat::Png).unwrap()
}

fn is_stored(app: &TestApp) -> bool {
    app.items().iter().any(|item| item["pk"]["S"] == "LOGO#acme")
}

#[tokio::test]
async fn a_logo_is_fitted_and_keeps_its_url_until_it_is_deleted() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let company = put(&owner, &photo(ImageFormat::Png, 1200, 200)).await.expect(200);
    let url = company.uri("logo");
    assert!(url.starts_with("https://hr.example/api/v3/companies/acme/logo/"), "{url}");
    assert_eq!(fetched(&app, &url).await.dimensions(), (360, 60));
    assert_eq!(owner.get("/companies/acme/").await.expect(200).json()["logo"], url);
    // The login shows it too, and so does the refusal of a key that has ended.
    let login = app.anonymous().get("/companies/acme/login/").await.expect(200).json();
    let project = owner.running_project(json!({})).await;
    let withdrawn = owner.invite(&project, json!({})).await;
    owner.skip(&withdrawn.uri).await.expect(200);
    let ended = withdrawn.get("/whoami/candidate/").await.expect(401).json();
    assert_eq!((&login["logo"], &ended["company"]["logo"]), (&json!(url), &json!(url)));

    // Mails that were sent show the next logo.
    for (format, sides, shown) in [
        (ImageFormat::Jpeg, (100, 400), (30, 120)),
        (ImageFormat::WebP, (80, 40), (80, 40)),
        (ImageFormat::Gif, (16, 16), (16, 16)),
    ] {
        let replaced = put(&owner, &photo(format, sides.0, sides.1)).await.expect(200);
        assert_eq!(replaced.uri("logo"), url);
        assert_eq!(fetched(&app, &url).await.dimensions(), shown);
    }
    let file = app.anonymous().get(&url).await.expect(200);
    let known = Request::get(&url).header("if-none-match", file.header("etag").unwrap());
    app.send(known).await.expect(304);

    owner.delete(LOGO).await.expect(204);
    app.anonymous().get(&url).await.expect_code(404, "not_found");
    owner.delete(LOGO).await.expect_code(404, "not_found");
    assert_eq!(owner.get("/companies/acme/").await.expect(200).json()["logo"], Value::Null);
    assert!(!is_stored(&app));
    let another = put(&owner, &photo(ImageFormat::Png, 8, 8)).await.expect(200).uri("logo");
    assert_ne!(another, url);
    app.anonymous().get(&url).await.expect(404);
}

#[tokio::test]
async fn a_logo_is_on_white() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let glass = RgbaImage::from_fn(3, 1, |x, _| {
        [Rgba([10, 20, 30, 255]), Rgba([10, 20, 30, 0]), Rgba([5, 5, 5, 51])][x as usize]
    });
    let mut bytes = std::io::Cursor::new(Vec::new());
    DynamicImage::from(glass).write_to(&mut bytes, ImageFormat::Png).unwrap();
    let url = put(&owner, &bytes.into_inner()).await.expect(200).uri("logo");
    let shown = fetched(&app, &url).await;
    assert_eq!(shown.color(), image::ColorType::Rgb8);
    let pixels: Vec<[u8; 3]> = shown.into_rgb8().pixels().map(|pixel| pixel.0).collect();
    assert_eq!(pixels, [[10, 20, 30], [255, 255, 255], [205, 205, 205]]);
}

#[tokio::test]
async fn hostile_pictures_are_refused() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let before = app.table().snapshot().await;
    // The first bytes of a picture of 40,000 × 40,000, whose pixels would take 4.8 GB.
    let huge = black_png(40_000, 1, 1, 0, 1);
    let huge = [&huge[..20], &40_000u32.to_be_bytes(), &huge[24..]].concat();
    // A chunk before the header holds the sides of a small picture at the place of the header.
    let hidden = black_png(3000, 2000, 8, 2, 1);
    let chunk =
        [&13u32.to_be_bytes()[..], b"teXt", &1u32.to_be_bytes(), &1u32.to_be_bytes(), &[0; 9]].concat();
    let hidden = [&hidden[..8], &chunk, &hidden[8..]].concat();
    let files = [
        b"".to_vec(),
        b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>".to_vec(),
        b"<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg'/>".to_vec(),
        huge,
        hidden,
        black_png(2001, 2000, 8, 0, 1),
        black_png(20_001, 1, 8, 0, 1),
        broken_palette(),
        photo(ImageFormat::Png, 40, 40)[..200].to_vec(),
        noise(900, 900),
    ];
    assert_refusals!(send_each(files, async |file| put(&owner, &file).await).await, @r#"
        3 x 400 {"file":["Upload a valid image: JPEG, PNG, GIF or WebP."]}
        4 x 400 {"file":["Ensure this image has no more than 4 megapixels and 20000 pixels per side."]}
        400 {"file":["This file is broken. Save it again and upload the new copy."]}
        400 {"file":["This image is broken or incomplete."]}
        400 {"file":["Ensure this file has no more than 2 MB."]}
        "#);
    assert_refusal!(owner.send(Request::put(LOGO).json(&json!({ "file": "data:image/png;base64,AAAA" }))).await, @r#"400 {"file":["Send the logo as a multipart/form-data part with a file name."]}"#);
    assert_refusal!(owner.send(Request::put(LOGO).body("image/png", photo(ImageFormat::Png, 8, 8))).await, @r#"415 {"code":"unsupported_media_type","detail":"Send the body as multipart/form-data, with the file in the part `file`, which has a file name."}"#);
    assert_eq!(app.table().snapshot().await, before);
    // Bytes after the pixels are left out.
    let url = put(&owner, &pixel_bomb(1 << 20)).await.expect(200).uri("logo");
    assert!(app.anonymous().get(&url).await.expect(200).body.len() < 200);
    // The largest that is taken fits into an item.
    put(&owner, &noise(800, 800)).await.expect(200);
    put(&owner, &noise(360, 120)).await.expect(200);
}

#[tokio::test]
async fn no_company_is_found_by_a_logo() {
    let app = TestApp::start().await;
    let (owner, stranger) = (app.owner().await, app.owner_of("globex").await);
    let url = put(&owner, &photo(ImageFormat::Png, 8, 8)).await.expect(200).uri("logo");
    put(&stranger, &photo(ImageFormat::Png, 8, 8)).await.expect(404);
    stranger.delete(LOGO).await.expect(404);
    let guessed = url.replace(tests::caller::last_segment(&url), "01ARZ3NDEKTSV4RRFFQ69G5FAV");
    let missing =
        app.anonymous().get("/companies/nobody/logo/01ARZ3NDEKTSV4RRFFQ69G5FAV/").await.expect(404).body;
    for other in [
        guessed.clone(),
        url.replace("/acme/", "/globex/"),
        guessed.replace("/acme/", "/globex/"),
        format!("{LOGO}x/"),
    ] {
        let response = app.anonymous().get(&other).await.expect(404);
        assert_eq!(response.body, missing, "{other}");
        assert_eq!(response.header("cache-control"), Some("private, no-store"));
    }
    app.anonymous().get(LOGO).await.expect(405);
    stranger.get(&url).await.expect(200);
}

#[tokio::test]
async fn a_logo_ends_when_the_erasure_of_its_company_begins() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let url = put(&owner, &photo(ImageFormat::Png, 8, 8)).await.expect(200).uri("logo");
    let command = json!({ "command": "erase-company", "company": "acme", "confirm": "acme" });
    app.operate(command).await.unwrap();
    assert!(!is_stored(&app));
    app.anonymous().get(&url).await.expect(404);
    app.leave_unsound("the erasure goes on");
}

#[tokio::test]
async fn a_change_of_the_logo_is_an_event_and_a_revision() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let picture = photo(ImageFormat::Png, 8, 8);
    let before = owner.get("/companies/acme/").await.expect(200);
    let tag = before.header("etag").unwrap();
    let form = || Form::new().file("file", "logo.png", "image/png", &picture);
    let conditional = || Request::put(LOGO).form(form()).header("if-match", tag);
    owner.send(conditional()).await.expect(200);
    owner.send(conditional()).await.expect_code(412, "precondition_failed");
    // The same picture is no change.
    put(&owner, &picture).await.expect(200);
    app.settle().await;
    let events = owner.get("/companies/acme/events/?type=company.updated").await.expect(200).json();
    let [event] = &events["objects"].as_array().unwrap()[..] else { panic!("{events}") };
    assert_eq!(event["data"]["changed"], json!(["logo"]));
}

#[tokio::test]
async fn candidates_see_the_logo_and_the_job_on_their_page_and_in_mails() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    owner.patch("/companies/acme/", json!({ "name": "\"Acme\" <Sons>" })).await.expect(200);
    let url = put(&owner, &photo(ImageFormat::Png, 8, 8)).await.expect(200).uri("logo");
    let job = "https://jobs.example/1?a=b&c=d";
    let project = owner.running_project(json!({ "job_url": job })).await;
    let candidate = owner.invite(&project, json!({})).await;
    let itself = candidate.get("/whoami/candidate/").await.expect(200).json();
    assert_eq!((&itself["company"]["logo"], &itself["project"]["job_url"]), (&json!(url), &json!(job)));
    app.settle().await;
    let html = app.mails_to(&candidate.email).pop().unwrap().html.clone().unwrap();
    assert!(html.contains(&format!("<img src=\"{url}\" alt=\"&#34;Acme&#34; &#60;Sons&#62;\"")), "{html}");

    owner.delete(LOGO).await.expect(204);
    let another = owner.invite(&project, json!({})).await;
    app.settle().await;
    let html = app.mails_to(&another.email).pop().unwrap().html.clone().unwrap();
    assert!(!html.contains("<img"), "{html}");
}
