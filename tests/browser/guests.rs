//! Guests, who watch the answers of a candidate by a link.

use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::caller::Caller;
use tests::http::Request;

use crate::devtools::Page;
use crate::watched::{WRITTEN, Watched};

pub(crate) const TITLE: &str = "document.querySelector('h1').textContent";
const FOCUSED: &str = "document.activeElement.textContent";

impl Page {
    /// Waits for the screen of a guest with this heading, which has the focus.
    pub(crate) async fn headed(&mut self, title: &str) {
        self.until(&format!("document.querySelector('h1')?.textContent === {}", json!(title))).await;
        assert_eq!(self.evaluate("document.activeElement.tagName").await, "H1", "{title}");
    }

    /// Goes by the keyboard alone to what has this text, and presses it.
    pub(crate) async fn tab_to(&mut self, text: &str) {
        for _ in 0..20 {
            if self.evaluate(FOCUSED).await == text {
                return self.press_key("Enter").await;
            }
            self.press_key("Tab").await;
        }
        panic!("Tab does not lead to {text}: {}", self.text().await);
    }

    async fn speak(&mut self, language: &str) {
        let choose = "document.querySelector('header select')";
        let chosen = format!("{choose}.value = '{language}'; {choose}.dispatchEvent(new Event('change'))");
        self.evaluate(&chosen).await;
        self.until(&format!(
            "document.documentElement.lang === '{language}' && document.activeElement.value === '{language}'"
        ))
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_watches_one_answer_after_the_other_by_keyboard_alone() {
    let watched = Watched::build(json!({ "name": "Data engineer" })).await;
    let visit = &watched.visit;
    let candidate = visit.owner.get(&visit.candidate.uri).await.expect(200).json();
    let name =
        format!("{} {}", candidate["first_name"].as_str().unwrap(), candidate["last_name"].as_str().unwrap());
    let link = watched.link(json!({ "expires_at": visit.app.clock().in_days(10) })).await;
    let mut page = Page::open().await;
    page.move_to("Europe/Berlin").await;
    page.go(&link).await;
    page.headed(&format!("The answers of {name}")).await;
    let text = page.text().await;
    for told in [
        "Acme & Sons invites you to watch a video interview: Data engineer.",
        "This link works until",
        "(Europe/Berlin, UTC+1)",
    ] {
        assert!(text.contains(told), "{told}: {text}");
    }

    for told in ["Date of the interview", "Why us?", "4 s", "in writing", "no answer", "still being prepared"]
    {
        assert!(text.contains(told), "{told}: {text}");
    }
    page.tab_to("Show the first question").await;
    page.headed("Question 1 of 4").await;
    assert!(page.text().await.contains("Why us?"));
    page.tab_to("Play answer").await;
    page.until_promised("document.querySelector('video').currentTime > 0").await;
    page.until("[...document.querySelectorAll('button')].some(one => one.textContent === 'Pause')").await;
    page.until("document.querySelector('button.main').textContent === 'Next'").await;
    assert_eq!(page.evaluate("document.querySelector('video').ended").await, true);
    page.tab_to("Next").await;
    page.headed("Question 2 of 4").await;
    assert_eq!(page.evaluate("document.querySelector('.written').textContent").await, WRITTEN);
    page.press_key("ArrowRight").await;
    page.headed("Question 3 of 4").await;
    assert!(page.text().await.contains("There is no answer to this question."));
    page.press_key("ArrowRight").await;
    page.headed("Question 4 of 4").await;
    assert!(page.text().await.contains("This answer is still being prepared."));
    visit.app.settle().await;
    page.tab_to("Try again").await;
    page.until("document.querySelector('video')").await;
    page.press_key("ArrowRight").await;
    page.headed("That was the last question").await;
    page.press_key("ArrowRight").await;
    page.tab_to("Back").await;
    page.headed("Question 4 of 4").await;
    page.press_key("ArrowLeft").await;
    page.headed("Question 3 of 4").await;
    page.evaluate("history.back()").await;
    page.headed("Question 4 of 4").await;
    page.reload().await;
    page.headed("Question 4 of 4").await;
    assert_eq!(page.evaluate("document.title").await, format!("Question 4 of 4 · {name}"));

    let no_complaints: Vec<&Value> = Vec::new();
    assert_eq!(page.complaints(), no_complaints);
    let bucket = visit.app.environment()["AWS_ENDPOINT_URL_S3"].clone();
    for address in page.requested() {
        assert!(address.starts_with(&visit.origin) || address.starts_with(&bucket), "{address}");
        assert!(!address.contains("main.js"), "{address}");
    }
    // No way to pass on or keep what is shown, nor to judge it: the only link is about accessibility.
    let ways = "[...document.querySelectorAll('a, form, input, textarea')].map(one => one.textContent)";
    assert_eq!(page.evaluate(ways).await, json!(["Accessibility"]));
    assert_eq!(
        page.evaluate("document.querySelector('video').getAttribute('controlslist')").await,
        "nodownload noremoteplayback"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn names_may_be_hidden_and_words_keep_their_direction() {
    let watched = Watched::build(json!({ "name": "مهندس بيانات" })).await;
    let visit = &watched.visit;
    let names = json!({ "first_name": "ليلى", "last_name": "حداد" });
    visit.owner.patch(&visit.candidate.uri, names).await.expect(200);
    let (project, _) = visit.candidate.uri.split_once("candidates/").unwrap();
    let listed = visit.owner.get(&format!("{project}questions/")).await.expect(200).json();
    // An answered question would be shown as it was asked.
    let question = listed["objects"][2]["resource_uri"].as_str().unwrap();
    visit.owner.patch(question, json!({ "text": "ما هو الراتب الذي تتوقعه؟" })).await.expect(200);

    let mut page = Page::open().await;
    page.go(&watched.link(json!({})).await).await;
    page.headed("The answers of \u{2068}ليلى حداد\u{2069}").await;
    assert_eq!(
        page.evaluate("[...document.querySelectorAll('header bdi')].map(one => one.textContent)").await,
        json!(["ليلى حداد", "مهندس بيانات"])
    );
    page.press_key("ArrowRight").await;
    page.headed("Question 1 of 4").await;
    page.press_key("ArrowRight").await;
    page.headed("Question 2 of 4").await;
    let directions = "['.asked', 'html'].map(one => getComputedStyle(document.querySelector(one)).direction)";
    assert_eq!(page.evaluate(directions).await, json!(["ltr", "ltr"]));
    page.press_key("ArrowRight").await;
    page.headed("Question 3 of 4").await;
    assert_eq!(page.evaluate(directions).await, json!(["rtl", "ltr"]));

    page.go(&watched.link(json!({ "hide_name": true })).await).await;
    page.headed("A candidate’s answers").await;
    let html = page.evaluate("document.documentElement.outerHTML").await;
    let html = html.as_str().unwrap();
    assert!(!html.contains("ليلى") && !html.contains("حداد"), "{html}");
}

/// Has the page's requests to the API fail as `globalThis.fault` says: with a status, or with 0 as without a network. Time to wait
/// passes faster.
const FAULTS: &str = "
const [send, later] = [fetch, setTimeout];
globalThis.setTimeout = (action, milliseconds) => later(action, milliseconds / 20);
globalThis.fetch = (address, options) => {
    if (globalThis.fault === undefined || !String(address).includes('/api/')) return send(address, options);
    return globalThis.fault ? Promise.resolve(new Response('', { status: globalThis.fault })) : Promise.reject(new TypeError('no network'));
};";

#[tokio::test(flavor = "multi_thread")]
async fn a_link_that_has_ended_says_so_and_a_passing_fault_does_not() {
    let watched = Watched::build(json!({})).await;
    let visit = &watched.visit;
    let link = watched.link(json!({})).await;
    let mut page = Page::open().await;
    for address in [format!("{}/review/gst_nothing", visit.origin), link.replace("/review/", "/review/x")] {
        page.go(&address).await;
        page.headed("This link does not work").await;
        assert!(page.text().await.contains("Ask the person who sent it to you for a new one."));
    }
    for path in ["/review/", "/review/a/b"] {
        page.go(&format!("{}{path}", visit.origin)).await;
        page.headed("This address is incomplete").await;
    }

    // It says so while it is open, too.
    page.go(&link).await;
    page.headed("The answers of Ada Lovelace").await;
    let listed = visit.owner.get(&watched.links()).await.expect(200).json();
    page.press_key("ArrowRight").await;
    page.headed("Question 1 of 4").await;
    page.press_key("ArrowLeft").await;
    visit.owner.delete(listed["objects"][0]["resource_uri"].as_str().unwrap()).await.expect(204);
    page.press_key("ArrowRight").await;
    page.headed("This link was withdrawn").await;

    let link = watched.link(json!({})).await;
    for (fault, title, told) in [
        (0, "No connection", "Check your connection."),
        (503, "The service is busy", "The page keeps trying by itself."),
        (429, "The service is busy", "The page keeps trying by itself."),
    ] {
        let mut page = Page::open().await;
        page.prepare(&format!("globalThis.fault = {fault}; {FAULTS}")).await;
        page.go(&link).await;
        page.headed(title).await;
        assert!(page.text().await.contains(told), "{title}");
        page.evaluate("globalThis.fault = undefined; dispatchEvent(new Event('online'))").await;
        page.headed("The answers of Ada Lovelace").await;
        // Without an event of the browser as well.
        page.evaluate(&format!("globalThis.fault = {fault}")).await;
        for key in ["ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight"] {
            page.press_key(key).await;
        }
        page.headed("Question 4 of 4").await;
        page.press("Try again").await;
        page.until("document.querySelector('.problem').textContent").await;
        let text = page.text().await;
        assert!(!text.contains("This link does not work"), "{text}");
    }

    visit.app.clock().advance(TimeDelta::days(15));
    page.go(&link).await;
    page.headed("This link has expired").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_that_shows_nothing_names_the_company_the_reason_and_whom_to_ask() {
    let watched = Watched::build(json!({ "contact_person": "Zoë" })).await;
    let visit = &watched.visit;
    visit
        .owner
        .patch("/companies/acme/", json!({ "registration_email": "jobs@acme.example" }))
        .await
        .expect(200);
    let link = watched.link(json!({})).await;
    let mut page = Page::open().await;
    page.resize(320, 480).await;
    let told = async |page: &mut Page, title: &str| {
        page.headed(title).await;
        let text = page.text().await;
        for part in ["Acme & Sons", "Questions? Ask Zoë, jobs@acme.example"] {
            assert!(text.contains(part), "{title}: {text}");
        }
        assert!(!text.contains("Ada"), "{text}");
        assert_eq!(page.evaluate("document.documentElement.scrollWidth <= 320").await, true);
    };
    let request = format!("{}erasure-request/", visit.candidate.uri);
    visit.owner.send(Request::put(&request)).await.expect(200);
    page.go(&link).await;
    told(&mut page, "These answers are no longer shown").await;
    visit.owner.delete(&request).await.expect(204);
    let reopen = format!("{}interview/reopen/", visit.candidate.uri);
    visit.owner.post(&reopen, json!({ "reason": "No sound." })).await.expect(200);
    page.reload().await;
    told(&mut page, "The interview is going on").await;
    // It works again by itself once the interview has ended.
    visit.candidate.advance(&visit.candidate.uri).await.expect(200);
    page.press("Try again").await;
    page.headed("The answers of Ada Lovelace").await;
}

/// Windows: phones, a computer, and one at 200 %.
const VIEWPORTS: [[u32; 2]; 4] = [[320, 568], [390, 844], [720, 450], [1440, 900]];

/// Looks at each screen, at the script of axe-core if it is to look for findings.
async fn tour(axe: Option<&str>, scheme: &str) {
    let watched =
        Watched::build(json!({ "name": "Regional head of sales, northern and eastern districts" })).await;
    let link = watched.link(json!({})).await;
    let mut page = Page::open().await;
    page.prefer(scheme).await;
    let places = (0..6).map(|place| format!("{link}#{place}"));
    for address in places.chain([format!("{link}x"), format!("{link}/x")]) {
        page.go("about:blank").await;
        page.go(&address).await;
        page.until("document.querySelector('main')?.dataset.screen").await;
        for [width, height] in VIEWPORTS {
            page.resize(width, height).await;
            page.until_promised(&format!("Promise.resolve(innerWidth === {width})")).await;
            let wide = page.evaluate("document.documentElement.scrollWidth").await;
            assert!(wide.as_u64() <= Some(width.into()), "{address} scrolls sideways at {width}");
            let small = "[...document.querySelectorAll('button, select')].filter(one => one.checkVisibility() && one.getBoundingClientRect().height < 44).map(one => one.outerHTML)";
            assert_eq!(page.evaluate(small).await, json!([]), "{address}");
        }
        if let Some(axe) = axe {
            page.resize(390, 844).await;
            page.evaluate(&format!("{axe}; undefined")).await;
            let findings = "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.map(node => node.html)]))";
            assert_eq!(page.evaluate(findings).await, json!([]), "{address}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_screen_of_guests_fits() {
    tour(None, "light").await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs axe-core, which .ci/page installs"]
async fn no_screen_of_guests_has_findings() {
    let script = std::fs::read_to_string(std::env::var_os("AXE").unwrap()).unwrap();
    for scheme in ["light", "dark"] {
        tour(Some(&script), scheme).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn guests_are_spoken_to_in_six_languages() {
    let watched = Watched::build(json!({})).await;
    let link = watched.link(json!({})).await;
    let mut page = Page::open().await;
    page.resize(320, 568).await;
    page.go(&link).await;
    page.on("welcome").await;
    let folder =
        page.evaluate("document.querySelector('link[rel=modulepreload]').href.replace('guest.js', '')").await;
    let folder = folder.as_str().unwrap();
    // Each text with its braces, and those that the candidate's page has under the same name.
    let texts = |language: &str| {
        format!(
            "Promise.all(['texts/guest/', 'texts/'].map(path => import(`{folder}${{path}}{language}.js`))).then(([guest, candidate]) => {{
                const flat = (value, path) => typeof value === 'string' ? [[path, value]]
                    : Object.entries(value).flatMap(([key, inner]) => flat(inner, `${{path}}.${{key}}`));
                const own = flat(guest.default, '');
                const shared = ['language', 'loading', 'back', 'tryAgain', 'minutes', 'seconds', 'minutesSeconds'];
                return {{
                    names: own.map(([path, text]) => path + ' ' + [...text.matchAll(/\\{{\\w+\\}}/g)].sort().join(' ')),
                    others: shared.filter(name => guest.default[name] !== candidate.default[name]),
                }};
            }})"
        )
    };
    let english = page.evaluate(&texts("en")).await;
    assert!(english["names"].as_array().unwrap().len() > 40, "{english}");
    for language in ["de", "fr", "es", "it", "nl", "en"] {
        let told = page.evaluate(&texts(language)).await;
        assert_eq!(told["names"], english["names"], "{language}");
        assert_eq!(told["others"], json!([]), "{language}");
        page.speak(language).await;
        for place in 0..6 {
            page.evaluate(&format!("location.hash = '#{place}'")).await;
            let screen = match place {
                0 => "welcome",
                5 => "end",
                _ => "question",
            };
            let is_shown = format!(
                "Promise.resolve(location.hash === '#{place}' && document.querySelector('main').dataset.screen === '{screen}')"
            );
            page.until_promised(&is_shown).await;
            let width = page.evaluate("document.documentElement.scrollWidth").await;
            assert_eq!(width, 320, "{language}, {place}: {}", page.text().await);
        }
    }
    // The chosen language stays.
    page.speak("de").await;
    page.go(&link).await;
    page.until("document.documentElement?.lang === 'de'").await;
    page.on("welcome").await;
    page.until(&format!("{TITLE}.startsWith('Die Antworten von')")).await;
}
