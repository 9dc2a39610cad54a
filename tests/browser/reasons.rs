//! The page names what has happened when it waits, when a device is refused, and when time is short.

use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::caller::Caller;

use crate::devtools::{BrowserOptions, Network, Page};
use crate::recording::watched;
use crate::visit::{Visit, has_kept};

/// Has the browser refuse devices as `window.refusal` says: the name of the error, the state of the permission, and the kinds of
/// devices that there are.
const REFUSING: &str = "
const { mediaDevices, permissions } = navigator;
mediaDevices.getUserMedia = async () => { throw new DOMException('refused', window.refusal[0]); };
permissions.query = async () => ({ state: window.refusal[1] });
mediaDevices.enumerateDevices = async () => window.refusal[2].map(kind => ({ kind, deviceId: '', label: '' }));";

#[tokio::test(flavor = "multi_thread")]
async fn devices_that_are_refused_are_explained_by_what_has_happened() {
    let visit = Visit::with_one_question().await;
    let mut page = Page::open_with(BrowserOptions::with_devices()).await;
    page.prepare(REFUSING).await;
    page.go(&visit.link).await;
    page.press("Continue to the camera test").await;
    let both = ["videoinput", "audioinput"];
    for (error, permission, found, told) in [
        ("NotAllowedError", "denied", &both[..], "The page may not use camera and microphone."),
        ("NotAllowedError", "prompt", &both, "The browser has no permission yet."),
        ("NotAllowedError", "granted", &both, "The system of this device does not let the browser use"),
        ("NotFoundError", "granted", &["audioinput"], "No camera was found."),
        ("NotFoundError", "granted", &["videoinput"], "No microphone was found."),
        ("NotReadableError", "granted", &both, "Another program uses"),
        ("AbortError", "granted", &both, "Camera and microphone could not be turned on."),
    ] {
        page.evaluate(&format!("window.refusal = {}", json!([error, permission, found]))).await;
        page.press("Turn on camera and microphone").await;
        page.until(&format!(
            "[...document.querySelectorAll('.problem')].some(one => one.textContent.startsWith('{told}'))"
        ))
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn connecting_says_why_it_waits() {
    let visit = Visit::with_one_question().await;
    let mut page = watched(&visit, BrowserOptions::with_devices()).await;
    page.record(1).await;
    page.until_promised(&has_kept(6)).await;
    page.stop_and_keep().await;
    // The former answer is on its way, which another take would cut off.
    page.set_network(Network::Uplink { bits_per_second: 40_000 }).await;
    page.press("Change answer 1").await;
    page.press("Record answer").await;
    page.on("connect").await;
    page.until(
        "document.body.innerText.includes('Your earlier recording of this question is being sent first.')",
    )
    .await;
    page.set_network(Network::Off).await;
    page.until(
        "document.body.innerText.includes('There is no connection. The page goes on as soon as the connection is back.')",
    )
    .await;
    assert!(page.text().await.contains("Nothing is recorded yet."));
    page.set_network(Network::Whole).await;
    page.recording().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_clock_counts_at_a_time_and_says_which() {
    let fields = json!({ "max_interview_time": 3 });
    let visit = Visit::invited(
        fields,
        &[json!({ "answer_seconds": 300 }), json!({ "kind": "text", "is_required": false })],
    )
    .await;
    let mut page = watched(&visit, BrowserOptions::with_devices()).await;
    page.press("Answer question 1").await;
    page.on("question").await;
    // Less than the answer may take.
    page.until("/The interview ends in .* A recording that has begun by then may go on to its end./.test(document.body.innerText)").await;
    page.press("Record answer").await;
    page.recording().await;
    let clocks = "[...document.querySelectorAll('.countdown, header .time, #warning')].filter(one => one.checkVisibility()).map(one => one.textContent.split(':')[0])";
    assert_eq!(page.evaluate(clocks).await, json!(["Time for this answer"]));
    page.until_promised(&has_kept(2)).await;
    visit.app.clock().advance(TimeDelta::seconds(185));
    page.press("Stop recording").await;
    page.on("review").await;
    // The time of the interview is over: no other recording would be taken.
    page.until("document.body.innerText.includes('The time of the interview is over.')").await;
    let buttons = "[...document.querySelectorAll('main button')].filter(one => one.checkVisibility()).map(one => one.textContent)";
    assert_eq!(page.evaluate(buttons).await, json!(["Keep this answer"]));
    page.press("Keep this answer").await;
    page.on("done").await;
    assert_eq!(visit.answers().await[0]["status"], "successful");
}

#[tokio::test(flavor = "multi_thread")]
async fn addresses_in_a_legal_text_are_links_and_a_long_question_is_folded() {
    let long = "Why do you want to work with us, and what would you do first? ".repeat(16);
    let visit = Visit::invited(json!({}), &[json!({ "text": long.trim() })]).await;
    let text = "See https://acme.example/privacy?a=1&b=2, or (https://acme.example/dpo). Not http://acme.example or <b>https:</b>.";
    let legal = json!({ "kind": "privacy_policy", "texts": { "en": text }, "is_required": true });
    visit.owner.post("/companies/acme/legal/", legal).await.expect(201);
    let mut page = Page::open_with(BrowserOptions::with_devices()).await;
    page.go(&visit.link).await;
    page.on("welcome").await;
    assert_eq!(page.evaluate("document.querySelector('.wording').textContent").await, text);
    assert_eq!(
        page.evaluate(
            "[...document.querySelectorAll('.wording a')].map(link => [link.href, link.target, link.rel])"
        )
        .await,
        json!([
            ["https://acme.example/privacy?a=1&b=2", "_blank", "noopener noreferrer"],
            ["https://acme.example/dpo", "_blank", "noopener noreferrer"],
        ])
    );
    page.evaluate("document.querySelector('.consent input').click()").await;
    page.press("Continue to the camera test").await;
    page.press("Continue without camera").await;
    page.press("Begin the interview").await;
    page.on("overview").await;
    page.resize(390, 844).await;
    let folded = "(asked => [asked.scrollHeight > asked.clientHeight, asked.clientHeight < 200])(document.querySelector('li .asked'))";
    assert_eq!(page.evaluate(folded).await, json!([true, true]));
    page.press("Show the whole question").await;
    assert_eq!(page.evaluate(folded).await, json!([false, false]));
    assert_eq!(page.evaluate("document.querySelector('li button.link')").await, Value::Null);
}
