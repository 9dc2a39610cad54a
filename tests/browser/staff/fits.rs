//! Every screen of the page, on a narrow phone, in six languages, for those who use a keyboard or a screen reader.

use serde_json::{Value, json};
use tests::caller::Caller;

use super::Judged;
use crate::devtools::Page;

/// The narrowest screen of WCAG 2.2, in CSS pixels.
const NARROW: u32 = 320;
const LONG: &str = "Wolfeschlegelsteinhausenbergerdorffwelchevoralternwarengewissenhaftschafers";

/// What is checked on each screen.
struct ScreenCheck {
    /// The script of axe-core, if it is to look for findings.
    axe: Option<String>,
}

impl ScreenCheck {
    async fn look(&self, page: &mut Page, screen: &str) {
        page.on(screen).await;
        let width = page.evaluate("document.documentElement.scrollWidth").await;
        assert_eq!(width, NARROW, "{screen} scrolls sideways: {}", page.text().await);
        let small = "[...document.querySelectorAll('button, select, textarea, input:not([type=checkbox], [type=radio]), .choice, summary, .entry')]
            .filter(one => one.checkVisibility() && !one.classList.contains('hidden') && one.getBoundingClientRect().height < 44)
            .map(one => one.outerHTML)";
        assert_eq!(page.evaluate(small).await, json!([]), "{screen}");
        if let Some(axe) = &self.axe {
            page.evaluate(&format!("{axe}; undefined")).await;
            let findings = "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.map(node => node.html)]))";
            assert_eq!(page.evaluate(findings).await, json!([]), "{screen}");
        }
    }

    /// Goes through all screens.
    async fn tour(&self, judged: &Judged, page: &mut Page) {
        let visit = &judged.visit;
        page.go(&format!("{}/staff/acme/", visit.origin)).await;
        self.look(page, "signIn").await;
        page.sign_in_as("nobody", "nothing at all").await;
        page.until("document.getElementById('password-error').textContent").await;
        self.look(page, "signIn").await;
        page.sign_in(&judged.evaluators[0]).await;
        self.look(page, "home").await;
        page.evaluate("document.querySelector('a.entry').click()").await;
        self.look(page, "project").await;
        page.evaluate("document.querySelector('a.entry').click()").await;
        page.on("result").await;
        page.evaluate("document.querySelector('details.more').open = true").await;
        self.look(page, "result").await;
        page.evaluate("document.querySelector('.steps [aria-haspopup]').click()").await;
        self.look(page, "result").await;
        page.evaluate("document.querySelector('dialog[open]').close()").await;
        page.evaluate("location.hash = '3'").await;
        page.until("document.querySelector('fieldset')").await;
        page.evaluate("document.querySelector('.place details').open = true").await;
        self.look(page, "result").await;
        page.evaluate("document.querySelector('button[aria-haspopup]').click()").await;
        page.until("document.querySelector('dialog[open] ul')").await;
        self.look(page, "result").await;
        page.evaluate("document.querySelector('dialog[open]').close()").await;
        page.evaluate("{ const one = document.querySelector('input.value'); one.value = '4'; one.dispatchEvent(new Event('input')); }").await;
        page.evaluate("document.querySelector('button[aria-haspopup]').click()").await;
        page.evaluate("document.querySelector('dialog[open] button.main').click()").await;
        page.until("document.querySelector('.others h3')").await;
        self.look(page, "result").await;
        page.go(&format!("{}/result/acme/a/b/", visit.origin)).await;
        self.look(page, "over").await;
    }
}

async fn tour(axe: Option<String>, scheme: &str, language: &str) {
    let fields = json!({ "name": format!("Data engineer {LONG}"), "veto_enabled": true });
    let judged = Judged::by(1, fields).await;
    let names = json!({ "first_name": LONG, "last_name": "حداد" });
    judged.visit.owner.patch(&judged.visit.candidate.uri, names).await.expect(200);
    let mut page = Page::open().await;
    page.resize(NARROW, 640).await;
    page.prefer(scheme).await;
    page.prepare(&format!("try {{ localStorage.setItem('language', '{language}'); }} catch {{}}")).await;
    let check = ScreenCheck { axe };
    check.tour(&judged, &mut page).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_screen_of_staff_fits_a_narrow_phone() {
    tour(None, "light", "en").await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs axe-core, which .ci/page installs"]
async fn no_screen_of_staff_has_findings() {
    let script = std::env::var_os("AXE").unwrap();
    for scheme in ["light", "dark"] {
        tour(Some(std::fs::read_to_string(&script).unwrap()), scheme, "en").await;
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
