//! Much of everything: questions, evaluators, letters in a name, and other directions of writing.

use futures_util::{StreamExt as _, stream};
use image::ImageFormat;
use serde_json::json;
use shared::domain::candidate::CandidateStatus;
use tests::caller::{Caller, last_segment};
use tests::files::{Form, pdf, photo};
use tests::http::Request;

use super::Judged;
use super::judging::evaluate;
use crate::accessibility::NARROW;
use crate::devtools::Page;
use crate::in_sight::text_of;

const VALUE: &str = "Value, from 0 to 5";
const SAVED: &str = "Saved as a draft. Only you see it.";
/// The longest names.
const LONGEST: usize = 150;
/// How many people besides its manager may have a role in a project.
const MOST: usize = 39;

/// A name of one word.
fn long_name(letters: &str) -> String {
    letters.chars().cycle().take(LONGEST).collect()
}

/// Checks that a narrow window scrolls in one direction.
async fn assert_fits(page: &mut Page) {
    page.fit([NARROW, 640]).await;
    assert_eq!(page.evaluate("document.documentElement.scrollWidth").await, NARROW, "{}", page.text().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn thirty_questions_are_gone_through_and_judged() {
    let texts: Vec<_> =
        (1..=30).map(|number| (format!("Question {number}?"), format!("Answer {number}."))).collect();
    let answered: Vec<_> = texts.iter().map(|(text, answer)| (&**text, &**answer)).collect();
    let judged = Judged::about(&answered, 1, json!({})).await;
    let mut page = judged.opened_by(0).await;
    for number in 1..30 {
        page.until(&format!("document.querySelector('.written')?.textContent === 'Answer {number}.'")).await;
        page.write_into(VALUE, "3").await;
        page.press("Next").await;
    }
    page.tells("Answer 30.").await;
    page.tells(SAVED).await;
    page.press("All questions").await;
    page.until("document.querySelectorAll('dialog[open] li').length === 30").await;
    let told = page.evaluate("document.querySelectorAll('dialog[open] li')[28].innerText").await;
    assert!(told.as_str().unwrap().contains("your rating: 3"), "{told}");
    // It opens at the question that is shown.
    assert_eq!(page.evaluate("document.activeElement.innerText.includes('Question 30?')").await, true);
    // The list scrolls in the window, and the way out stays in sight.
    page.fit([NARROW, 640]).await;
    page.evaluate("document.querySelector('dialog[open]').scrollTo(0, 0)").await;
    let close = "(button => { const { left, top, bottom } = button.getBoundingClientRect();
        return bottom <= innerHeight && document.elementFromPoint(left + 9, (top + bottom) / 2) === button;
    })(document.querySelector('dialog[open] > button:last-child'))";
    assert_eq!(page.evaluate(close).await, true);
    page.press("To the evaluation").await;
    page.until("document.activeElement.textContent === 'Evaluation'").await;
    page.press("Complete the evaluation…").await;
    let missing = "[...document.querySelectorAll('dialog[open] ul li')].map(line => line.textContent)";
    let lines = json!([
        "Question 30: no value",
        "\u{2068}Clarity\u{2069}: no value",
        "No recommendation",
        "No words about the candidate"
    ]);
    assert_eq!(page.evaluate(missing).await, lines);
    page.press("Complete it now").await;
    page.tells("3 / 5").await;
    assert_fits(&mut page).await;
    assert_eq!(judged.saved(0).await["ratings"].as_array().unwrap().len(), 29);
}

