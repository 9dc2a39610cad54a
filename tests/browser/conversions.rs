//! Plays converted recordings in Chromium: phones that are turned, cameras that freeze, sounds with holes. The service's engine
//! converts them, the page's recorder makes one of them.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::response::Html;
use axum::routing::{get, post};
use serde_json::Value;
use tests::videos::recorded;
use tokio::sync::mpsc;
use video_conversion::engine::{ConversionTarget, TimeLeft, convert};

use crate::{PATIENCE, listener, told};

/// Tells where in the picture something is bright, early and late in the film; when the picture becomes bright, and when something
/// is heard.
const WATCH: &str = r#"
const film = await (await fetch("/film")).blob();
const video = document.createElement("video");
video.muted = true;
// A video can have been sought before its picture is there to be drawn.
const shown = () => new Promise((done, fail) => {
    video.requestVideoFrameCallback(done);
    video.addEventListener("error", () => fail(video.error.message), {once: true});
});
const first = shown();
video.src = URL.createObjectURL(film);
await first;
const canvas = document.createElement("canvas");
[canvas.width, canvas.height] = [video.videoWidth, video.videoHeight];
const context = canvas.getContext("2d", {willReadFrequently: true});
const look = async at => {
    const arrived = shown();
    video.currentTime = at;
    await arrived;
    context.drawImage(video, 0, 0);
    const {data, width, height} = context.getImageData(0, 0, canvas.width, canvas.height);
    const [columns, rows] = [new Set(), new Set()];
    for (let pixel = 0; pixel < width * height; pixel += 1) {
        if (data[4 * pixel] > 128) {
            columns.add(pixel % width);
            rows.add(Math.floor(pixel / width));
        }
    }
    return [columns.size, rows.size];
};
const {duration} = video;
const [early, late] = [await look(0.5), await look(duration - 0.5)];
let flash = 0;
while (flash < duration && (await look(flash))[0] === 0) flash += 0.05;
// One packet after the other, as they are played.
const listener = new OfflineAudioContext(1, 48000, 48000);
const heard = await listener.decodeAudioData(await film.arrayBuffer()).catch(() => null);
const beep = heard ? heard.getChannelData(0).findIndex(sample => Math.abs(sample) > 0.2) / 48000 : null;
return {duration, early, late, flash, beep};
"#;

/// Records a white square on black with the page's recorder, and turns the picture when three slices have arrived.
const RECORD: &str = r#"
const {recordableTypes, Recording} = await import("/recorder.js");
const canvas = document.createElement("canvas");
const context = canvas.getContext("2d");
let isTurned = false;
const draw = () => {
    const size = isTurned ? [360, 640] : [640, 360];
    if (canvas.width !== size[0]) [canvas.width, canvas.height] = size;
    context.fillStyle = "black";
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.fillStyle = "white";
    context.fillRect(canvas.width / 2 - 80, canvas.height / 2 - 80, 160, 160);
};
draw();
setInterval(draw, 40);
const stream = canvas.captureStream(25);
const devices = await navigator.mediaDevices.getUserMedia({audio: true});
stream.addTrack(devices.getAudioTracks()[0]);
const slices = [];
let recording;
const type = recordableTypes()[0];
await new Promise(done => {
    recording = new Recording(stream, type, slice => {
        slices.push(slice);
        isTurned = slices.length >= 3;
        if (slices.length >= 6) done();
    });
});
await recording.stop();
await fetch("/recording", {method: "POST", body: new Blob(slices)});
return {type};
"#;

/// A browser, and what its pages send and get.
struct Stage {
    origin: String,
    script: Arc<Mutex<&'static str>>,
    film: Arc<Mutex<Vec<u8>>>,
    recording: Arc<Mutex<Vec<u8>>>,
    reports: mpsc::Receiver<Value>,
}

