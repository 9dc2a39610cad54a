//! What the report about accessibility promises of the pages, as far as no other test shows it.

use serde_json::{Value, json};
use tests::caller::Caller;

use crate::devtools::Page;
use crate::visit::Visit;
use crate::{film, sent_along};

const FITS: &str = "document.documentElement.scrollWidth <= innerWidth";
const TITLE: &str = "document.querySelector('h1').textContent";
const CONTACT: &str = "jobs@acme.example";

/// An interview with a question of each kind, whose candidates know whom to ask.
async fn visit() -> Visit {
    let visit = Visit::invited(json!({ "name": "Sales" }), &[json!({ "kind": "text" }), json!({})]).await;
    let contact = json!({ "registration_email": CONTACT });
    visit.owner.patch("/companies/acme/", contact).await.expect(200);
    visit
}

impl Page {
    /// Goes through the screens of a candidate without a camera, and does something on each.
    async fn each_screen(&mut self, visit: &Visit, look: &str) -> Vec<Value> {
        let mut seen = Vec::new();
        self.go(&visit.link).await;
        for (screen, next) in [
            ("welcome", "Continue to the camera test"),
            ("check", "Continue without camera"),
            ("practice", "Begin the interview"),
            ("overview", "Answer question 1"),
            ("question", "Answer in writing"),
            ("write", ""),
        ] {
            self.on(screen).await;
            self.evaluate("document.querySelector('.ask').open = true").await;
            seen.push(json!([screen, self.evaluate(look).await]));
            if !next.is_empty() {
                self.press(next).await;
            }
        }
        seen
    }
}