#[tokio::test(flavor = "multi_thread")]
async fn as_many_evaluators_as_a_project_takes_are_read_with_the_longest_names() {
    let judged = Judged::by(0, json!({ "name": long_name("Projekt") })).await;
    let visit = &judged.visit;
    let owner = &visit.owner;
    let (_, token) = owner.named_token("Imports").await;
    let questions = owner.get(&format!("{}questions/", judged.project)).await.expect(200).json();
    let question = &questions["objects"][0]["resource_uri"];
    let body = json!({
        "ratings": [{ "question": question, "value": 2, "comment": long_name("comment") }],
        "recommendation": "no", "comment": long_name("overall"), "completed": true,
    });
    let evaluate = async |number: usize| {
        let names = json!({ "first_name": format!("E{number}"), "last_name": long_name("Name") });
        let evaluator = owner.colleague("hiring-manager", names).await.uri;
        let role = json!({ "customer": evaluator, "role": "evaluator" });
        owner.post(&format!("{}roles/", judged.project), role).await.expect(201);
        let evaluator = last_segment(&evaluator);
        let save = format!("{}evaluations/{evaluator}/", visit.candidate.uri);
        token.send(Request::put(&save).json(&body)).await.expect(201);
    };
    stream::iter(1..=MOST).for_each(evaluate).await;
    let names = json!({ "first_name": long_name("Vorname"), "last_name": long_name("Nachname") });
    owner.patch(&visit.candidate.uri, names).await.expect(200);

    let mut page = Page::open().await;
    page.go(&judged.address().await).await;
    page.sign_in(owner).await;
    page.on("result").await;
    assert_fits(&mut page).await;
    page.turn_page(3, "Evaluation").await;
    page.until(&format!("document.querySelectorAll('.others h3').length === {MOST}")).await;
    let told = "[...document.querySelectorAll('.others h3')].every(one => one.textContent.startsWith('E'))";
    assert_eq!(page.evaluate(told).await, true);
    assert_fits(&mut page).await;
    page.evaluate("document.querySelectorAll('.about a')[1].click()").await;
    page.on("project").await;
    page.tells("Rating 2 / 5").await;
    assert_fits(&mut page).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn long_questions_leave_room_for_what_all_evaluators_say_of_them() {
    let judged = Judged::about(&[(&text_of(990), "Because.")], 1, json!({})).await;
    evaluate(&judged, 0, "A clear answer").await;
    let mut page = judged.opened_by(0).await;
    page.turn_page(2, "Evaluation").await;
    page.until("document.querySelector('.others li b')").await;
    for size in [[NARROW, 640], [1440, 900]] {
        page.fit(size).await;
        let rows = "[...document.querySelectorAll('.others :is(.facts > div, li)')].slice(1).map(row => {
            const [text, value] = row.querySelectorAll('.short, dd, b');
            return [text.getBoundingClientRect().height, text.innerText.length, value.innerText];
        })";
        // Two lines, of a text that is there as a whole.
        let shown: Vec<(f64, usize, String)> = serde_json::from_value(page.evaluate(rows).await).unwrap();
        let is_short = |(height, letters, _): &&(f64, usize, String)| *letters == 990 && *height < 60.0;
        assert_eq!(shown.iter().filter(is_short).count(), 2, "{shown:?}");
        assert!(shown.iter().all(|(_, letters, value)| *letters < 990 || value == "4.5 / 5"), "{shown:?}");
    }
    assert_fits(&mut page).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn more_projects_than_fifty_are_shown_when_asked_for_and_those_that_wait_first() {
    let judged = Judged::by(1, json!({})).await;
    let owner = &judged.visit.owner;
    evaluate(&judged, 0, "Good.").await;
    for number in 1..=51 {
        let fields = json!({
            "name": format!("Project {number}"), "allow_hash_login": true,
            "evaluators": [judged.evaluators[0].uri],
        });
        let project = owner.running_project(fields).await;
        if number == 2 {
            owner.candidate_at(&project, CandidateStatus::Interviewed).await;
        }
    }
    let mut page = Page::open().await;
    page.go(&format!("{}/staff/acme/", judged.visit.origin)).await;
    page.sign_in(&judged.evaluators[0]).await;
    page.on("home").await;
    let names = "[...document.querySelectorAll('.entry .named')].map(one => one.textContent)";
    let shown = page.evaluate(names).await;
    assert_eq!((shown.as_array().unwrap().len(), &shown[0]), (50, &json!("Project 2")));
    page.press("Show more").await;
    page.until("document.querySelectorAll('.entry').length === 52").await;
    let focused = "document.activeElement.querySelector('.named').textContent";
    assert_eq!(page.evaluate(focused).await, "Project 50");
    assert!(!page.text().await.contains("Show more"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_photo_and_the_cv_of_a_candidate_are_shown() {
    let judged = Judged::by(1, json!({})).await;
    let form = Form::new().file("photo", "me.jpg", "image/jpeg", &photo(ImageFormat::Jpeg, 600, 900)).file(
        "cv",
        "cv.pdf",
        "application/pdf",
        &pdf(1000),
    );
    let owner = &judged.visit.owner;
    owner.send(Request::patch(&judged.visit.candidate.uri).form(form)).await.expect(200);
    let mut page = judged.opened_by(0).await;
    page.evaluate("document.querySelector('summary').click()").await;
    page.until_promised("document.querySelector('.photo').decode().then(() => true)").await;
    let shown = "(({ alt, height }) => [alt, height <= 144])(document.querySelector('.photo'))";
    assert_eq!(page.evaluate(shown).await, json!(["Photo of Ada Lovelace", true]));
    let cv = page
        .evaluate(
            "[...document.querySelectorAll('.facts a')].find(one => one.textContent === 'Open the CV').href",
        )
        .await;
    judged.visit.app.anonymous().get(cv.as_str().unwrap()).await.expect(302);
    assert_fits(&mut page).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_people_write_keeps_its_direction() {
    let arabic = "لماذا نحن؟";
    let judged = Judged::about(
        &[(arabic, "لأنني أريد."), ("Why you?", "I can.")],
        1,
        json!({ "name": "مهندس بيانات" }),
    )
    .await;
    let owner = &judged.visit.owner;
    owner
        .patch(&judged.visit.candidate.uri, json!({ "first_name": "ليلى", "last_name": "حداد" }))
        .await
        .expect(200);
    let mut page = judged.opened_by(0).await;
    let direction =
        |selector: &str| format!("getComputedStyle(document.querySelector('{selector}')).direction");
    for selector in [".asked", ".written", ".about a + a, .about a:last-of-type"] {
        assert_eq!(page.evaluate(&direction(selector)).await, "rtl", "{selector}");
    }
    // The page itself stays as it is.
    assert_eq!(page.evaluate(&direction("main")).await, "ltr");
    page.write_into("Comment", arabic).await;
    assert_eq!(page.evaluate(&direction("textarea")).await, "rtl");
    page.write_into(VALUE, "4").await;
    page.tells(SAVED).await;
    page.turn_page(3, "Evaluation").await;
    page.press("Complete the evaluation…").await;
    page.press("Complete it now").await;
    page.until("document.querySelector('.others blockquote')").await;
    assert_eq!(page.evaluate(&direction(".others blockquote")).await, "rtl");
    let names = "[...document.querySelectorAll('.others dt bdi')].map(one => one.textContent)";
    assert_eq!(page.evaluate(names).await, json!([arabic, "Why you?", "Clarity"]));
    assert_fits(&mut page).await;
}
