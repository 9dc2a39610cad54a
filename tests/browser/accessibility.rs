//! Every screen of the pages, for those who use a phone, a keyboard or a screen reader, and the walk through those of candidates.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::devtools::{BrowserOptions, Network, Page};
use crate::visit::{Visit, has_kept};

const SCREENS: [&str; 16] = [
    "check", "complete", "connect", "done", "login", "over", "overview", "password", "practice", "prepare",
    "question", "record", "review", "sending", "welcome", "write",
];
/// The narrowest screen of WCAG 2.2, in CSS pixels.
pub(crate) const NARROW: u32 = 320;

/// The checks on each screen, and the screens seen so far.
pub(crate) struct ScreenCheck {
    /// The script of axe-core, if it is to look for findings.
    axe: Option<String>,
    seen: BTreeSet<String>,
}

impl ScreenCheck {
    /// A check of how screens fit and of the focus, without axe-core.
    pub(crate) fn of_fit() -> Self {
        Self { axe: None, seen: BTreeSet::new() }
    }

    /// Also by axe-core, which `.ci/page` installs.
    pub(crate) fn with_axe() -> Self {
        let script = std::env::var_os("AXE").unwrap();
        Self { axe: Some(std::fs::read_to_string(script).unwrap()), ..Self::of_fit() }
    }

    /// Makes the window that of a narrow phone whose system prefers this colour scheme.
    pub(crate) async fn prepare(&self, page: &mut Page, scheme: &str) {
        page.resize(NARROW, 640).await;
        page.prefer(scheme).await;
    }

    /// Looks at what is shown.
    pub(crate) async fn look(&mut self, page: &mut Page) {
        let screen = page.evaluate("document.querySelector('main').dataset.screen").await;
        let screen = screen.as_str().unwrap().to_owned();
        let width = page.evaluate("document.documentElement.scrollWidth").await;
        assert_eq!(width, NARROW, "{screen} scrolls sideways: {}", page.text().await);
        let small = "[...document.querySelectorAll('button, select, textarea, input:not([type=checkbox], [type=radio]), .choice, summary, .entry, .about a')]
            .filter(one => one.checkVisibility() && !one.classList.contains('hidden') && one.getBoundingClientRect().height < 44)
            .map(one => one.outerHTML)";
        assert_eq!(page.evaluate(small).await, json!([]), "{screen}");
        if let Some(axe) = &self.axe {
            page.evaluate(&format!("{axe}; undefined")).await;
            let findings = "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.map(node => node.html)]))";
            assert_eq!(page.evaluate(findings).await, json!([]), "{screen}");
        }
        self.seen.insert(screen);
    }

    /// Waits for a screen, which must have the focus on its heading, and looks at it.
    pub(crate) async fn arrive(&mut self, page: &mut Page, screen: &str) {
        page.on(screen).await;
        assert_eq!(page.evaluate("document.activeElement.tagName").await, "H1", "{screen}");
        self.look(page).await;
    }

    /// The screens that were seen.
    pub(crate) fn seen(&self) -> Vec<&str> {
        self.seen.iter().map(String::as_str).collect()
    }

    /// Goes through all screens of a candidate.
    async fn tour(&mut self, visit: &Visit, page: &mut Page) {
        page.go(&format!("{}/interview/acme/", visit.origin)).await;
        self.arrive(page, "login").await;
        let colleague = visit.owner.colleague("recruiter", json!({})).await;
        visit.app.settle().await;
        let key = visit.app.mailed_key(&colleague.email);
        page.go(&format!("{}/activate/{key}", visit.origin)).await;
        self.arrive(page, "password").await;
        page.fill("password", "12345678").await;
        page.press("Save password").await;
        page.until("document.getElementById('password-error').textContent").await;
        self.look(page).await;
        page.fill("password", "correct horse battery").await;
        page.press("Save password").await;
        page.until("document.querySelector('main form > h2')").await;
        self.look(page).await;
        page.go(&visit.link).await;
        self.arrive(page, "welcome").await;
        page.press("Continue to the camera test").await;
        self.arrive(page, "check").await;
        page.press("Turn on camera and microphone").await;
        page.until("document.querySelector('meter')").await;
        self.look(page).await;
        page.press("It works: continue").await;
        self.arrive(page, "practice").await;
        page.press("Begin the interview").await;
        self.arrive(page, "overview").await;
        page.press("Answer question 1").await;
        self.arrive(page, "question").await;
        page.set_network(Network::Off).await;
        page.press("Show the question").await;
        self.arrive(page, "connect").await;
        page.set_network(Network::Whole).await;
        self.arrive(page, "prepare").await;
        page.press("Begin recording now").await;
        self.arrive(page, "record").await;
        page.recording().await;
        self.look(page).await;
        let announced = "document.getElementById('announcer').textContent";
        page.until(&format!("{announced} === 'Recording has begun.'")).await;
        page.until_promised(&has_kept(4)).await;
        page.press("Stop recording").await;
        self.arrive(page, "review").await;
        page.until(&format!("{announced} === 'Recording has ended.'")).await;
        page.press("Keep this answer").await;
        page.press("Answer question 2").await;
        page.press("Answer in writing").await;
        self.arrive(page, "write").await;
        page.press("Back").await;
        page.press("Back").await;
        self.arrive(page, "overview").await;
        page.saved().await;
        page.set_network(Network::Off).await;
        page.press("Complete the interview").await;
        self.arrive(page, "complete").await;
        page.press("Yes, complete it now").await;
        self.arrive(page, "sending").await;
        page.set_network(Network::Whole).await;
        self.arrive(page, "done").await;
        page.go(&visit.link).await;
        self.arrive(page, "over").await;
        assert_eq!(self.seen(), SCREENS);
    }
}

