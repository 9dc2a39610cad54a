//! Welcome videos: uploaded in two ways, converted, played, shown to candidates, deleted.

use axum::http::Method;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, Staff, last_segment};
use tests::files::{Form, fetch, put};
use tests::http::{Request, send_each};
use tests::logs;
use tests::videos::{film, probed, recorded};
use tests::{assert_refusal, assert_refusals};

const VIDEOS: &str = "/companies/acme/videos/";

/// The form of a recruiter who uploads a video.
fn form(file: &[u8]) -> Form {
    let form = Form::new().text("name", "Welcome").text("description", "Hello\nand welcome");
    form.text("internal_description", "Take two").file("file", "C:\\films\\hello.mp4", "video/mp4", file)
}

/// A video that is still to be converted.
pub(crate) async fn uploaded(caller: &impl Caller, file: &[u8]) -> String {
    caller.send(Request::post(VIDEOS).form(form(file))).await.expect(201).uri("resource_uri")
}

pub(crate) async fn announced(caller: &impl Caller, size: usize) -> Value {
    let body = json!({
        "name": "Welcome", "upload_filename": "hello.mov", "content_type": "video/quicktime", "size": size,
    });
    caller.post(VIDEOS, body).await.expect(201).json()
}

pub(crate) async fn read(caller: &impl Caller, video: &str) -> Value {
    caller.get(video).await.expect(200).json()
}

pub(crate) async fn status(caller: &impl Caller, video: &str) -> (Value, Value) {
    let video = read(caller, video).await;
    (video["video_conversion_status"].clone(), video["video_conversion_error"].clone())
}

/// The location that the URL of a file leads to.
async fn follow(app: &TestApp, url: &Value) -> String {
    let found = app.anonymous().get(url.as_str().unwrap()).await.expect(302);
    assert_eq!(found.header("referrer-policy"), Some("no-referrer"));
    found.header("location").unwrap().to_owned()
}

pub(crate) async fn given() -> (TestApp, Staff) {
    let app = TestApp::start().await;
    let recruiter = app.staff("recruiter").await;
    (app, recruiter)
}

#[tokio::test]
async fn a_video_in_a_form_is_converted_and_plays() {
    let (app, recruiter) = given().await;
    let created = recruiter.send(Request::post(VIDEOS).form(form(&film()))).await.expect(201);
    let uri = created.uri("resource_uri");
    assert_eq!(created.header("location"), Some(uri.as_str()));
    let expected = json!({
        "id": last_segment(&uri),
        "resource_uri": uri,
        "company": "https://hr.example/api/v3/companies/acme/",
        "submitted_by": recruiter.uri,
        "name": "Welcome",
        "description": "Hello\nand welcome",
        "internal_description": "Take two",
        "length": 0,
        "submit_date": "2026-11-08",
        "upload_filename": "hello.mp4",
        "thumb_conversion_id": null,
        "thumb_file": "",
        "thumb": "",
        "video_conversion_id": null,
        "video_conversion_status": "pending",
        "video_conversion_error": null,
        "streams": { "mp4": "", "flv": "" },
        "dimensions": { "width": 0, "height": 0 },
        "captions": [],
    });
    assert_eq!(created.json(), expected);
    logs::take_lines("conversion");
    app.settle().await;
    let lines = logs::take_lines("conversion");
    let [line] = &lines[..] else { panic!("not one line: {lines:#?}") };
    assert_eq!(
        (&line["recording"], &line["outcome"]),
        (&json!(last_segment(&uri)), &json!("Applied")),
        "{line}"
    );
    let video = read(&app.staff("hiring-manager").await, &uri).await;
    assert_eq!((&video["video_conversion_status"], &video["length"]), (&json!("successful"), &json!(2)));
    assert_eq!(video["dimensions"], json!({ "width": 64, "height": 48 }));
    assert!(video["thumb_conversion_id"].is_u64() && video["video_conversion_id"].is_u64());
    assert_eq!(video["thumb_file"], format!("videos/{}/thumb.jpg", last_segment(&uri)));

    let thumb = fetch(&follow(&app, &video["thumb"]).await, &[]).await;
    assert_eq!(thumb.header("content-type"), "image/jpeg");
    assert_eq!(probed(&thumb.body)["streams"][0]["codec_name"], "mjpeg");
    for (format, content_type) in [("mp4", "video/mp4"), ("flv", "video/x-flv")] {
        let url = &video["streams"][format];
        assert!(url.as_str().unwrap().ends_with(&format!(".{format}")), "{url}");
        let location = follow(&app, url).await;
        assert!(location.contains("X-Amz-Expires=14400"), "{location}");
        let whole = fetch(&location, &[]).await;
        assert_eq!((whole.status.as_u16(), whole.header("content-type")), (200, content_type));
        let streams = probed(&whole.body)["streams"].clone();
        assert_eq!((&streams[0]["codec_name"], &streams[1]["codec_name"]), (&json!("h264"), &json!("aac")));
        let part = fetch(&location, &[("range", "bytes=1000-1999")]).await;
        assert_eq!(part.status, 206);
        assert_eq!(part.body, whole.body[1000..2000], "a player can seek");
        assert_eq!(part.header("content-range"), format!("bytes 1000-1999/{}", whole.body.len()));
    }
    let keys = app.object_keys();
    assert!(keys.len() == 3 && keys.iter().all(|key| key.starts_with("media/acme/videos/")), "{keys:?}");
}

