//! Links that open nothing any more, or are not for the person who follows them.

use chrono::TimeDelta;
use image::ImageFormat;
use serde_json::{Value, json};
use tests::caller::{Caller, Invited, PASSWORD, last_segment};
use tests::files::{Form, photo};
use tests::http::Request;

use crate::devtools::{BrowserOptions, Page};
use crate::visit::{Visit, has_kept, mailed_link};

const CONTACT: &str = "jobs@acme.example";
const ASK: &str = "Questions? Ask Zoë, jobs@acme.example";
const RETURN_URL: &str = "https://jobs.example/done";

/// Candidates of a company that tells whom to ask, and has a page for those who are done.
pub(crate) async fn visit(allow_hash_login: bool) -> Visit {
    let fields =
        json!({ "allow_hash_login": allow_hash_login, "contact_person": "Zoë", "return_url": RETURN_URL });
    let visit = Visit::invited(fields, &[json!({})]).await;
    visit.owner.patch("/companies/acme/", json!({ "registration_email": CONTACT })).await.expect(200);
    let logo = Form::new().file("file", "logo.png", "image/png", &photo(ImageFormat::Png, 300, 100));
    visit.owner.send(Request::put("/companies/acme/logo/").form(logo)).await.expect(200);
    visit
}

/// Another candidate of the same project, with the link in their mail.
async fn another(visit: &Visit) -> (Invited, String) {
    let (project, _) = visit.candidate.uri.split_once("candidates/").unwrap();
    let candidate = visit.owner.invite(project, json!({})).await;
    let link = mailed_link(&visit.app, &candidate, &visit.origin).await;
    (candidate, link)
}

