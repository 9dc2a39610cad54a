//! The player of guests, when the address of a video dies while it plays.

use std::collections::BTreeMap;
use std::future::ready;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::Request as Incoming;
use axum::http::header::{ACCEPT_RANGES, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, LOCATION, RANGE};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::Response;
use chrono::TimeDelta;
use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::files::fetch;
use tests::videos::recorded;
use tokio::sync::watch;

use crate::devtools::Page;
use crate::listener;
use crate::marionette::FirefoxPage;
use crate::options::new_profile;
use crate::watched::{FirstQuestion, Watched};

/// The service at another origin, which sends videos itself. While their first addresses live, it answers every request for
/// them, but has only the first half; when they die, it cuts the responses off.
#[derive(Clone)]
struct SlowOrigin {
    app: TestApp,
    /// Whether the first addresses have died.
    is_dead: watch::Receiver<bool>,
    /// How often the answers were read.
    reads: Arc<AtomicUsize>,
}

impl SlowOrigin {
    async fn answer(self, request: Incoming) -> Response {
        if request.uri().path() == "/api/v3/review/" {
            self.reads.fetch_add(1, Ordering::Relaxed);
        }
        let range = text_of(request.headers(), RANGE);
        let response = self.app.answer(request).await;
        let target = text_of(response.headers(), LOCATION).filter(|_| response.status() == StatusCode::FOUND);
        let Some(target) = target else { return response };
        let stored = fetch(&target, &[]).await;
        assert_eq!(stored.status, 200, "{target}");
        // Thumbnails come from the bucket.
        if stored.body.get(4..8) != Some(b"ftyp") {
            return response;
        }
        self.send(stored.body.into(), range.as_deref())
    }

    /// A range of a film, or all of it.
    fn send(mut self, film: Bytes, range: Option<&str>) -> Response {
        let asked = range.and_then(|range| range.strip_prefix("bytes=")?.split_once('-'));
        let start: usize = asked.map_or(0, |(start, _)| start.parse().unwrap());
        let end = asked.and_then(|(_, last)| last.parse::<usize>().ok()).map_or(film.len(), |last| last + 1);
        let there = if *self.is_dead.borrow() { film.len() } else { film.len() / 2 };
        let sent = film.slice(start.min(there)..end.min(there).max(start.min(there)));
        let body = if end <= there {
            Body::from(sent)
        } else {
            let rest = async move {
                self.is_dead.wait_for(|is_dead| *is_dead).await.unwrap();
                Err(io::Error::other("the address has died"))
            };
            Body::from_stream(stream::once(ready(Ok(sent))).chain(stream::once(rest)))
        };
        let response = Response::builder()
            .header(CONTENT_TYPE, "video/mp4")
            .header(ACCEPT_RANGES, "bytes")
            .header(CONTENT_LENGTH, end - start);
        let response = match asked {
            Some(_) => response
                .status(StatusCode::PARTIAL_CONTENT)
                .header(CONTENT_RANGE, format!("bytes {start}-{}/{}", end - 1, film.len())),
            None => response,
        };
        response.body(body).unwrap()
    }
}

fn text_of(headers: &HeaderMap, name: HeaderName) -> Option<String> {
    Some(headers.get(name)?.to_str().unwrap().to_owned())
}

/// A guest's video whose address can be made to die.
struct Stage {
    watched: Watched,
    /// The page with the video.
    address: String,
    reads: Arc<AtomicUsize>,
    death: watch::Sender<bool>,
}

impl Stage {
    async fn build() -> Self {
        let how = "-f lavfi -i testsrc2=s=320x180:r=25:d=8 -f lavfi -i sine=d=8 -c:v libx264 -pix_fmt yuv420p -c:a aac";
        let first = FirstQuestion { film: recorded(how, "mp4"), ..FirstQuestion::default() };
        let watched = Watched::with_first(json!({}), first).await;
        let link = watched.link(json!({})).await;
        let (listener, origin) = listener().await;
        let (death, is_dead) = watch::channel(false);
        let reads = Arc::new(AtomicUsize::new(0));
        let slow = SlowOrigin { app: watched.visit.app.clone(), is_dead, reads: reads.clone() };
        let router = Router::new().fallback(async move |request: Incoming| slow.answer(request).await);
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        let address = format!("{}#1", link.replace(&watched.visit.origin, &origin));
        Self { watched, address, reads, death }
    }

