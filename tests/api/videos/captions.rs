//! Captions of welcome videos: parsed, written anew, fetched by their URLs, deleted with the video.

use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, Staff, last_segment};
use tests::files::Form;
use tests::http::{Request, Response, send_each};
use tests::{assert_refusal, assert_refusals};

use super::crud::{announced, given};

const SENT: &[u8] =
    b"WEBVTT\r\n\r\n1\r\n00:01.000 --> 00:02.000 line:80% region:r\r\n<b>Hello</b> &amp; welcome\r\n";
const WRITTEN: &str = "WEBVTT\n\n00:00:01.000 --> 00:00:02.000 line:80%\nHello &amp; welcome\n";

async fn put(staff: &Staff, captions: &str, bytes: &[u8]) -> Response {
    let form = Form::new().file("file", "captions.vtt", "text/vtt", bytes);
    staff.send(Request::put(captions).form(form)).await
}

async fn given_video() -> (TestApp, Staff, String) {
    let (app, recruiter) = given().await;
    let video = announced(&recruiter, 10).await["resource_uri"].as_str().unwrap().to_owned();
    (app, recruiter, video)
}

fn languages(video: &Value) -> Vec<&str> {
    video["captions"].as_array().unwrap().iter().map(|one| one["language"].as_str().unwrap()).collect()
}

fn url(video: &Value, index: usize) -> String {
    video["captions"][index]["url"].as_str().unwrap().to_owned()
}

fn keys(app: &TestApp) -> Vec<Value> {
    let items = app.items().into_iter();
    items
        .filter(|item| item["pk"]["S"].as_str().unwrap().starts_with("CAPTIONS#"))
        .map(|item| item["sk"]["S"].clone())
        .collect()
}

