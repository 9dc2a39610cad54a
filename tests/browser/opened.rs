//! When a candidate has opened the interview: with their first press on the page, which programs that check links do not make.

use serde_json::{Value, json};
use tests::caller::{Caller, PASSWORD};

use crate::devtools::Page;
use crate::visit::Visit;

/// How often the page has told it, since it was loaded, and was answered.
const TOLD: &str = "performance.getEntriesByType('resource')
    .filter(({ name, responseEnd }) => name.endsWith('/whoami/candidate/?opened=true') && responseEnd > 0).length";

async fn opened_at(visit: &Visit) -> Value {
    visit.owner.get(&visit.candidate.uri).await.expect(200).json()["opened_at"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_press_tells_that_a_person_has_opened_the_interview_and_no_other_does() {
    let visit = Visit::with_one_question().await;
    let mut page = Page::open().await;
    page.go(&visit.link).await;
    page.on("welcome").await;
    assert_eq!((page.evaluate(TOLD).await, opened_at(&visit).await), (json!(0), Value::Null));
    page.press_key("Tab").await;
    page.until(&format!("{TOLD} === 1")).await;
    let opened = opened_at(&visit).await;
    assert!(opened.is_string(), "{opened}");
    page.press("Continue to the camera test").await;
    page.on("check").await;
    assert_eq!(page.evaluate(TOLD).await, 1);
    assert_eq!(opened_at(&visit).await, opened);
    // Nothing of it is seen.
    assert_eq!(page.evaluate("document.querySelector('.problem').textContent").await, "");
}

#[tokio::test(flavor = "multi_thread")]
async fn candidates_with_a_password_open_it_after_the_login() {
    let visit = Visit::invited(json!({ "allow_hash_login": false }), &[json!({})]).await;
    visit.candidate.choose_password().await;
    visit.candidate.advance(&visit.candidate.uri).await.expect(200);
    let mut page = Page::open().await;
    page.go(&format!("{}/interview/acme/", visit.origin)).await;
    page.log_in(&visit.candidate.email, PASSWORD).await;
    page.on("welcome").await;
    assert_eq!((page.evaluate(TOLD).await, opened_at(&visit).await), (json!(0), Value::Null));
    page.press("Continue to the camera test").await;
    page.until(&format!("{TOLD} === 1")).await;
    assert!(opened_at(&visit).await.is_string());
}