#[tokio::test]
async fn a_video_that_does_not_fit_goes_straight_to_the_bucket() {
    let (app, recruiter) = given().await;
    let how = "-f lavfi -i nullsrc=s=640x360:r=25:d=3,geq=random(1)*255:128:128 -f lavfi -i sine=d=3 -c:v mpeg4 -q:v 1 -c:a aac";
    let large = recorded(how, "mov");
    assert!(large.len() > 4_608_000, "{}", large.len());
    let form = Request::post(VIDEOS).form(form(&large[..4_608_000]));
    let refused = recruiter.send(form).await;
    assert_refusal!(refused, @r#"413 {"code":"too_large","detail":"The request body is too large. POST the file's metadata as JSON to …/uploads/ (videos: …/videos/), then upload the file to the URL in the answer."}"#);
    assert!(refused.json()["detail"].as_str().unwrap().contains("…/videos/"));

    let video = announced(&recruiter, large.len()).await;
    assert_eq!(video["video_conversion_status"], "awaiting-upload");
    assert_eq!(video["upload"]["expires_at"], "2026-11-08T11:00:00Z");
    let uri = video["resource_uri"].as_str().unwrap();
    assert_eq!(read(&recruiter, uri).await.get("upload"), None);
    let mut other = announced(&recruiter, 10).await;
    other["upload"]["headers"]["content-length"] = "11".into();
    assert_eq!(put(&other, vec![0; 11]).await.status, 403, "another size");
    let size = large.len();
    assert_eq!(put(&video, large).await.status, 200);
    app.settle().await;
    assert_eq!(status(&recruiter, uri).await, (json!("successful"), Value::Null));
    let location = follow(&app, &read(&recruiter, uri).await["streams"]["mp4"]).await;
    assert_eq!(probed(&fetch(&location, &[]).await.body)["streams"][0]["codec_name"], "h264");

    // The URL still works; what comes by it changes nothing and does not stay.
    let before = app.object_keys();
    assert_eq!(put(&video, vec![0; size]).await.status, 200);
    app.settle().await;
    assert_eq!(app.object_keys(), before);
}

#[tokio::test]
async fn fields_of_a_new_video_are_validated() {
    let (app, recruiter) = given().await;
    let before = app.table().snapshot().await;
    let bodies = [
        json!({}),
        json!({ "name": "x", "upload_filename": "a/", "content_type": "video", "size": 0 }),
        json!({ "name": "", "upload_filename": "a", "content_type": "a/b", "size": 2_147_483_649u64 }),
    ];
    assert_refusals!(send_each(bodies, |body| recruiter.post(VIDEOS, body)).await, @r#"
        400 {
          "content_type":["This field is required."],
          "name":["This field is required."],
          "size":["This field is required."],
          "upload_filename":["This field is required."]
        }
        400 {
          "content_type":["Enter a content type such as application/pdf."],
          "size":["Ensure this value is from 1 to 2147483648."],
          "upload_filename":["This field may not be blank."]
        }
        400 {"name":["This field may not be blank."],"size":["Ensure this value is from 1 to 2147483648."]}
        "#);
    let post = async |form| recruiter.send(Request::post(VIDEOS).form(form)).await;
    assert_refusal!(post(Form::new()).await, @r#"400 {"file":["Send the video as a multipart/form-data part with a file name."],"name":["This field is required."]}"#);
    assert_refusal!(post(Form::new().text("name", "x").text("file", "not a file")).await, @r#"400 {"file":["Send the video as a multipart/form-data part with a file name."]}"#);
    assert_refusal!(post(form(b"")).await, @r#"400 {"file":["The submitted file is empty."]}"#);
    assert_eq!(app.table().snapshot().await, before);
    assert!(app.object_keys().is_empty());
    recruiter
        .post(
            VIDEOS,
            json!({
                "name": "x", "upload_filename": "a", "content_type": "a/b", "size": 2_147_483_648u64,
            }),
        )
        .await
        .expect(201);
}

#[tokio::test]
async fn a_video_keeps_the_name_of_its_file_however_clients_write_it() {
    let (app, recruiter) = given().await;
    for (parameters, name) in [
        (&b"filename*=UTF-8''Zo%C3%AB.mp4"[..], "Zoë.mp4"),
        (b"filename=\"=?utf-8?B?Wm/Dqy5tcDQ=?=\"; filename*=UTF-8''Zo%C3%AB.mp4", "Zoë.mp4"),
        (b"filename=\"=?utf-8?B?Wm/Dqy5tcDQ=?=\"", "Zoë.mp4"),
        (b"filename=\"Zo\xEB.mp4\"", "Zoë.mp4"),
        (b"filename=\"name=x; a.mp4\"", "name=x; a.mp4"),
    ] {
        let parameters = [b"name=file; ", parameters].concat();
        let form = Form::new().text("name", "Welcome").part(parameters, "", b"no film");
        let created = recruiter.send(Request::post(VIDEOS).form(form)).await.expect(201);
        assert_eq!(created.json()["upload_filename"], name);
    }
    let nameless = |parameters: &str| Form::new().text("name", "x").part(parameters, "", b"no film");
    for parameters in ["name=file", "name=file; filename=\"\""] {
        let refused = recruiter.send(Request::post(VIDEOS).form(nameless(parameters))).await;
        assert_refusal!(refused, @r#"400 {"file":["Send the video as a multipart/form-data part with a file name."]}"#);
    }
    app.settle().await;
}

#[tokio::test]
async fn only_the_texts_of_a_video_can_be_changed() {
    let (app, recruiter) = given().await;
    let uri = uploaded(&recruiter, &film()).await;
    let mut expected = read(&recruiter, &uri).await;
    recruiter.patch(&uri, expected.clone()).await.expect_json(200, expected.clone());
    let change = json!({
        "description": "Hi", "internal_description": null, "name": "Hello", "length": 9, "upload_filename": "x",
        "video_conversion_status": "successful", "streams": {}, "submitted_by": null,
    });
    expected["description"] = "Hi".into();
    expected["internal_description"] = "".into();
    expected["name"] = "Hello".into();
    recruiter.patch(&uri, change).await.expect_json(200, expected.clone());
    // The conversion is not in the way of it, nor it of the conversion.
    app.settle().await;
    assert_eq!(status(&recruiter, &uri).await.0, "successful");
    let put = |body: Value| Request::new(Method::PUT, &uri).json(&body);
    assert_refusal!(recruiter.send(put(json!({ "description": "x" }))).await, @r#"400 {"name":["This field is required."]}"#);
    let whole = recruiter.send(put(json!({ "name": "Again" }))).await.expect(200).json();
    assert_eq!((&whole["name"], &whole["description"]), (&json!("Again"), &json!("")));
    let bodies = [json!({ "name": null }), json!({ "name": "" }), json!({ "name": "x".repeat(151) })];
    assert_refusals!(send_each(bodies, |body| recruiter.patch(&uri, body)).await, @r#"
        400 {"name":["This field may not be null."]}
        400 {"name":["This field may not be blank."]}
        400 {"name":["Ensure this field has no more than 150 characters."]}
        "#);
    assert_refusal!(recruiter.patch(&uri, json!({ "description": "x".repeat(2001) })).await, @r#"400 {"description":["Ensure this field has no more than 2000 characters."]}"#);
}

#[tokio::test]
async fn videos_are_listed_and_counted() {
    let (app, recruiter) = given().await;
    for _ in 0..3 {
        announced(&recruiter, 1000).await;
    }
    app.owner_of("globex").await.get(VIDEOS).await.expect(404);
    let list = recruiter.get(&format!("{VIDEOS}?page_size=2")).await.expect(200).json();
    assert_eq!(list["meta"]["total_count"], 3);
    assert_eq!(list["objects"].as_array().unwrap().len(), 2);
    let rest = recruiter.get(list["meta"]["next"].as_str().unwrap()).await.expect(200).json();
    let last = rest["objects"][0]["resource_uri"].as_str().unwrap();
    recruiter.delete(last).await.expect(204);
    assert_eq!(recruiter.get(VIDEOS).await.expect(200).json()["meta"]["total_count"], 2);
}

#[tokio::test]
async fn candidates_see_the_videos_of_their_project_without_internal_fields() {
    let (app, recruiter) = given().await;
    let [shown, hidden] = [uploaded(&recruiter, &film()).await, uploaded(&recruiter, &film()).await];
    app.settle().await;
    let project = recruiter.running_project(json!({ "videos": [{ "uri": shown, "position": 1 }] })).await;
    let elsewhere = recruiter.running_project(json!({ "videos": [{ "uri": hidden, "position": 1 }] })).await;
    let candidate = recruiter.invite(&project, json!({})).await.register().await;
    let itself = candidate.get("/whoami/candidate/").await.expect(200);
    assert!(itself.body.windows(shown.len()).any(|window| window == shown.as_bytes()));
    let video = candidate.get(&shown).await.expect(200);
    for secret in ["Take two", "internal_description", "\"name\""] {
        assert!(!String::from_utf8_lossy(&video.body).contains(secret), "{secret}");
    }
    let video = video.json();
    assert_eq!(video["description"], "Hello\nand welcome");
    let location = follow(&app, &video["streams"]["mp4"]).await;
    assert_eq!(fetch(&location, &[]).await.header("content-type"), "video/mp4");
    let missing = candidate.get(&hidden).await.expect(404).body;
    candidate.get(VIDEOS).await.expect(403);
    assert_eq!(
        candidate.get(&format!("{VIDEOS}01ARZ3NDEKTSV4RRFFQ69G5FAV/")).await.expect(404).body,
        missing
    );
    candidate.patch(&shown, json!({ "description": "x" })).await.expect(403);
    candidate.delete(&hidden).await.expect(404);

    // Once the project does not show it any more, its URLs are dead as well.
    recruiter.patch(&project, json!({ "videos": [] })).await.expect(200);
    candidate.get(&shown).await.expect(404);
    app.anonymous().get(video["streams"]["mp4"].as_str().unwrap()).await.expect(404);
    recruiter.patch(&elsewhere, json!({ "videos": [] })).await.expect(200);
}

#[tokio::test]
async fn a_url_is_good_for_its_session_and_its_file_alone() {
    let (app, recruiter) = given().await;
    let [one, other] = [uploaded(&recruiter, &film()).await, uploaded(&recruiter, &film()).await];
    app.settle().await;
    let session = recruiter.new_token().await;
    let (video, again) = (read(&session, &one).await, read(&session, &one).await);
    let url = video["streams"]["mp4"].as_str().unwrap().to_owned();
    assert_ne!(url, again["streams"]["mp4"], "different on every fetch");
    let get = async |url: String| app.anonymous().get(&url).await;
    get(url.clone()).await.expect(302);
    for wrong in [
        url.replace(".mp4", ".flv"),
        url.replace(".mp4", ".exe"),
        url.replace(last_segment(&one), last_segment(&other)),
        video["thumb"].as_str().unwrap().replace("/thumb/", "/video/").trim_end_matches('/').to_owned()
            + ".mp4",
        url.replace(".mp4", "/"),
        url.replace(last_segment(&one), "01ARZ3NDEKTSV4RRFFQ69G5FAV"),
    ] {
        get(wrong).await.expect(401);
    }
    get(url.replace("/video/", "/thumb/")).await.expect(404);
    session.post("/api-token-invalidate/", json!({})).await.expect(204);
    get(url).await.expect(401);
}

#[tokio::test]
async fn a_video_counts_only_if_its_author_still_may_when_it_arrives() {
    let (app, recruiter) = given().await;
    let owner = app.owner().await;
    let film = film();
    let [first, second] = [announced(&recruiter, film.len()).await, announced(&recruiter, film.len()).await];
    put(&first, film.clone()).await;
    app.settle().await;
    assert_eq!(
        read(&owner, first["resource_uri"].as_str().unwrap()).await["video_conversion_status"],
        "successful"
    );
    owner.patch(&recruiter.uri, json!({ "account_type": "hiring-manager" })).await.expect(200);
    let before = app.object_keys();
    put(&second, film).await;
    app.settle().await;
    let video = read(&owner, second["resource_uri"].as_str().unwrap()).await;
    assert_eq!(video["video_conversion_status"], "failed");
    let error = video["video_conversion_error"].as_str().unwrap();
    assert!(error.starts_with("The person who announced this video"), "{video}");
    assert_eq!(app.object_keys(), before, "nothing of it stays");
}
