//! Elements that must be in sight while candidates record, in windows of all sizes.

use image::ImageFormat;
use serde_json::{Value, json};
use tests::caller::{Caller as _, PASSWORD};
use tests::figures::print;
use tests::files::{Form, photo};
use tests::http::Request;

use crate::devtools::{BrowserOptions, Page};
use crate::recording::watched;
use crate::visit::{Visit, has_kept};
use crate::{film, sent_along};

const ELEMENT_BOX: &str = "const box = selector => document.querySelector(selector).getBoundingClientRect();";

/// The text of a question of so many characters.
pub(crate) fn text_of(characters: usize) -> String {
    let words = "Why do you want to work with us, and what would you do first? ".repeat(characters / 60 + 1);
    words.chars().take(characters - 1).chain(['?']).collect()
}

fn question_of(characters: usize) -> Value {
    json!({ "text": text_of(characters) })
}

/// Widths and heights: phones, upright and on their side, computers, and one at 200 %.
pub(crate) const VIEWPORTS: [[u32; 2]; 8] =
    [[390, 844], [390, 664], [360, 560], [320, 480], [844, 390], [1280, 600], [1440, 900], [720, 450]];

impl Page {
    /// Gives the window this size, and waits until the page has it.
    pub(crate) async fn fit(&mut self, [width, height]: [u32; 2]) {
        self.resize(width, height).await;
        self.until_promised(&format!("innerWidth === {width} && innerHeight === {height}")).await;
    }

