//! Every screen of the page, on a narrow phone, in six languages, for those who use a keyboard or a screen reader.

use serde_json::{Value, json};
use tests::caller::Caller;

use super::Judged;
use crate::accessibility::{NARROW, ScreenCheck};
use crate::devtools::Page;

const LONG: &str = "Wolfeschlegelsteinhausenbergerdorffwelchevoralternwarengewissenhaftschafers";

/// The screens of staff.
const SCREENS: [&str; 6] = ["home", "over", "project", "refused", "result", "signIn"];

/// Goes through all screens.
async fn tour(mut check: ScreenCheck, scheme: &str) {
    let fields = json!({ "name": format!("Data engineer {LONG}"), "veto_enabled": true });
    let judged = Judged::by(1, fields).await;
    let visit = &judged.visit;
    let names = json!({ "first_name": LONG, "last_name": "حداد" });
    visit.owner.patch(&visit.candidate.uri, names).await.expect(200);
    let mut page = Page::open().await;
    let page = &mut page;
    check.prepare(page, scheme).await;
    page.go(&format!("{}/staff/acme/", visit.origin)).await;
    check.arrive(page, "signIn").await;
    page.sign_in_as("nobody", "nothing at all").await;
    page.until("document.getElementById('password-error').textContent").await;
    check.look(page).await;
    page.sign_in(&judged.evaluators[0]).await;
    check.arrive(page, "home").await;
    page.evaluate("document.querySelector('a.entry').click()").await;
    check.arrive(page, "project").await;
    page.evaluate("document.querySelector('a.entry').click()").await;
    check.arrive(page, "result").await;
    page.evaluate("document.querySelector('details.more').open = true").await;
    check.look(page).await;
    page.evaluate("document.querySelector('.steps [aria-haspopup]').click()").await;
    check.look(page).await;
    page.evaluate("document.querySelector('dialog[open]').close()").await;
    page.turn_page(3, "Evaluation").await;
    page.evaluate("document.querySelector('.place details').open = true").await;
    check.look(page).await;
    page.press("Complete the evaluation…").await;
    page.until("document.querySelector('dialog[open] ul')").await;
    check.look(page).await;
    page.evaluate("document.querySelector('dialog[open]').close()").await;
    page.write_into("Value, from 0 to 5", "4").await;
    page.press("Complete the evaluation…").await;
    page.press("Complete it now").await;
    page.until("document.querySelector('.others h3')").await;
    check.look(page).await;
    page.go(&format!("{}/result/acme/a/b/", visit.origin)).await;
    check.arrive(page, "over").await;
    page.go(&format!("{}/sign-in/?code=sign_in_refused&company=acme", visit.origin)).await;
    check.arrive(page, "refused").await;
    assert_eq!(check.seen(), SCREENS);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_screen_of_staff_fits_a_narrow_phone_and_says_where_one_is() {
    tour(ScreenCheck::of_fit(), "light").await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs axe-core, which .ci/page installs"]
async fn no_screen_of_staff_has_findings() {
    for scheme in ["light", "dark"] {
        tour(ScreenCheck::with_axe(), scheme).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_language_has_all_texts_of_staff_and_fits() {
    let judged = Judged::by(1, json!({ "veto_enabled": true })).await;
    let mut page = judged.opened_by(0).await;
    page.resize(NARROW, 640).await;
    let texts = page.folder_of("staff.js").await + "texts/staff/";
    let english = page.names_of_texts(&texts, "en").await;
    assert!(english.as_array().unwrap().len() > 150, "{english}");
    for language in ["de", "fr", "es", "it", "nl", "en"] {
        assert_eq!(page.names_of_texts(&texts, language).await, english, "{language}");
        for place in [1, 3] {
            page.evaluate(&format!("location.hash = '{place}'")).await;
            page.choose_language(language).await;
            page.until(&format!(
                "document.documentElement.lang === '{language}' && document.querySelector('{}')",
                if place == 1 { ".watching" } else { "fieldset" }
            ))
            .await;
            let width = page.evaluate("document.documentElement.scrollWidth").await;
            assert_eq!(width, Value::from(NARROW), "{language}: {}", page.text().await);
        }
    }
}
