//! Drives the service in a browser: welcome videos play in it, and can be wound on; so do answers that it records; pages of other
//! web sites use the API if they may; the pages of the local run and the reference do what they say.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod accessibility;
mod accessible;
mod answers;
mod asked;
mod cancelled;
mod company;
mod conversions;
mod devtools;
mod drafts;
mod film_in_sight;
mod firefox;
mod guest_player;
mod guest_questions;
mod guests;
mod hostile;
mod in_sight;
mod interview;
mod links;
mod loading;
mod losses;
mod marionette;
mod opened;
mod options;
mod reasons;
mod recording;
mod reference;
mod reopened;
mod shared_computer;
mod staff;
mod state;
mod told;
mod visit;
mod watched;
mod way_back;
mod webkit;
mod windows;
mod written;

use std::process::Stdio;
use std::time::Duration;

use axum::Router;
use axum::extract::Request as Incoming;
use axum::response::Html;
use axum::routing::{get, post};
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, Staff};
use tests::files::{Form, put};
use tests::http::Request;
use tests::videos::recorded;
use tokio::net::TcpListener;
use tokio::process::Command;
use tokio::sync::mpsc;

use crate::options::{BrowserOptions, kill_group};

const VIDEOS: &str = "/companies/acme/videos/";
/// The time after which a browser that says nothing is taken to have failed.
const PATIENCE: Duration = Duration::from_secs(120);

/// A page that plays the video, winds it on to three quarters, and tells how that went.
fn page(video: &Value) -> String {
    let (mp4, thumb) = (video["streams"]["mp4"].as_str().unwrap(), video["thumb"].as_str().unwrap());
    format!(
        r#"<!doctype html><title>player</title><img><video muted></video><script>
const [image, video] = [document.querySelector("img"), document.querySelector("video")];
const report = outcome => fetch("/report", {{method: "POST", body: JSON.stringify(outcome)}});
const thumb = new Promise(done => image.addEventListener("load", done));
video.addEventListener("error", () => report({{error: video.error.message}}));
video.addEventListener("loadeddata", () => {{ video.currentTime = video.duration * 0.75; }}, {{once: true}});
video.addEventListener("seeked", async () => {{
    await thumb;
    report({{
        ready_state: video.readyState,
        seconds: video.duration,
        seekable: video.seekable.end(0),
        at: video.currentTime,
        size: [video.videoWidth, video.videoHeight],
        thumb: [image.naturalWidth, image.naturalHeight],
        sound: video.webkitAudioDecodedByteCount > 0,
    }});
}}, {{once: true}});
// After the listeners: on a busy computer, what the parser has found may be loaded before a script runs.
image.src = "{thumb}";
video.src = "{mp4}";
</script>"#
    )
}

/// The first report of a page.
async fn told(browser_at: &str, reports: &mut mpsc::Receiver<Value>) -> Value {
    let options = BrowserOptions::new();
    let mut chromium = Command::new(options.program());
    chromium.args(["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--mute-audio"]);
    chromium.args(["--disable-background-networking", "--disable-component-update", "--disable-sync"]);
    chromium.args(["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"]);
    chromium.arg(format!("--user-data-dir={}", options.profile.path().display())).arg(browser_at);
    chromium.stdout(Stdio::null()).stderr(Stdio::null()).process_group(0).kill_on_drop(true);
    let chromium = chromium.spawn().unwrap_or_else(|error| panic!("chromium: {error}"));
    let report = tokio::time::timeout(PATIENCE, reports.recv()).await;
    kill_group(chromium).await;
    report.unwrap_or_else(|_| panic!("the browser told nothing")).unwrap()
}

/// Somewhere to listen, and the origin of what is served there.
async fn listener() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://localhost:{}", listener.local_addr().unwrap().port());
    (listener, origin)
}

/// Four seconds of picture and sound, as phones record them.
fn film() -> Vec<u8> {
    let how = "-f lavfi -i testsrc2=s=640x360:r=25:d=4 -f lavfi -i sine=d=4 -c:v mpeg4 -q:v 5 -c:a aac";
    recorded(how, "mov")
}

async fn sent_along(staff: &Staff, film: &[u8]) -> String {
    let form = Form::new().text("name", "Welcome").file("file", "film.mov", "video/quicktime", film);
    staff.send(Request::post(VIDEOS).form(form)).await.expect(201).uri("resource_uri")
}

