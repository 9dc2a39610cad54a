//! Interviews in which something goes wrong: nothing that was recorded may be lost, and the page says what to do.

use serde_json::{Value, json};
use tests::caller::Caller;

use crate::devtools::{BrowserOptions, LostResponses, Network, Page};
use crate::interview::assert_whole;
use crate::visit::{Visit, film_file, has_kept};

/// Kills a browser that has kept so many slices of its recording. Returns its options: another one with these has its disk.
async fn kill_while_recording(visit: &Visit, slices: usize) -> BrowserOptions {
    let options = BrowserOptions::with_devices();
    let mut page = Page::open_with(options.clone()).await;
    visit.begin(&mut page).await;
    page.record(1).await;
    page.until_promised(&has_kept(slices)).await;
    page.kill().await;
    options
}

/// Replaces the recording under review by another, and completes the interview.
async fn record_again(page: &mut Page) {
    page.press("Record again").await;
    page.press("Record answer").await;
    page.on("record").await;
    page.until_promised(&has_kept(4)).await;
    page.stop_and_keep().await;
    page.complete().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_browser_keeps_all_but_the_last_slice() {
    for slices in [4, 8] {
        let visit = Visit::with_one_question().await;
        let options = kill_while_recording(&visit, slices).await;

        let mut page = Page::open_with(options).await;
        page.go(&visit.link).await;
        page.on("review").await;
        assert!(page.text().await.contains("This recording was interrupted."));
        page.keep().await;
        page.complete().await;
        let answers = visit.answers().await;
        let beeps = visit.beeps(&answers[0]).await;
        // Two beeps a second, a second a slice; an mp4 lacks what follows its last key frame.
        assert!(beeps + 2 >= 2 * (slices - 2), "{beeps} beeps after {slices} slices");
        assert_eq!((&answers[0]["takes_begun"], &answers[0]["interruptions"]), (&json!(1), &json!(0)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_recording_can_be_recorded_again() {
    let visit = Visit::with_one_question().await;
    let options = kill_while_recording(&visit, 2).await;

    let mut page = Page::open_with(options).await;
    page.go(&visit.link).await;
    page.on("review").await;
    record_again(&mut page).await;
    let answers = visit.answers().await;
    assert_whole(&visit, &answers[0]).await;
    assert_eq!(answers[0]["takes_begun"], 2);
}

/// Leaves the only slice that the browser has with its first bytes, as if it had been killed before the next ones.
const CUT_SLICE: &str = "(async () => {
    const settled = request => new Promise(done => { request.onsuccess = () => done(request.result); });
    for (const { name } of await indexedDB.databases()) {
        const database = await settled(indexedDB.open(name));
        const slices = database.transaction('slices', 'readwrite').objectStore('slices');
        const [first, ...further] = await settled(slices.getAll());
        for (const { take, sequence } of further) await settled(slices.delete([take, sequence]));
        await settled(slices.put({ ...first, bytes: first.bytes.slice(0, 16), size: 16 }));
        database.close();
    }
})()";

#[tokio::test(flavor = "multi_thread")]
async fn a_recording_too_short_to_play_is_told_as_nothing_and_recorded_again() {
    let visit = Visit::with_one_question().await;
    let options = kill_while_recording(&visit, 2).await;

    let mut page = Page::open_with(options).await;
    page.go(&format!("{}/interview/acme/", visit.origin)).await;
    page.on("login").await;
    page.evaluate(CUT_SLICE).await;
    page.go(&visit.link).await;
    page.on("review").await;
    page.until("document.body.innerText.includes('Nothing was recorded.')").await;
    record_again(&mut page).await;
    assert_whole(&visit, &visit.answers().await[0]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_network_recordings_wait_also_over_a_reload() {
    let visit = Visit::with_one_question().await;
    let mut page = Page::open_with(BrowserOptions::with_devices()).await;
    visit.begin(&mut page).await;
    page.record(1).await;
    page.until_promised(&has_kept(2)).await;
    page.set_network(Network::Off).await;
    page.until_promised(&has_kept(8)).await;
    page.stop_and_keep().await;
    page.until(
        "document.body.innerText.includes('No connection. What you record and write is kept on this device')",
    )
    .await;
    assert!(visit.app.object_keys().iter().all(|key| !key.starts_with("takes/")));
    page.set_network(Network::Whole).await;
    page.reload().await;
    page.on("overview").await;
    page.complete().await;
    assert_whole(&visit, &visit.answers().await[0]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lost_responses_lose_nothing_and_double_nothing() {
    for lost in [LostResponses::First, LostResponses::Tenth] {
        let visit = Visit::with_one_question().await;
        let mut page = Page::open_with(BrowserOptions::with_devices()).await;
        page.lose_responses(lost).await;
        visit.begin(&mut page).await;
        page.record(1).await;
        page.until_promised(&has_kept(8)).await;
        page.stop_and_keep().await;
        page.complete().await;
        assert_eq!(visit.status().await, "interviewed");
        let answers = visit.answers().await;
        assert_whole(&visit, &answers[0]).await;
        assert_eq!(answers[0]["takes_begun"], 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_devices_the_later_take_wins() {
    let visit = Visit::with_one_question().await;
    let mut first = Page::open_with(BrowserOptions::with_devices()).await;
    visit.begin(&mut first).await;
    first.record(1).await;
    first.until_promised(&has_kept(2)).await;
    let mut second = Page::open_with(BrowserOptions::with_devices()).await;
    second.go(&visit.link).await;
    second.on("overview").await;
    assert!(second.text().await.contains("begun, not finished"));
    second.press("Change answer 1").await;
    second.press("Record answer").await;
    second.on("record").await;
    second.until_promised(&has_kept(4)).await;

    first.press("Stop recording").await;
    first.keep().await;
    first.until("document.querySelector('li').dataset.state === 'refused'").await;
    first.press("Change answer 1").await;
    first.on("question").await;
    assert!(first.text().await.contains("This recording was not accepted, since a later one was begun"));
    second.stop_and_keep().await;
    second.complete().await;
    let answers = visit.answers().await;
    assert_whole(&visit, &answers[0]).await;
    assert_eq!(answers[0]["take"]["number"], 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_device_has_sent_can_be_kept() {
    let visit = Visit::invited(json!({}), &[json!({ "takes": 1 })]).await;
    let mut lost = Page::open_with(BrowserOptions::with_devices()).await;
    visit.begin(&mut lost).await;
    lost.record(1).await;
    lost.until_promised(&has_kept(8)).await;
    // The first five seconds are a part, which was sent while the rest was recorded.
    lost.kill().await;
    let mut page = Page::open_with(BrowserOptions::with_devices()).await;
    page.go(&visit.link).await;
    page.on("overview").await;
    page.press("Change answer 1").await;
    page.press("Keep what has arrived").await;
    page.on("overview").await;
    page.complete().await;
    let answers = visit.answers().await;
    let beeps = visit.beeps(&answers[0]).await;
    assert!(beeps >= 8, "{beeps} beeps");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_is_wrong_by_a_day_changes_nothing() {
    let visit = Visit::invited(json!({ "max_interview_time": 45 }), &[json!({})]).await;
    for day in ["-864e5", "864e5"] {
        let mut page = Page::open_with(BrowserOptions::with_devices()).await;
        page.prepare(&format!("const now = Date.now; Date.now = () => now() + {day};")).await;
        page.go(&visit.link).await;
        if day == "-864e5" {
            visit.begin(&mut page).await;
        }
        page.on("overview").await;
        let left = page.evaluate("document.querySelector('.time').textContent").await;
        assert!(
            ["Time for the interview: 44 min", "Time for the interview: 45 min"]
                .contains(&left.as_str().unwrap()),
            "{left}"
        );
        if day == "864e5" {
            page.record(1).await;
            page.until_promised(&has_kept(4)).await;
            let left = page.evaluate("document.querySelector('.countdown').textContent").await;
            assert!(left.as_str().unwrap().starts_with("Time for this answer: 1 min"), "{left}");
            page.stop_and_keep().await;
            page.complete().await;
        }
    }
    assert_whole(&visit, &visit.answers().await[0]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_that_ends_while_recording_loses_nothing() {
    let visit = Visit::invited(json!({ "allow_hash_login": false }), &[json!({})]).await;
    visit.candidate.register().await;
    visit.candidate.advance(&visit.candidate.uri).await.expect(200);
    let mut page = Page::open_with(BrowserOptions::with_devices()).await;
    page.go(&format!("{}/interview/acme/", visit.origin)).await;
    page.log_in(&visit.candidate.email, tests::caller::PASSWORD).await;
    page.press("Continue to the camera test").await;
    page.press("Turn on camera and microphone").await;
    page.press("It works: continue").await;
    page.press("Begin the interview").await;
    page.record(1).await;
    page.until_promised(&has_kept(2)).await;
    page.forget_cookies().await;
    page.until("document.body.innerText.includes('You were logged out.')").await;
    page.until_promised(&has_kept(8)).await;
    page.press("Stop recording").await;
    page.log_in(&visit.candidate.email, tests::caller::PASSWORD).await;
    page.keep().await;
    page.complete().await;
    assert_whole(&visit, &visit.answers().await[0]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn with_a_full_disk_recordings_are_sent_from_memory() {
    let visit = Visit::with_one_question().await;
    let mut page = Page::open_with(BrowserOptions::with_devices()).await;
    visit.begin(&mut page).await;
    page.limit_disk(&visit.origin, 1).await;
    page.record(1).await;
    page.until("document.body.innerText.includes('The disk of this device is full.')").await;
    // The time to answer is 120 s. Chromium looks at the quota of a store that it has just written after 30 s, so that six more
    // are in memory alone.
    page.until("!/2 min|1 min (2[4-9]|[3-5].) s/.test(document.querySelector('.countdown').textContent)")
        .await;
    page.stop_and_keep().await;
    page.complete().await;
    assert_whole(&visit, &visit.answers().await[0]).await;
}

/// Answers the question with a file of the device whose name ends so, after two that are no videos.
async fn answer_with_film(page: &mut Page, ending: &str) {
    page.until("document.querySelector('input[type=file]')?.checkVisibility()").await;
    for (mistake, content) in [(".JPG", "a picture"), (".mp4", "")] {
        let file = tempfile::Builder::new().suffix(mistake).tempfile().unwrap();
        std::fs::write(file.path(), content).unwrap();
        page.choose_file("input[type=file]", file.path()).await;
        page.until("document.body.innerText.includes('This is not a video.')").await;
        page.evaluate("document.querySelectorAll('.problem').forEach(it => { it.textContent = ''; })").await;
    }
    let film = film_file(ending).await;
    page.choose_file("input[type=file]", &film).await;
    page.keep().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_camera_candidates_are_told_what_to_do_and_answer_with_files() {
    let questions = [json!({}), json!({ "preparation_seconds": 30 })];
    let visit = Visit::invited(json!({}), &questions).await;
    // The shell has no prompt that could be denied.
    let mut page = Page::open_with(BrowserOptions { is_whole: true, ..BrowserOptions::new() }).await;
    page.go(&visit.link).await;
    page.press("Continue to the camera test").await;
    page.press("Turn on camera and microphone").await;
    page.until("document.querySelector('.problem:not(:empty)')").await;
    assert!(page.text().await.contains("On a phone"));
    page.press("Continue without camera").await;
    page.press("Begin the interview").await;
    page.press("Answer question 1").await;
    // The screen where the choice is made says it, before anything has failed.
    page.press("Use a video file").await;
    assert!(page.text().await.contains("up to 2 min and 272 MB"));
    answer_with_film(&mut page, "").await;
    page.press("Answer question 2").await;
    page.until("document.body.innerText.includes('You then have 2 min 30 s to read it')").await;
    page.press("Show the question without the camera").await;
    page.on("prepare").await;
    // Nothing is going to be recorded.
    let text = page.text().await;
    assert!(text.contains("Time for this answer: 2 min") && !text.contains("Recording begins"), "{text}");
    answer_with_film(&mut page, ".MOV").await;
    page.complete().await;
    for answer in visit.answers().await {
        let shown = (&answer["status"], &answer["take"]["source"], &answer["seconds"]);
        assert_eq!(shown, (&json!("successful"), &json!("file"), &json!(2)), "{answer}");
    }
}

/// Holds back what the page reads of the interview, from `hold()` to `release()`.
const HELD_READS: &str = "
let held = null;
window.hold = () => { held = Promise.withResolvers(); window.isHeld = false; };
window.release = () => { held.resolve(); held = null; };
const send = window.fetch;
window.fetch = async (address, options) => {
    const response = await send(address, options);
    if (held && (options?.method ?? 'GET') === 'GET' && String(address).endsWith('/interview/')) {
        window.isHeld = true;
        await held.promise;
    }
    return response;
};";

#[tokio::test(flavor = "multi_thread")]
async fn a_take_survives_a_read_that_began_before_it() {
    let questions = [json!({}), json!({ "preparation_seconds": 30 })];
    let visit = Visit::invited(json!({}), &questions).await;
    let mut page = Page::open().await;
    page.prepare(HELD_READS).await;
    page.go(&visit.link).await;
    page.press("Continue to the camera test").await;
    page.press("Continue without camera").await;
    page.press("Begin the interview").await;
    page.press("Answer question 1").await;
    page.press("Record answer").await;
    page.evaluate("hold()").await;
    answer_with_film(&mut page, ".mp4").await;
    // The page reads the interview when its answer has arrived.
    page.until_promised("window.isHeld").await;
    page.press("Answer question 2").await;
    page.press("Show the question without the camera").await;
    page.on("prepare").await;
    page.evaluate("release()").await;
    assert!(page.text().await.contains("Question 2?"));
    answer_with_film(&mut page, ".mp4").await;
    page.complete().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_cannot_be_loaded_says_so() {
    let visit = Visit::with_one_question().await;
    let mut page = Page::open_with(BrowserOptions::with_devices()).await;
    page.prepare("const fetched = fetch; let isBroken = true; globalThis.mend = () => { isBroken = false; }; globalThis.fetch = (...request) => isBroken ? Promise.reject(new TypeError()) : fetched(...request);").await;
    page.go(&visit.link).await;
    page.on("over").await;
    assert!(page.text().await.contains("No connection"));
    page.evaluate("mend()").await;
    page.press("Try again").await;
    page.on("welcome").await;
    assert_eq!(visit.status().await, Value::from("invited"));
}
