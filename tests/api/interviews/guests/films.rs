//! Videos that ask questions, which guests watch with their captions.

use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, Staff, last_segment};
use tests::files::{Form, fetch};
use tests::http::{Request, Response};
use tests::videos::film;

use super::super::{begin, project, write};
use super::{opening, review};

/// An interview whose question a video asks, and the key of a guest.
struct FilmFixture {
    app: TestApp,
    owner: Staff,
    video: String,
    link: String,
    key: String,
}

impl FilmFixture {
    async fn start() -> Self {
        let app = TestApp::start().await;
        let owner = app.owner().await;
        let form = Form::new().text("name", "Why").file("file", "why.mp4", "video/mp4", &film());
        let sent = owner.send(Request::post("/companies/acme/videos/").form(form)).await.expect(201);
        let video = sent.uri("resource_uri");
        let captions = Form::new().file(
            "file",
            "captions.vtt",
            "text/vtt",
            b"WEBVTT\n\n00:00.500 --> 00:01.500\nWhy us?\n",
        );
        owner.send(Request::put(&format!("{video}captions/en/")).form(captions)).await.expect(200);
        let asked = [
            json!({ "text": "Why us?", "kind": "text", "video": video }),
            json!({ "text": "Since when?", "kind": "text", "is_required": false }),
        ];
        let (project, questions) = project(&owner, json!({ "interview_platform": "builtin" }), &asked).await;
        let candidate = begin(&owner, &project).await;
        write(&candidate, &questions[0], "2019").await.expect(201);
        candidate.advance(&candidate.uri).await.expect(200);
        let links = format!("{}guest-links/", candidate.uri);
        let made = owner.post(&links, json!({ "recipient": "Head of sales" })).await.expect(201);
        let key = last_segment(&made.uri("url")).to_owned();
        Self { link: made.uri("resource_uri"), app, owner, video, key }
    }

    /// The questions as the guest sees them.
    async fn questions(&self) -> Vec<Value> {
        let seen = self.app.send(review(&self.key)).await.expect(200).json();
        seen["questions"].as_array().unwrap().clone()
    }

    /// The URLs of the video, its thumbnail and its captions.
    async fn urls(&self) -> [String; 3] {
        let video = self.questions().await[0]["video"].clone();
        [&video["streams"]["mp4"], &video["thumb"], &video["captions"][0]["url"]]
            .map(|url| url.as_str().unwrap_or_else(|| panic!("{video}")).to_owned())
    }

    async fn get(&self, url: &str) -> Response {
        self.app.anonymous().get(url).await
    }
}

#[tokio::test]
async fn guests_watch_the_video_that_asks_with_its_captions() {
    let given = FilmFixture::start().await;
    assert_eq!(given.questions().await[0]["video"], Value::Null, "it is not converted yet");
    given.app.settle().await;
    let seen = given.questions().await;
    assert_eq!(seen[1]["video"], Value::Null);
    let video = &seen[0]["video"];
    assert_eq!(video["captions"][0]["language"], "en");
    assert!(video["dimensions"]["width"].as_u64() > Some(0), "{video}");
    let [mp4, thumb, captions] = given.urls().await;
    for url in [&mp4, &thumb] {
        let redirect = given.get(url).await.expect(302);
        assert_eq!(redirect.header("cache-control"), Some("private, no-store"));
        let file = fetch(redirect.header("location").unwrap(), &[]).await;
        assert_eq!((file.status.as_u16(), file.header("cache-control")), (200, "private, no-store"));
    }
    let text = given.get(&captions).await.expect(200);
    assert_eq!(text.header("content-type"), Some("text/vtt; charset=utf-8"));
    assert_eq!(text.header("cache-control"), Some("private, no-store"));
    assert!(String::from_utf8_lossy(&text.body).contains("Why us?"));
    let tag = text.header("etag").unwrap();
    given.app.send(Request::get(&captions).header("if-none-match", tag)).await.expect(304);
    // The log tells which guest it was.
    let read = given.get(&mp4).await.log();
    assert_eq!(&*read.caller, format!("guest {}", last_segment(&given.link)));
}

#[tokio::test]
async fn urls_are_good_for_their_file_and_as_long_as_the_link_works() {
    let given = FilmFixture::start().await;
    given.app.settle().await;
    let [mp4, thumb, captions] = given.urls().await;
    let token = |url: &str| last_segment(url).trim_end_matches(".mp4").to_owned();
    for wrong in [
        format!("{}thumb/{}/", given.video, token(&mp4)),
        format!("{}video/{}.mp4", given.video, token(&thumb)),
        format!("{}video/{}.flv", given.video, token(&mp4)),
        format!("{}captions/en/{}/", given.video, token(&mp4)),
        captions.replace("/en/", "/de/"),
        mp4.replace(last_segment(&given.video), last_segment(&given.link)),
        mp4.replace("/acme/", "/globex/"),
    ] {
        given.get(&wrong).await.expect_code(401, "invalid_credential");
    }
    // The credential opens nothing else of the video.
    let by_key = Request::get(&given.video).header("authorization", &format!("GuestKey {}", given.key));
    given.app.send(by_key).await.expect_code(401, "invalid_credential");
    given.app.clock().advance(TimeDelta::minutes(16));
    for url in [&mp4, &thumb, &captions] {
        given.get(url).await.expect_code(401, "invalid_credential");
    }
    let renewed = given.urls().await;
    given.owner.delete(&given.link).await.expect(204);
    for url in &renewed {
        given.get(url).await.expect_code(401, "invalid_credential");
    }
    let told = given.app.send(opening(&given.key)).await.expect(401).json();
    assert_eq!(told["code"], "link_withdrawn");
}

#[tokio::test]
async fn a_video_that_was_deleted_is_not_shown() {
    let given = FilmFixture::start().await;
    given.app.settle().await;
    let urls = given.urls().await;
    given.owner.delete(&given.video).await.expect(204);
    assert_eq!(given.questions().await[0]["video"], Value::Null);
    for url in &urls {
        given.get(url).await.expect(404);
    }
}