    /// Checks that these elements are in sight in a window of this size, and that nothing scrolls.
    pub(crate) async fn assert_in_sight(&mut self, [width, height]: [u32; 2], parts: &[&str], about: &str) {
        let shown = self
            .evaluate(&format!(
                "(() => {{
                    const boxes = {}.map(part => document.querySelector(part).getBoundingClientRect());
                    return {{
                        left: Math.min(...boxes.map(one => one.left)), top: Math.min(...boxes.map(one => one.top)),
                        right: Math.max(...boxes.map(one => one.right)), bottom: Math.max(...boxes.map(one => one.bottom)),
                        scrolls: [document.documentElement.scrollWidth, document.documentElement.scrollHeight],
                    }};
                }})()",
                json!(parts)
            ))
            .await;
        let row = format!("{width}×{height}, {about}: {shown}");
        let at = |side: &str| shown[side].as_f64().unwrap();
        assert!(at("left") >= 0.0 && at("top") >= 0.0, "{row}");
        assert!(at("right") <= width.into() && at("bottom") <= height.into(), "{row}");
        assert_eq!(shown["scrolls"], json!([width, height]), "{row}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn picture_time_and_stop_are_in_sight_while_recording() {
    let lengths = [40, 200, 990];
    let name = "Regional head of sales, northern and eastern districts, with travel in all of them";
    let visit = Visit::invited(json!({ "name": name }), &lengths.map(question_of)).await;
    let logo = Form::new().file("file", "logo.png", "image/png", &photo(ImageFormat::Png, 300, 120));
    visit.owner.send(Request::put("/companies/acme/logo/").form(logo)).await.expect(200);
    let mut page = watched(&visit, BrowserOptions::with_devices()).await;
    for (number, length) in (1..).zip(lengths) {
        page.resize(390, 844).await;
        page.record(number).await;
        for size in VIEWPORTS {
            page.fit(size).await;
            let parts = [".box", ".picture", ".mark", ".picture meter", ".countdown", ".controls button"];
            page.assert_in_sight(size, &parts, &format!("{length} characters")).await;
            let shown = page
                .evaluate(&format!(
                    "(() => {{ {ELEMENT_BOX} return {{
                        picture: box('.picture').height, stop: box('.controls button').bottom, time: box('.countdown').bottom,
                    }}; }})()"
                ))
                .await;
            let [width, height] = size;
            let at = |name: &str| shown[name].as_f64().unwrap();
            assert!(at("picture") >= 80.0, "{width}×{height}, {length} characters: {shown}");
            #[expect(clippy::print_stdout, reason = "standard output is what figures are for")]
            {
                println!(
                    "{width}x{height} {length} stop {} time {} picture {}",
                    at("stop"),
                    at("time"),
                    at("picture")
                );
            }
        }
        // A fast computer has shown all of them before anything is recorded.
        page.until_promised(&has_kept(2)).await;
        page.stop_and_keep().await;
        page.saved().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_time_to_prepare_is_in_sight_beside_a_long_question() {
    let mut question = question_of(990);
    question["preparation_seconds"] = json!(300);
    let visit = Visit::invited(json!({}), &[question]).await;
    let mut page = watched(&visit, BrowserOptions::with_devices()).await;
    page.press("Answer question 1").await;
    page.press("Show the question").await;
    page.on("prepare").await;
    for [width, height] in VIEWPORTS {
        page.fit([width, height]).await;
        page.evaluate("scrollTo(0, 0)").await;
        let shown = page
            .evaluate(&format!(
                "(() => {{ {ELEMENT_BOX} return ['.countdown', '.controls button'].map(box).map(one => [one.top, one.bottom]); }})()"
            ))
            .await;
        for [top, bottom] in serde_json::from_value::<[[f64; 2]; 2]>(shown).unwrap() {
            assert!(top >= 0.0 && bottom <= height.into(), "{width}×{height}: {top} to {bottom}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_film_that_asks_is_in_sight_while_its_clock_runs() {
    let visit = Visit::invited(json!({}), &[json!({ "preparation_seconds": 600 })]).await;
    let film = sent_along(&visit.owner, &film()).await;
    visit.app.settle().await;
    let (project, _) = visit.candidate.uri.split_once("candidates/").unwrap();
    let questions = visit.owner.get(&format!("{project}questions/")).await.expect(200).json();
    let question = questions["objects"][0]["resource_uri"].as_str().unwrap();
    visit.owner.patch(question, json!({ "video": film })).await.expect(200);
    let mut page = watched(&visit, BrowserOptions::with_devices()).await;
    page.press("Answer question 1").await;
    page.press("Show the question").await;
    page.until_promised("document.querySelector('.video video')?.readyState >= 1").await;
    for [width, height] in VIEWPORTS {
        page.fit([width, height]).await;
        let parts = [".video video", ".box", ".picture", ".picture meter", ".countdown", ".controls button"];
        page.assert_in_sight([width, height], &parts, "with a film").await;
        let shown = page
            .evaluate(&format!(
                "(() => {{ {ELEMENT_BOX} return {{
                    film: box('.video video').height, width: box('.video video').width, box: box('.box').height,
                    picture: box('.picture video').height,
                }}; }})()"
            ))
            .await;
        let row = format!("{width}×{height}: {shown}");
        let at = |name: &str| shown[name].as_f64().unwrap();
        // A film that is wide fills the width of an upright window, and half the height of others.
        let is_large = at("width") >= f64::from(width) || at("film") >= 0.48 * f64::from(height);
        assert!(is_large && at("box") >= 48.0 && at("picture") >= 80.0, "{row}");
        let share = (100.0 * at("film") / f64::from(height)).round();
        print(&json!({ "figure": "film in sight", "window": format!("{width}x{height}"), "percent": share }));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_picture_has_no_bars_and_its_mark_and_level_do_not_overlap() {
    let visit = Visit::with_one_question().await;
    let mut page = watched(&visit, BrowserOptions::with_devices()).await;
    page.fit([1440, 900]).await;
    page.record(1).await;
    let [width, height] = serde_json::from_value::<[f64; 2]>(
        page.evaluate(&format!("(() => {{ {ELEMENT_BOX} return [box('.picture video').width, box('.picture video').height]; }})()")).await,
    )
    .unwrap();
    assert!((width / height - 16.0 / 9.0).abs() < 0.02 && width > 800.0, "{width}×{height}");
    for ([width, height], size) in
        VIEWPORTS.map(|size| (size, "100%")).into_iter().chain([([390, 844], "200%"), ([1440, 900], "200%")])
    {
        page.evaluate(&format!("{{ document.documentElement.style.fontSize = '{size}'; }}")).await;
        page.fit([width, height]).await;
        let gap =
            format!("(() => {{ {ELEMENT_BOX} return box('.picture meter').top - box('.mark').bottom; }})()");
        assert!(page.evaluate(&gap).await.as_f64() >= Some(0.0), "{width}×{height}, {size}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_header_has_one_row_on_a_phone() {
    let name = "Regional head of sales, northern and eastern districts";
    let fields = json!({ "name": name, "max_interview_time": 90, "allow_hash_login": false });
    let visit = Visit::invited(fields, &[json!({ "kind": "text" })]).await;
    let candidate = &visit.candidate;
    let own = candidate.register().await;
    candidate.advance(&candidate.uri).await.expect(200);
    own.advance(&candidate.uri).await.expect(200);
    let mut page = Page::open().await;
    page.go(&format!("{}/interview/acme/", visit.origin)).await;
    page.log_in(&candidate.email, PASSWORD).await;
    page.on("overview").await;
    for has_logo in [false, true] {
        if has_logo {
            let logo = Form::new().file("file", "logo.png", "image/png", &photo(ImageFormat::Png, 300, 120));
            visit.owner.send(Request::put("/companies/acme/logo/").form(logo)).await.expect(200);
            page.reload().await;
            page.until_promised("document.querySelector('header img')?.complete").await;
        }
        for [width, height] in VIEWPORTS.into_iter().filter(|[width, height]| width.min(height) < &500) {
            page.fit([width, height]).await;
            let shown = format!(
                "(() => {{ {ELEMENT_BOX} return [box('header').height, document.documentElement.scrollWidth, document.querySelector('header .time').checkVisibility()]; }})()"
            );
            let shown = page.evaluate(&shown).await;
            // A row of controls, and what is around it.
            let most = if width < 640 { 66.0 } else { 84.0 };
            let is_one = shown[0].as_f64() <= Some(most) && shown[1].as_u64() <= Some(width.into());
            assert!(is_one && shown[2] == true, "{width}×{height}, {has_logo}: {shown}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recording_has_its_dot_without_motion_too() {
    let visit = Visit::with_one_question().await;
    let mut page = watched(&visit, BrowserOptions::with_devices()).await;
    page.record(1).await;
    let dot = "(({ content, animationName }) => [content, animationName])(getComputedStyle(document.querySelector('.mark.recording'), '::before'))";
    assert_eq!(page.evaluate(dot).await, json!([r#""""#, "pulse"]));
    page.reduce_motion().await;
    assert_eq!(page.evaluate(dot).await, json!([r#""""#, "none"]));
}

/// A camera that is held upright.
const UPRIGHT: &str = "
const devices = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
navigator.mediaDevices.getUserMedia = async wanted => {
    const stream = await devices(wanted);
    stream.getVideoTracks().forEach(track => { track.stop(); stream.removeTrack(track); });
    const canvas = Object.assign(document.createElement('canvas'), { width: 720, height: 1280 });
    const context = canvas.getContext('2d');
    const draw = () => { context.fillStyle = `hsl(${performance.now() / 20 % 360} 80% 50%)`; context.fillRect(0, 0, 720, 1280); };
    setInterval(draw, 40);
    draw();
    stream.addTrack(canvas.captureStream(25).getVideoTracks()[0]);
    return stream;
};";

#[tokio::test(flavor = "multi_thread")]
async fn an_upright_camera_fills_an_upright_frame() {
    let visit = Visit::with_one_question().await;
    let mut page = Page::open_with(BrowserOptions::with_devices()).await;
    page.prepare(UPRIGHT).await;
    page.resize(390, 844).await;
    // The size of the camera's picture on the screen.
    let seen = "(() => { const video = document.querySelector('video.mirror'); const { width, height } = video.getBoundingClientRect();
        const scale = Math.min(width / video.videoWidth, height / video.videoHeight);
        return [video.videoWidth * scale, video.videoHeight * scale].map(Math.round); })()";
    page.go(&visit.link).await;
    page.press("Continue to the camera test").await;
    page.press("Turn on camera and microphone").await;
    page.until_promised("document.querySelector('video.mirror')?.videoHeight === 1280").await;
    let tested = page.evaluate(seen).await;
    assert!(tested[0].as_u64() >= Some(260) && tested[1].as_u64() >= Some(460), "{tested}");
    page.press("It works: continue").await;
    page.press("Begin the interview").await;
    page.record(1).await;
    let recorded = page.evaluate(seen).await;
    assert!(recorded[0].as_u64() >= Some(260) && recorded[1].as_u64() >= Some(460), "{recorded}");
}

#[tokio::test(flavor = "multi_thread")]
async fn words_of_companies_keep_their_direction() {
    let name = "مهندس بيانات";
    let visit = Visit::invited(json!({ "name": name }), &[json!({ "text": "لماذا نحن؟" })]).await;
    let mut page = watched(&visit, BrowserOptions::with_devices()).await;
    assert_eq!(page.evaluate("getComputedStyle(document.querySelector('.asked')).direction").await, "rtl");
    page.go(&format!("{}/interview/acme/", visit.origin)).await;
    page.on("login").await;
    assert_eq!(page.evaluate("document.documentElement.dir").await, "");
}
