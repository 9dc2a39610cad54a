//! Texts of the page before, during and after recordings: they are true, and nothing that matters is left out.

use serde_json::json;
use tests::caller::Caller;
use tests::figures::print;

use crate::devtools::{BrowserOptions, Network, Page};
use crate::recording::watched;
use crate::visit::{Visit, has_kept};

const SILENCE: &str = "-f lavfi -i anullsrc -t 10";
const UNHEARD: &str = "We do not hear you.";
const SILENT: &str = "There is no sound in this recording.";

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
    page.press("Go on without sound").await;
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

/// Which sounds are a voice, and when nothing is heard, apart from listening.
const HEARING: &str = include_str!("../../functions/page/assets/hearing.js");

#[tokio::test(flavor = "multi_thread")]
async fn a_click_is_no_voice_and_those_who_were_heard_may_think_for_a_while() {
    let mut page = Page::open().await;
    page.evaluate(&format!("{}; undefined", HEARING.replace("export ", ""))).await;
    // Milliseconds of silence and sound in turn; whether there was a voice, whether the page says so now and at the end.
    for (heard, expected) in [
        (&[2500][..], [false, false, false]),
        (&[2501], [false, false, true]),
        (&[5000], [false, false, true]),
        (&[5001], [false, true, true]),
        (&[3000, 299, 2000], [false, true, true]),
        (&[3000, 300, 2000], [true, false, false]),
        (&[0, 100, 1000, 100, 1000, 100, 20_000], [true, false, false]),
        (&[0, 1000, 20_001], [true, true, false]),
        (&[0, 1000, 20_001, 100], [true, false, false]),
    ] {
        let found = page
            .evaluate(&format!(
                "(() => {{ const hearing = new Hearing(null, () => {{}});
                    {}.forEach((milliseconds, index) => hearing.count(milliseconds, index % 2 === 1));
                    return [hearing.isHeard, hearing.isUnheard, hearing.wasSilent]; }})()",
                json!(heard)
            ))
            .await;
        assert_eq!(found, json!(expected), "{heard:?}");
    }
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
        print(&json!({ "figure": "decibels", "sound": name, "5%, 50%, 95%, most": shown, "told": is_told }));
        assert_eq!(is_told, !is_heard, "{name}: {shown}");
    }
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

/// How texts are said, apart from what there is to say.
const DOM: &str = include_str!("../../functions/page/assets/dom.js");

#[tokio::test(flavor = "multi_thread")]
async fn what_is_to_be_said_waits_for_what_is_being_said() {
    let mut page = Page::open().await;
    page.evaluate(&format!("{}; undefined", DOM.replace("export ", ""))).await;
    page.evaluate("document.body.innerHTML = '<p id=announcer></p>'").await;
    let said = "document.getElementById('announcer').textContent";
    let first =
        page.evaluate(&format!("announce('One.'); announce('Two.'); announce('Three.'); {said}")).await;
    assert_eq!(first, "One.");
    for later in ["Two.", "Three.", ""] {
        page.until(&format!("{said} === '{later}'")).await;
    }
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
    page.saved().await;
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
    // The form is that of mails, the time that of the reader's clock.
    assert!(text.contains("Sunday 15 November 2026 at 19:00 (Asia/Tokyo, UTC+9)"), "{text}");
    let names = "[...document.querySelectorAll('main input:not(.help input)')].map(input => input.ariaLabel
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
