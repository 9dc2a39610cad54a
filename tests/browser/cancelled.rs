//! Interviews that the company cancels while the candidate is on the page.

use serde_json::{Value, json};
use tests::caller::{Caller, PASSWORD};

use crate::devtools::{BrowserOptions, Page};
use crate::links::contact_of;
use crate::recording::watched;
use crate::visit::{Visit, has_kept};

const TITLE: &str = "document.querySelector('h1').textContent";
/// Whether the browser would ask before the page is left.
const WARNS: &str = "(() => { const leaving = new Event('beforeunload', { cancelable: true }); dispatchEvent(leaving); return leaving.defaultPrevented; })()";
const KEPT: &str =
    "indexedDB.databases().then(all => all.length === 0 && Object.keys(localStorage).length === 0)";

async fn name_a_contact(visit: &Visit) {
    let contact = json!({ "registration_email": "jobs@acme.example" });
    visit.owner.patch("/companies/acme/", contact).await.expect(200);
    let (project, _) = visit.candidate.uri.split_once("candidates/").unwrap();
    visit.owner.patch(project, json!({ "contact_person": "Zoë" })).await.expect(200);
}

/// Gives the candidate a password, and opens the field for their answer.
async fn write_with_password(visit: &Visit) -> Page {
    visit.candidate.register().await;
    for _ in ["confirmed", "interviewing"] {
        let session = visit.candidate.log_in().await;
        session.advance(&visit.candidate.uri).await.expect(200);
    }
    let mut page = Page::open().await;
    page.go(&format!("{}/interview/acme/", visit.origin)).await;
    page.log_in(&visit.candidate.email, PASSWORD).await;
    page.press("Answer question 1").await;
    page.press("Answer in writing").await;
    page.on("write").await;
    page
}

/// Types an answer, which the page then sends as a draft.
async fn write(page: &mut Page) {
    page.evaluate(
        "document.querySelector('textarea').value = 'In March.';
        document.querySelector('textarea').dispatchEvent(new Event('input'))",
    )
    .await;
}

/// Checks that the page tells of the cancellation, and nothing that could frighten.
async fn assert_calm(page: &mut Page) -> String {
    page.on("over").await;
    assert_eq!(page.evaluate(TITLE).await, "The interview was cancelled");
    let text = page.text().await;
    for told in [
        "Acme & Sons has cancelled this interview.",
        "You have done nothing wrong",
        "Zoë",
        "jobs@acme.example",
    ] {
        assert!(text.contains(told), "{told}: {text}");
    }
    for absent in
        ["logged out", "No connection", "not saved", "Time for", "did not work", "position is filled"]
    {
        assert!(!text.contains(absent), "{absent}: {text}");
    }
    assert_eq!(
        page.evaluate("[...document.querySelectorAll('.problem')].map(one => one.textContent).join('')")
            .await,
        ""
    );
    assert_eq!(page.evaluate(WARNS).await, false);
    page.until_promised(KEPT).await;
    text
}

#[tokio::test(flavor = "multi_thread")]
async fn a_candidate_in_the_middle_of_a_recording_is_told_calmly_and_the_camera_goes_off() {
    // The recording would not end by itself while the test waits.
    let visit = Visit::invited(json!({}), &[json!({ "answer_seconds": 600 })]).await;
    name_a_contact(&visit).await;
    let mut page = watched(&visit, BrowserOptions::with_devices()).await;
    page.resize(390, 844).await;
    page.record(1).await;
    page.until_promised(&has_kept(8)).await;
    assert_eq!(
        page.evaluate("[isCameraOn(), document.body.classList.contains('recording')]").await,
        json!([true, true])
    );
    let filled = json!({ "reason": "The position is filled." });
    visit.owner.post(&format!("{}cancel/", visit.candidate.uri), filled).await.expect(200);
    // The next part is refused.
    let text = assert_calm(&mut page).await;
    assert!(
        text.contains("Camera and microphone are off.") && text.contains("Acme & Sons keeps the answers"),
        "{text}"
    );
    assert_eq!(
        page.evaluate("[isCameraOn(), document.body.classList.contains('recording')]").await,
        json!([false, false])
    );
    assert_eq!(page.evaluate("document.documentElement.scrollWidth <= innerWidth").await, true);
    assert_eq!(page.evaluate("document.activeElement.localName").await, "h1");
    page.until("said.at(-1)[0] === 'Recording has ended.'").await;
    // The company has all that had arrived, and the page stays as it is.
    let answer = visit.answers().await[0].clone();
    assert_eq!([&answer["status"], &answer["interruptions"]], [&json!("successful"), &json!(1)]);
    assert_eq!(answer["open_take"], Value::Null);
    page.until("document.getElementById('status').textContent === ''").await;
    assert_eq!(page.evaluate(TITLE).await, "The interview was cancelled");

    // The link says so later on, too.
    page.go(&visit.link).await;
    page.on("over").await;
    let text = page.text().await;
    assert!(text.contains("Acme & Sons has cancelled this interview.") && text.contains("Zoë"), "{text}");
    assert!(!text.contains("Camera and microphone"), "{text}");
    assert_eq!(contact_of(&mut page).await, "");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_candidate_with_a_password_who_is_writing_is_told_too_and_others_can_log_in_afterwards() {
    let visit = Visit::invited(json!({ "allow_hash_login": false }), &[json!({ "kind": "text" })]).await;
    name_a_contact(&visit).await;
    let mut page = write_with_password(&visit).await;
    visit.owner.cancel(&visit.candidate.uri).await.expect(200);
    write(&mut page).await;
    let text = assert_calm(&mut page).await;
    assert!(text.contains("Acme & Sons keeps the answers") && !text.contains("Camera"), "{text}");
    // The cookie of the session is still there.
    page.reload().await;
    page.log_in(&visit.candidate.email, PASSWORD).await;
    assert_calm(&mut page).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancellation_of_another_candidate_who_logged_in_since_deletes_nothing_here() {
    let visit = Visit::invited(json!({ "allow_hash_login": false }), &[json!({ "kind": "text" })]).await;
    let mut page = write_with_password(&visit).await;

    // The tabs of a browser share one cookie.
    let (project, _) = visit.candidate.uri.split_once("candidates/").unwrap();
    let other = visit.owner.invite(project, json!({ "deadline": visit.app.clock().in_days(365) })).await;
    other.register().await;
    let login = json!({ "company": "acme", "username": other.email, "password": PASSWORD });
    let log_in = format!(
        "fetch('/api/v3/api-session-auth/', {{
            method: 'POST', headers: {{ 'Content-Type': 'application/json' }}, body: JSON.stringify({login}),
        }}).then(({{ status }}) => status)"
    );
    assert_eq!(page.evaluate(&log_in).await, 200);
    visit.owner.cancel(&other.uri).await.expect(200);
    write(&mut page).await;
    page.on("login").await;
    let text = page.text().await;
    assert!(text.contains("logged out") && !text.contains("cancelled"), "{text}");
    page.until("Object.values(localStorage).some(text => text.includes('In March.'))").await;

    // The other one logs in here, and is told.
    page.log_in(&other.email, PASSWORD).await;
    page.on("over").await;
    assert_eq!(page.evaluate(TITLE).await, "The interview was cancelled");
    page.until("Object.values(localStorage).some(text => text.includes('In March.'))").await;
    page.reload().await;

    // The cookie of this candidate brings it back.
    page.log_in(&visit.candidate.email, PASSWORD).await;
    page.press("Answer question 1").await;
    page.press("Answer in writing").await;
    page.until("document.querySelector('textarea')?.value === 'In March.'").await;
}
