//! Staff who sign in by the provider of their company, here the one of the local service.

use serde_json::{Value, json};
use tests::caller::{Caller, PASSWORD};
use tests::http::Request;

use super::Judged;
use crate::accessibility::NARROW;
use crate::devtools::Page;
use crate::visit::Visit;

const BUTTON: &str = "Sign in with your company’s account";
/// The link that looks like a button.
const TO_PROVIDER: &str = "document.querySelector('main .ways a.main')";
const COMMENT: &str = "Comment";

/// Sets the provider of the company, which is required or not.
async fn set_provider(visit: &Visit, required: bool) {
    let settings = json!({
        "issuer": format!("{}/_local/provider", visit.origin),
        "client_id": "interviews",
        "client_secret": "no-secret-at-all",
        "domains": ["mail.example"],
        "required": required,
        "break_glass": [visit.owner.uri],
    });
    visit.owner.send(Request::put("/companies/acme/sign-in/").json(&settings)).await.expect(200);
}

impl Page {
    /// Follows the button to the provider, once it is there.
    async fn go_to_provider(&mut self) {
        self.until(TO_PROVIDER).await;
        assert_eq!(self.evaluate(&format!("{TO_PROVIDER}.textContent")).await, BUTTON);
        self.evaluate(&format!("{TO_PROVIDER}.click()")).await;
        self.until("document.title === 'Sign in for trials'").await;
    }

