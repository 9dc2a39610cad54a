//! What candidates meet around a recording: nothing begins unasked, nothing is out of sight, no question is a dead end, and nobody
//! is told what is not so.

use serde_json::{Value, json};
use tests::caller::Caller;
use tests::http::Request;

use crate::devtools::{BrowserOptions, Network, Page};
use crate::visit::{Visit, has_kept};
use crate::{film, sent_along};

/// Holds back the answers to beginnings, from `hold()` to `release()`, and notes devices, withdrawals and announcements.
const WATCHED: &str = "
let held = null;
window.hold = () => { held = Promise.withResolvers(); window.isHeld = false; };
window.release = () => { held.resolve(); held = null; };
window.withdrawn = 0;
const send = window.fetch;
window.fetch = async (address, options) => {
    const response = await send(address, options);
    if (held && options?.method === 'POST' && String(address).endsWith('/takes/')) {
        window.isHeld = true;
        await held.promise;
    }
    if (options?.method === 'PATCH' && options.body?.includes('\"parts\":0')) window.withdrawn += 1;
    return response;
};
const open = navigator.mediaDevices?.getUserMedia.bind(navigator.mediaDevices);
window.streams = [];
if (open) navigator.mediaDevices.getUserMedia = async wanted => {
    const stream = await open(wanted);
    window.streams.push(stream);
    return stream;
};
window.isCameraOn = () => streams.some(stream => stream.getTracks().some(track => track.readyState === 'live'));
window.said = [];
document.addEventListener('DOMContentLoaded', () => {
    const announcer = document.getElementById('announcer');
    new MutationObserver(() => announcer.textContent && said.push([announcer.textContent, performance.now()]))
        .observe(announcer, { childList: true });
});";

const ELEMENT_BOX: &str = "const box = selector => document.querySelector(selector).getBoundingClientRect();";

async fn watched(visit: &Visit, options: BrowserOptions) -> Page {
    let mut page = Page::open_with(options).await;
    page.prepare(WATCHED).await;
    visit.begin(&mut page).await;
    page
}

