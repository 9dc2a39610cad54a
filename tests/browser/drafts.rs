//! Drafts that candidates type: the service saves them meanwhile, and the page never says so before it has.

use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::caller::Caller;
use tests::effort;

use crate::devtools::{BrowserOptions, Network, Page};
use crate::visit::Visit;

const SAVED: &str = "document.querySelector('#answer-state')?.dataset.state === 'saved'
    && document.querySelector('#answer-state').textContent !== ''";
/// Lets the page wait fifty times less, since a test has no time to type for minutes.
const HASTE: &str =
    "const wait = setTimeout; window.setTimeout = (done, time, ...rest) => wait(done, time / 50, ...rest)";
/// Counts what the page says too early. Requests with a draft meet one of four fates: they arrive, they do not, their response is
/// lost, or the service is busy.
const INTERRUPTED: &str = "(() => {
    const { fetch } = window;
    const said = window.said = { early: 0, interrupted: 0, saved: 0, has: '' };
    const next = count => Math.floor(Math.random() * count);
    window.fetch = async (url, request) => {
        if (!url.endsWith('/draft/')) return fetch(url, request);
        const fate = window.isCalm ? 0 : next(4);
        said.interrupted += fate ? 1 : 0;
        if (fate === 1) throw new TypeError('it does not arrive');
        if (fate === 3) return new Response('', { status: 503 });
        const response = await fetch(url, request);
        // The service has the text, and the page may find that out by reading it.
        if (response.ok) said.has = JSON.parse(request.body).text;
        if (fate === 2) throw new TypeError('the response is lost');
        return response;
    };
    // Each change of what the page says, and each key.
    window.look = () => {
        const text = document.querySelector('#answer');
        if (!text || !(SAVED)) return;
        said.saved += 1;
        if (text.value.trim() !== said.has.trim()) said.early += 1;
    };
    new MutationObserver(look).observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
})()";

impl Visit {
    /// A candidate in an interview with these written questions.
    async fn writing(fields: Value, questions: &[Value]) -> Self {
        let visit = Self::invited(fields, questions).await;
        for _ in ["confirmed", "interviewing"] {
            visit.candidate.advance(&visit.candidate.uri).await.expect(200);
        }
        visit
    }

    /// The first answer and the text of its draft, as the candidate sees them.
    async fn first(&self) -> (Value, Value) {
        let interview = format!("{}interview/", self.candidate.uri);
        let shown = self.candidate.get(&interview).await.expect(200).json();
        (shown["answers"][0].clone(), shown["answers"][0]["draft"]["text"].clone())
    }
}

impl Page {
    /// Goes by the link to the first question, to answer it in writing.
    async fn write_first(&mut self, visit: &Visit) {
        self.go(&visit.link).await;
        self.press("Answer question 1").await;
        self.press("Answer in writing").await;
        self.on("write").await;
    }

    /// Replaces what is written.
    pub(crate) async fn type_text(&mut self, text: &str) {
        let typed = format!(
            "document.querySelector('#answer').value = {}; document.querySelector('#answer').dispatchEvent(new Event('input'))",
            json!(text)
        );
        self.evaluate(&typed).await;
    }
}

