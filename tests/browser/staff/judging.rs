//! Evaluations: drafts that save themselves, their completion, and what the others see and when.

use serde_json::{Value, json};
use tests::caller::Caller;
use tests::http::Request;

use super::Judged;
use crate::devtools::Page;

const VALUE: &str = "Value, from 0 to 5";
const OVERALL: &str = "What do you think of the candidate?";
const SAVED: &str = "Saved as a draft. Only you see it.";
/// The text that another evaluator has written.
const CANARY: &str = "canary-of-another";
/// Keeps what the page gets over the network.
const LISTEN: &str = "{ const send = window.fetch; window.heard = []; window.fetch = async (...asked) => {
    const response = await send(...asked); window.heard.push(await response.clone().text()); return response; }; }";

async fn choose(page: &mut Page, recommendation: &str) {
    page.evaluate(&format!("document.querySelector('input[value={recommendation}]').click()")).await;
}

/// Completes another evaluator's evaluation.
pub(super) async fn evaluate(judged: &Judged, evaluator: usize, comment: &str) {
    let questions = judged.visit.owner.get(&format!("{}questions/", judged.project)).await.expect(200).json();
    let question = &questions["objects"][0]["resource_uri"];
    let body = json!({
        "ratings": [{ "question": question, "value": 4.5, "comment": format!("{comment} of a rating") }],
        "recommendation": "strong_yes", "comment": comment, "completed": true,
    });
    let save = Request::put(&judged.evaluation(evaluator)).json(&body);
    judged.evaluators[evaluator].send(save).await.expect(201);
}