impl Stage {
    async fn build() -> Self {
        let (listener, origin) = listener().await;
        let (reporter, reports) = mpsc::channel(1);
        let script = Arc::new(Mutex::new(""));
        let [film, recording] = [(); 2].map(|()| Arc::new(Mutex::new(Vec::new())));
        let (current, shown, sent) = (script.clone(), film.clone(), recording.clone());
        let module = |text: &'static str| get(async move || ([(CONTENT_TYPE, "text/javascript")], text));
        let router = Router::new()
            .route("/", get(async move || Html(page(*current.lock().unwrap()))))
            .route("/film", get(async move || shown.lock().unwrap().clone()))
            .route("/recording", post(async move |body: Bytes| *sent.lock().unwrap() = body.to_vec()))
            .route("/recorder.js", module(include_str!("../../functions/page/assets/recorder.js")))
            .route("/dom.js", module(include_str!("../../functions/page/assets/dom.js")))
            .route(
                "/report",
                post(async move |body: String| {
                    reporter.send(serde_json::from_str(&body).unwrap()).await.unwrap();
                }),
            );
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { origin, script, film, recording, reports }
    }

    async fn run(&mut self, script: &'static str) -> Value {
        *self.script.lock().unwrap() = script;
        let report = told(&self.origin, &mut self.reports).await;
        assert!(report["error"].is_null(), "{report}");
        report
    }

    /// Converts an answer, and tells what the browser sees and hears of it.
    async fn watch(&mut self, answer: &[u8]) -> Value {
        let folder = tempfile::tempdir().unwrap();
        let input = folder.path().join("answer");
        tokio::fs::write(&input, answer).await.unwrap();
        let target = ConversionTarget::Answer { max_seconds: 60 };
        let path = std::env::var_os("PATH").unwrap();
        let made = convert(&path, &input, target, TimeLeft::whole(PATIENCE)).await.unwrap();
        *self.film.lock().unwrap() = tokio::fs::read(&made.mp4).await.unwrap();
        self.run(WATCH).await
    }
}

fn page(script: &str) -> String {
    format!(
        r#"<!doctype html><title>recordings</title><script type="module">
(async () => {{ {script} }})().catch(error => ({{error: String(error)}})).then(
    outcome => fetch("/report", {{method: "POST", body: JSON.stringify(outcome)}}));
</script>"#
    )
}

/// The two sides of what is bright.
fn sides(report: &Value, moment: &str) -> [f64; 2] {
    [0, 1].map(|side| report[moment][side].as_f64().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_phone_that_is_turned_records_what_it_shows() {
    let mut stage = Stage::build().await;
    let recorded = stage.run(RECORD).await;
    assert!(recorded["type"].as_str().unwrap().contains("avc3"), "{recorded}");
    let recording = std::mem::take(&mut *stage.recording.lock().unwrap());
    let seen = stage.watch(&recording).await;
    for (moment, side) in [("early", 160.0), ("late", 90.0)] {
        let [width, height] = sides(&seen, moment);
        assert!((width - height).abs() < 8.0 && (width - side).abs() < 8.0, "{moment}: {seen}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sound_and_picture_come_together_after_a_hole_and_after_the_camera_froze() {
    let mut stage = Stage::build().await;
    let flash = "-f lavfi -i color=black:s=320x180:r=25:d=6,drawbox=c=white:t=fill:enable='gt(t,5)' \
                 -f lavfi -i aevalsrc='0.5*sin(2000*PI*t)*gt(t,5)':d=6:s=48000 -af aselect='lt(t,1.9)+gt(t,3.95)'";
    let freeze = "-f lavfi -i color=black:s=320x180:r=25:d=1,drawbox=c=white:t=fill:enable='gt(t,0.8)' \
                  -f lavfi -i aevalsrc='0.5*sin(2000*PI*t)*gt(t,0.8)':d=6:s=48000";
    let h264 = "-c:v libx264 -preset ultrafast -pix_fmt yuv420p -c:a aac";
    let vp8 = "-c:v libvpx -deadline realtime -c:a libopus -live 1";
    for (film, at) in [(flash, 5.0), (freeze, 0.8)] {
        for (container, codecs) in [("mp4", h264), ("webm", vp8)] {
            let seen = stage.watch(&recorded(&format!("{film} {codecs}"), container)).await;
            let near = |name: &str, seconds: f64| (seen[name].as_f64().unwrap() - seconds).abs() < 0.15;
            assert!(near("duration", 6.0) && near("flash", at) && near("beep", at), "{container}: {seen}");
            assert_eq!(sides(&seen, "late"), [320.0, 180.0], "{container}: {seen}");
        }
    }
}
