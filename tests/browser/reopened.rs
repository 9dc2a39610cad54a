//! Interviews that a manager has reopened: the same link leads to where the candidate has left them.

use serde_json::json;
use tests::caller::Caller;

use crate::devtools::{BrowserOptions, Page};
use crate::interview::assert_whole;
use crate::visit::{Visit, has_kept};

const ALL_USED: &str = "You have used all attempts for this question.";

async fn reopen(visit: &Visit) {
    let path = format!("{}interview/reopen/", visit.candidate.uri);
    visit.owner.post(&path, json!({ "reason": "No sound." })).await.expect(200);
}

/// Keeps some seconds of what is being recorded.
async fn keep(page: &mut Page) {
    page.until_promised(&has_kept(8)).await;
    page.stop_and_keep().await;
    page.saved().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_link_opens_the_interview_again_with_one_more_take() {
    let questions = [json!({ "takes": 1 }), json!({ "kind": "text" })];
    let visit = Visit::invited(json!({}), &questions).await;
    let mut page = Page::open_with(BrowserOptions::with_devices()).await;
    visit.begin(&mut page).await;
    page.record(1).await;
    keep(&mut page).await;
    page.press("Answer question 2").await;
    page.press("Answer in writing").await;
    page.on("write").await;
    page.evaluate("document.querySelector('textarea').value = 'In March.'").await;
    page.press("Save answer").await;
    page.on("overview").await;
    assert!(page.text().await.contains(ALL_USED));
    page.complete().await;
    page.go(&visit.link).await;
    page.on("over").await;
    assert!(page.text().await.contains("Your interview is complete"));

    reopen(&visit).await;
    page.go(&visit.link).await;
    page.on("overview").await;
    page.resize(390, 844).await;
    assert_eq!(page.evaluate("document.documentElement.scrollWidth <= 390").await, true);
    let answered = "[...document.querySelectorAll('li')].map(entry => entry.dataset.state)";
    assert_eq!(page.evaluate(answered).await, json!(["kept", "written"]));
    assert!(!page.text().await.contains(ALL_USED));
    page.record_again(1).await;
    keep(&mut page).await;
    page.complete().await;
    assert_eq!(visit.status().await, "interviewed");
    let answers = visit.answers().await;
    assert_whole(&visit, &answers[0]).await;
    assert_eq!((&answers[0]["takes_begun"], &answers[1]["text"]), (&json!(2), &json!("In March.")));
}