    /// Has the first addresses die.
    fn kill(&self) {
        self.watched.visit.app.clock().advance(TimeDelta::minutes(16));
        self.death.send(true).unwrap();
    }

    /// Checks the page's notes once the video has ended.
    fn assert_went_on(&self, told: &Value) {
        assert_eq!(self.reads.load(Ordering::Relaxed), 2, "{told}");
        let told: BTreeMap<String, String> = serde_json::from_str(told.as_str().unwrap()).unwrap();
        let [before, after, end, rate] =
            ["before", "after", "end", "rate"].map(|name| told[name].parse::<f64>().unwrap());
        assert!(before > 0.0 && (before - after).abs() < 0.5 && end > 7.5, "{told:?}");
        assert_eq!((rate, &*told["shown"]), (1.5, "1.5"), "{told:?}");
    }
}

/// Whether the video plays, as a promise.
const PLAYS: &str = "Promise.resolve(document.querySelector('video')?.currentTime > 1)";
/// Notes where the video is when its address dies, and where it goes on; the viewer has it play faster between the two. In attributes, since
/// scripts of tests share nothing else in Firefox.
const NOTE: &str = "(() => {
    const video = document.querySelector('video');
    const { dataset } = video;
    video.addEventListener('timeupdate', () => { if (!video.error && !('before' in dataset)) dataset.last = video.currentTime; });
    video.addEventListener('error', () => { dataset.before = dataset.last; video.playbackRate = 1.5; });
    video.addEventListener('seeked', () => { dataset.after ??= video.currentTime; });
    video.addEventListener('ended', () => {
        Object.assign(dataset, { end: video.currentTime, rate: video.playbackRate, shown: document.querySelector('.speed select').value });
    });
})()";
/// A promise of the page's notes once the video has ended.
const TOLD: &str = "Promise.resolve('end' in document.querySelector('video').dataset && JSON.stringify({ ...document.querySelector('video').dataset }))";

#[tokio::test(flavor = "multi_thread")]
async fn a_video_goes_on_at_the_same_second_when_its_address_dies() {
    let stage = Stage::build().await;
    let mut page = Page::open().await;
    page.go(&stage.address).await;
    page.on("question").await;
    page.evaluate(NOTE).await;
    for _ in 0..10 {
        if page.evaluate("document.activeElement.textContent").await == "Play answer" {
            break;
        }
        page.press_key("Tab").await;
    }
    page.press_key("Enter").await;
    page.until_promised(PLAYS).await;
    stage.kill();
    page.until_promised(TOLD).await;
    stage.assert_went_on(&page.evaluate(TOLD).await);
    page.until("document.querySelector('button.main').textContent === 'Next'").await;
}

/// Holds what the page reads from now on, until `release` is called.
const HOLD_READS: &str = "{
    const send = window.fetch, held = new Promise(done => { window.release = done; });
    window.fetch = async (...asked) => { await held; return send(...asked); };
    window.left = document.querySelector('.frame video');
}";

#[tokio::test(flavor = "multi_thread")]
async fn a_video_that_the_viewer_has_left_plays_no_more_when_its_new_address_comes() {
    let stage = Stage::build().await;
    let mut page = Page::open().await;
    page.go(&stage.address).await;
    page.on("question").await;
    page.tab_to("Play answer").await;
    page.until_promised(PLAYS).await;
    page.evaluate(HOLD_READS).await;
    stage.kill();
    page.until("document.querySelector('.state').textContent === 'The video is being loaded again…'").await;
    page.press("Next").await;
    page.headed("Question 2 of 4").await;
    page.evaluate("release()").await;
    page.until_promised("Promise.resolve(performance.getEntriesByType('resource').filter(({ name, responseEnd }) => name.endsWith('/review/') && responseEnd > 0).length === 2)").await;
    // The page has its answer by the time that another one has come.
    page.evaluate("fetch('/api/v3/openapi.json').then(response => response.text()).then(() => {})").await;
    assert_eq!(page.evaluate("left.hasAttribute('src')").await, false);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_video_goes_on_at_the_same_second_in_firefox() {
    let stage = Stage::build().await;
    let mut page = FirefoxPage::open(&new_profile()).await;
    page.go(&stage.address).await;
    page.on("question").await;
    page.evaluate(NOTE).await;
    page.press("Play answer").await;
    page.until(PLAYS).await;
    stage.kill();
    page.until(TOLD).await;
    stage.assert_went_on(&page.evaluate(TOLD).await);
}
