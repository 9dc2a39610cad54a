//! Candidates who ask for help wherever they are stuck: on phones of two sizes, by keyboard alone, and in the order that a screen reader
//! tells.

use chrono::TimeDelta;
use serde_json::{Value, json};
use shared::clock::Clock;
use tests::caller::Caller;

use crate::devtools::{Network, Page};
use crate::visit::Visit;

/// A usual phone, and the smallest one.
const PHONES: [[u32; 2]; 2] = [[390, 844], [320, 480]];
const CONTACT: &str = "jobs@acme.example";
/// The parts of the form in their order, with their roles.
const ORDER: [[&str; 2]; 8] = [
    ["DisclosureTriangle", "I need help or more time"],
    ["group", "What do you need?"],
    ["radio", "More time"],
    ["radio", "Another way to answer"],
    ["radio", "Help with my device or this page"],
    ["radio", "I no longer want to take part"],
    ["textbox", "In your words"],
    ["button", "Send to Acme & Sons"],
];

/// A place where candidates are stuck.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// Before they have begun.
    Start,
    /// The camera cannot be turned on.
    DeadCamera,
    /// The time of the interview is over.
    EndOfTime,
    /// The link has expired.
    ExpiredLink,
    /// All questions are answered in writing.
    WrittenOnly,
    /// The interview is complete.
    Complete,
}

impl Place {
    const ALL: [Self; 6] = [
        Self::Start,
        Self::DeadCamera,
        Self::EndOfTime,
        Self::ExpiredLink,
        Self::WrittenOnly,
        Self::Complete,
    ];

    /// A candidate who is about to be stuck there.
    async fn visit(self) -> Visit {
        let question = match self {
            Self::WrittenOnly | Self::Complete => json!({ "kind": "text", "is_required": false }),
            _ => json!({}),
        };
        let visit = Visit::invited(json!({ "name": "Sales" }), &[question]).await;
        let contact = json!({ "registration_email": CONTACT });
        visit.owner.patch("/companies/acme/", contact).await.expect(200);
        let candidate = &visit.candidate;
        let advance = async |times: usize| {
            for _ in 0..times {
                candidate.advance(&candidate.uri).await.expect(200);
            }
        };
        match self {
            Self::Start | Self::DeadCamera => {}
            Self::EndOfTime => {
                advance(2).await;
                let soon = (visit.app.clock().now() + TimeDelta::minutes(10)).to_rfc3339();
                visit.owner.set_deadline(&candidate.uri, &soon).await.expect(200);
                visit.app.clock().advance(TimeDelta::minutes(11));
            }
            Self::ExpiredLink => {
                let now = visit.app.clock().in_days(0);
                visit.owner.set_deadline(&candidate.uri, &now).await.expect(200);
                visit.app.expire_overdue().await;
            }
            Self::WrittenOnly => advance(2).await,
            Self::Complete => advance(3).await,
        }
        visit
    }

    /// Goes to the place.
    async fn reach(self, visit: &Visit, page: &mut Page) {
        page.go(&visit.link).await;
        match self {
            Self::Start => page.on("welcome").await,
            Self::DeadCamera => {
                page.on("welcome").await;
                page.press("Continue to the camera test").await;
                page.on("check").await;
                page.press("Turn on camera and microphone").await;
                page.until("document.querySelector('main > .problem[role=alert]:not(:empty)')").await;
            }
            Self::EndOfTime | Self::ExpiredLink | Self::Complete => page.on("over").await,
            Self::WrittenOnly => {
                page.on("overview").await;
                page.press("Answer question 1").await;
                page.press("Answer in writing").await;
                page.on("write").await;
            }
        }
    }
}

impl Page {
    /// Moves the focus by the keyboard until it is on what a selector finds.
    async fn tab_to_selector(&mut self, selector: &str) {
        for _ in 0..60 {
            if self.evaluate(&format!("document.activeElement.matches({})", json!(selector))).await == true {
                return;
            }
            self.press_key("Tab").await;
        }
        panic!("the keyboard does not reach {selector}: {}", self.text().await);
    }

    /// Role and name of what is in the form for help, in the order of the accessibility tree.
    async fn told_in_form(&mut self) -> Vec<[String; 2]> {
        let tree = self.accessibility_tree().await;
        let told = tree.into_iter().skip_while(|[role, _]| role != "DisclosureTriangle");
        told.filter(|[role, _]| ORDER.iter().any(|[known, _]| known == role)).take(ORDER.len()).collect()
    }

    async fn fits(&mut self) -> bool {
        self.evaluate("document.documentElement.scrollWidth <= innerWidth").await == true
    }
}