async fn announced(staff: &Staff, film: Vec<u8>) -> String {
    let announcement = json!({
        "name": "Welcome", "upload_filename": "film.mov", "content_type": "video/quicktime", "size": film.len(),
    });
    let video = staff.post(VIDEOS, announcement).await.expect(201).json();
    assert_eq!(put(&video, film).await.status, 200);
    video["resource_uri"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_video_plays_however_it_was_sent() {
    let (listener, origin) = listener().await;
    let app = TestApp::start_with(&[("BASE_URL", &format!("{origin}/api/v3"))]).await;
    let staff = app.owner().await;
    let videos = [sent_along(&staff, &film()).await, announced(&staff, film()).await];
    app.settle().await;

    let (reporter, mut reports) = mpsc::channel(1);
    let mut router = Router::new().route(
        "/report",
        post(async move |body: String| reporter.send(serde_json::from_str(&body).unwrap()).await.unwrap()),
    );
    for (index, uri) in videos.iter().enumerate() {
        let page = page(&staff.get(uri).await.expect(200).json());
        router = router.route(&format!("/{index}"), get(async move || Html(page)));
    }
    let service = app.clone();
    let router = router.fallback(async move |request: Incoming| service.answer(request).await);
    let server = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    for index in 0..videos.len() {
        let report = told(&format!("{origin}/{index}"), &mut reports).await;
        assert!(report["ready_state"].as_u64() >= Some(2), "{report}");
        let near = |name: &str, seconds: f64| (report[name].as_f64().unwrap() - seconds).abs() < 0.2;
        assert!(near("seconds", 4.0) && near("seekable", 4.0) && near("at", 3.0), "{report}");
        assert_eq!((&report["size"], &report["thumb"]), (&json!([640, 360]), &json!([640, 360])));
        assert_eq!(report["sound"], true);
    }
    server.abort();
}

/// A page of another web site that reads and changes a project by token, and tells what it could see of that.
fn foreign_page(project: &str, token: &str) -> String {
    format!(
        r#"<!doctype html><title>another site</title><script>
const call = (method, headers, body) =>
    fetch("{project}", {{method, headers: {{Authorization: "Token {token}", ...headers}}, body}});
const change = (etag, name) =>
    call("PATCH", {{"If-Match": etag, "Content-Type": "application/json"}}, JSON.stringify({{name}}));
(async () => {{
    const read = await call("GET", {{}});
    const etag = read.headers.get("ETag");
    const changed = await change(etag, "Changed by a page");
    const late = await change(etag, "Changed too late");
    const refused = await fetch("{project}");
    return {{
        read: (await read.json()).name,
        changed: (await changed.json()).name,
        late: [late.status, (await late.json()).code],
        refused: refused.status,
        request_id: refused.headers.has("X-Request-Id"),
    }};
}})().catch(error => ({{error: error.name}})).then(
    outcome => fetch("/report", {{method: "POST", body: JSON.stringify(outcome)}}));
</script>"#
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn only_pages_of_allowed_origins_use_the_api() {
    let ((service, origin), (allowed, allowed_origin), (other, other_origin)) =
        (listener().await, listener().await, listener().await);
    let variables = [("BASE_URL", &*format!("{origin}/api/v3")), ("ALLOWED_ORIGINS", &*allowed_origin)];
    let app = TestApp::start_with(&variables).await;
    let staff = app.owner().await;
    let project = staff.project(json!({ "name": "Before" })).await;

    let (reporter, mut reports) = mpsc::channel(1);
    let page = foreign_page(&project, staff.secret());
    let site = Router::new().route("/", get(async move || Html(page))).route(
        "/report",
        post(async move |body: String| reporter.send(serde_json::from_str(&body).unwrap()).await.unwrap()),
    );
    let answering = app.clone();
    let api = Router::new().fallback(async move |request: Incoming| answering.answer(request).await);
    for (listener, router) in [(service, api), (allowed, site.clone()), (other, site)] {
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    }

    let refused = told(&other_origin, &mut reports).await;
    assert_eq!(refused, json!({ "error": "TypeError" }));
    assert_eq!(staff.get(&project).await.expect(200).json()["name"], "Before");

    let outcome = told(&allowed_origin, &mut reports).await;
    let expected = json!({
        "read": "Before",
        "changed": "Changed by a page",
        "late": [412, "precondition_failed"],
        "refused": 401,
        "request_id": true,
    });
    assert_eq!(outcome, expected);
    assert_eq!(staff.get(&project).await.expect(200).json()["name"], "Changed by a page");
}