/// Nothing that another evaluator has written has reached the page.
async fn heard_nothing(page: &mut Page) {
    let heard = page.evaluate("window.heard.join()").await;
    let heard = heard.as_str().unwrap();
    assert!(heard.len() > 100 && !heard.contains(CANARY), "{heard}");
    assert!(!page.text().await.contains("What all evaluators say"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_saves_itself_outlives_the_page_and_is_completed() {
    let judged = Judged::by(2, json!({})).await;
    let mut page = judged.opened_by(0).await;
    page.write_into("Comment", "To the point.").await;
    page.tells(SAVED).await;
    let saved = judged.saved(0).await;
    assert_eq!((&saved["ratings"][0]["value"], &saved["completed"]), (&Value::Null, &json!(false)));
    page.write_into(VALUE, "7").await;
    page.tells("Type a number from 0 to 5 with at most one decimal.").await;
    page.write_into(VALUE, "3,4").await;
    page.evaluate("document.querySelector('input.value').focus()").await;
    page.press_key("ArrowUp").await;
    assert_eq!(page.read_from(VALUE).await, "3.9");
    page.turn_page(3, "Evaluation").await;
    page.write_into(VALUE, "5").await;
    page.write_into(OVERALL, "Quick and kind.").await;
    choose(&mut page, "yes").await;
    page.tells(SAVED).await;

    page.load_anew().await;
    page.turn_page(3, "Evaluation").await;
    assert_eq!(page.read_from(OVERALL).await, "Quick and kind.");
    assert_eq!(page.evaluate("document.querySelector('input[value=yes]').checked").await, true);
    page.press("Complete the evaluation…").await;
    page.tells("Question 2: no value").await;
    let missing = page.evaluate("document.querySelector('dialog[open] ul').innerText").await;
    assert_eq!(missing, "Question 2: no value");
    assert_eq!(judged.saved(0).await["completed"], false);
    page.press("Complete it now").await;
    page.tells("You have completed this evaluation on").await;
    page.tells("What all evaluators say").await;
    let saved = judged.saved(0).await;
    assert_eq!((&saved["completed"], &saved["recommendation"]), (&json!(true), &json!("yes")));

    // A completed evaluation changes only when its author says so.
    page.press("Change").await;
    page.write_into(OVERALL, "Quick, kind and late.").await;
    page.tells("Your changes are not saved yet.").await;
    page.turn_page(1, "Question 1 of 2").await;
    page.write_into(VALUE, "2").await;
    page.turn_page(3, "Evaluation").await;
    assert_eq!(judged.saved(0).await["comment"], "Quick and kind.");
    page.press("Save changes").await;
    page.tells("You have completed this evaluation on").await;
    let saved = judged.saved(0).await;
    assert_eq!(saved["comment"], "Quick, kind and late.");
    assert_eq!(saved["ratings"][0]["value"], 2);
    assert_eq!(saved["completed"], true);
    page.press("Change").await;
    page.write_into(OVERALL, "Not so.").await;
    page.press("Discard changes").await;
    assert_eq!(page.read_from(OVERALL).await, "Quick, kind and late.");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_evaluation_without_a_value_is_not_offered_as_complete() {
    let judged = Judged::by(1, json!({})).await;
    let mut page = judged.opened_by(0).await;
    page.turn_page(3, "Evaluation").await;
    page.write_into(OVERALL, "Quick and kind.").await;
    page.press("Complete the evaluation…").await;
    page.tells("Give at least one value first.").await;
    let offered = "[...document.querySelectorAll('dialog[open] button')].map(one => one.textContent)";
    assert_eq!(page.evaluate(offered).await, json!(["Back"]));
    page.press("Back").await;
    page.write_into(VALUE, "4").await;
    page.press("Complete the evaluation…").await;
    page.tells("You can complete it all the same").await;
    assert_eq!(page.evaluate(offered).await, json!(["Complete it now", "Back"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_evaluator_hears_nothing_of_the_others_before_their_own_is_complete() {
    let judged = Judged::by(2, json!({})).await;
    evaluate(&judged, 1, CANARY).await;
    let mut page = Page::open().await;
    page.prepare(LISTEN).await;
    page.go(&judged.address().await).await;
    page.sign_in(&judged.evaluators[0]).await;
    page.on("result").await;
    page.write_into(VALUE, "1").await;
    page.tells(SAVED).await;
    page.turn_page(3, "Evaluation").await;
    heard_nothing(&mut page).await;
    page.evaluate("document.querySelector('.about a').click()").await;
    page.on("home").await;
    heard_nothing(&mut page).await;
    page.evaluate("document.querySelector('a.entry').click()").await;
    page.on("project").await;
    page.tells("Waiting for your evaluation (1)").await;
    heard_nothing(&mut page).await;
    page.evaluate("document.querySelector('a.entry').click()").await;
    page.on("result").await;
    heard_nothing(&mut page).await;
    page.turn_page(3, "Evaluation").await;
    page.press("Complete the evaluation…").await;
    page.press("Complete it now").await;
    page.tells(CANARY).await;
    let text = page.text().await;
    for told in ["Overall rating", "2.75 / 5", "4.5 / 5", "Definitely", "canary-of-another of a rating"] {
        assert!(text.contains(told), "{told}: {text}");
    }
}

/// Holds what the page reads about the others until `release` is called, and has it fail then when the page waits no longer.
const LOSE_RESULTS: &str = "{
    const send = window.fetch, now = Date.now, held = new Promise(done => { window.release = done; });
    window.fetch = async (...asked) => {
        if (!String(asked[0]).includes('/results/')) return send(...asked);
        await held;
        window.fetch = send;
        Date.now = () => now() + 60_000;
        throw new TypeError('lost');
    };
}";

#[tokio::test(flavor = "multi_thread")]
async fn the_page_says_that_it_reads_what_the_others_say_and_reads_it_again() {
    let judged = Judged::by(1, json!({})).await;
    evaluate(&judged, 0, "Quick.").await;
    let mut page = judged.opened_by(0).await;
    page.evaluate(LOSE_RESULTS).await;
    page.turn_page(3, "Evaluation").await;
    page.until("document.querySelector('.others p')").await;
    assert_eq!(
        page.evaluate("document.querySelector('.others').innerText").await,
        "What all evaluators say\n\nLoading…"
    );
    page.evaluate("release()").await;
    page.until("document.querySelector('.others').innerText.includes('There is no connection.')").await;
    page.evaluate("document.querySelector('.others button').click()").await;
    page.tells("4.5 / 5").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_veto_says_that_it_is_for_good_and_completes_what_was_typed() {
    let judged = Judged::by(1, json!({ "veto_enabled": true })).await;
    let mut page = judged.opened_by(0).await;
    page.turn_page(3, "Evaluation").await;
    page.write_into(OVERALL, "Papers look odd.").await;
    page.evaluate("document.querySelector('.place details').open = true").await;
    page.tells("It cannot be taken back.").await;
    page.write_into("Why? At least 15 characters.", "The certificates are not real.").await;
    page.press("Veto for good").await;
    page.tells("You have completed this evaluation on").await;
    page.tells("The certificates are not real.").await;
    let saved = judged.saved(0).await;
    assert_eq!((&saved["completed"], &saved["comment"]), (&json!(true), &json!("Papers look odd.")));
    assert_eq!(page.evaluate("document.querySelector('.place details').checkVisibility()").await, false);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_manager_and_three_evaluators_come_to_a_result_with_this_page_alone() {
    let judged = Judged::by(3, json!({})).await;
    for (evaluator, value) in ["2", "3.5", "5"].into_iter().enumerate() {
        let mut page = judged.opened_by(evaluator).await;
        page.write_into(VALUE, value).await;
        page.turn_page(3, "Evaluation").await;
        page.press("Complete the evaluation…").await;
        page.press("Complete it now").await;
        page.tells("What all evaluators say").await;
        page.evaluate("document.querySelector('.about a + a, .about a:last-of-type').click()").await;
        page.on("project").await;
        page.tells("Nothing waits for you in this project.").await;
        page.tells("Evaluated by you (1)").await;
    }
    let mut page = Page::open().await;
    page.go(&format!("{}/staff/acme/", judged.visit.origin)).await;
    page.sign_in(&judged.visit.owner).await;
    page.on("home").await;
    // Owners see projects in which they have no role.
    page.press("All projects of the company").await;
    page.until("document.querySelector('a.entry')").await;
    page.evaluate("document.querySelector('a.entry').click()").await;
    page.on("project").await;
    page.tells("Rating 3.5 / 5").await;
    page.evaluate("document.querySelector('a.entry').click()").await;
    page.on("result").await;
    page.turn_page(3, "Evaluation").await;
    page.tells("You are no evaluator of this project, so you read only.").await;
    page.tells("3.5 / 5").await;
}