async fn request_of(visit: &Visit) -> Value {
    let (_, token) = visit.owner.named_token("Reader").await;
    token.get(&visit.candidate.uri).await.expect(200).json()["help_request"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn wherever_candidates_are_stuck_they_ask_by_keyboard_on_phones_of_two_sizes() {
    for place in Place::ALL {
        let visit = place.visit().await;
        for [width, height] in PHONES {
            let mut page = Page::open().await;
            page.resize(width, height).await;
            place.reach(&visit, &mut page).await;
            page.tab_to_selector(".help summary").await;
            page.press_key("Enter").await;
            page.until("document.querySelector('.ask').open").await;
            assert_eq!(page.told_in_form().await, ORDER.map(|part| part.map(str::to_owned)), "{place:?}");
            assert!(page.fits().await, "{place:?} {width}");
            let text = page.text().await;
            for told in [
                "no reason for a worse result",
                "nobody asks for a diagnosis",
                "usually in ten minutes or less",
            ] {
                assert!(text.contains(told), "{place:?}: {told}: {text}");
            }
            page.tab_to_selector("[name=help-kind][value=time]").await;
            page.press_key(" ").await;
            page.tab_to_selector("#help-text").await;
            for letter in "My phone dies.".chars() {
                page.press_key(&letter.to_string()).await;
            }
            page.tab_to_selector(".ask button").await;
            page.press_key("Enter").await;
            page.until("document.querySelector('.asking')").await;
            let sent = request_of(&visit).await;
            assert_eq!(
                [&sent["kind"], &sent["text"]],
                [&json!("time"), &json!("My phone dies.")],
                "{place:?}"
            );
            // The focus is on what was asked, and what happens next is said there.
            assert_eq!(
                page.evaluate(
                    "document.activeElement.textContent.startsWith('You have asked Acme & Sons on')"
                )
                .await,
                true
            );
            let told = page.evaluate("document.querySelector('.asking').textContent").await.to_string();
            assert!(told.contains("My phone dies.") && told.contains("Until then nothing changes"), "{told}");
            page.until("document.getElementById('announcer').textContent.includes('in ten minutes')").await;
            assert!(page.fits().await, "{place:?} {width}");
            page.press("Take it back").await;
            page.until(
                "!document.querySelector('.asking') && document.activeElement.matches('.help summary')",
            )
            .await;
            assert_eq!(request_of(&visit).await, Value::Null, "{place:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_camera_leads_to_the_form_at_once() {
    let visit = Place::DeadCamera.visit().await;
    let mut page = Page::open().await;
    page.resize(320, 480).await;
    Place::DeadCamera.reach(&visit, &mut page).await;
    page.press("Ask Acme & Sons for help").await;
    assert_eq!(
        page.evaluate("[document.querySelector('.ask').open, document.activeElement.value]").await,
        json!([true, "time"])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_typed_outlives_a_network_that_is_gone_and_a_limit() {
    let visit = Place::Start.visit().await;
    let mut page = Page::open().await;
    page.go(&visit.link).await;
    page.on("welcome").await;
    page.evaluate("document.querySelector('.help summary').click()").await;
    page.press("Send to Acme & Sons").await;
    page.until("document.getElementById('help-kind-error').textContent === 'Choose one of these.'").await;
    let write = "document.querySelector('[value=technical]').click();
        document.querySelector('#help-text').value = 'The sound is off.';
        document.querySelector('#help-text').dispatchEvent(new Event('input'))";
    page.evaluate(write).await;
    page.set_network(Network::Off).await;
    page.press("Send to Acme & Sons").await;
    page.until("document.querySelector('.problem')?.textContent.includes('There is no connection')").await;
    assert_eq!(request_of(&visit).await, Value::Null);
    assert_eq!(page.evaluate("document.querySelector('#help-text').value").await, "The sound is off.");
    assert_eq!(page.evaluate("document.querySelector('.asking')").await, Value::Null);
    page.set_network(Network::Whole).await;
    page.press("Send to Acme & Sons").await;
    page.until("document.querySelector('.asking')").await;
    // In other words, and once too often.
    let type_words = |words: &str| {
        format!(
            "document.querySelector('#help-text').value = '{words}';
            document.querySelector('#help-text').dispatchEvent(new Event('input'))"
        )
    };
    for words in ["The sound is still off.", "The sound is off again."] {
        page.press("Write something else").await;
        page.evaluate(&type_words(words)).await;
        page.press("Send to Acme & Sons").await;
        page.until("document.querySelector('.asking') && document.querySelector('.ask').hidden").await;
    }
    page.press("Write something else").await;
    page.evaluate(&type_words("There is no sound.")).await;
    page.press("Send to Acme & Sons").await;
    page.until(
        "document.getElementById('help-text-error').textContent.startsWith('You have asked three times')",
    )
    .await;
    assert_eq!(page.evaluate("document.querySelector('#help-text').value").await, "There is no sound.");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_answer_stands_where_it_was_asked_for_also_behind_a_dead_link() {
    for place in [Place::Start, Place::ExpiredLink] {
        let visit = place.visit().await;
        let candidate = &visit.candidate;
        candidate.ask(&candidate.uri, "adjustment", "Could I write?").await.expect(200);
        visit.owner.answer_help(&candidate.uri, "Yes.\n<b>Write</b> to us.").await.expect(200);
        let mut page = Page::open().await;
        page.resize(320, 480).await;
        place.reach(&visit, &mut page).await;
        let told = page
            .evaluate("[...document.querySelectorAll('.asking blockquote')].map(one => one.textContent)")
            .await;
        assert_eq!(told, json!(["Could I write?", "Yes.\n<b>Write</b> to us."]), "{place:?}");
        assert!(page.text().await.contains("Acme & Sons has answered on"));
        // Another question may follow.
        assert_eq!(page.evaluate("document.querySelector('.ask').hidden").await, false);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_form_fits_the_smallest_phone_in_every_language() {
    let visit = Place::WrittenOnly.visit().await;
    let mut page = Page::open().await;
    page.resize(320, 480).await;
    Place::WrittenOnly.reach(&visit, &mut page).await;
    for language in ["de", "fr", "es", "it", "nl", "en"] {
        page.choose_language(language).await;
        page.until(&format!(
            "JSON.parse(document.querySelector('header').dataset.frame).at(-1) === '{language}'"
        ))
        .await;
        page.evaluate("document.querySelector('.ask').open = true").await;
        assert!(page.fits().await, "{language}: {}", page.text().await);
        for kind in ["time", "adjustment", "technical", "decline"] {
            page.evaluate(&format!("document.querySelector('[value={kind}]').click()")).await;
            assert!(page.fits().await, "{language} {kind}");
        }
    }
}