#[tokio::test]
async fn captions_are_written_anew_and_shown_by_language() {
    let (app, recruiter, video) = given_video().await;
    let shown = put(&recruiter, &format!("{video}captions/de/"), SENT).await.expect(200).json();
    assert_eq!(languages(&shown), ["de"]);
    put(&recruiter, &format!("{video}captions/en/"), SENT).await.expect(200);
    let shown = recruiter.get(&video).await.expect(200).json();
    assert_eq!(languages(&shown), ["en", "de"]);

    let file = app.anonymous().get(&url(&shown, 1)).await.expect(200);
    assert_eq!(file.header("content-type"), Some("text/vtt; charset=utf-8"));
    assert_eq!(file.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(file.header("cache-control"), Some("private, no-store"));
    assert_eq!(String::from_utf8_lossy(&file.body), WRITTEN);

    // The URL goes on to show the captions that the video has.
    let other = WRITTEN.replace("Hello", "Hi");
    put(&recruiter, &format!("{video}captions/de/"), other.as_bytes()).await.expect(200);
    assert_eq!(String::from_utf8_lossy(&app.anonymous().get(&url(&shown, 1)).await.expect(200).body), other);
    recruiter.delete(&format!("{video}captions/de/")).await.expect(204);
    recruiter.delete(&format!("{video}captions/de/")).await.expect(404);
    app.anonymous().get(&url(&shown, 1)).await.expect(404);
    assert_eq!(languages(&recruiter.get(&video).await.expect(200).json()), ["en"]);
    assert_eq!(keys(&app), [format!("{}#en", last_segment(&video))]);
}

#[tokio::test]
async fn a_url_is_good_for_its_session_its_video_and_its_language_alone() {
    let (app, recruiter, video) = given_video().await;
    let other = announced(&recruiter, 10).await["resource_uri"].as_str().unwrap().to_owned();
    for captions in
        [format!("{video}captions/en/"), format!("{video}captions/de/"), format!("{other}captions/en/")]
    {
        put(&recruiter, &captions, SENT).await.expect(200);
    }
    let session = recruiter.new_token().await;
    let address = url(&session.get(&video).await.expect(200).json(), 0);
    app.anonymous().get(&address).await.expect(200);
    for wrong in [
        address.replace("/en/", "/de/"),
        address.replace("/en/", "/xx/"),
        address.replace(last_segment(&video), last_segment(&other)),
        address.replace("/acme/", "/globex/"),
        address.replace("/captions/en/", "/thumb/"),
    ] {
        app.anonymous().get(&wrong).await.expect(401);
    }
    session.post("/api-token-invalidate/", json!({})).await.expect(204);
    app.anonymous().get(&address).await.expect(401);
}

#[tokio::test]
async fn other_companies_and_candidates_of_other_projects_find_none() {
    let (app, recruiter, video) = given_video().await;
    let captions = format!("{video}captions/en/");
    put(&recruiter, &captions, SENT).await.expect(200);
    let stranger = app.owner_of("globex").await;
    put(&stranger, &captions, SENT).await.expect(404);
    stranger.delete(&captions).await.expect(404);

    let project = recruiter.running_project(json!({ "videos": [{ "uri": video, "position": 1 }] })).await;
    let candidate = recruiter.invite(&project, json!({})).await.register().await;
    let seen = candidate.get(&video).await.expect(200).json();
    app.anonymous().get(&url(&seen, 0)).await.expect(200);
    candidate.delete(&captions).await.expect(403);
    recruiter.patch(&project, json!({ "videos": [] })).await.expect(200);
    app.anonymous().get(&url(&seen, 0)).await.expect(404);
    candidate.delete(&captions).await.expect(404);
}

#[tokio::test]
async fn hostile_files_are_refused() {
    let (app, recruiter, video) = given_video().await;
    let captions = format!("{video}captions/en/");
    let before = app.table().snapshot().await;
    let cue = "\n00:01.000 --> 00:02.000\na\n";
    let files = [
        b"".to_vec(),
        b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>".to_vec(),
        b"1\n00:00:01,000 --> 00:00:02,000\nSubRip\n".to_vec(),
        b"WEBVTT\n\n00:01.000 --> 00:02.000\na\0b\n".to_vec(),
        b"WEBVTT\n\n00:01.000 --> 00:02.000\n\xff\n".to_vec(),
        b"WEBVTT\n\n00:02.000 --> 00:01.000\nbackward\n".to_vec(),
        b"WEBVTT\n\n00:02.000 --> 00:03.000\na\n\n00:01.000 --> 00:03.000\nbackward\n".to_vec(),
        b"WEBVTT\n\n00:01.000 --> 00:02.000\n<script></script>\n".to_vec(),
        format!("WEBVTT\n{}", cue.repeat(5_001)).into_bytes(),
        // A million of the shortest would fit into no body: these are as many as one holds.
        format!("WEBVTT\n{}", cue.repeat(150_000)).into_bytes(),
        format!("WEBVTT\n\n00:01.000 --> 00:02.000\n{}\n", "&".repeat(100_000)).into_bytes(),
    ];
    assert_refusals!(send_each(files, async |file| put(&recruiter, &captions, &file).await).await, @r#"
        3 x 400 {"file":["Send captions as WebVTT: a first line WEBVTT, then cues, each after an empty line."]}
        2 x 400 {"file":["Encode captions as UTF-8, without control characters."]}
        400 {"file":["Line 3: let the cue end after it begins."]}
        400 {"file":["Line 6: sort the cues by the times at which they begin."]}
        400 {"file":["This file has no captions: none of its cues has a text."]}
        400 {"file":["Ensure this file has no more than 5000 cues."]}
        2 x 400 {"file":["Ensure this file has no more than 256 KiB."]}
        "#);
    let no_file = recruiter.send(Request::put(&captions).json(&json!({ "file": "WEBVTT" }))).await;
    assert_refusal!(no_file, @r#"400 {"file":["Send the captions as a multipart/form-data part with a file name."]}"#);
    let raw = recruiter.send(Request::put(&captions).body("text/vtt", "WEBVTT")).await;
    assert_refusal!(raw, @r#"415 {"code":"unsupported_media_type","detail":"Send the body as multipart/form-data, with the file in the part `file`, which has a file name."}"#);
    put(&recruiter, &format!("{video}captions/xx/"), SENT).await.expect_code(404, "not_found");
    put(&recruiter, &format!("{video}captions/EN/"), SENT).await.expect_code(404, "not_found");
    assert_eq!(app.table().snapshot().await, before);
}

#[tokio::test]
async fn captions_go_with_their_video() {
    let (app, recruiter, video) = given_video().await;
    let kept = announced(&recruiter, 10).await["resource_uri"].as_str().unwrap().to_owned();
    for captions in
        [format!("{video}captions/en/"), format!("{video}captions/it/"), format!("{kept}captions/fr/")]
    {
        put(&recruiter, &captions, SENT).await.expect(200);
    }
    assert_eq!(keys(&app).len(), 3);
    recruiter.delete(&video).await.expect(204);
    assert_eq!(keys(&app), [format!("{}#fr", last_segment(&kept))]);
}

#[tokio::test]
async fn changed_captions_are_an_event_and_a_revision() {
    let (app, recruiter, video) = given_video().await;
    let captions = format!("{video}captions/en/");
    let before = recruiter.get(&video).await.expect(200);
    let tag = before.header("etag").unwrap();
    let form = || Form::new().file("file", "a.vtt", "text/vtt", SENT);
    let conditional = |tag: &str| Request::put(&captions).form(form()).header("if-match", tag);
    let changed = recruiter.send(conditional(tag)).await.expect(200);
    recruiter.send(conditional(tag)).await.expect_code(412, "precondition_failed");
    // The same captions are no change.
    let again = recruiter.send(conditional(changed.header("etag").unwrap())).await.expect(200);
    assert_eq!(
        again.header("etag").map(|tag| tag.split('-').next()),
        changed.header("etag").map(|tag| tag.split('-').next())
    );
    app.settle().await;
    let events = app.owner().await.get("/companies/acme/events/?type=video.updated").await.expect(200).json();
    let [event] = &events["objects"].as_array().unwrap()[..] else { panic!("{events}") };
    assert_eq!(event["data"]["changed"], json!(["captions"]));
}
