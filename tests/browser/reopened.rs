//! Interviews that go on after they have ended, and what their links say in the meantime.

use chrono::TimeDelta;
use serde_json::json;
use tests::caller::{Caller, last_segment};
use tests::http::Request;
use tests::takes::Interviewee;

use crate::devtools::{BrowserOptions, Page};
use crate::interview::assert_whole;
use crate::visit::{Visit, has_kept};

const ALL_USED: &str = "You have used all attempts for this question.";

async fn reopen(visit: &Visit, message: &str) {
    let path = format!("{}interview/reopen/", visit.candidate.uri);
    let request =
        json!({ "reason": "No sound.", "message": message, "deadline": visit.app.clock().in_days(9) });
    visit.owner.post(&path, request).await.expect(200);
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
    page.press("Send answer").await;
    page.on("overview").await;
    assert!(page.text().await.contains(ALL_USED));
    page.complete().await;
    page.go(&visit.link).await;
    page.on("over").await;
    assert!(page.text().await.contains("Your interview is complete"));

    let message = "The first answer has no sound.\nPlease <b>record</b> it once more.";
    reopen(&visit, message).await;
    page.go(&visit.link).await;
    page.on("overview").await;
    for (width, height) in [(320, 480), (390, 844)] {
        page.resize(width, height).await;
        assert_eq!(page.evaluate("document.documentElement.scrollWidth <= innerWidth").await, true);
    }
    // At the top: before the questions.
    let is_first = "Boolean(document.querySelector('.reopened').compareDocumentPosition(document.querySelector('.questions')) & 4)";
    assert_eq!(page.evaluate(is_first).await, true);
    assert_eq!(page.evaluate("document.querySelector('.reopened blockquote').innerText").await, message);
    let text = page.text().await;
    assert!(text.contains("Acme & Sons has reopened your interview."), "{text}");
    assert!(!text.contains("No sound."), "the reason is for managers");
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

#[tokio::test(flavor = "multi_thread")]
async fn a_link_whose_interview_the_time_has_ended_says_when_and_what_has_arrived() {
    let visit =
        Visit::invited(json!({ "max_interview_time": 1 }), &[json!({ "kind": "text" }), json!({})]).await;
    let candidate = &visit.candidate;
    for _ in ["confirmed", "interviewing"] {
        candidate.advance(&candidate.uri).await.expect(200);
    }
    let (project, _) = candidate.uri.split_once("candidates/").unwrap();
    let listed = visit.owner.get(&format!("{project}questions/")).await.expect(200).json();
    let id = last_segment(listed["objects"][0]["resource_uri"].as_str().unwrap());
    let put = Request::put(&format!("{}answers/{id}/", candidate.uri)).json(&json!({ "text": "In March." }));
    candidate.send(put).await.expect(201);
    visit.app.clock().advance(TimeDelta::minutes(62));
    visit.app.expire_overdue().await;
    visit.app.settle().await;

    let mut page = Page::open().await;
    page.resize(320, 480).await;
    page.go(&visit.link).await;
    page.on("over").await;
    let text = page.text().await;
    assert!(
        text.contains("Your time is over") && text.contains("Acme & Sons has received what you had answered"),
        "{text}"
    );
    let facts = "[...document.querySelectorAll('.facts dt, .facts dd')].map((part) => part.textContent)";
    let facts = page.evaluate(facts).await;
    assert_eq!([&facts[0], &facts[2], &facts[3]], ["Time over", "Answers", "1"], "{facts}");
    assert!(facts[1].as_str().unwrap().starts_with("Sunday 8 November 2026 at "), "{facts}");
    assert_eq!(page.evaluate("document.documentElement.scrollWidth <= 320").await, true);

    // A new link leads on, with what was answered.
    reopen(&visit, "One question is left.").await;
    visit.app.settle().await;
    let link = visit.owner.get(&candidate.uri).await.expect(200).json()["interview_url"].clone();
    page.go(link.as_str().unwrap()).await;
    page.on("overview").await;
    assert!(page.text().await.contains("One question is left."));
    let answered = "[...document.querySelectorAll('li')].map(entry => entry.dataset.state)";
    assert_eq!(page.evaluate(answered).await, json!(["written", "none"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_take_that_was_begun_elsewhere_shows_its_clock_and_offers_to_keep_what_has_arrived() {
    let visit = Visit::with_one_question().await;
    let candidate = &visit.candidate;
    for _ in ["confirmed", "interviewing"] {
        candidate.advance(&candidate.uri).await.expect(200);
    }
    let answer = visit.answers().await[0]["resource_uri"].as_str().unwrap().to_owned();
    let elsewhere = Interviewee { owner: visit.owner.clone(), candidate: candidate.clone(), answer };
    let take = elsewhere.begin().await;
    let mut page = Page::open_with(BrowserOptions::with_devices()).await;
    page.go(&visit.link).await;
    page.press("Change answer 1").await;
    page.on("question").await;
    page.until("document.body.innerText.includes('Nothing of it has arrived yet.')").await;
    let text = page.text().await;
    assert!(
        text.contains("its time is running")
            && text.contains("Time for this answer: ")
            && !text.contains("Keep what has arrived"),
        "{text}"
    );
    let main = "[...document.querySelectorAll('main button.main')].filter(one => !one.hidden).map(one => one.textContent)";
    assert_eq!(page.evaluate(main).await, json!(["Record answer"]));

    assert_eq!(elsewhere.send(take, 1, b"anything").await.status, 200);
    page.press("Back").await;
    page.press("Change answer 1").await;
    page.until("document.body.innerText.includes('Keep what has arrived')").await;
    assert!(!page.text().await.contains("Nothing of it has arrived yet."));
    // Looking has changed nothing.
    assert_eq!(visit.answers().await[0]["open_take"]["number"], 1);
}