pub(crate) async fn contact_of(page: &mut Page) -> Value {
    page.evaluate("document.getElementById('contact').textContent").await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_link_of_a_candidate_who_has_registered_leads_back_to_the_interview() {
    let visit = visit(false).await;
    let mut page = Page::open_with(BrowserOptions::with_devices()).await;
    page.go(&visit.link).await;
    page.on("welcome").await;
    page.fill("password", PASSWORD).await;
    page.press("Continue to the camera test").await;
    page.on("check").await;
    // The session of this browser is theirs.
    page.go(&visit.link).await;
    page.on("welcome").await;
    assert!(page.evaluate("document.querySelector('header button')?.textContent").await == "Log out");

    let mut other = Page::open().await;
    other.go(&visit.link).await;
    other.on("login").await;
    let text = other.text().await;
    for told in ["Log in to your interview with Acme & Sons", "You have registered already", ASK] {
        assert!(text.contains(told), "{told}: {text}");
    }
    other.log_in(&visit.candidate.email, PASSWORD).await;
    other.on("welcome").await;
    other.reload().await;
    other.on("welcome").await;

    // Another candidate's link leads to their login, not into this candidate's interview.
    let (another, link) = another(&visit).await;
    another.register().await;
    another.advance(&another.uri).await.expect(200);
    other.go(&link).await;
    other.on("login").await;
    other.log_in(&another.email, PASSWORD).await;
    other.on("welcome").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_ended_link_tells_why_what_to_do_and_whom_to_ask() {
    let visit = visit(true).await;
    let owner = &visit.owner;
    let mut page = Page::open().await;

    let (completed, completed_link) = another(&visit).await;
    for _ in 0..2 {
        completed.advance(&completed.uri).await.expect(200);
    }
    visit.app.complete(&completed.uri).await;
    let (withdrawn, withdrawn_link) = another(&visit).await;
    owner.skip(&withdrawn.uri).await.expect(200);
    let (moved, moved_link) = another(&visit).await;
    owner.patch(&moved.uri, json!({ "email": "another@mail.example" })).await.expect(200);
    let (overdue, overdue_link) = another(&visit).await;
    owner.set_deadline(&overdue.uri, &visit.app.clock().in_days(0)).await.expect(200);
    let (deleted, deleted_link) = another(&visit).await;
    owner.delete(&deleted.uri).await.expect(204);
    visit.app.settle().await;

    for (link, title, told, is_known) in [
        (completed_link, "Your interview is complete", "There is nothing more to do.", true),
        (overdue_link, "The deadline has passed", "Ask Acme & Sons for more time", true),
        (withdrawn_link, "The interview was cancelled", "ask Acme & Sons.", true),
        (moved_link, "There is a newer link", "A newer email from Acme & Sons", true),
        (deleted_link, "This link does not work", "ask the company that invited you", false),
        (
            format!("{}/register/ivk_nothing", visit.origin),
            "This link does not work",
            "copy all of it",
            false,
        ),
    ] {
        page.go(&link).await;
        page.on("over").await;
        assert_eq!(page.evaluate("document.querySelector('h1').textContent").await, title);
        let text = page.text().await;
        assert!(text.contains(told), "{told}: {text}");
        assert_eq!(
            (text.contains(ASK), text.contains("Acme & Sons")),
            (is_known, is_known),
            "{title}: {text}"
        );
        let logo = page.evaluate("document.querySelector('header img')?.alt").await;
        assert_eq!(logo, if is_known { json!("Acme & Sons") } else { Value::Null }, "{title}");
        let facts = "[...document.querySelectorAll('.facts dt')].map((name) => name.textContent)";
        let expected = if title == "Your interview is complete" { json!(["Completed"]) } else { json!([]) };
        assert_eq!(page.evaluate(facts).await, expected, "{title}");
        let expected = match title {
            "There is a newer link" => json!("Send me the latest link"),
            "Your interview is complete" => json!("Continue to jobs.example"),
            _ => Value::Null,
        };
        assert_eq!(
            page.evaluate(
                "[...document.querySelectorAll('main .main')].find(one => !one.closest('.help'))?.textContent"
            )
            .await,
            expected,
            "{title}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_latest_link_is_sent_to_the_candidate_who_has_an_earlier_one() {
    let visit = visit(true).await;
    let (moved, link) = another(&visit).await;
    visit.owner.patch(&moved.uri, json!({ "email": "another@mail.example" })).await.expect(200);
    visit.app.settle().await;
    let mut page = Page::open().await;
    page.resize(320, 480).await;
    page.go(&link).await;
    page.on("over").await;
    page.press("Send me the latest link").await;
    page.until("document.body.innerText.includes('you get an email in a few minutes')").await;
    assert_eq!(page.evaluate("document.documentElement.scrollWidth <= 320").await, true);
    visit.app.settle().await;
    let mail = visit.app.mails_to("another@mail.example").remove(0);
    assert!(mail.subject.starts_with("Your link to the video interview"), "{}", mail.subject);
    let text = mail.text.clone().unwrap();
    let latest = text.lines().find(|line| line.starts_with(&visit.origin)).unwrap();
    page.go(latest).await;
    page.on("welcome").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_page_says_that_the_interview_was_completed_on_another_device() {
    for allow_hash_login in [true, false] {
        let visit = visit(allow_hash_login).await;
        let mut page = Page::open_with(BrowserOptions::with_devices()).await;
        page.go(&visit.link).await;
        page.on("welcome").await;
        if !allow_hash_login {
            page.fill("password", PASSWORD).await;
        }
        page.press("Continue to the camera test").await;
        page.press("Turn on camera and microphone").await;
        page.press("It works: continue").await;
        page.press("Begin the interview").await;
        page.on("overview").await;
        assert_eq!(contact_of(&mut page).await, ASK);
        page.record(1).await;
        page.until_promised(&has_kept(2)).await;
        page.stop_and_keep().await;
        page.saved().await;
        visit.app.complete(&visit.candidate.uri).await;
        page.press("Change answer 1").await;
        page.press("Record answer").await;
        page.on("over").await;
        let text = page.text().await;
        assert!(text.contains("Your interview is complete") && text.contains(ASK), "{text}");
        assert!(text.contains("Answers\n1"), "{text}");
        // Without a credential, but the page has known it from the beginning.
        let address = format!("{RETURN_URL}?candidate={}", last_segment(&visit.candidate.uri));
        assert_eq!(page.evaluate("document.querySelector('main a.main')?.href").await, address);
    }
}

/// Has requests with the key of the link fail as `globalThis.fault` says: with a status, or with 0 as without a network. Time to
/// wait passes faster.
const FAULTS: &str = "
const [send, later] = [fetch, setTimeout];
globalThis.setTimeout = (action, milliseconds) => later(action, milliseconds / 20);
globalThis.fetch = async (address, options) => {
    if (globalThis.fault === undefined || !String(address).endsWith('/whoami/candidate/')) return send(address, options);
    if (globalThis.fault) return new Response('', { status: globalThis.fault });
    throw new TypeError('no network');
};";

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_not_called_bad_while_the_page_cannot_learn_why_it_has_ended() {
    let visit = visit(true).await;
    for (fault, title, told) in [
        (0, "No connection", "There is no connection."),
        (503, "The service is busy", "The service is busy. Try again"),
        (429, "The service is busy", "Too many attempts."),
    ] {
        let (candidate, link) = another(&visit).await;
        let mut page = Page::open().await;
        page.prepare(FAULTS).await;
        page.go(&link).await;
        page.on("welcome").await;
        page.evaluate(&format!("globalThis.fault = {fault}")).await;
        visit.owner.skip(&candidate.uri).await.expect(200);
        page.press("Continue to the camera test").await;
        page.on("over").await;
        page.until(&format!("document.querySelector('h1').textContent === '{title}'")).await;
        page.until("document.querySelector('.problem').textContent").await;
        let text = page.text().await;
        assert!(text.contains(told) && !text.contains("This link does not work"), "{text}");
        page.evaluate("globalThis.fault = undefined").await;
        page.press("Try again").await;
        page.until("document.querySelector('h1').textContent === 'The interview was cancelled'").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chosen_password_leads_to_the_login() {
    let visit = visit(false).await;
    visit.candidate.register().await;
    visit.candidate.advance(&visit.candidate.uri).await.expect(200);
    let mut page = Page::open().await;
    page.go(&format!("{}/interview/acme/", visit.origin)).await;
    page.on("login").await;
    assert!(page.text().await.contains("Log in to your interview with Acme & Sons"));
    assert_eq!(page.evaluate("document.querySelector('header img').alt").await, "Acme & Sons");
    assert_eq!(contact_of(&mut page).await, format!("Questions? Ask {CONTACT}"));
    page.fill("email", &visit.candidate.email).await;
    page.press("I have forgotten my password").await;
    page.until("document.body.innerText.includes('If there is an account')").await;
    visit.app.settle().await;
    let link = format!("{}/reset-password/{}", visit.origin, visit.app.mailed_key(&visit.candidate.email));
    page.go(&link).await;
    page.on("password").await;
    let account = format!("For the account {} with Acme & Sons.", visit.candidate.email);
    assert!(page.text().await.contains(&account));
    page.fill("password", "another horse battery").await;
    page.press("Save password").await;
    page.press("Log in").await;
    page.on("login").await;
    assert_eq!(page.evaluate("location.pathname").await, "/interview/acme/");
    // The page knows whose password it was.
    let email = "document.querySelector('input[name=email]').value";
    assert_eq!(page.evaluate(email).await, visit.candidate.email.as_str());
    page.fill("password", "another horse battery").await;
    page.press("Log in").await;
    page.on("welcome").await;
    // So it does once the session has ended.
    page.forget_cookies().await;
    page.press("Continue to the camera test").await;
    page.on("login").await;
    assert_eq!(page.evaluate(email).await, visit.candidate.email.as_str());
    // It says so before anything is typed, and where to go on.
    page.go(&link).await;
    page.on("over").await;
    assert!(page.text().await.contains("This link has been used or has expired"));
    assert!(page.text().await.contains(&format!("Questions? Ask {CONTACT}")));
    page.press("Log in").await;
    page.on("login").await;
    assert!(page.text().await.contains("Log in to your interview with Acme & Sons"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_candidate_without_a_user_name_reads_of_their_account() {
    let visit = visit(false).await;
    let (candidate, _) = another(&visit).await;
    candidate.register().await;
    let email = visit.app.next_email();
    visit.owner.patch(&candidate.uri, json!({ "email": email })).await.expect(200);
    visit.app.settle().await;
    let mut page = Page::open().await;
    for (path, address, about) in [
        ("confirm-email", &email, "is to become the address of your account with Acme & Sons. Until"),
        (
            "restore-email",
            &candidate.email,
            "is to be the address of your account with Acme & Sons again. The",
        ),
    ] {
        page.go(&format!("{}/{path}/{}", visit.origin, visit.app.mailed_key(address))).await;
        page.on("address").await;
        let text = page.text().await;
        assert!(text.contains(&format!("{address} {about}")), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_address_says_what_to_do() {
    let visit = visit(true).await;
    let mut page = Page::open().await;
    for path in ["/interview/", "/register/", "/register/a/b", "/interview/nobody/", "/activate"] {
        page.go(&format!("{}{path}", visit.origin)).await;
        page.on("over").await;
        assert!(page.text().await.contains("This address is incomplete"), "{path}");
    }
    // The key of an invitation whose deadline passes while the page is open.
    page.go(&visit.link).await;
    page.on("welcome").await;
    visit.app.clock().advance(TimeDelta::days(8));
    page.press("Continue to the camera test").await;
    page.on("over").await;
    assert!(page.text().await.contains("The deadline has passed"));
}
