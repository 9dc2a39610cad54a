//! Interviews from the link in the mail to an answer that can be played.

use serde_json::{Value, json};
use tests::caller::Caller;

use crate::devtools::{BrowserOptions, Page};
use crate::visit::{Visit, has_kept, recorded_seconds};

const PASSWORD: &str = "correct horse battery";

/// Asserts that nothing is missing of a recording: at most a beep at each end.
pub(crate) async fn assert_whole(visit: &Visit, answer: &Value) {
    assert_eq!(answer["status"], "successful", "{answer}");
    let (beeps, seconds) = (visit.beeps(answer).await, recorded_seconds(answer));
    assert!(seconds >= 2 && beeps + 2 >= 2 * seconds, "{beeps} beeps in {seconds} s: {answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_candidate_answers_by_the_link_in_the_mail() {
    let hidden = "Why does it rain upwards?";
    let questions = [json!({}), json!({ "text": hidden, "preparation_seconds": 30 })];
    let visit = Visit::invited(json!({ "max_interview_time": 45 }), &questions).await;
    let options = BrowserOptions { is_whole: true, ..BrowserOptions::with_devices() };
    let mut page = Page::open_with(options).await;
    page.go(&visit.link).await;
    page.on("welcome").await;
    assert!(page.text().await.contains("45 min"));
    visit.begin(&mut page).await;

    page.record(1).await;
    page.until_promised(&has_kept(8)).await;
    page.stop_and_keep().await;
    page.saved().await;
    page.press("Answer question 2").await;
    page.on("question").await;
    assert!(!page.text().await.contains(hidden));
    page.press("Show the question").await;
    page.on("prepare").await;
    assert!(page.text().await.contains(hidden));
    let left = page.evaluate("document.querySelector('.countdown').textContent").await;
    assert!(
        ["Recording begins in 30 s", "Recording begins in 29 s"].contains(&left.as_str().unwrap()),
        "{left}"
    );
    page.press("Begin recording now").await;
    page.until_promised(&has_kept(4)).await;
    page.stop_and_keep().await;
    page.complete().await;
    assert_eq!(visit.status().await, "interviewed");

    let answers = visit.answers().await;
    for answer in &answers {
        assert_whole(&visit, answer).await;
        assert_eq!(answer["takes_begun"], 1);
    }
    page.go(&visit.rendition(&answers[0]).await).await;
    page.until_promised("document.querySelector('video').readyState >= 2").await;
    assert!(page.evaluate("document.querySelector('video').videoWidth").await.as_u64() > Some(0));
    // The key has ended with the interview.
    page.go(&visit.link).await;
    page.on("over").await;
    assert!(page.text().await.contains("Your interview is complete"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_candidate_with_a_password_goes_on_in_another_browser() {
    let text = json!({ "kind": "text" });
    let visit = Visit::invited(json!({ "allow_hash_login": false }), &[json!({}), text]).await;
    let consent = json!({ "kind": "consent", "texts": { "en": "<b>Yes</b>" }, "is_required": true });
    visit.owner.post("/companies/acme/legal/", consent).await.expect(201);

    let mut page = Page::open_with(BrowserOptions::with_devices()).await;
    page.go(&visit.link).await;
    page.on("welcome").await;
    // Texts of companies stay texts.
    assert!(page.text().await.contains("<b>Yes</b>"));
    page.fill("password", PASSWORD).await;
    page.press("Continue to the camera test").await;
    page.until("document.querySelector('.error')?.textContent === 'Please agree to this to continue.'").await;
    page.evaluate("document.querySelector('input[type=checkbox]').click()").await;
    page.press("Continue to the camera test").await;
    page.on("check").await;
    assert_eq!(page.evaluate("location.pathname").await, "/interview/acme/");
    page.press("Turn on camera and microphone").await;
    page.press("It works: continue").await;
    page.press("Begin the interview").await;
    page.on("overview").await;
    page.record(1).await;
    page.until_promised(&has_kept(4)).await;
    page.stop_and_keep().await;
    page.saved().await;
    page.reload().await;
    page.on("overview").await;

    let mut other = Page::open_with(BrowserOptions::with_devices()).await;
    other.go(&format!("{}/interview/acme/", visit.origin)).await;
    other.on("login").await;
    other.fill("email", &visit.candidate.email).await;
    other.fill("password", "wrong horse battery").await;
    other.press("Log in").await;
    other.until("document.getElementById('password-error').textContent !== ''").await;
    other.fill("password", PASSWORD).await;
    other.press("Log in").await;
    other.on("overview").await;
    other.press("Answer question 2").await;
    other.press("Answer in writing").await;
    other.on("write").await;
    other.press("Send answer").await;
    other.until("document.querySelector('.error').textContent === 'Write something first.'").await;
    // Characters that show nothing are no text.
    other.evaluate("document.querySelector('textarea').value = '\\u2060'").await;
    other.press("Send answer").await;
    other.until("document.querySelector('.error').textContent.startsWith('Your answer was not sent')").await;
    assert!(!other.text().await.contains("Everything is saved"));
    let pasted =
        "document.querySelector('textarea').value = 'In March:\\u2028\\tthe 1st\\u200b\\u000b  or 2nd'";
    other.evaluate(pasted).await;
    other.press("Send answer").await;
    other.on("overview").await;
    other.complete().await;
    assert_eq!(visit.status().await, "interviewed");
    let answers = visit.answers().await;
    assert_whole(&visit, &answers[0]).await;
    assert_eq!(answers[1]["text"], "In March:\n\tthe 1st\n  or 2nd");
}

/// Goes on with the keyboard to the control with this text or type, and presses a key on it.
async fn use_control(page: &mut Page, screen: &str, label: &str, key: &str) {
    page.on(screen).await;
    let focused =
        "document.activeElement.type === 'checkbox' ? 'checkbox' : document.activeElement.textContent";
    for _ in 0..40 {
        if page.evaluate(focused).await == label {
            page.press_key(key).await;
            return;
        }
        page.press_key("Tab").await;
    }
    panic!("{screen}: the keyboard does not reach {label:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_keyboard_alone_suffices() {
    let visit = Visit::with_one_question().await;
    let consent = json!({ "kind": "consent", "texts": { "en": "Yes?" }, "is_required": true });
    visit.owner.post("/companies/acme/legal/", consent).await.expect(201);
    let mut page = Page::open_with(BrowserOptions::with_devices()).await;
    page.go(&visit.link).await;
    use_control(&mut page, "welcome", "checkbox", " ").await;
    use_control(&mut page, "welcome", "Continue to the camera test", "Enter").await;
    use_control(&mut page, "check", "Turn on camera and microphone", "Enter").await;
    page.until("document.querySelector('meter')").await;
    use_control(&mut page, "check", "It works: continue", " ").await;
    use_control(&mut page, "practice", "Begin the interview", "Enter").await;
    use_control(&mut page, "overview", "Answer question 1", "Enter").await;
    use_control(&mut page, "question", "Record answer", "Enter").await;
    page.on("record").await;
    page.until("document.getElementById('announcer').textContent === 'Recording has begun.'").await;
    page.until_promised(&has_kept(4)).await;
    use_control(&mut page, "record", "Stop recording", " ").await;
    use_control(&mut page, "review", "Keep this answer", "Enter").await;
    use_control(&mut page, "overview", "Complete the interview", "Enter").await;
    use_control(&mut page, "complete", "Yes, complete it now", "Enter").await;
    page.on("done").await;
    assert_whole(&visit, &visit.answers().await[0]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn staff_activate_accounts_and_candidates_replace_forgotten_passwords() {
    let visit = Visit::invited(json!({ "allow_hash_login": false }), &[json!({})]).await;
    visit.candidate.register().await;
    visit.candidate.advance(&visit.candidate.uri).await.expect(200);
    let mut page = Page::open_with(BrowserOptions::with_devices()).await;
    page.go(&format!("{}/interview/acme/", visit.origin)).await;
    page.on("login").await;
    page.fill("email", &visit.candidate.email).await;
    page.press("I have forgotten my password").await;
    page.until("document.body.innerText.includes('If there is an account')").await;
    visit.app.settle().await;
    let key = visit.app.mailed_key(&visit.candidate.email);
    page.go(&format!("{}/reset-password/{key}", visit.origin)).await;
    page.on("password").await;
    page.fill("password", "another horse battery").await;
    page.press("Save password").await;
    page.until("document.body.innerText.includes('Your password is saved')").await;
    let logged_in =
        visit.app.anonymous().log_in("acme", &visit.candidate.email, "another horse battery").await;
    logged_in.expect(200);

    let colleague = visit.owner.colleague("recruiter", json!({})).await;
    visit.app.settle().await;
    let key = visit.app.mailed_key(&colleague.email);
    page.go(&format!("{}/activate/{key}", visit.origin)).await;
    page.on("password").await;
    page.fill("password", PASSWORD).await;
    page.press("Save password").await;
    page.until("document.body.innerText.includes('Log in to the application of your company')").await;
}
