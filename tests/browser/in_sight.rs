//! What is in sight while candidates record, in windows of all sizes.

use image::ImageFormat;
use serde_json::{Value, json};
use tests::caller::Caller as _;
use tests::files::{Form, photo};
use tests::http::Request;

use crate::devtools::{BrowserOptions, Page};
use crate::recording::watched;
use crate::visit::{Visit, has_kept};

const ELEMENT_BOX: &str = "const box = selector => document.querySelector(selector).getBoundingClientRect();";

/// A question of so many characters.
fn question_of(characters: usize) -> Value {
    let words = "Why do you want to work with us, and what would you do first? ".repeat(characters / 60 + 1);
    json!({ "text": words.chars().take(characters - 1).chain(['?']).collect::<String>() })
}

/// Widths and heights: phones, upright and on their side, computers, and one at 200 %.
const VIEWPORTS: [[u32; 2]; 8] =
    [[390, 844], [390, 664], [360, 560], [320, 480], [844, 390], [1280, 600], [1440, 900], [720, 450]];

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
        for [width, height] in VIEWPORTS {
            page.resize(width, height).await;
            page.until_promised(&format!("innerWidth === {width} && innerHeight === {height}")).await;
            let shown = page
                .evaluate(&format!(
                    "(() => {{ {ELEMENT_BOX}
                    const all = ['.box', '.picture', '.mark', '.picture meter', '.countdown', '.controls button'].map(box);
                    return {{
                        lowest: Math.max(...all.map(one => one.bottom)), highest: Math.min(...all.map(one => one.top)),
                        rightmost: Math.max(...all.map(one => one.right)), picture: box('.picture').height,
                        stop: box('.controls button').bottom, time: box('.countdown').bottom,
                        scrolls: [document.documentElement.scrollHeight, document.documentElement.scrollWidth],
                    }};
                }})()"
                ))
                .await;
            let row = format!("{width}×{height}, {length} characters: {shown}");
            let at = |name: &str| shown[name].as_f64().unwrap();
            assert!(at("lowest") <= height.into() && at("highest") >= 0.0, "{row}");
            assert!(at("rightmost") <= width.into() && at("picture") >= 80.0, "{row}");
            assert_eq!(shown["scrolls"], json!([height, width]), "{row}");
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
        page.resize(width, height).await;
        page.until_promised(&format!("innerWidth === {width} && innerHeight === {height}")).await;
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
