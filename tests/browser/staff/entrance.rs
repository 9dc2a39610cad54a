//! Logging in, and the refusals.

use chrono::TimeDelta;
use serde_json::json;
use tests::caller::{Caller, PASSWORD, last_segment};
use tests::http::Request;

use super::{Judged, give_role};
use crate::devtools::Page;

/// The visible text of the page, without the header.
const SHOWN: &str = "document.querySelector('main').innerText";

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_user_a_wrong_password_and_an_unknown_company_read_the_same() {
    let judged = Judged::by(1, json!({})).await;
    let origin = &judged.visit.origin;
    let mut page = Page::open().await;
    let mut read = Vec::new();
    let username = judged.evaluators[0].username.clone();
    for (company, username, password) in [
        ("acme", "nobody", PASSWORD),
        ("acme", &*username, "wrong horse battery"),
        ("nowhere", &*username, PASSWORD),
    ] {
        page.go(&format!("{origin}/staff/{company}/")).await;
        page.sign_in_as(username, password).await;
        page.until("document.getElementById('password-error').textContent").await;
        let text = page.evaluate(SHOWN).await;
        read.push(text.as_str().unwrap().replace(company, "COMPANY"));
    }
    assert!(read[0].contains("Company, name or password are not right."), "{read:?}");
    assert!(read.iter().all(|text| *text == read[0]), "{read:?}");
    // Another language keeps the name.
    page.evaluate("document.querySelector('input[name=username]').dispatchEvent(new Event('input'))").await;
    page.choose_language("de").await;
    page.tells("Benutzername").await;
    assert_eq!(page.evaluate("document.querySelector('input[name=username]').value").await, *username);
    page.choose_language("en").await;
    page.tells("User name").await;
    // A reset is asked for here, and says the same to everyone.
    for username in [&*judged.evaluators[0].email, "nobody"] {
        page.fill("username", username).await;
        page.press("I have forgotten my password").await;
        page.tells("If there is such an account").await;
    }
    page.go(&format!("{origin}/staff/acme/")).await;
    page.on("signIn").await;
    page.fill("username", &judged.evaluators[0].email).await;
    page.press("I have forgotten my password").await;
    page.tells("If there is such an account").await;
    judged.visit.app.settle().await;
    let key = judged.visit.app.mailed_key(&judged.evaluators[0].email);
    page.go(&format!("{origin}/reset-password/{key}")).await;
    page.on("password").await;
    page.fill("password", "another horse battery").await;
    page.press("Save password").await;
    page.until("document.querySelector('main a.main')").await;
    page.evaluate("document.querySelector('main a.main').click()").await;
    page.sign_in_as(&judged.evaluators[0].username, "another horse battery").await;
    page.on("home").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn after_the_sign_in_comes_what_was_asked_for_as_long_as_it_is_ours() {
    let judged = Judged::by(1, json!({})).await;
    let origin = &judged.visit.origin;
    let address = judged.address().await;
    let path = address.strip_prefix(origin.as_str()).unwrap();
    let mut page = Page::open().await;
    page.go(&format!("{origin}/staff/acme/?return_to={path}")).await;
    page.sign_in(&judged.evaluators[0]).await;
    page.on("result").await;
    assert_eq!(page.evaluate("location.href").await, address);
    for elsewhere in [
        "https://elsewhere.example/",
        "//elsewhere.example/result/acme/a/b/",
        "/\\\\elsewhere.example",
        "javascript:alert(1)",
        "/api/v3/docs/",
        "/interview/acme/",
        "%00",
    ] {
        page.go(&format!("{origin}/staff/acme/?return_to={elsewhere}")).await;
        page.on("home").await;
        let place = page.evaluate("location.pathname").await;
        assert_eq!(place, "/staff/acme/", "{elsewhere}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn deleted_foreign_and_made_up_candidates_are_one_and_the_same_page() {
    let judged = Judged::by(1, json!({})).await;
    let visit = &judged.visit;
    let foreign = visit.owner.project(json!({ "name": "Canary project" })).await;
    let foreign = visit.owner.candidate(&foreign, json!({ "first_name": "Canary" })).await;
    let deleted = visit.owner.candidate(&judged.project, json!({ "first_name": "Canary" })).await;
    let mut addresses = Vec::new();
    for uri in [&foreign, &deleted] {
        let shown = visit.owner.get(uri).await.expect(200).json();
        addresses.push(shown["interview_suite_url"].as_str().unwrap().to_owned());
    }
    visit.owner.delete(&deleted).await.expect(204);
    let address = judged.address().await;
    let made_up = address.replace(last_segment(&visit.candidate.uri), "01JQ8ZB4T1H6W5Y7X3Q9E2G0FA");
    let mangled = address.replace(last_segment(&visit.candidate.uri), "x%2e%2e%2fy");
    let mut page = judged.opened_by(0).await;
    let mut read = Vec::new();
    addresses.extend([made_up, mangled]);
    for address in addresses {
        page.go(&address).await;
        page.on("over").await;
        read.push(page.text().await);
    }
    assert!(read[0].contains("There is nothing here for you") && !read[0].contains("Canary"), "{read:?}");
    assert!(read.iter().all(|text| *text == read[0]), "{read:?}");
    for wrong in ["/staff/", "/project/acme/", "/result/acme/a/", "/result/acme/a/b/c/"] {
        page.go(&format!("{}{wrong}", visit.origin)).await;
        page.tells("This address is incomplete").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_company_and_a_candidate_are_told_what_to_do() {
    let judged = Judged::by(1, json!({})).await;
    let visit = &judged.visit;
    let other = visit.app.owner_of("other").await;
    let mut page = Page::open().await;
    page.go(&format!("{}/staff/other/", visit.origin)).await;
    page.sign_in(&other).await;
    page.on("home").await;
    let address = judged.address().await;
    let home = format!("{}/staff/acme/", visit.origin);
    for address in [address.clone(), home, address.replace("/acme/", "/nowhere/")] {
        page.go(&address).await;
        page.tells("You are logged in with another company").await;
    }
    page.go(&address).await;
    page.press("Log out").await;
    page.sign_in(&judged.evaluators[0]).await;
    page.on("home").await;

    // A candidate who signs in here, and one who has done so elsewhere.
    let candidate = visit.owner.invite(&judged.project, json!({})).await;
    candidate.choose_password().await;
    page.press("Log out").await;
    page.sign_in_as(&candidate.email, PASSWORD).await;
    page.tells("This page is for staff").await;
    let status = "fetch('/api/v3/whoami/').then(({ status }) => status)";
    assert_eq!(page.evaluate(status).await, 401);
    page.go(&format!("{}/interview/acme/", visit.origin)).await;
    page.log_in(&candidate.email, PASSWORD).await;
    page.on("welcome").await;
    let own = visit.owner.get(&candidate.uri).await.expect(200).json();
    for address in [&*address, own["interview_suite_url"].as_str().unwrap()] {
        page.go(address).await;
        page.tells("This page is for staff").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn before_and_without_an_interview_the_page_says_what_is_waited_for() {
    let judged = Judged::by(1, json!({ "max_interview_time": 45 })).await;
    let visit = &judged.visit;
    let candidate = visit.owner.invite(&judged.project, json!({})).await;
    let address = visit.owner.get(&candidate.uri).await.expect(200).json();
    let address = address["interview_suite_url"].as_str().unwrap();
    let mut page = judged.opened_by(0).await;
    page.go(address).await;
    page.tells("The candidate is invited and has not begun.").await;
    for _ in ["confirmed", "interviewing"] {
        candidate.advance(&candidate.uri).await.expect(200);
    }
    page.load_anew().await;
    page.tells("The interview is going on.").await;
    assert_eq!(
        page.evaluate("document.querySelectorAll('main input, main textarea, main video').length").await,
        0
    );
    let interview = visit.owner.get(&format!("{}interview/", candidate.uri)).await.expect(200).json();
    let answer = interview["answers"][0]["resource_uri"].as_str().unwrap();
    let text = json!({ "text": "As far as I came." });
    candidate.send(Request::put(answer).json(&text)).await.expect(201);
    // The time ends it with this answer: it is shown, and not judged.
    visit.app.clock().advance(TimeDelta::hours(2));
    visit.app.sweep().await;
    page.sign_in_again(&judged, address).await;
    page.tells("As far as I came.").await;
    page.turn_page(3, "Evaluation").await;
    page.tells("The time ended this interview before it was complete.").await;
    assert_eq!(page.evaluate("document.querySelectorAll('main input, main textarea').length").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_with_whom_a_candidate_is_shared_watches_and_does_not_judge() {
    let judged = Judged::by(1, json!({})).await;
    let visit = &judged.visit;
    let sharee = visit.owner.colleague("hiring-manager", json!({})).await.activate().await;
    let share = json!({ "customer": sharee.uri });
    visit.owner.post(&format!("{}shares/", visit.candidate.uri), share).await.expect(201);
    let mut page = Page::open().await;
    page.go(&judged.address().await).await;
    page.sign_in(&sharee).await;
    page.tells("Because.").await;
    page.tells("Data engineer").await;
    page.turn_page(3, "Evaluation").await;
    page.tells("These answers were shared with you.").await;
    give_role(visit, &judged.project, &sharee, "reviewer").await;
    page.load_anew().await;
    page.turn_page(3, "Evaluation").await;
    page.tells("Nobody has completed an evaluation yet.").await;
}

impl Page {
    /// Goes to an address, and signs in if the session has ended meanwhile.
    async fn sign_in_again(&mut self, judged: &Judged, address: &str) {
        self.forget_cookies().await;
        self.go(address).await;
        self.sign_in(&judged.evaluators[0]).await;
        self.on("result").await;
    }
}
