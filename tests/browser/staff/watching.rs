//! From a mail to a film that plays, and through an interview.

use chrono::TimeDelta;
use serde_json::json;
use tests::caller::{Caller as _, PASSWORD};

use super::{evaluator, give_role};
use crate::devtools::Page;
use crate::film;
use crate::visit::Visit;
use crate::watched::{FirstQuestion, WRITTEN, Watched};

const PLAYS: &str = "Promise.resolve(document.querySelector('.frame > video')?.currentTime > 0)";
/// The requests of the page to the API, since it was loaded.
const CALLS: &str = "performance.getEntriesByType('resource').filter(({ initiatorType }) => initiatorType === 'fetch').map(({ name }) => name)";

/// An address of ours in a mail to somebody, whose path begins so.
fn mailed_address(visit: &Visit, email: &str, path: &str) -> String {
    let begin = format!("{}{path}", visit.origin);
    let mails = visit.app.mails_to(email);
    let mut words = mails.iter().flat_map(|mail| mail.text.as_deref().unwrap().split_whitespace());
    words.find(|word| word.starts_with(&begin)).unwrap_or_else(|| panic!("{begin}")).to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_show_their_captions_to_guests_and_staff() {
    let watched = Watched::build(json!({})).await;
    let visit = &watched.visit;
    let (project, _) = visit.candidate.uri.split_once("candidates/").unwrap();
    let judge = evaluator(visit, project).await;
    let staff = visit.owner.get(&visit.candidate.uri).await.expect(200).uri("interview_suite_url");
    let guest = format!("{}#1", watched.link(json!({})).await);
    for (address, signs_in) in [(guest, false), (staff, true)] {
        let mut page = Page::open().await;
        page.go(&address).await;
        if signs_in {
            page.sign_in(&judge).await;
        }
        page.until("document.querySelector('.frame > video')").await;
        page.tab_to("Play answer").await;
        page.until_promised(PLAYS).await;
        let track = "document.querySelector('.frame > video track')";
        page.until_promised(&format!("Promise.resolve({track}.readyState === HTMLTrackElement.LOADED)"))
            .await;
        let shown = format!("[{track}.srclang, {track}.track.mode, {track}.track.cues[0].text]");
        assert_eq!(page.evaluate(&shown).await, json!(["en", "showing", "Because I like it."]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_mail_about_an_interview_leads_to_its_film_by_one_press() {
    let watched = Watched::build(json!({ "name": "Data engineer" })).await;
    let visit = &watched.visit;
    let (project, _) = visit.candidate.uri.split_once("candidates/").unwrap();
    let judge = evaluator(visit, project).await;
    // Another one completes the interview, of which the mail tells.
    visit.app.settle().await;
    visit
        .owner
        .post(&format!("{}interview/reopen/", visit.candidate.uri), json!({ "reason": "Once more." }))
        .await
        .expect(200);
    visit.candidate.advance(&visit.candidate.uri).await.expect(200);
    visit.app.settle().await;
    visit.app.clock().advance(TimeDelta::minutes(6));
    visit.app.sweep().await;
    visit.app.settle().await;
    let link = mailed_address(visit, &judge.email, "/result/");

    let mut page = Page::open().await;
    page.go(&link).await;
    page.sign_in(&judge).await;
    page.on("result").await;
    page.tab_to("Play answer").await;
    page.until_promised(PLAYS).await;

    // With the session, the press is the only one, and four requests are enough.
    page.go(&link).await;
    page.on("result").await;
    let calls = page.evaluate(CALLS).await;
    assert!(calls.as_array().unwrap().len() <= 4, "{calls}");
    page.tab_to("Play answer").await;
    page.until_promised(PLAYS).await;
    let bucket = visit.app.environment()["AWS_ENDPOINT_URL_S3"].clone();
    for address in page.requested() {
        assert!(address.starts_with(&visit.origin) || address.starts_with(&bucket), "{address}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_got_nothing_but_mails_comes_to_the_first_film() {
    let watched = Watched::build(json!({ "name": "Data engineer" })).await;
    let visit = &watched.visit;
    let (project, _) = visit.candidate.uri.split_once("candidates/").unwrap();
    let colleague = visit.owner.colleague("hiring-manager", json!({ "username": "grace" })).await;
    let role = json!({ "customer": colleague.uri, "role": "evaluator" });
    visit.owner.post(&format!("{project}roles/"), role).await.expect(201);
    visit.app.settle().await;

    let mut page = Page::open().await;
    page.go(&mailed_address(visit, &colleague.email, "/activate/")).await;
    page.on("password").await;
    page.fill("password", PASSWORD).await;
    page.press("Save password").await;
    page.until("document.querySelector('main a.main')").await;
    page.evaluate("document.querySelector('main a.main').click()").await;
    page.sign_in_as("grace", PASSWORD).await;
    page.on("home").await;
    page.tells("Waiting for you: 1").await;
    page.evaluate("document.querySelector('a.entry').click()").await;
    page.on("project").await;
    page.tells("Waiting for your evaluation (1)").await;
    page.evaluate("document.querySelector('a.entry').click()").await;
    page.on("result").await;
    page.tab_to("Play answer").await;
    page.until_promised(PLAYS).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_are_watched_by_keyboard_alone() {
    let watched = Watched::build(json!({ "name": "Data engineer" })).await;
    let visit = &watched.visit;
    let (project, _) = visit.candidate.uri.split_once("candidates/").unwrap();
    let judge = evaluator(visit, project).await;
    let candidate = visit.owner.get(&visit.candidate.uri).await.expect(200).json();
    let mut page = Page::open().await;
    page.go(candidate["interview_suite_url"].as_str().unwrap()).await;
    page.sign_in(&judge).await;
    page.on("result").await;
    let name =
        format!("{} {}", candidate["first_name"].as_str().unwrap(), candidate["last_name"].as_str().unwrap());
    page.headed(&name).await;
    page.tells("Why us?").await;
    page.press_key(" ").await;
    page.until_promised(PLAYS).await;
    page.until("[...document.querySelectorAll('button')].some(one => one.textContent === 'Pause')").await;
    page.press_key(" ").await;
    page.until("document.querySelector('.frame > video').paused").await;
    page.press("+10 s").await;
    page.until_promised("Promise.resolve(document.querySelector('.frame > video').currentTime > 3.5)").await;
    page.press("−10 s").await;
    page.until_promised("Promise.resolve(document.querySelector('.frame > video').currentTime < 0.5)").await;

    // Letters and the space bar stay what they are where something is typed.
    page.evaluate("document.querySelector('textarea').focus()").await;
    for key in ["a", " ", "b"] {
        page.press_key(key).await;
    }
    assert_eq!(page.evaluate("document.querySelector('textarea').value").await, "a b");
    assert_eq!(page.evaluate("document.querySelector('.frame > video').paused").await, true);

    page.evaluate("document.querySelector('.place > h2').focus()").await;
    page.tab_to("Next").await;
    page.until("document.querySelector('.written')").await;
    assert_eq!(page.evaluate("document.querySelector('.written').textContent").await, WRITTEN);
    assert_eq!(page.evaluate("document.activeElement.textContent").await, "Question 2 of 4");
    page.tab_to("Next").await;
    page.tells("The candidate has not answered this question.").await;
    page.tab_to("Next").await;
    page.tells("Question 4 of 4").await;
    page.until("document.querySelector('.frame > video')").await;
    page.tab_to("To the evaluation").await;
    page.until("document.activeElement.textContent === 'Evaluation'").await;
    page.evaluate("history.back()").await;
    page.until("document.activeElement.textContent === 'Question 4 of 4'").await;
}

/// Holds what the page reads of films that ask until `release` is called.
const HOLD_FILMS: &str = "{
    const send = window.fetch, held = new Promise(done => { window.release = done; });
    window.fetch = async (...asked) => { if (String(asked[0]).includes('/videos/')) await held; return send(...asked); };
}";

#[tokio::test(flavor = "multi_thread")]
async fn the_page_says_that_it_reads_the_film_of_a_question() {
    let first = FirstQuestion { asking: Some(film()), ..FirstQuestion::default() };
    let watched = Watched::with_first(json!({ "name": "Data engineer" }), first).await;
    let visit = &watched.visit;
    let (project, _) = visit.candidate.uri.split_once("candidates/").unwrap();
    let judge = evaluator(visit, project).await;
    let candidate = visit.owner.get(&visit.candidate.uri).await.expect(200).json();
    let mut page = Page::open().await;
    page.go(&format!("{}#2", candidate["interview_suite_url"].as_str().unwrap())).await;
    page.sign_in(&judge).await;
    page.tells("Question 2 of 4").await;
    page.evaluate(HOLD_FILMS).await;
    page.press("Back").await;
    page.until("document.querySelector('.place').innerText === 'Loading…'").await;
    // The reader has gone on in the meantime, and comes back.
    page.turn_page(3, "Question 3 of 4").await;
    page.evaluate("location.hash = '1'").await;
    page.until("document.querySelector('.place').innerText === 'Loading…'").await;
    page.evaluate("release()").await;
    page.until("document.querySelector('.box video')").await;
    page.tells("Question 1 of 4").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_manager_makes_a_link_for_a_guest_and_a_reader_does_not() {
    let watched = Watched::build(json!({ "name": "Data engineer" })).await;
    let visit = &watched.visit;
    let (project, _) = visit.candidate.uri.split_once("candidates/").unwrap();
    let [manager, reviewer] = [
        visit.owner.colleague("recruiter", json!({})).await.activate().await,
        visit.owner.colleague("hiring-manager", json!({})).await.activate().await,
    ];
    give_role(visit, project, &manager, "interview_manager").await;
    give_role(visit, project, &reviewer, "reviewer").await;
    let candidate = visit.owner.get(&visit.candidate.uri).await.expect(200).json();
    let address = candidate["interview_suite_url"].as_str().unwrap();

    let mut page = Page::open().await;
    page.go(address).await;
    page.sign_in(&reviewer).await;
    page.on("result").await;
    page.evaluate("document.querySelector('details.more').open = true").await;
    assert!(!page.text().await.contains("Make a link for a guest"));
    // A person who only reads is offered no field.
    assert_eq!(page.evaluate("document.querySelectorAll('main input, main textarea').length").await, 0);
    page.press("Log out").await;
    page.sign_in(&manager).await;
    page.on("home").await;
    page.go(address).await;
    page.on("result").await;
    page.evaluate("document.querySelector('details.more').open = true").await;
    page.fill("recipient", "Head of sales").await;
    page.press("Make a link for a guest").await;
    page.until("document.querySelector('.guest input[readonly]')").await;
    let link = page.evaluate("document.querySelector('.guest input[readonly]').value").await;
    page.go(link.as_str().unwrap()).await;
    page.on("welcome").await;
}
