//! The interview in two windows of a browser: one at a time has it, and either can take it over.

use serde_json::json;

use crate::devtools::{BrowserOptions, Page};
use crate::interview::assert_whole;
use crate::visit::{Visit, has_kept};

#[tokio::test(flavor = "multi_thread")]
async fn of_two_windows_one_records() {
    let visit = Visit::with_one_question().await;
    let mut page = Page::open_with(BrowserOptions::with_devices()).await;
    visit.begin(&mut page).await;
    let other = page.open_tab().await;
    page.go(&visit.link).await;
    page.on("over").await;
    assert!(page.text().await.contains("The interview is open in another window"));
    // The first window goes on, and leaves the interview to the other one when it is closed.
    page.turn_to(0).await;
    page.record(1).await;
    page.until_promised(&has_kept(2)).await;
    page.stop_and_keep().await;
    page.close_tab(other).await;
    page.on("overview").await;
    page.complete().await;
    assert_whole(&visit, &visit.answers().await[0]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interview_goes_on_in_the_window_that_asks_for_it_but_not_while_the_other_one_records() {
    let visit = Visit::invited(json!({}), &[json!({}), json!({ "kind": "text" })]).await;
    let mut page = Page::open_with(BrowserOptions::with_devices()).await;
    visit.begin(&mut page).await;
    page.record(1).await;
    let other = page.open_tab().await;
    page.go(&visit.link).await;
    page.press("Continue here").await;
    page.until(
        "document.querySelector('.problem').textContent.includes('being recorded in the other window')",
    )
    .await;
    page.turn_to(0).await;
    page.until_promised(&has_kept(4)).await;
    page.stop_and_keep().await;
    page.saved().await;
    page.press("Answer question 2").await;
    page.press("Answer in writing").await;
    page.on("write").await;
    page.evaluate("{ const text = document.querySelector('#answer'); text.value = 'In March.'; text.dispatchEvent(new Event('input')); }").await;

    page.turn_to(other).await;
    page.press("Continue here").await;
    page.on("overview").await;
    page.press("Answer question 2").await;
    page.press("Answer in writing").await;
    page.until("document.querySelector('#answer').value === 'In March.'").await;
    // The first window has let it go, and may have it back.
    page.turn_to(0).await;
    page.on("over").await;
    page.press("Continue here").await;
    page.until("document.querySelector('#answer')?.value === 'In March.'").await;
    page.press("Back").await;
    page.press("Back").await;
    page.press("Complete the interview").await;
    page.press("Yes, complete it now").await;
    page.on("done").await;
    let answers = visit.answers().await;
    assert_whole(&visit, &answers[0]).await;
    assert_eq!((&answers[0]["takes_begun"], &answers[1]["text"]), (&json!(1), &json!("In March.")));
}