async fn tour(mut check: ScreenCheck, scheme: &str) {
    let questions = [json!({ "preparation_seconds": 30 }), json!({ "kind": "text", "is_required": false })];
    let fields = json!({ "max_interview_time": 45, "return_url": "https://jobs.example/done" });
    let visit = Visit::invited(fields, &questions).await;
    let mut page = Page::open_with(BrowserOptions::with_devices()).await;
    check.prepare(&mut page, scheme).await;
    check.tour(&visit, &mut page).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_screen_fits_a_narrow_phone_and_says_where_one_is() {
    tour(ScreenCheck::of_fit(), "light").await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs axe-core, which .ci/page installs"]
async fn no_screen_has_findings() {
    for scheme in ["light", "dark"] {
        tour(ScreenCheck::with_axe(), scheme).await;
    }
}

impl Page {
    /// The folder from which the page has loaded this script.
    pub(crate) async fn folder_of(&mut self, script: &str) -> String {
        let folder =
            format!("document.querySelector('link[rel=modulepreload]').href.replace('{script}', '')");
        self.evaluate(&folder).await.as_str().unwrap().to_owned()
    }

    /// The names of the texts in a language, each with its placeholders. `texts` is the folder that has a file for each language.
    pub(crate) async fn names_of_texts(&mut self, texts: &str, language: &str) -> Value {
        self.evaluate(&format!(
            "import('{texts}{language}.js').then(texts => {{
                const names = (value, path) => typeof value === 'string'
                    ? [path + ' ' + [...value.matchAll(/\\{{\\w+\\}}/g)].sort().join(' ')]
                    : Object.entries(value).flatMap(([key, inner]) => names(inner, `${{path}}.${{key}}`));
                return names(texts.default, '');
            }})"
        ))
        .await
    }

    /// Chooses a language in the header.
    pub(crate) async fn choose_language(&mut self, language: &str) {
        self.evaluate(&format!(
            "{{ const select = document.querySelector('header select'); select.value = '{language}'; select.dispatchEvent(new Event('change')); }}"
        ))
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_language_fits_a_narrow_phone_and_has_all_texts() {
    let questions = [json!({}), json!({ "preparation_seconds": 30 }), json!({ "kind": "text" })];
    let fields = json!({ "max_interview_time": 45, "return_url": "https://jobs.example/done" });
    let visit = Visit::invited(fields, &questions).await;
    let mut page = Page::open_with(BrowserOptions::with_devices()).await;
    page.resize(NARROW, 640).await;
    visit.begin(&mut page).await;
    let texts = page.folder_of("main.js").await + "texts/";
    let english = page.names_of_texts(&texts, "en").await;
    assert!(english.as_array().unwrap().len() > 150, "{english}");
    for language in ["de", "fr", "es", "it", "nl", "en"] {
        assert_eq!(page.names_of_texts(&texts, language).await, english, "{language}");
        // With a limit, a pause costs time. Each language says so.
        let is_half = format!(
            "import('{texts}{language}.js').then(({{ default: {{ practice }} }}) => practice.time.endsWith(practice.noTime))"
        );
        assert_eq!(page.evaluate(&is_half).await, false, "{language}");
        page.choose_language(language).await;
        page.until(&format!("document.documentElement.lang === '{language}' && JSON.parse(document.querySelector('header').dataset.frame).at(-1) === '{language}'")).await;
        for path in [
            "[...document.querySelectorAll('main li button')][0].click()",
            "[...document.querySelectorAll('main > button.link')].at(-1).click()",
        ] {
            let width = page.evaluate("document.documentElement.scrollWidth").await;
            assert_eq!(width, Value::from(NARROW), "{language}: {}", page.text().await);
            page.evaluate(path).await;
        }
    }
}
