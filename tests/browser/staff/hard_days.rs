//! Failures while an evaluator types. Nothing that was typed is lost in silence.

use serde_json::{Value, json};
use tests::caller::{Caller, PASSWORD};
use tests::http::Request;

use super::{Judged, evaluator, give_role};
use crate::devtools::{Network, Page};

const VALUE: &str = "Value, from 0 to 5";
const COMMENT: &str = "Comment";
const SAVED: &str = "Saved as a draft. Only you see it.";

/// Opens the form beside what was typed, which the page offers.
async fn open_form(page: &mut Page, judged: &Judged) -> usize {
    page.until("[...document.querySelectorAll('button')].some(one => one.textContent === 'Log in again')")
        .await;
    let form = page.open_tab().await;
    page.go(&format!("{}/staff/acme/?again", judged.visit.origin)).await;
    form
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_connection_what_was_typed_waits_and_says_so() {
    let judged = Judged::by(1, json!({})).await;
    let mut page = judged.opened_by(0).await;
    page.set_network(Network::Off).await;
    page.write_into(COMMENT, "Typed on a train.").await;
    page.tells("No connection. What you have typed waits in this page").await;
    // A person who leaves now is warned.
    let warned = "(() => { const event = new Event('beforeunload', { cancelable: true }); dispatchEvent(event); return event.defaultPrevented; })()";
    assert_eq!(page.evaluate(warned).await, true);
    page.set_network(Network::Whole).await;
    page.tells(SAVED).await;
    assert_eq!(judged.saved(0).await["ratings"][0]["comment"], "Typed on a train.");
    assert_eq!(page.evaluate(warned).await, false);
    assert_eq!(
        page.evaluate("Object.keys(localStorage).length + Object.keys(sessionStorage).length").await,
        0
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn two_windows_overwrite_nothing_and_ask_only_about_what_both_changed() {
    let judged = Judged::by(1, json!({})).await;
    let mut page = judged.opened_by(0).await;
    let address = judged.address().await;
    let second = page.open_tab().await;
    page.go(&address).await;
    page.on("result").await;
    // Two first drafts: the later one finds the earlier one.
    page.write_into(COMMENT, "From the second window.").await;
    page.tells(SAVED).await;
    page.turn_to(0).await;
    page.write_into(VALUE, "4").await;
    page.tells(SAVED).await;
    assert_eq!(page.read_from(COMMENT).await, "From the second window.");
    let rating = judged.saved(0).await["ratings"][0].clone();
    assert_eq!((&rating["value"], &rating["comment"]), (&json!(4), &json!("From the second window.")));

    // Both change one field, and the second window another one too.
    page.turn_to(second).await;
    page.write_into(COMMENT, "Changed there.").await;
    page.turn_page(3, "Evaluation").await;
    page.write_into("What do you think of the candidate?", "Good.").await;
    page.tells(SAVED).await;
    page.turn_to(0).await;
    page.write_into(COMMENT, "Changed here.").await;
    page.tells("You have changed this in another window as well.").await;
    page.tells("Changed there.").await;
    assert_eq!(judged.saved(0).await["ratings"][0]["comment"], "Changed there.");
    page.press("Keep what is here").await;
    page.tells(SAVED).await;
    let saved = judged.saved(0).await;
    assert_eq!(
        (&saved["ratings"][0]["comment"], &saved["comment"]),
        (&json!("Changed here."), &json!("Good."))
    );

    // Completed in one window, it is not taken back by the other.
    page.turn_to(second).await;
    page.press("Complete the evaluation…").await;
    page.press("Complete it now").await;
    page.tells("You have completed this evaluation on").await;
    page.turn_to(0).await;
    page.write_into(COMMENT, "Typed later.").await;
    page.tells("You have completed this evaluation in another window on").await;
    page.tells("Your changes are not saved yet.").await;
    assert_eq!(judged.saved(0).await["completed"], true);
    page.press("Save changes").await;
    page.tells("You have completed this evaluation on").await;
    let saved = judged.saved(0).await;
    assert_eq!(
        (&saved["completed"], &saved["ratings"][0]["comment"]),
        (&json!(true), &json!("Typed later."))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_ends_while_one_types_goes_on_after_a_sign_in_beside_it() {
    let judged = Judged::by(1, json!({})).await;
    let visit = &judged.visit;
    let other = evaluator(visit, &judged.project).await;
    let mut page = judged.opened_by(0).await;
    page.forget_cookies().await;
    page.write_into(COMMENT, "Half a sentence").await;
    page.tells("Log in again in a second window, and go on here.").await;

    // Another account does not get it.
    let form = open_form(&mut page, &judged).await;
    page.sign_in(&other).await;
    page.tells("Go on in the other window").await;
    page.turn_to(0).await;
    page.tells("whose evaluation this is not").await;
    assert_eq!(page.read_from(COMMENT).await, "Half a sentence");
    let others = format!("{}evaluations/{}/", visit.candidate.uri, other.id());
    other.get(&others).await.expect(404);

    page.turn_to(form).await;
    page.go(&format!("{}/staff/acme/?again", visit.origin)).await;
    page.sign_in(&judged.evaluators[0]).await;
    page.turn_to(0).await;
    page.tells(SAVED).await;
    assert!(!page.text().await.contains("whose evaluation this is not"));
    assert_eq!(judged.saved(0).await["ratings"][0]["comment"], "Half a sentence");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_typed_about_somebody_who_is_gone_or_not_ones_own_any_more_can_still_be_copied() {
    let judged = Judged::by(2, json!({})).await;
    let visit = &judged.visit;
    let [mut removed, mut bereft] = [judged.opened_by(0).await, judged.opened_by(1).await];
    // The first one may still read.
    give_role(visit, &judged.project, &judged.evaluators[0], "interview_manager").await;
    let roles = visit.owner.get(&format!("{}roles/", judged.project)).await.expect(200).json();
    let mut roles = roles["objects"].as_array().unwrap().iter();
    let role = roles
        .find(|role| role["customer"] == judged.evaluators[0].uri.as_str() && role["role"] == "evaluator")
        .unwrap();
    visit.owner.delete(role["resource_uri"].as_str().unwrap()).await.expect(204);
    removed.write_into(COMMENT, "Mine.").await;
    removed.tells("You are no evaluator of this project any more.").await;
    assert_eq!(removed.read_from(COMMENT).await, "Mine.");
    visit.owner.delete(&visit.candidate.uri).await.expect(204);
    bereft.write_into(COMMENT, "Yours.").await;
    bereft.tells("This candidate was deleted meanwhile").await;
    assert_eq!(bereft.read_from(COMMENT).await, "Yours.");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interview_that_is_reopened_meanwhile_keeps_the_draft_and_is_completed_later() {
    let judged = Judged::by(1, json!({})).await;
    let visit = &judged.visit;
    let mut page = judged.opened_by(0).await;
    let reason = json!({ "reason": "Once more." });
    visit.owner.post(&format!("{}interview/reopen/", visit.candidate.uri), reason).await.expect(200);
    page.write_into(VALUE, "3").await;
    page.tells(SAVED).await;
    page.turn_page(3, "Evaluation").await;
    page.press("Complete the evaluation…").await;
    page.press("Complete it now").await;
    page.tells("The interview is not complete at the moment").await;
    page.load_anew().await;
    page.tells("The interview was reopened: the candidate may change the answers.").await;
    visit.candidate.advance(&visit.candidate.uri).await.expect(200);
    page.load_anew().await;
    page.turn_page(1, "Question 1 of 2").await;
    assert_eq!(page.read_from(VALUE).await, "3");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interview_that_was_cancelled_shows_its_answers_and_why_nobody_judges_them() {
    let judged = Judged::by(1, json!({})).await;
    let visit = &judged.visit;
    let reason = json!({ "reason": "Once more." });
    visit.owner.post(&format!("{}interview/reopen/", visit.candidate.uri), reason).await.expect(200);
    visit.owner.cancel(&visit.candidate.uri).await.expect(200);
    for reader in [&judged.evaluators[0], &visit.owner] {
        let mut page = Page::open().await;
        page.go(&judged.address().await).await;
        page.sign_in(reader).await;
        page.on("result").await;
        page.tells("Because.").await;
        page.evaluate("document.querySelector('details.more').open = true").await;
        page.tells("cancelled by the company").await;
        // It would be refused.
        assert!(!page.text().await.contains("Make a link for a guest"));
    }
    let mut page = judged.opened_by(0).await;
    page.turn_page(3, "Evaluation").await;
    page.tells("The company has cancelled this interview, so it is not evaluated.").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn signing_out_saves_first() {
    let judged = Judged::by(1, json!({})).await;
    let mut page = judged.opened_by(0).await;
    page.write_into(COMMENT, "The last word.").await;
    page.press("Log out").await;
    page.on("signIn").await;
    assert_eq!(judged.saved(0).await["ratings"][0]["comment"], "The last word.");
    let status = "fetch('/api/v3/whoami/').then(({ status }) => status)";
    assert_eq!(page.evaluate(status).await, 401);
    assert_eq!(page.evaluate("document.cookie").await, "");
}

/// Notes what the page asks, and says no.
const REFUSE: &str =
    "{ window.asked = []; window.confirm = question => { window.asked.push(question); return false; }; }";
const LOSE: &str = "Some of what you have typed is not saved. Leave this page and lose it?";

#[tokio::test(flavor = "multi_thread")]
async fn a_link_saves_a_draft_and_asks_before_it_loses_what_is_not_saved_by_itself() {
    let judged = Judged::by(1, json!({ "veto_enabled": true })).await;
    let mut page = judged.opened_by(0).await;
    let home = "document.querySelector('header a').click()";
    page.write_into(VALUE, "4").await;
    page.evaluate(home).await;
    page.on("home").await;
    assert_eq!(judged.saved(0).await["ratings"][0]["value"], 4);

    // Changes of a completed evaluation, and a veto, are saved by the reader alone.
    page.go(&judged.address().await).await;
    page.on("result").await;
    page.evaluate(REFUSE).await;
    page.turn_page(3, "Evaluation").await;
    page.evaluate("document.querySelector('.place details').open = true").await;
    page.write_into("Why? At least 15 characters.", "Not yet said.").await;
    page.evaluate(home).await;
    page.until_promised("Promise.resolve(window.asked.length === 1)").await;
    page.write_into("Why? At least 15 characters.", "").await;
    page.press("Complete the evaluation…").await;
    page.press("Complete it now").await;
    page.press("Change").await;
    page.write_into(VALUE, "2").await;
    page.evaluate(home).await;
    page.until_promised("Promise.resolve(window.asked.length === 2)").await;
    assert_eq!(page.evaluate("window.asked").await, json!([LOSE, LOSE]));
    assert_eq!(page.read_from(VALUE).await, "2");
    page.press("Log out").await;
    page.until_promised("Promise.resolve(window.asked.length === 3)").await;
    page.press("Discard changes").await;
    page.evaluate(home).await;
    page.on("home").await;
    assert_eq!(judged.saved(0).await["ratings"][0]["value"], 4);
}

/// Interviews of another platform are judged without answers.
#[tokio::test(flavor = "multi_thread")]
async fn an_interview_of_another_platform_is_judged_all_the_same() {
    let judged = Judged::by(1, json!({})).await;
    let visit = &judged.visit;
    let fields = json!({ "interview_platform": "external", "allow_hash_login": true, "maximum_score": 5, "evaluators": [judged.evaluators[0].uri] });
    let project = visit.owner.running_project(fields).await;
    visit.owner.post(&format!("{project}questions/"), json!({ "text": "Elsewhere?" })).await.expect(201);
    let invited = visit.owner.invite(&project, json!({})).await;
    invited.advance(&invited.uri).await.expect(200);
    visit.app.complete(&invited.uri).await;
    let candidate = visit.owner.get(&invited.uri).await.expect(200).json();
    let mut page = Page::open().await;
    page.go(candidate["interview_suite_url"].as_str().unwrap()).await;
    page.sign_in_as(&judged.evaluators[0].username, PASSWORD).await;
    page.tells("This interview took place on another platform").await;
    page.tells("Elsewhere?").await;
    page.write_into(VALUE, "4.5").await;
    page.tells(SAVED).await;
    let saved = format!("{}evaluations/{}/", invited.uri, judged.evaluators[0].id());
    let saved: Value = judged.evaluators[0].send(Request::get(&saved)).await.expect(200).json();
    assert_eq!(saved["ratings"][0]["value"], 4.5);
}
