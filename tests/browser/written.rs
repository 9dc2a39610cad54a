//! Interviews in writing: the page asks for no camera, and tells of no video.

use serde_json::json;

use crate::devtools::Page;
use crate::visit::Visit;

#[tokio::test(flavor = "multi_thread")]
async fn an_interview_in_writing_is_announced_as_such_and_tests_no_camera() {
    let questions = [json!({ "kind": "text" }), json!({ "kind": "text", "is_required": false })];
    let visit = Visit::invited(json!({ "max_interview_time": 45 }), &questions).await;
    let invitation = visit.app.mails_to(&visit.candidate.email).remove(0);
    let text = invitation.text.clone().unwrap();
    for told in ["an interview in writing", "You need neither a camera nor a microphone."] {
        assert!(text.contains(told), "{text}");
    }
    assert!(!format!("{} {text}", invitation.subject).to_lowercase().contains("video"), "{text}");

    let mut page = Page::open().await;
    page.prepare(
        "window.asked = 0; if (navigator.mediaDevices) navigator.mediaDevices.getUserMedia = () => { window.asked += 1; return Promise.reject(new Error()); };",
    )
    .await;
    let shows = async |page: &mut Page, screen: &str, told: &str| {
        page.on(screen).await;
        let text = page.text().await;
        assert!(text.contains(told), "{told}: {text}");
        for word in ["video", "record", "microphone", "attempts"] {
            let told = text.replace("You need neither a camera nor a microphone.", "").to_lowercase();
            assert!(!told.contains(word), "{screen}, {word}: {text}");
        }
    };
    page.go(&visit.link).await;
    shows(&mut page, "welcome", "Acme & Sons invites you to an interview in writing").await;
    page.press("Continue").await;
    shows(&mut page, "practice", "You answer in writing.").await;
    page.press("Back").await;
    page.press("Continue").await;
    page.press("Begin the interview").await;
    shows(&mut page, "overview", "Question 1 still needs an answer.").await;
    page.press("Answer question 1").await;
    shows(&mut page, "question", "Question 1?").await;
    page.press("Answer in writing").await;
    page.on("write").await;
    page.evaluate("document.querySelector('textarea').value = 'In March.'").await;
    page.press("Send answer").await;
    shows(&mut page, "overview", "All required questions are answered.").await;
    page.complete().await;
    assert_eq!(page.evaluate("window.asked").await, 0);
    visit.app.settle().await;
    let completed = visit.app.mails_to(&visit.candidate.email).remove(0);
    let text = completed.text.clone().unwrap();
    assert!(text.contains("It was completed on ") && text.contains("has received your answer."), "{text}");
    assert!(!format!("{} {text}", completed.subject).to_lowercase().contains("video"), "{text}");
}
