//! How recordings begin and end on the candidate's page: never unasked, never as a dead end, and the better one stays.

use serde_json::{Value, json};
use tests::caller::Caller;
use tests::http::Request;

use crate::devtools::{BrowserOptions, Page};
use crate::visit::{Visit, film_file, has_kept};
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

/// The overview of the questions, in a page that is watched.
pub(crate) async fn watched(visit: &Visit, options: BrowserOptions) -> Page {
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
async fn a_camera_that_comes_on_after_the_candidate_has_left_goes_off_again() {
    let visit = Visit::invited(json!({}), &[json!({ "takes": 1 })]).await;
    let mut page = watched(&visit, BrowserOptions::with_devices()).await;
    // The browser asks for permission meanwhile.
    let asking = "const ask = navigator.mediaDevices.getUserMedia;
        const asked = Promise.withResolvers();
        navigator.mediaDevices.getUserMedia = async wanted => {
            await asked.promise;
            return ask(wanted);
        };
        window.permit = asked.resolve";
    page.evaluate(asking).await;
    page.press("Answer question 1").await;
    let opened = page.evaluate("streams.length").await;
    page.press("Record answer").await;
    page.press("Back").await;
    page.on("overview").await;
    page.evaluate("permit()").await;
    page.until_promised(&format!("streams.length > {opened} && !isCameraOn()")).await;
    assert_eq!(page.evaluate("document.querySelector('main').dataset.screen").await, "overview");
    assert_eq!(first_answer(&visit).await["takes_begun"], 0);
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
    assert!(!text.contains("another device") && text.contains("Question 2 still needs an answer."), "{text}");
    page.press("Answer question 2").await;
    page.press("Answer in writing").await;
    page.on("write").await;
    page.evaluate("document.querySelector('textarea').value = 'In March.'").await;
    page.press("Send answer").await;
    page.on("overview").await;
    assert!(
        page.text().await.contains("Question 1 can no longer be answered. You can complete the interview")
    );
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

#[tokio::test(flavor = "multi_thread")]
async fn the_better_recording_can_be_kept_and_watched() {
    let visit = Visit::invited(json!({}), &[json!({ "takes": 2 })]).await;
    let mut page = watched(&visit, BrowserOptions::with_devices()).await;
    page.record(1).await;
    page.until_promised(&has_kept(6)).await;
    page.stop_and_keep().await;
    page.saved().await;
    visit.app.settle().await;
    page.record_again(1).await;
    page.until_promised(&has_kept(3)).await;
    page.press("Stop recording").await;
    page.on("review").await;
    assert!(page.text().await.contains("This was your last attempt at this question."));
    // Both can be watched before one is chosen.
    page.press("Watch my earlier answer").await;
    page.until_promised(
        "[...document.querySelectorAll('main video')].map(one => one.readyState >= 2).join() === 'true,true'",
    )
    .await;
    page.press("Keep my earlier answer").await;
    page.on("overview").await;
    let answer = first_answer(&visit).await;
    assert_eq!((&answer["take"]["number"], &answer["open_take"]), (&json!(1), &Value::Null));
    page.press("Watch answer 1").await;
    page.until_promised("document.querySelector('li video')?.readyState >= 2").await;
    page.complete().await;
    let answers = visit.answers().await;
    crate::interview::assert_whole(&visit, &answers[0]).await;
    assert_eq!(answers[0]["take"]["number"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_an_attempt_left_nothing_more_is_recorded() {
    let visit = Visit::invited(json!({}), &[json!({ "takes": 1 })]).await;
    let may_write =
        Request::patch(&visit.candidate.uri).json(&json!({ "adjustments": { "may_write": true } }));
    visit.owner.send(may_write).await.expect(200);
    let mut page = watched(&visit, BrowserOptions::with_devices()).await;
    page.record(1).await;
    page.until_promised(&has_kept(3)).await;
    page.stop_and_keep().await;
    page.press("Change answer 1").await;
    page.on("question").await;
    let text = page.text().await;
    assert!(text.contains("You have used all attempts for this question."), "{text}");
    assert!(text.contains("Answer in writing") && !text.contains("Record answer"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_recording_waits_for_the_choice_between_two_also_over_a_reload() {
    let visit = Visit::invited(json!({}), &[json!({})]).await;
    let mut page = watched(&visit, BrowserOptions::with_devices()).await;
    page.record(1).await;
    page.until_promised(&has_kept(3)).await;
    page.stop_and_keep().await;
    page.saved().await;
    page.record_again(1).await;
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
    let file = film_file(".mp4").await;
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
