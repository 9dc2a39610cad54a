//! Guests go from question to question, watch the film that asks one, and choose how fast its answer plays.

use serde_json::{Value, json};
use tests::caller::Caller as _;
use tests::videos::recorded;

use crate::devtools::Page;
use crate::guests::TITLE;
use crate::watched::{FirstQuestion, Watched};

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_goes_to_any_question_and_chooses_how_fast_answers_play() {
    let watched = Watched::build(json!({})).await;
    watched.visit.app.settle().await;
    let mut page = Page::open().await;
    page.go(&watched.link(json!({})).await).await;
    page.headed("The answers of Ada Lovelace").await;
    let listed = "[...document.querySelectorAll('.all .short')].filter(one => one.checkVisibility()).map(one => one.textContent)";
    let questions = json!([
        "Why us?",
        "Which salary do you expect?",
        "What are you proud of?",
        "What have we not asked?"
    ]);
    assert_eq!(page.evaluate(listed).await, questions);
    page.evaluate("document.querySelectorAll('.all button')[3].click()").await;
    page.headed("Question 4 of 4").await;
    let rates = "[...document.querySelectorAll('.speed option')].map(one => one.textContent)";
    assert_eq!(page.evaluate(rates).await, json!(["1×", "1.25×", "1.5×", "2×"]));
    let choose = "(select => { select.value = '2'; select.dispatchEvent(new Event('change')); })(document.querySelector('.speed select'))";
    page.evaluate(choose).await;
    let rate = "document.querySelector('.frame video').playbackRate";
    assert_eq!(page.evaluate(rate).await, 2);

    // By the keyboard: the list is over the screen, says where one is, and Escape closes it.
    page.tab_to("Questions").await;
    page.until("document.querySelector('dialog[open]')").await;
    assert_eq!(page.evaluate(listed).await, questions);
    let current = "document.querySelector('dialog [aria-current] .short').textContent";
    assert_eq!(page.evaluate(current).await, "What have we not asked?");
    page.press_key("ArrowLeft").await;
    page.press_key("Escape").await;
    page.until("!document.querySelector('dialog[open]')").await;
    assert_eq!(page.evaluate(TITLE).await, "Question 4 of 4");
    page.press("Questions").await;
    page.evaluate("document.querySelector('dialog .all button').click()").await;
    page.headed("Question 1 of 4").await;
    // The next answer plays as fast, and what the browser's own controls choose is shown.
    assert_eq!(page.evaluate(rate).await, 2);
    page.until("document.querySelector('.speed select').value === '2'").await;
    let chosen = "document.querySelector('.speed select').selectedOptions[0]?.textContent";
    page.evaluate("document.querySelector('.frame video').playbackRate = 0.5").await;
    page.until(&format!("{chosen} === '0.5×'")).await;
    // A choice stays although the browser tells first that the film is there, and one that was made just before the next question.
    let go =
        |place: u8| format!("history.pushState(null, '', '#{place}'); dispatchEvent(new Event('popstate'));");
    page.evaluate(&format!(
        "{{ {} const video = document.querySelector('.frame video');
            video.addEventListener('durationchange', () => {{ video.playbackRate = 0.75; }}, {{ once: true }}); }}",
        go(4)
    ))
    .await;
    page.until(&format!("{chosen} === '0.75×'")).await;
    page.evaluate(&format!("{{ {rate} = 1.75; {} }}", go(1))).await;
    page.headed("Question 1 of 4").await;
    assert_eq!(page.evaluate(&format!("[{rate}, {chosen}]")).await, json!([1.75, "1.75×"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_sees_the_film_that_asks_with_its_captions() {
    // Neither ends while the test looks at the other.
    let how = "-f lavfi -i testsrc2=s=64x48:r=5:d=60 -f lavfi -i sine=d=60 -c:v mpeg4 -q:v 5 -c:a aac";
    let film = recorded(how, "mov");
    let first = FirstQuestion { asking: Some(film.clone()), film, ..FirstQuestion::default() };
    let watched = Watched::with_first(json!({}), first).await;
    let visit = &watched.visit;
    let link = watched.link(json!({})).await;
    let mut page = Page::open().await;
    page.go(&format!("{link}#1")).await;
    page.headed("Question 1 of 4").await;
    page.until("document.querySelector('.box video')").await;
    assert_eq!(
        page.evaluate("document.querySelector('.box video').getAttribute('aria-label')").await,
        "Question 1 as a video"
    );
    let track = "document.querySelector('.box track')";
    page.until_promised(&format!("Promise.resolve({track}.readyState === HTMLTrackElement.LOADED)")).await;
    assert_eq!(
        page.evaluate(&format!("[{track}.srclang, {track}.track.mode]")).await,
        json!(["en", "showing"])
    );
    // One film is heard at a time.
    let heard = async |page: &mut Page, played: &str, other: &str| {
        let selector = |name: &str| format!("document.querySelector('.{name} video')");
        let (played, other) = (selector(played), selector(other));
        page.until_promised(&format!(
            "Promise.resolve({played}.currentTime > 0 && !{played}.paused && {other}.paused)"
        ))
        .await;
    };
    page.tab_to("Play answer").await;
    heard(&mut page, "frame", "box").await;
    page.evaluate("document.querySelector('.box video').play()").await;
    heard(&mut page, "box", "frame").await;
    page.tab_to("Play answer").await;
    heard(&mut page, "frame", "box").await;
    let no_complaints: Vec<&Value> = Vec::new();
    assert_eq!(page.complaints(), no_complaints);
    assert!(page.requested().iter().any(|address| address.starts_with(&visit.origin)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_is_opened_by_a_press_and_not_by_the_page() {
    let watched = Watched::build(json!({})).await;
    let visit = &watched.visit;
    let opened = async || {
        let listed = visit.owner.get(&watched.links()).await.expect(200).json();
        listed["objects"][0]["opened_at"].clone()
    };
    let link = watched.link(json!({})).await;
    let mut page = Page::open().await;
    // A program that renders the pages of links in mails does this.
    for place in ["", "#1", "#2"] {
        page.go("about:blank").await;
        page.go(&format!("{link}{place}")).await;
        page.until("document.querySelector('h1')?.textContent").await;
    }
    assert_eq!(opened().await, Value::Null);
    page.press_key("ArrowRight").await;
    page.headed("Question 3 of 4").await;
    page.until_promised(
        "Promise.resolve(performance.getEntriesByType('resource').some(({ name, responseEnd }) => name.endsWith('/review/opening/') && responseEnd > 0))",
    )
    .await;
    assert_ne!(opened().await, Value::Null);
    // Once is enough.
    page.press_key("ArrowLeft").await;
    page.headed("Question 2 of 4").await;
    let told = page.requested().iter().filter(|address| address.ends_with("/review/opening/")).count();
    assert_eq!(told, 1);
}