fn written() -> Value {
    json!({ "kind": "text" })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_is_there_on_another_device_and_an_answer_of_the_completed_interview() {
    let visit =
        Visit::writing(json!({}), &[written(), json!({ "kind": "text", "is_required": false })]).await;
    let mut page = Page::open().await;
    page.write_first(&visit).await;
    page.set_network(Network::Off).await;
    page.type_text("In March,").await;
    assert!(page.text().await.contains("Not saved yet."));
    page.set_network(Network::Whole).await;
    page.until(SAVED).await;
    page.press("Back").await;
    page.press("Back").await;
    page.on("overview").await;
    assert!(page.text().await.contains("draft, not sent yet"));

    let mut other = Page::open_with(BrowserOptions::with_devices()).await;
    other.write_first(&visit).await;
    assert_eq!(other.evaluate("document.querySelector('#answer').value").await, "In March,");
    other.type_text("In March, by chance.").await;
    other.until(SAVED).await;

    page.press("Complete the interview").await;
    page.on("complete").await;
    let asked = page.text().await;
    for part in ["Optional questions without an answer", "Drafts that will count as answers"] {
        assert!(asked.contains(part), "{asked}");
    }
    page.press("Yes, complete it now").await;
    page.on("done").await;
    assert_eq!(visit.status().await, "interviewed");
    assert_eq!(visit.answers().await[0]["text"], "In March, by chance.");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_windows_keep_both_texts() {
    let visit = Visit::writing(json!({}), &[written()]).await;
    let (mut page, mut other) = (Page::open().await, Page::open().await);
    for page in [&mut page, &mut other] {
        page.write_first(&visit).await;
    }
    page.type_text("Of the first window").await;
    page.until(SAVED).await;
    other.type_text("Of the second window").await;
    other.until("document.body.innerText.includes('Of the first window')").await;
    assert!(other.text().await.contains("changed in another window"));
    assert_eq!(other.evaluate("document.querySelector('#answer').value").await, "Of the second window");
    assert_eq!(visit.first().await.1, "Of the first window");
    other.press("Go on with my text").await;
    other.until(SAVED).await;
    assert_eq!(visit.first().await.1, "Of the second window");
    // The first window learns of it as soon as it types.
    page.type_text("Of the first window, again").await;
    page.press("Go on with the other text").await;
    page.until(SAVED).await;
    assert_eq!(page.evaluate("document.querySelector('#answer').value").await, "Of the second window");
    page.press("Send answer").await;
    page.on("overview").await;
    let (answer, draft) = visit.first().await;
    assert_eq!((&answer["text"], draft), (&json!("Of the second window"), Value::Null));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_not_sent_over_the_draft_of_another_window() {
    let visit = Visit::writing(json!({}), &[written()]).await;
    let (mut page, mut other) = (Page::open().await, Page::open().await);
    page.write_first(&visit).await;
    page.type_text("In March,").await;
    page.until(SAVED).await;
    other.write_first(&visit).await;
    other.type_text("In March, by chance.").await;
    other.until(SAVED).await;
    // The first window has typed nothing since, so it does not know the other text yet, and the service is busy when it asks.
    page.evaluate(
        "(() => {
            const { fetch } = window;
            window.fetch = async (url, request) => {
                if (!url.endsWith('/interview/')) return fetch(url, request);
                window.fetch = fetch;
                return new Response('', { status: 503 });
            };
        })()",
    )
    .await;
    page.press("Send answer").await;
    page.until("document.body.innerText.includes('In March, by chance.')").await;
    let (answer, draft) = visit.first().await;
    assert_eq!((&answer["text"], draft), (&Value::Null, json!("In March, by chance.")));
    page.press("Go on with the other text").await;
    page.press("Send answer").await;
    page.on("overview").await;
    assert_eq!(visit.first().await.0["text"], "In March, by chance.");

    // The other window learns that the answer was sent, and may still change it.
    other.type_text("In March, by mere chance.").await;
    other.until(SAVED).await;
    other.press("Send answer").await;
    other.on("overview").await;
    page.press("Change answer 1").await;
    page.press("Answer in writing").await;
    page.type_text("In April.").await;
    page.press("Send answer").await;
    page.press("Go on with my text").await;
    page.press("Send answer").await;
    page.on("overview").await;
    assert_eq!(visit.first().await.0["text"], "In April.");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_typed_while_the_answer_is_sent_and_everything_can_be_changed_if_it_was_not() {
    let visit = Visit::writing(json!({}), &[written()]).await;
    let mut page = Page::open().await;
    page.write_first(&visit).await;
    page.type_text("In March.").await;
    page.evaluate(
        "(() => {
            const { fetch } = window;
            window.fetch = async (url, request) => {
                if (request.method !== 'PUT' || url.endsWith('/draft/')) return fetch(url, request);
                await new Promise(done => window.goOn = done);
                window.fetch = fetch;
                return new Response(JSON.stringify({ text: ['Too odd.'] }), { status: 400 });
            };
        })()",
    )
    .await;
    page.press("Send answer").await;
    page.until_promised("typeof goOn === 'function'").await;
    let is_fixed = "document.querySelector('#answer').readOnly";
    assert_eq!(page.evaluate(is_fixed).await, true);
    assert!(page.text().await.contains("Sending…"));
    page.evaluate("goOn()").await;
    page.until("document.querySelector('#answer-error').textContent.startsWith('Your answer was not sent')")
        .await;
    assert_eq!(page.evaluate(is_fixed).await, false);
    page.type_text("In March or April.").await;
    page.until(SAVED).await;
    page.press("Send answer").await;
    page.on("overview").await;
    assert_eq!(visit.first().await.0["text"], "In March or April.");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_the_browser_brings_back_knows_what_it_has_sent_when_it_was_left() {
    let visit = Visit::writing(json!({}), &[written()]).await;
    let mut page = Page::open().await;
    page.write_first(&visit).await;
    page.evaluate(
        "(() => {
            const { fetch } = window;
            window.fetch = async (url, request) => {
                const response = await fetch(url, request);
                const text = url.endsWith('/draft/') && JSON.parse(request.body).text;
                if (text === 'In') await new Promise(done => window.goOn = done);
                if (text === 'In March') window.isLeft = true;
                return response;
            };
        })()",
    )
    .await;
    page.type_text("In").await;
    page.until_promised("typeof goOn === 'function'").await;
    page.type_text("In March").await;
    page.evaluate("window.dispatchEvent(new Event('pagehide')) && undefined").await;
    page.until_promised("window.isLeft").await;
    page.type_text("In March, by chance.").await;
    page.evaluate("goOn()").await;
    page.until(&format!("{SAVED} || document.body.innerText.includes('changed in another window')")).await;
    assert!(!page.text().await.contains("changed in another window"));
    assert_eq!(visit.first().await.1, "In March, by chance.");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_time_in_the_middle_of_a_word_is_announced_and_loses_nothing() {
    let visit = Visit::writing(json!({ "max_interview_time": 30 }), &[written()]).await;
    visit.app.clock().advance(TimeDelta::minutes(30) - TimeDelta::seconds(13));
    let mut page = Page::open().await;
    page.write_first(&visit).await;
    page.evaluate("window.told = []; new MutationObserver(() => told.push(document.querySelector('#announcer').textContent))
        .observe(document.querySelector('#announcer'), { subtree: true, childList: true, characterData: true })")
        .await;
    page.until("document.querySelector('#warning').checkVisibility()").await;
    page.until("told.some(text => text.startsWith('The interview ends in'))").await;
    page.evaluate(
        "window.typed = 0; window.typing = setInterval(() => {
            const text = document.querySelector('#answer');
            if (!text) return clearInterval(typing);
            text.value += 'x';
            typed = text.value.length;
            text.dispatchEvent(new Event('input'));
        }, 100)",
    )
    .await;
    page.on("done").await;
    let typed = page.evaluate("typed").await.as_u64().unwrap();
    let kept = visit.answers().await[0]["text"].as_str().unwrap().len() as u64;
    assert!(typed > 20 && kept == typed, "{kept} of {typed}");
    assert_eq!(visit.status().await, "interviewed");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_time_waits_for_a_draft_that_the_service_could_not_take_at_once() {
    let visit = Visit::writing(json!({ "max_interview_time": 30 }), &[written()]).await;
    let mut page = Page::open().await;
    page.write_first(&visit).await;
    page.type_text("In March").await;
    page.until(SAVED).await;
    // Busy until the page completes the interview, and for two more requests.
    page.evaluate(
        "(() => {
            const { fetch } = window;
            window.left = 2;
            window.fetch = async (url, request) => {
                const isSending = document.querySelector('#screen').dataset.screen === 'sending';
                if (url.endsWith('/draft/') && (!isSending || (left -= 1) >= 0)) return new Response('', { status: 503 });
                return fetch(url, request);
            };
        })()",
    )
    .await;
    page.type_text("In March, by chance.").await;
    visit.app.clock().advance(TimeDelta::minutes(30));
    // The page reads the state each half a minute, and with it the time.
    page.evaluate("(() => { const { now } = Date; Date.now = () => now() + 31_000; })()").await;
    page.on("done").await;
    assert_eq!(visit.status().await, "interviewed");
    assert_eq!(visit.answers().await[0]["text"], "In March, by chance.");
    assert!(page.evaluate("left").await.as_i64().unwrap() < 0, "it has met the busy service");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_draft_is_said_to_be_late_only_if_it_is() {
    let visit = Visit::writing(json!({}), &[written()]).await;
    for (code, said) in [
        ("time_over", "The time was over before your last changes were saved."),
        ("not_interviewing", "Your last changes were not accepted. What was saved last counts."),
    ] {
        let mut page = Page::open().await;
        page.write_first(&visit).await;
        page.evaluate(&format!(
            "(() => {{
                const {{ fetch }} = window;
                window.fetch = async (url, request) => url.endsWith('/draft/')
                    ? new Response(JSON.stringify({{ code: '{code}' }}), {{ status: 400 }}) : fetch(url, request);
            }})()"
        ))
        .await;
        page.type_text("In March").await;
        page.until(&format!("document.querySelector('#status').textContent === '{said}'")).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_platform_completes_the_interview_in_the_middle_of_a_text() {
    let visit = Visit::writing(json!({}), &[written()]).await;
    let mut page = Page::open().await;
    page.write_first(&visit).await;
    page.type_text("In March").await;
    page.until(SAVED).await;
    visit.app.complete(&visit.candidate.uri).await;
    assert_eq!(visit.answers().await[0]["text"], "In March");
    page.type_text("In March, or").await;
    page.until("document.body.innerText.includes('Your interview is complete')").await;
    assert!(!page.text().await.contains("Saved"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_never_says_saved_before_the_service_did() {
    let interruptions = effort::count(200);
    let visit = Visit::writing(json!({}), &[written()]).await;
    let mut page = Page::open().await;
    page.prepare(HASTE).await;
    page.write_first(&visit).await;
    page.evaluate(&INTERRUPTED.replace("SAVED", SAVED)).await;
    page.evaluate(&format!(
        "window.words = 0; window.typing = setInterval(() => {{
            const text = document.querySelector('#answer');
            window.isCalm = said.interrupted >= {interruptions};
            if (isCalm) return clearInterval(typing);
            text.value = `word ${{words += 1}}`;
            text.dispatchEvent(new Event('input'));
            look();
        }}, 40)"
    ))
    .await;
    page.until("window.isCalm").await;
    page.until(SAVED).await;
    let said = page.evaluate("said").await;
    let text = page.evaluate("document.querySelector('#answer').value").await;
    assert_eq!((&said["early"], &said["has"]), (&json!(0), &text), "{said}");
    assert!(said["saved"].as_u64().unwrap() > 0, "{said}");
    assert_eq!(visit.first().await.1, text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_browser_loses_what_was_typed_in_the_last_two_seconds() {
    let visit = Visit::writing(json!({}), &[written()]).await;
    let mut page = Page::open().await;
    page.write_first(&visit).await;
    page.evaluate(
        "window.typing = setInterval(() => {
            const text = document.querySelector('#answer');
            text.value += 'x';
            text.dispatchEvent(new Event('input'));
        }, 100)",
    )
    .await;
    page.until("document.querySelector('#answer').value.length > 65").await;
    let typed = page.evaluate("document.querySelector('#answer').value.length").await.as_u64().unwrap();
    page.kill().await;
    let kept = visit.first().await.1.as_str().unwrap().len() as u64;
    // Twenty letters in two seconds, and five for the round trip.
    assert!(typed <= kept + 25, "{kept} of {typed}");
}