/// The first answer as the manager sees it.
async fn first_answer(visit: &Visit) -> Value {
    let interview = visit.owner.get(&format!("{}interview/", visit.candidate.uri)).await.expect(200).json();
    interview["answers"][0].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_records_for_a_candidate_who_has_left_the_question() {
    let visit = Visit::invited(json!({}), &[json!({ "takes": 1 }), json!({ "kind": "text" })]).await;
    let mut page = watched(&visit, BrowserOptions::with_devices()).await;
    page.press("Answer question 1").await;
    page.evaluate("hold()").await;
    page.press("Record answer").await;
    page.on("connect").await;
    page.until_promised("window.isHeld").await;
    assert_eq!(first_answer(&visit).await["takes_left"], 0, "the service has begun it");
    page.press("Cancel").await;
    page.on("question").await;
    page.press("Back").await;
    page.press("Answer question 2").await;
    page.press("Answer in writing").await;
    page.on("write").await;
    page.evaluate("document.querySelector('textarea').value = 'In March.'").await;
    page.evaluate("release()").await;
    page.until_promised("withdrawn === 1").await;
    let answer = first_answer(&visit).await;
    assert_eq!((&answer["takes_left"], &answer["open_take"]), (&json!(1), &Value::Null));
    let shown = "[document.querySelector('main').dataset.screen, document.querySelector('textarea').value, isCameraOn()]";
    assert_eq!(page.evaluate(shown).await, json!(["write", "In March.", false]));
    // It is there to be used.
    page.press("Back").await;
    page.press("Back").await;
    page.record(1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recording_begins_after_a_countdown_which_can_be_cancelled() {
    let visit = Visit::invited(json!({}), &[json!({ "takes": 1 })]).await;
    let mut page = watched(&visit, BrowserOptions::with_devices()).await;
    page.press("Answer question 1").await;
    page.press("Record answer").await;
    page.until("document.querySelector('.mark.number')?.textContent === '2'").await;
    page.press("Cancel").await;
    page.on("question").await;
    page.until_promised("withdrawn === 1").await;
    assert_eq!(page.evaluate("isCameraOn()").await, false);
    page.until("document.body.innerText.includes('Attempts left: 1')").await;
    page.press("Record answer").await;
    page.recording().await;
    // All of the promised time is left after the countdown.
    let left = page.evaluate("document.querySelector('.countdown').textContent").await;
    assert!(
        ["2 min", "1 min 59 s"]
            .map(|time| format!("Time for this answer: {time}"))
            .contains(&left.as_str().unwrap().to_owned()),
        "{left}"
    );
    page.until_promised(&has_kept(3)).await;
    page.stop_and_keep().await;
    page.complete().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_can_no_longer_be_answered_does_not_keep_the_others_from_being_complete() {
    let once = json!({ "takes": 1, "preparation_seconds": 30, "answer_seconds": 10 });
    let visit = Visit::invited(json!({}), &[once, json!({ "kind": "text" })]).await;
    let mut page = watched(&visit, BrowserOptions::with_devices()).await;
    page.press("Answer question 1").await;
    page.press("Show the question").await;
    page.on("prepare").await;
    page.go(&format!("{}/interview/acme/", visit.origin)).await;
    page.on("login").await;
    visit.app.clock().advance(chrono::TimeDelta::seconds(41));
    page.go(&visit.link).await;
    page.on("overview").await;
    let text = page.text().await;
    assert!(text.contains("This question can no longer be answered"), "{text}");
    assert!(
        !text.contains("another device") && text.contains("Answers to required questions are missing: 2."),
        "{text}"
    );
    page.press("Answer question 2").await;
    page.press("Answer in writing").await;
    page.on("write").await;
    page.evaluate("document.querySelector('textarea').value = 'In March.'").await;
    page.press("Save answer").await;
    page.on("overview").await;
    assert!(page.text().await.contains("Without an answer for good: 1."));
    page.complete().await;
    assert_eq!(visit.status().await, "interviewed");
    let answer = first_answer(&visit).await;
    assert_eq!((&answer["unanswerable"], &answer["status"]), (&json!(true), &Value::Null));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_film_that_asks_is_shown_with_the_take_and_has_its_own_time() {
    let visit = Visit::invited(json!({}), &[json!({ "preparation_seconds": 30 })]).await;
    let film = sent_along(&visit.owner, &film()).await;
    visit.app.settle().await;
    let (project, _) = visit.candidate.uri.split_once("candidates/").unwrap();
    let questions = visit.owner.get(&format!("{project}questions/")).await.expect(200).json();
    let question = questions["objects"][0]["resource_uri"].as_str().unwrap();
    visit.owner.send(Request::patch(question).json(&json!({ "video": film }))).await.expect(200);
    let mut page = watched(&visit, BrowserOptions::with_devices()).await;
    page.press("Answer question 1").await;
    page.press("Show the question").await;
    page.on("prepare").await;
    let left = page.evaluate("document.querySelector('.countdown').textContent").await;
    assert!(
        ["34 s", "33 s"]
            .map(|time| format!("Recording begins in {time}"))
            .contains(&left.as_str().unwrap().to_owned()),
        "{left}"
    );
    page.until_promised("document.querySelector('.video video')?.currentTime > 0.5").await;
    assert_eq!(page.evaluate("isCameraOn()").await, true);
}

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
        page.stop_and_keep().await;
    }
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

const SILENCE: &str = "-f lavfi -i anullsrc -t 10";
const UNHEARD: &str = "We do not hear you.";
const SILENT: &str = "Nothing is to be heard in this recording.";

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_microphone_is_noticed_before_during_and_after_a_recording() {
    let visit = Visit::with_one_question().await;
    let mut page = Page::open_with(BrowserOptions::hearing(SILENCE)).await;
    let says = |text: &str| format!("document.body.innerText.includes('{text}')");
    page.go(&visit.link).await;
    page.press("Continue to the camera test").await;
    page.press("Turn on camera and microphone").await;
    page.until(&says(UNHEARD)).await;
    page.press("Record 5 seconds").await;
    page.until(&says(SILENT)).await;
    page.press("It works: continue").await;
    page.press("Record practice answer").await;
    page.until("document.querySelector('.mark.recording')").await;
    page.until(&says(UNHEARD)).await;
    page.press("Stop recording").await;
    page.until(&says(SILENT)).await;
    page.press("Begin the interview").await;
    page.record(1).await;
    page.until(&says(UNHEARD)).await;
    page.press("Stop recording").await;
    page.on("review").await;
    assert!(page.text().await.contains(SILENT));
    page.keep().await;
    page.complete().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_candidate_who_is_heard_is_told_nothing_of_silence() {
    let visit = Visit::with_one_question().await;
    let mut page = watched(&visit, BrowserOptions::with_devices()).await;
    page.record(1).await;
    page.until_promised(&has_kept(8)).await;
    assert!(!page.text().await.contains(UNHEARD));
    page.press("Stop recording").await;
    page.on("review").await;
    assert!(!page.text().await.contains(SILENT));
}

/// A voice: a tone with overtones in four syllables a second, with a pause every four seconds, at this level.
fn voice(decibels: i32) -> String {
    let tone = "sin(880*t)+0.6*sin(1760*t)+0.4*sin(3520*t)";
    format!(
        "-f lavfi -i aevalsrc=0.5*({tone})*pow(sin(12.6*t)\\,2)*lt(mod(t\\,4)\\,3):d=12 -af loudnorm=I={decibels}:TP=-2,aformat=s16:44100"
    )
}

/// The noise of a room, at this level.
fn noise(decibels: i32) -> String {
    // White noise of amplitude 1 has -4.8 decibels.
    format!("-f lavfi -i anoisesrc=d=12:c=pink:a=1 -af volume={}dB", decibels + 8)
}

/// `tests/run browser levels_of --ignored --nocapture` prints the figures of `tests/benches/README.md`.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes three minutes, and prints figures"]
async fn levels_of_silence_noise_and_voices() {
    let sounds = [
        ("silence", SILENCE.to_owned(), false),
        ("room at -60 dB", noise(-60), false),
        ("room at -50 dB", noise(-50), false),
        ("voice at -20 LUFS", voice(-20), true),
        ("voice at -30 LUFS", voice(-30), true),
        ("voice at -40 LUFS", voice(-40), true),
    ];
    for (name, how, is_heard) in sounds {
        let visit = Visit::with_one_question().await;
        let mut page = Page::open_with(BrowserOptions::hearing(&how)).await;
        page.go(&visit.link).await;
        page.press("Continue to the camera test").await;
        page.press("Turn on camera and microphone").await;
        let levels = "new Promise(done => {
            const began = performance.now(), levels = [];
            const look = () => {
                const { value } = document.querySelector('meter');
                levels.push(Math.round((value - 1) * 60));
                if (performance.now() - began < 12_000) return requestAnimationFrame(look);
                levels.sort((one, other) => one - other);
                done([0.05, 0.5, 0.95, 1].map(share => levels[Math.ceil(share * levels.length) - 1]));
            };
            look();
        })";
        page.until_promised("document.querySelector('meter')").await;
        let shown = page.evaluate(levels).await;
        let is_told = page.text().await.contains(UNHEARD);
        #[expect(clippy::print_stdout, reason = "standard output is what figures are for")]
        {
            println!(
                "{}",
                json!({ "figure": "decibels", "sound": name, "5%, 50%, 95%, most": shown, "told": is_told })
            );
        }
        assert_eq!(is_told, !is_heard, "{name}: {shown}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_better_recording_can_be_kept_and_watched() {
    let visit = Visit::invited(json!({}), &[json!({ "takes": 2 })]).await;
    let mut page = watched(&visit, BrowserOptions::with_devices()).await;
    page.record(1).await;
    page.until_promised(&has_kept(6)).await;
    page.stop_and_keep().await;
    page.until("document.body.innerText.includes('Everything is saved.')").await;
    visit.app.settle().await;
    page.press("Change answer 1").await;
    page.press("Record answer").await;
    page.recording().await;
    page.until_promised(&has_kept(3)).await;
    page.press("Stop recording").await;
    page.on("review").await;
    assert!(page.text().await.contains("This was your last attempt at this question."));
    page.press("Keep my earlier answer").await;
    page.on("overview").await;
    let answer = first_answer(&visit).await;
    assert_eq!((&answer["take"]["number"], &answer["open_take"]), (&json!(1), &Value::Null));
    page.press("Watch answer 1").await;
    page.until_promised("document.querySelector('li video')?.currentTime > 0.5").await;
    page.complete().await;
    let answers = visit.answers().await;
    crate::interview::assert_whole(&visit, &answers[0]).await;
    assert_eq!(answers[0]["take"]["number"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_recording_waits_for_the_choice_between_two_also_over_a_reload() {
    let visit = Visit::invited(json!({}), &[json!({})]).await;
    let mut page = watched(&visit, BrowserOptions::with_devices()).await;
    page.record(1).await;
    page.until_promised(&has_kept(3)).await;
    page.stop_and_keep().await;
    page.until("document.body.innerText.includes('Everything is saved.')").await;
    page.press("Change answer 1").await;
    page.press("Record answer").await;
    page.recording().await;
    page.until_promised(&has_kept(4)).await;
    page.press("Stop recording").await;
    page.on("review").await;
    page.reload().await;
    page.on("review").await;
    assert!(!page.text().await.contains("This recording was interrupted."));
    page.press("Keep this answer").await;
    page.on("overview").await;
    page.complete().await;
    let answers = visit.answers().await;
    crate::interview::assert_whole(&visit, &answers[0]).await;
    assert_eq!(answers[0]["take"]["number"], 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn announcements_are_true_and_do_not_replace_one_another() {
    let visit = Visit::invited(json!({}), &[json!({ "preparation_seconds": 4, "answer_seconds": 12 })]).await;
    let mut page = watched(&visit, BrowserOptions::with_devices()).await;
    page.press("Answer question 1").await;
    page.press("Show the question").await;
    page.on("review").await;
    page.until_promised("said.at(-1)[0] === 'Recording has ended.'").await;
    let said = page.evaluate("said").await;
    let texts: Vec<&str> = said.as_array().unwrap().iter().map(|one| one[0].as_str().unwrap()).collect();
    assert_eq!(texts, ["Recording has begun.", "10 seconds left", "Recording has ended."], "{said}");
    for pair in said.as_array().unwrap().windows(2) {
        assert!(pair[1][1].as_f64().unwrap() - pair[0][1].as_f64().unwrap() >= 1000.0, "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn camera_and_microphone_are_off_between_recordings() {
    let visit = Visit::with_one_question().await;
    let mut page = watched(&visit, BrowserOptions::with_devices()).await;
    page.on("overview").await;
    assert_eq!(page.evaluate("[streams.length, isCameraOn()]").await, json!([1, false]));
    page.record(1).await;
    assert_eq!(page.evaluate("isCameraOn()").await, true);
    page.until_promised(&has_kept(3)).await;
    page.press("Stop recording").await;
    page.on("review").await;
    assert_eq!(page.evaluate("isCameraOn()").await, false);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_review_says_that_it_is_being_sent_only_while_it_is() {
    let visit = Visit::with_one_question().await;
    let mut page = watched(&visit, BrowserOptions::with_devices()).await;
    page.record(1).await;
    page.until_promised(&has_kept(3)).await;
    page.set_network(Network::Off).await;
    page.press("Stop recording").await;
    page.on("review").await;
    page.until("document.body.innerText.includes('No connection.')").await;
    assert!(!page.text().await.contains("it is being sent"));
    page.set_network(Network::Uplink { bits_per_second: 40_000 }).await;
    page.until("document.body.innerText.includes('You need not wait: it is being sent.')").await;
    page.set_network(Network::Whole).await;
    page.until("document.body.innerText.includes('Everything is saved.')").await;
    page.until("!document.body.innerText.includes('it is being sent')").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_candidate_without_a_camera_is_told_what_follows() {
    let visit = Visit::with_one_question().await;
    let mut page = Page::open().await;
    page.go(&visit.link).await;
    page.press("Continue to the camera test").await;
    page.press("Turn on camera and microphone").await;
    page.until("document.querySelector('.problem:not(:empty)')").await;
    page.press("Continue without camera").await;
    page.on("practice").await;
    assert!(page.text().await.contains("For each question you can choose a video file instead"));
}

#[tokio::test(flavor = "multi_thread")]
async fn lengths_optional_questions_and_progress_are_told_and_no_number_is_invented() {
    let questions =
        [json!({ "takes": null, "answer_seconds": 90 }), json!({ "kind": "text", "is_required": false })];
    let visit = Visit::invited(json!({}), &questions).await;
    let mut page = watched(&visit, BrowserOptions::with_devices()).await;
    let text = page.text().await;
    for told in [
        "Question 1 of 2",
        "not answered · required · up to 1 min 30 s",
        "Question 2 of 2",
        "not answered · optional",
    ] {
        assert!(text.contains(told), "{told}: {text}");
    }
    page.press("Answer question 1").await;
    page.on("question").await;
    assert!(!page.text().await.contains("Attempts left"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_screen_names_its_fields_fits_and_tells_when_by_which_clock() {
    let visit = Visit::invited(json!({ "allow_hash_login": false }), &[json!({})]).await;
    for kind in ["privacy_policy", "consent"] {
        let text = json!({ "kind": kind, "texts": { "en": "Yes?" }, "is_required": true });
        visit.owner.post("/companies/acme/legal/", text).await.expect(201);
    }
    let mut page = Page::open().await;
    page.move_to("Asia/Tokyo").await;
    for width in [320, 1280] {
        page.resize(width, 640).await;
        page.go(&format!("{}/interview/acme/", visit.origin)).await;
        page.on("login").await;
        page.go(&visit.link).await;
        page.on("welcome").await;
        assert_eq!(
            page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
                .await,
            true,
            "{width}"
        );
    }
    let text = page.text().await;
    assert!(text.contains("GMT+9 (Asia/Tokyo)"), "{text}");
    let names = "[...document.querySelectorAll('main input')].map(input => input.ariaLabel
        ?? (input.getAttribute('aria-labelledby')?.split(' ').map(id => document.getElementById(id).textContent).join(' ') ?? [...input.labels].map(label => label.textContent).join(' ')))";
    let expected = [
        "Privacy policy I have read this and agree",
        "Consent I have read this and agree",
        "Email address",
        "Choose a password",
        "Show password",
    ];
    assert_eq!(page.evaluate(names).await, json!(expected));
    page.evaluate("document.querySelectorAll('.consent input').forEach(box => box.click())").await;
    page.fill("password", "12345678").await;
    page.press("Continue to the camera test").await;
    page.until("document.getElementById('password-error').textContent === 'This password is easy to guess. Choose another one.'").await;
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

/// The film of a phone is not what a recording of another take goes on with.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_not_joined_to_an_interrupted_recording() {
    let visit = Visit::with_one_question().await;
    let options = BrowserOptions::with_devices();
    let mut page = watched(&visit, options.clone()).await;
    page.record(1).await;
    page.until_promised(&has_kept(3)).await;
    page.kill().await;
    let mut page = Page::open_with(BrowserOptions { allows_devices: false, ..options }).await;
    page.go(&visit.link).await;
    page.on("review").await;
    page.press("Record again").await;
    page.press("Record answer").await;
    page.until("document.querySelector('input[type=file]')?.checkVisibility()").await;
    let file = crate::visit::film_file().await;
    page.choose_file("input[type=file]", &file).await;
    page.keep().await;
    page.complete().await;
    let answers = visit.answers().await;
    assert_eq!(
        (&answers[0]["status"], &answers[0]["seconds"]),
        (&json!("successful"), &json!(2)),
        "{answers:?}"
    );
}