/// What each screen of a candidate shows, if all show the same.
fn all(seen: &[Value], expected: &Value) {
    assert_eq!(seen.len(), 6);
    for one in seen {
        assert_eq!(one[1], *expected, "{one}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_screen_has_the_title_of_the_page() {
    let visit = visit().await;
    let mut page = Page::open().await;
    all(&page.each_screen(&visit, &format!("document.title === {TITLE}")).await, &json!(true));
}

#[tokio::test(flavor = "multi_thread")]
async fn texts_twice_as_large_fit() {
    let visit = visit().await;
    let mut page = Page::open().await;
    page.resize(640, 800).await;
    let look = format!("document.documentElement.style.fontSize = '200%', {FITS}");
    all(&page.each_screen(&visit, &look).await, &json!(true));
}

#[tokio::test(flavor = "multi_thread")]
async fn texts_with_more_space_fit() {
    let visit = visit().await;
    let mut page = Page::open().await;
    page.resize(320, 640).await;
    let rule = "* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important; }";
    // Something would be cut off in an element that does not grow with its text.
    let cut = "[...document.querySelectorAll('button, summary, label, p')].filter(one => one.checkVisibility()
        && getComputedStyle(one).overflowX === 'hidden' && !one.classList.contains('name') && one.scrollWidth > one.clientWidth + 1)
        .map(one => one.textContent)";
    let look = format!("document.styleSheets[0].insertRule({}), [{FITS}, {cut}]", json!(rule));
    all(&page.each_screen(&visit, &look).await, &json!([true, []]));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_keyboard_goes_all_the_way_round() {
    let visit = visit().await;
    let mut page = Page::open().await;
    page.resize(390, 844).await;
    page.go(&visit.link).await;
    page.on("welcome").await;
    page.evaluate("document.querySelector('.ask').open = true").await;
    let focused = "(() => {
        const one = document.activeElement;
        if (one === document.body) return 'out';
        const { left, top, width, height } = one.getBoundingClientRect();
        const { outlineStyle, outlineWidth } = getComputedStyle(one);
        const isSeen = outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2;
        const there = document.elementFromPoint(left + width / 2, Math.min(top + height / 2, innerHeight - 1));
        const isFree = one.contains(there) || there?.contains(one) || one.closest('label')?.contains(there);
        return [one.outerHTML.slice(0, 120), isSeen, Boolean(isFree), document.querySelector('main').dataset.screen];
    })()";
    let mut seen = Vec::new();
    for _ in 0..60 {
        page.press_key("Tab").await;
        let one = page.evaluate(focused).await;
        // Out of the page, to the browser's own controls: there is no trap.
        if one == "out" || seen.contains(&one) {
            assert!(seen.len() > 6, "{seen:?}");
            return;
        }
        assert_eq!([&one[1], &one[2], &one[3]], [&json!(true), &json!(true), &json!("welcome")], "{one}");
        seen.push(one);
    }
    panic!("the keyboard does not come round: {seen:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_happens_before_a_press_ends() {
    let visit = visit().await;
    let mut page = Page::open().await;
    let begin = "(() => { const one = document.querySelector('main button');
        for (const kind of ['pointerdown', 'mousedown', 'touchstart']) one.dispatchEvent(new Event(kind, { bubbles: true }));
        return document.querySelector('main').dataset.screen; })()";
    for screen in page.each_screen(&visit, begin).await {
        assert_eq!(screen[0], screen[1]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_borders_of_fields_and_buttons_stand_out() {
    let visit = visit().await;
    for scheme in ["light", "dark"] {
        let mut page = Page::open().await;
        page.prefer(scheme).await;
        page.go(&visit.link).await;
        page.on("welcome").await;
        page.evaluate("document.querySelector('.ask').open = true").await;
        let low = "(() => {
            const numbers = color => color.match(/[\\d.]+/g).slice(0, 3).map(Number);
            const light = color => numbers(color).map(part => part / 255).map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
                .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
            const behind = one => { for (let at = one.parentElement; at; at = at.parentElement) {
                const color = getComputedStyle(at).backgroundColor; if (!/, 0\\)|transparent/.test(color)) return color; } return 'rgb(255, 255, 255)'; };
            const contrast = (one, other) => { const [a, b] = [light(one), light(other)].sort((x, y) => y - x); return (a + 0.05) / (b + 0.05); };
            return [...document.querySelectorAll('main button, textarea, header select')].filter(one => one.checkVisibility() && !one.matches('.link'))
                .map(one => [one.outerHTML.slice(0, 60), contrast(getComputedStyle(one).borderTopColor, behind(one))]).filter(([, value]) => value < 3);
        })()";
        assert_eq!(page.evaluate(low).await, json!([]), "{scheme}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_fields_about_people_say_what_they_are_for() {
    let visit = visit().await;
    let mut page = Page::open().await;
    page.go(&format!("{}/interview/acme/", visit.origin)).await;
    page.on("login").await;
    let purposes =
        "[...document.querySelectorAll('form input:not([type=checkbox])')].map(one => one.autocomplete)";
    assert_eq!(page.evaluate(purposes).await, json!(["username", "current-password"]));
    // Pasting works, and what is typed can be seen.
    let pastes = "document.querySelector('[type=password]').dispatchEvent(new ClipboardEvent('paste', { bubbles: true, cancelable: true }))";
    assert_eq!(page.evaluate(pastes).await, true);
    page.evaluate("document.querySelector('form [type=checkbox]').click()").await;
    assert_eq!(page.evaluate("document.querySelector('[name=password]').type").await, "text");
    let colleague = visit.owner.colleague("recruiter", json!({})).await;
    visit.app.settle().await;
    let key = visit.app.mailed_key(&colleague.email);
    page.go(&format!("{}/activate/{key}", visit.origin)).await;
    page.on("password").await;
    assert_eq!(page.evaluate("document.querySelector('[name=password]').autocomplete").await, "new-password");
    page.go(&format!("{}/staff/acme/", visit.origin)).await;
    page.on("signIn").await;
    assert_eq!(page.evaluate(purposes).await, json!(["username", "current-password"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn each_state_of_an_answer_is_told_in_words() {
    let visit = visit().await;
    let mut page = Page::open().await;
    page.each_screen(&visit, "true").await;
    page.evaluate("document.querySelector('#answer').value = 'In March.'; document.querySelector('#answer').dispatchEvent(new Event('input'))").await;
    page.press("Send answer").await;
    page.on("overview").await;
    let told = "[...document.querySelectorAll('.questions li')].map(one => [one.dataset.state, one.querySelector('.state').textContent.split(' · ')[0]])";
    assert_eq!(
        page.evaluate(told).await,
        json!([["written", "answered in writing"], ["none", "not answered"]])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_plays_by_itself() {
    let visit = visit().await;
    let video = sent_along(&visit.owner, &film()).await;
    let (project, _) = visit.candidate.uri.split_once("candidates/").unwrap();
    let videos = json!({ "videos": [{ "uri": video, "position": 1 }] });
    visit.owner.patch(project, videos).await.expect(200);
    visit.app.settle().await;
    let mut page = Page::open().await;
    page.go(&visit.link).await;
    page.on("welcome").await;
    page.until("document.querySelector('video')?.checkVisibility()").await;
    assert_eq!(page.evaluate("[...document.querySelectorAll('video, audio')].map(one => [one.paused, one.autoplay, one.controls])").await, json!([[true, false, true]]));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_speaks_of_no_shape_colour_or_side() {
    let visit = visit().await;
    let mut page = Page::open().await;
    page.go(&visit.link).await;
    page.on("welcome").await;
    let folder = page.folder_of("main.js").await;
    for texts in ["texts/en.js", "texts/guest/en.js", "texts/staff/en.js", "texts/accessibility/en.js"] {
        let found = format!(
            "import('{folder}{texts}').then(texts => JSON.stringify(texts.default).match(/\\b(on|to|at) the (left|right)\\b|\\b(red|green|blue|round|square)\\b/gi))"
        );
        assert_eq!(page.evaluate(&found).await, Value::Null, "{texts}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_foot_and_the_invitation_lead_to_the_page_about_accessibility() {
    let visit = visit().await;
    let address = format!("{}/accessibility/acme/", visit.origin);
    let led = "document.querySelector('footer #accessibility a')?.href";
    let mail = visit.app.mails_to(&visit.candidate.email).pop().unwrap();
    assert!(mail.text.as_deref().unwrap().contains(&address), "{mail:?}");
    let mut page = Page::open().await;
    page.resize(320, 480).await;
    all(&page.each_screen(&visit, led).await, &json!(address));
    page.go(&format!("{}/staff/acme/", visit.origin)).await;
    page.on("signIn").await;
    assert_eq!(page.evaluate(led).await, json!(address));

    page.go(&address).await;
    let titles = [
        ("de", "Barrierefreiheit"),
        ("fr", "Accessibilité"),
        ("es", "Accesibilidad"),
        ("it", "Accessibilità"),
        ("nl", "Toegankelijkheid"),
        ("en", "Accessibility"),
    ];
    page.until("document.querySelector('header select')").await;
    let english = page.folder_of("accessibility.js").await + "texts/accessibility/";
    let names = page.names_of_texts(&english, "en").await;
    for (language, title) in titles {
        page.choose_language(language).await;
        page.until(&format!(
            "document.documentElement.lang === '{language}' && {TITLE} === {}",
            json!(title)
        ))
        .await;
        assert!(page.text().await.contains(CONTACT), "{language}");
        assert_eq!(page.evaluate(FITS).await, true, "{language}");
        assert_eq!(page.names_of_texts(&english, language).await, names, "{language}");
    }
    // A company that nobody knows, and none, get all but the contact.
    for other in ["nowhere/", ""] {
        page.go(&format!("{}/accessibility/{other}", visit.origin)).await;
        page.until(&format!("document.querySelector('h1') && {TITLE} === 'Accessibility'")).await;
        let text = page.text().await;
        assert!(text.contains("the company that has invited you") && !text.contains(CONTACT), "{text}");
    }
}
