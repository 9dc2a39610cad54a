//! The way back into the client's application, from the last screen of the interview.

use axum::Router;
use axum::extract::Request as Incoming;
use serde_json::{Value, json};
use tests::caller::{Caller, PASSWORD, last_segment};
use tokio::sync::mpsc;

use crate::devtools::{BrowserOptions, Page};
use crate::listener;
use crate::visit::Visit;

/// The button of the last screen: its text, its address and whether it opens in the same tab; null without one.
const BUTTON: &str =
    "(link => link && [link.textContent, link.href, link.target])(document.querySelector('main a.main'))";
/// A host as long as those of large companies.
const LONG_HOST: &str =
    "careers-and-applications.international-recruiting.northern-europe.acme-industries.example:8443";

/// An application of the client's, and each request that it gets: target and referrer.
async fn application() -> (String, mpsc::UnboundedReceiver<(String, Option<String>)>) {
    let (listener, origin) = listener().await;
    let (reporter, requests) = mpsc::unbounded_channel();
    let router = Router::new().fallback(async move |request: Incoming| {
        let referrer = request.headers().get("referer").map(|value| value.to_str().unwrap().to_owned());
        // A browser asks for the icon of each site.
        if request.uri().path() != "/favicon.ico" {
            reporter.send((request.uri().to_string(), referrer)).unwrap();
        }
        "Welcome back"
    });
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    (origin, requests)
}

/// Answers the required question, in writing, and completes the interview.
async fn answer_and_complete(page: &mut Page) {
    page.press("Answer question 1").await;
    page.press("Answer in writing").await;
    page.on("write").await;
    page.evaluate("document.querySelector('textarea').value = 'In March.'").await;
    page.press("Send answer").await;
    page.on("overview").await;
    page.complete().await;
}

async fn choose(page: &mut Page, language: &str) {
    let select = "document.querySelector('header select')";
    page.evaluate(&format!("{select}.value = '{language}'; {select}.dispatchEvent(new Event('change'))"))
        .await;
    page.until(&format!("document.documentElement.lang === '{language}'")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_button_leads_back_to_the_application_of_the_client() {
    let (origin, mut requests) = application().await;
    // A path like one of the API, which the page must not take for one.
    let return_url = format!("{origin}/api/v3/done?from=interview&step=%2B4");
    let fields = json!({ "return_url": return_url, "allow_hash_login": false });
    let visit = Visit::invited(fields, &[json!({ "kind": "text" }), json!({ "is_required": false })]).await;
    let (project, _) = visit.candidate.uri.split_once("candidates/").unwrap();
    // One request creates and invites a candidate without an address, and returns the link.
    let deadline = visit.app.clock().in_days(7);
    let list = json!([{
        "first_name": "Alan", "last_name": "Turing", "receive_mails": false, "external_id": "A 17", "deadline": deadline,
    }]);
    let report = visit.owner.post(&format!("{project}candidates/import/"), list).await.expect(200).json();
    let row = |name: &str| report["objects"][0][name].as_str().unwrap();
    let mut page = Page::open_with(BrowserOptions::with_devices()).await;
    visit.begin_by(&mut page, row("interview_url")).await;
    answer_and_complete(&mut page).await;
    let candidate = visit.owner.get(row("candidate")).await.expect(200).json();
    assert_eq!((&candidate["status"], &candidate["email"]), (&json!("interviewed"), &json!("")));

    let (_, host) = origin.split_once("//").unwrap();
    let id = last_segment(row("candidate"));
    let target = format!("/api/v3/done?from=interview&step=%2B4&candidate={id}&external_id=A+17");
    for (language, label) in [("en", "Continue to"), ("de", "Weiter zu")] {
        choose(&mut page, language).await;
        page.until(&format!("document.querySelector('main a.main')?.textContent.startsWith('{label}')"))
            .await;
        assert_eq!(
            page.evaluate(BUTTON).await,
            json!([format!("{label} {host}"), format!("{origin}{target}"), ""])
        );
    }
    assert!(requests.try_recv().is_err());

    let focused = "document.activeElement === document.querySelector('main a.main')";
    for _ in 0..10 {
        if page.evaluate(focused).await == true {
            break;
        }
        page.press_key("Tab").await;
    }
    assert_eq!(page.evaluate(focused).await, true);
    page.press_key("Enter").await;
    page.until("document.body.innerText === 'Welcome back'").await;
    assert_eq!(
        page.evaluate("[location.href, document.referrer]").await,
        json!([format!("{origin}{target}"), ""])
    );
    assert_eq!(requests.recv().await, Some((target, None)));
    assert!(requests.try_recv().is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn candidates_who_log_in_later_find_the_button_and_it_fits() {
    let fields = json!({ "allow_hash_login": false });
    let visit = Visit::invited(fields, &[json!({ "kind": "text" }), json!({ "is_required": false })]).await;
    visit.candidate.register().await;
    visit.candidate.advance(&visit.candidate.uri).await.expect(200);
    let mut page = Page::open_with(BrowserOptions::with_devices()).await;
    let login = format!("{}/interview/acme/", visit.origin);
    page.go(&login).await;
    page.log_in(&visit.candidate.email, PASSWORD).await;
    page.press("Continue to the camera test").await;
    page.press("Turn on camera and microphone").await;
    page.press("It works: continue").await;
    page.press("Begin the interview").await;
    page.on("overview").await;
    answer_and_complete(&mut page).await;
    assert_eq!(page.evaluate(BUTTON).await, Value::Null);
    assert!(page.text().await.contains("You can close this page."));

    let (project, candidate) = visit.candidate.uri.split_once("candidates/").unwrap();
    let return_url = format!("https://{LONG_HOST}/done");
    visit.owner.patch(project, json!({ "return_url": return_url })).await.expect(200);
    page.go(&login).await;
    page.log_in(&visit.candidate.email, PASSWORD).await;
    page.on("done").await;
    for (language, label) in [("en", "Continue to"), ("de", "Weiter zu")] {
        choose(&mut page, language).await;
        page.until(&format!("document.querySelector('main a.main')?.textContent.startsWith('{label}')"))
            .await;
        let address = format!("{return_url}?candidate={}", candidate.trim_end_matches('/'));
        assert_eq!(page.evaluate(BUTTON).await, json!([format!("{label} {LONG_HOST}"), address, ""]));
        for width in [320, 390, 1440] {
            page.resize(width, 800).await;
            page.until_promised(&format!("document.documentElement.clientWidth === {width}")).await;
            let right = "[document.documentElement.scrollWidth, document.querySelector('main a.main').getBoundingClientRect().right]";
            let shown = page.evaluate(right).await;
            let fits = shown[0].as_u64() <= Some(width.into()) && shown[1].as_f64() <= Some(width.into());
            assert!(fits, "{language}, {width}: {shown}");
        }
    }
}
