//! Answers as a browser records them: cut into parts, sent by the page, and played in the browser again.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::Request as Incoming;
use axum::response::Html;
use axum::routing::{get, post};
use serde_json::json;
use tests::app::TestApp;
use tests::takes::Interviewee;
use tokio::sync::mpsc;

use crate::{listener, page, told};

/// A page that records so many seconds from the fake camera, sends them in parts of about five seconds, and finishes the take.
fn recording_page(take: &str, key: &str, content_type: &str, seconds: u32) -> String {
    let script = r#"
const call = (method, path, body) => fetch(take + path, {
    method,
    headers: {"Authorization": "ActivationKey " + key, "Content-Type": "application/json"},
    body: JSON.stringify(body),
}).then(response => response.json());
// A browser sets these itself.
const allowed = headers => Object.entries(headers).filter(([name]) => !/^(host|content-length)$/i.test(name));
const send = async (number, blob) => {
    const bytes = await blob.arrayBuffer();
    const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    const part = {number, size: bytes.byteLength, sha256: btoa(String.fromCharCode(...hash))};
    const {upload} = (await call("POST", "parts/", {parts: [part]})).parts[0];
    const headers = Object.fromEntries(allowed(upload.headers));
    const sent = () => fetch(upload.url, {method: upload.method, headers, body: bytes}).then(({status}) => status);
    return [await sent(), await sent()];
};
(async () => {
    const stream = await navigator.mediaDevices.getUserMedia({video: {width: 640, height: 360}, audio: true});
    const recorder = new MediaRecorder(stream, {mimeType: content_type, videoBitsPerSecond: 1000000});
    // Slices are joined to parts of at least five seconds.
    const parts = [];
    let begun = -Infinity;
    recorder.addEventListener("dataavailable", ({data, timeStamp}) => {
        if (data.size === 0) return;
        if (timeStamp - begun < 5000) return parts.at(-1).push(data);
        parts.push([data]);
        begun = timeStamp;
    });
    recorder.start(2000);
    await new Promise(done => setTimeout(done, seconds * 1000));
    await new Promise(done => { recorder.addEventListener("stop", done); recorder.stop(); });
    const statuses = [];
    for (const [index, slices] of parts.entries()) statuses.push(await send(index + 1, new Blob(slices)));
    const finished = {parts: parts.length, recorded_seconds: seconds};
    const {status} = await call("PATCH", "", finished);
    return {statuses, status};
})().catch(error => ({error: String(error)})).then(
    outcome => fetch("/report", {method: "POST", body: JSON.stringify(outcome)}));
"#;
    let names = json!([take, key, content_type, seconds]);
    format!(
        "<!doctype html><title>recorder</title>\
         <script>const [take, key, content_type, seconds] = {names};{script}</script>"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_browser_records_plays_in_it() {
    let (listener, origin) = listener().await;
    let variables = [("BASE_URL", &*format!("{origin}/api/v3")), ("ALLOWED_ORIGINS", &*origin)];
    let app = TestApp::start_with(&variables).await;
    let (reporter, mut reports) = mpsc::channel(1);
    let shown = Arc::new(Mutex::new(String::new()));
    let (service, current) = (app.clone(), shown.clone());
    let router = Router::new()
        .route("/", get(async move || Html(current.lock().unwrap().clone())))
        .route(
            "/report",
            post(async move |body: String| {
                reporter.send(serde_json::from_str(&body).unwrap()).await.unwrap();
            }),
        )
        .fallback(async move |request: Incoming| service.answer(request).await);
    let server = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });

    for content_type in ["video/webm;codecs=vp8,opus", "video/mp4;codecs=avc1.42E01E,opus"] {
        let person = Interviewee::asked(&app, json!({ "takes": 1 })).await;
        let take = format!("{}takes/{}/", person.answer, person.begin().await);
        *shown.lock().unwrap() = recording_page(&take, &person.candidate.key, content_type, 11);
        let report = told(&origin, &mut reports).await;
        assert_eq!(report["status"], "pending", "{report}");
        let statuses = report["statuses"].as_array().unwrap();
        assert!(statuses.len() >= 2, "{report}");
        assert!(statuses.iter().all(|both| *both == json!([200, 412])), "{report}");

        app.settle().await;
        let answer = person.answer().await;
        assert_eq!(answer["status"], "successful", "{answer}");
        *shown.lock().unwrap() = page(&answer);
        let played = told(&origin, &mut reports).await;
        assert!(played["ready_state"].as_u64() >= Some(2), "{played}");
        let seconds = played["seconds"].as_f64().unwrap();
        assert!((9.5..12.5).contains(&seconds), "{content_type}: {played}");
        assert_eq!((&played["size"], &played["sound"]), (&json!([640, 360]), &json!(true)), "{played}");
    }
    server.abort();
}
