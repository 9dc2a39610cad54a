//! The parts of an answer that evaluators see at once, in windows of all sizes and in all languages.

use serde_json::json;
use tests::caller::Caller as _;

use super::evaluator;
use crate::devtools::Page;
use crate::in_sight::{VIEWPORTS, text_of};
use crate::watched::{FirstQuestion, Watched};

/// The least height of a film that is seen above its buttons, where the window is not that of a tiny phone.
const LEAST: f64 = 80.0;
/// The places of the film and the buttons, and the texts that a button or a box of the header cuts.
const SHOWN: &str = "(() => {
    const box = one => { const { left, top, right, bottom } = one.getBoundingClientRect(); return { left, top, right, bottom }; };
    const [film, play, next] = ['.frame > video', '.playing button', '.steps button:last-child'].map(one => document.querySelector(one));
    const controls = [...document.querySelectorAll('.controls button, header select, header button')].filter(one => one.checkVisibility());
    const isCut = one => one.scrollWidth > one.clientWidth || one.getBoundingClientRect().right > innerWidth;
    return { film: box(film), play: box(play), next: box(next), cut: controls.filter(isCut).map(one => one.textContent) };
})()";

impl Page {
    /// Checks that the film and the buttons that play it and lead on are in sight in a window of this size.
    async fn assert_watchable(&mut self, [width, height]: [u32; 2], about: &str) {
        self.fit([width, height]).await;
        self.evaluate("scrollTo(0, 0)").await;
        let shown = self.evaluate(SHOWN).await;
        let row = format!("{width}×{height}, {about}: {shown}");
        let at = |part: &str, side: &str| shown[part][side].as_f64().unwrap();
        for part in ["play", "next"] {
            let is_in_sight = at(part, "top") >= 0.0 && at(part, "bottom") <= height.into();
            assert!(is_in_sight && at(part, "right") <= width.into(), "{part}: {row}");
        }
        let is_beside = at("play", "left") >= at("film", "right");
        let end = if is_beside { height.into() } else { at("play", "top") };
        let seen = at("film", "bottom").min(end) - at("film", "top");
        assert!(seen >= if height < 560 && !is_beside { 0.0 } else { LEAST }, "{seen}: {row}");
        assert_eq!(shown["cut"], json!([]), "{row}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_film_and_its_buttons_are_in_sight_at_once() {
    let first = FirstQuestion { text: text_of(990), ..FirstQuestion::default() };
    let watched = Watched::with_first(json!({ "name": "Data engineer" }), first).await;
    let visit = &watched.visit;
    let (project, _) = visit.candidate.uri.split_once("candidates/").unwrap();
    let judge = evaluator(visit, project).await;
    visit.app.settle().await;
    let candidate = visit.owner.get(&visit.candidate.uri).await.expect(200).json();
    let mut page = Page::open().await;
    page.go(candidate["interview_suite_url"].as_str().unwrap()).await;
    page.sign_in(&judge).await;
    page.on("result").await;
    for (number, about) in [(1, "990 characters"), (4, "a short question")] {
        page.turn_page(number, &format!("Question {number} of 4")).await;
        page.until_promised("Promise.resolve(document.querySelector('.frame > video')?.videoWidth > 0)")
            .await;
        for size in VIEWPORTS {
            page.assert_watchable(size, about).await;
        }
    }
    for language in ["de", "fr", "es", "it", "nl"] {
        page.choose_language(language).await;
        page.until(&format!(
            "document.documentElement.lang === '{language}' && document.querySelector('.playing')"
        ))
        .await;
        for size in [[320, 640], [390, 844], [844, 390], [1440, 900]] {
            page.assert_watchable(size, language).await;
        }
    }
}
