//! A browser after a candidate's interview, as the next person finds it.

use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::caller::{Caller, Invited, PASSWORD};

use crate::devtools::{BrowserOptions, LostResponses, Network, Page};
use crate::interview::assert_whole;
use crate::visit::{Visit, has_kept};

/// The status of the answer to a request for all data of the candidate, with whatever cookies the browser has.
async fn status_of_data(page: &mut Page, candidate: &Invited) -> Value {
    let (_, path) = candidate.uri.split_once("/api/").unwrap();
    page.evaluate(&format!("fetch('/api/{path}data/').then(({{ status }}) => status)")).await
}

const KEPT: &str = "indexedDB.databases().then(all => all.map(({ name }) => name))";

/// Waits until the browser keeps so many stores of recordings.
async fn keeps(page: &mut Page, stores: usize) -> Value {
    page.until_promised(&format!("{KEPT}.then(({{ length }}) => length === {stores})")).await;
    page.evaluate(KEPT).await
}

/// Begins the interview of a candidate who has a password, in a browser with these options.
async fn begin_with_password(visit: &Visit, options: BrowserOptions) -> Page {
    visit.candidate.register().await;
    visit.candidate.advance(&visit.candidate.uri).await.expect(200);
    let mut page = Page::open_with(options).await;
    page.go(&format!("{}/interview/acme/", visit.origin)).await;
    page.log_in(&visit.candidate.email, PASSWORD).await;
    page.press("Continue to the camera test").await;
    page.press("Turn on camera and microphone").await;
    page.press("It works: continue").await;
    page.press("Begin the interview").await;
    page.on("overview").await;
    page
}

/// A candidate with a password, who is about to write their second answer.
async fn write_with_password() -> (Visit, Page) {
    let text = json!({ "kind": "text", "is_required": false });
    let visit = Visit::invited(json!({ "allow_hash_login": false }), &[json!({}), text]).await;
    let mut page = begin_with_password(&visit, BrowserOptions::with_devices()).await;
    page.press("Answer question 2").await;
    page.press("Answer in writing").await;
    page.on("write").await;
    (visit, page)
}

#[tokio::test(flavor = "multi_thread")]
async fn after_the_interview_the_browser_knows_nothing_of_the_candidate() {
    let (visit, mut page) = write_with_password().await;
    page.evaluate(
        "document.querySelector('textarea').value = 'A draft';
        document.querySelector('textarea').dispatchEvent(new Event('input'))",
    )
    .await;
    page.press("Back").await;
    page.press("Back").await;
    page.record(1).await;
    page.until_promised(&has_kept(4)).await;
    page.stop_and_keep().await;
    assert_eq!(status_of_data(&mut page, &visit.candidate).await, 200);
    page.complete().await;
    assert_eq!(status_of_data(&mut page, &visit.candidate).await, 401);
    keeps(&mut page, 0).await;
    assert_eq!(page.evaluate("Object.keys(localStorage)").await, json!([]));
    page.reload().await;

    // Candidates can still see their data, and leave.
    page.log_in(&visit.candidate.email, PASSWORD).await;
    page.on("done").await;
    assert_eq!(status_of_data(&mut page, &visit.candidate).await, 200);
    page.press("Log out").await;
    page.on("login").await;
    assert_eq!(status_of_data(&mut page, &visit.candidate).await, 401);
    assert!(!page.text().await.contains("Log out"));
}

#[tokio::test(flavor = "multi_thread")]
async fn candidates_log_out_during_the_interview_and_what_they_recorded_is_sent_later() {
    let visit = Visit::invited(json!({ "allow_hash_login": false }), &[json!({})]).await;
    let mut page = begin_with_password(&visit, BrowserOptions::with_devices()).await;
    page.record(1).await;
    let log_out = "document.querySelector('header button').checkVisibility()";
    assert_eq!(page.evaluate(log_out).await, false);
    page.until_promised(&has_kept(4)).await;
    // Parts are not sent, though everything else works.
    page.refuse_uploads().await;
    page.stop_and_keep().await;
    page.press("Log out").await;
    page.on("login").await;
    assert_eq!(status_of_data(&mut page, &visit.candidate).await, 401);
    page.reload().await;
    page.log_in(&visit.candidate.email, PASSWORD).await;
    page.on("overview").await;
    page.complete().await;
    assert_whole(&visit, &visit.answers().await[0]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_typed_last_is_saved_before_the_candidate_logs_out() {
    let (visit, mut page) = write_with_password().await;
    page.type_text("In March").await;
    page.press("Log out").await;
    page.on("login").await;
    assert_eq!(page.evaluate("Object.keys(localStorage)").await, json!([]));
    page.log_in(&visit.candidate.email, PASSWORD).await;
    page.on("overview").await;
    assert!(page.text().await.contains("draft, not sent yet"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_answer_to_the_completion_by_session_is_recognised() {
    let visit = Visit::invited(json!({ "allow_hash_login": false }), &[json!({})]).await;
    let mut page = begin_with_password(&visit, BrowserOptions::with_devices()).await;
    page.record(1).await;
    page.until_promised(&has_kept(4)).await;
    page.stop_and_keep().await;
    page.saved().await;
    page.lose_responses(LostResponses::First).await;
    page.complete().await;
    assert_eq!(visit.status().await, "interviewed");
}

#[tokio::test(flavor = "multi_thread")]
async fn recordings_of_an_interview_that_ended_meanwhile_are_deleted() {
    let visit = Visit::invited(json!({ "allow_hash_login": false }), &[json!({})]).await;
    let options = BrowserOptions::with_devices();
    let mut page = begin_with_password(&visit, options.clone()).await;
    page.record(1).await;
    page.until_promised(&has_kept(2)).await;
    page.kill().await;
    visit.app.complete(&visit.candidate.uri).await;

    let mut page = Page::open_with(options).await;
    page.go(&format!("{}/interview/acme/", visit.origin)).await;
    page.on("login").await;
    keeps(&mut page, 1).await;
    page.log_in(&visit.candidate.email, PASSWORD).await;
    page.on("done").await;
    keeps(&mut page, 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_others_only_what_can_still_be_sent_stays() {
    let visit = Visit::invited(json!({ "max_interview_time": 45 }), &[json!({})]).await;
    let options = BrowserOptions::with_devices();
    let mut page = Page::open_with(options.clone()).await;
    visit.begin(&mut page).await;
    page.record(1).await;
    page.set_network(Network::Off).await;
    page.until_promised(&has_kept(2)).await;
    page.kill().await;

    // The second one has begun and recorded nothing.
    let [second, third] = [visit.invite_another().await, visit.invite_another().await];
    let mut page = Page::open_with(options.clone()).await;
    visit.begin_by(&mut page, &second).await;
    page.kill().await;
    let mut page = Page::open_with(options.clone()).await;
    page.go(&third).await;
    page.on("welcome").await;
    let kept = keeps(&mut page, 1).await;
    let first = visit.candidate.uri.rsplit('/').nth(1).unwrap();
    assert!(kept[0].as_str().unwrap().contains(first), "{kept}");

    // The first interview has closed, and a week has passed.
    visit.app.clock().advance(TimeDelta::days(7) + TimeDelta::minutes(104));
    page.reload().await;
    page.on("welcome").await;
    keeps(&mut page, 1).await;
    visit.app.clock().advance(TimeDelta::minutes(2));
    page.reload().await;
    page.on("welcome").await;
    keeps(&mut page, 0).await;
}