    /// Signs in at the provider under this address.
    async fn sign_in_at_provider(&mut self, email: &str) {
        self.until("document.querySelector('input[name=username]')").await;
        self.fill("username", email).await;
        self.fill("email", email).await;
        self.press("Sign in").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_button_leads_to_the_provider_and_back_to_what_was_asked_for() {
    let judged = Judged::by(1, json!({})).await;
    let visit = &judged.visit;
    let address = judged.address().await;
    let email = &judged.evaluators[0].email;
    let mut page = Page::open().await;
    page.go(&address).await;
    page.on("signIn").await;
    assert_eq!(page.evaluate(TO_PROVIDER).await, Value::Null);
    for required in [false, true] {
        set_provider(visit, required).await;
        page.forget_cookies().await;
        page.go(&address).await;
        page.on("signIn").await;
        if required {
            page.sign_in_as(email, PASSWORD).await;
            page.tells("Your company lets its staff sign in with the company’s account only.").await;
        }
        page.go_to_provider().await;
        page.sign_in_at_provider(email).await;
        page.on("result").await;
        assert_eq!(page.evaluate("location.href").await, address);
    }
    // The owner who may go on with a password.
    page.forget_cookies().await;
    page.go(&format!("{}/staff/acme/", visit.origin)).await;
    page.sign_in(&visit.owner).await;
    page.on("home").await;
    // The network refuses what the page asks before the sign-in, as it should; nothing else complains.
    let complaints = page.complaints();
    let others: Vec<_> = complaints.iter().filter(|one| one["entry"]["source"] != "network").collect();
    assert!(others.is_empty(), "{others:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn passwords_open_nothing_while_the_provider_is_required_but_for_the_owner_who_may_go_on() {
    let judged = Judged::by(1, json!({})).await;
    let visit = &judged.visit;
    let email = &judged.evaluators[0].email;
    let home = format!("{}/staff/acme/", visit.origin);
    let invited = visit.owner.colleague("recruiter", json!({})).await;
    visit.app.settle().await;
    let key = visit.app.mailed_key(&invited.email);
    let mut page = Page::open().await;
    page.go(&home).await;
    page.sign_in_as(email, PASSWORD).await;
    page.on("home").await;
    for _ in 0..2 {
        set_provider(visit, true).await;
        // The session that a password has begun is over, and another one does not begin.
        page.load_anew().await;
        page.sign_in_as(email, PASSWORD).await;
        page.tells("Your company lets its staff sign in with the company’s account only.").await;
        assert_eq!(page.evaluate(&format!("{TO_PROVIDER}.checkVisibility()")).await, true);
        page.sign_in(&visit.owner).await;
        page.on("home").await;
        set_provider(visit, false).await;
        page.load_anew().await;
        page.on("home").await;
        page.forget_cookies().await;
        page.load_anew().await;
        page.sign_in_as(email, PASSWORD).await;
        page.on("home").await;
    }
    // A link from before the change sets no password, and leads on.
    set_provider(visit, true).await;
    page.go(&format!("{}/activate/{key}", visit.origin)).await;
    page.on("password").await;
    page.fill("password", PASSWORD).await;
    page.press("Save password").await;
    page.tells("so you need no password here.").await;
    page.evaluate("document.querySelector('main form a.main').click()").await;
    page.sign_in_at_provider(&invited.email).await;
    page.on("home").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_ends_while_one_types_goes_on_after_the_provider_in_a_second_window() {
    let judged = Judged::by(1, json!({})).await;
    let visit = &judged.visit;
    let mut page = judged.opened_by(0).await;
    // It ends the session, which a password has begun.
    set_provider(visit, true).await;
    page.write_into(COMMENT, "Half a sentence").await;
    page.tells("Log in again in a second window, and go on here.").await;
    page.open_tab().await;
    page.go(&format!("{}/staff/acme/?again", visit.origin)).await;
    page.go_to_provider().await;
    page.sign_in_at_provider(&judged.evaluators[0].email).await;
    page.tells("Go on in the other window").await;
    page.turn_to(0).await;
    page.tells("Saved as a draft. Only you see it.").await;
    set_provider(visit, false).await;
    let evaluator = judged.evaluators[0].again().await;
    let saved = evaluator.get(&judged.evaluation(0)).await.expect(200).json();
    assert_eq!(saved["ratings"][0]["comment"], "Half a sentence");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_refusal_has_a_sentence_and_a_way_on_and_another_browser_is_not_signed_in() {
    let visit = Visit::with_one_question().await;
    set_provider(&visit, false).await;
    let home = format!("{}/staff/acme/", visit.origin);
    let mut page = Page::open().await;
    page.go(&home).await;
    page.go_to_provider().await;
    page.press("Cancel").await;
    page.on("refused").await;
    page.tells("Your company’s account does not let you in here.").await;
    page.go_to_provider().await;
    page.sign_in_at_provider("nobody@mail.example").await;
    page.tells("Your company’s account does not let you in here.").await;

    // Somebody else's sign-in, whose last step a browser is made to take.
    let begin = Request::get("/sign-in/acme/");
    let begun = visit.app.send(begin).await.expect(302);
    let form = begun.header("location").unwrap().to_owned();
    page.go(&form).await;
    page.sign_in_at_provider(&visit.owner.email).await;
    page.tells("began in another browser").await;
    let status = "fetch('/api/v3/whoami/').then(({ status }) => status)";
    assert_eq!(page.evaluate(status).await, 401);

    for (query, sentence) in [
        ("code=sign_in_unreachable&company=acme", "did not answer as it should"),
        ("code=sign_in_unavailable&company=acme", "Log in with your password."),
        ("code=sign_in_limited&company=acme", "Wait 15 minutes"),
        ("code=nothing-we-know&company=acme", "The reason is not known."),
        ("code=title&company=acme", "The reason is not known."),
        ("", "The reason is not known."),
    ] {
        page.go(&format!("{}/sign-in/?{query}", visit.origin)).await;
        page.tells(sentence).await;
    }
    // Somebody else's session in this browser, here the owner's, ends with a button.
    page.go(&home).await;
    page.sign_in(&visit.owner).await;
    page.on("home").await;
    page.go(&format!("{}/sign-in/?code=sign_in_occupied&company=acme", visit.origin)).await;
    page.tells("Log out, and begin again.").await;
    page.press("Log out").await;
    page.go_to_provider().await;
    page.press("Cancel").await;
    page.on("refused").await;
    // By keyboard alone, on a phone and in a window of the least height.
    for height in [844, 480] {
        page.resize(if height == 480 { NARROW } else { 390 }, height).await;
        page.go(&format!("{}/sign-in/?code=sign_in_refused&company=acme", visit.origin)).await;
        page.on("refused").await;
        let width = page.evaluate("document.documentElement.scrollWidth - innerWidth").await;
        assert_eq!(width, 0, "{height}: {}", page.text().await);
        assert_eq!(page.evaluate("document.activeElement.tagName").await, "H1");
        page.press_key("Tab").await;
        assert_eq!(page.evaluate("document.activeElement.textContent").await, BUTTON);
        page.press_key("Tab").await;
        assert_eq!(page.evaluate("document.activeElement.textContent").await, "Log in another way");
    }
    page.press_key("Enter").await;
    page.on("signIn").await;
}
