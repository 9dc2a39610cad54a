//! What helps evaluators to judge alike, and what they have said: anchors, first judgements, and the results as a file.

use serde_json::{Value, json};
use tests::caller::{Caller, Staff};
use tests::http::Request;

use super::Judged;
use super::judging::evaluate;
use crate::devtools::Page;

const VALUE: &str = "Value, from 0 to 5";

/// Completes an evaluation with this value of everything, or changes a completed one.
async fn rate(judged: &Judged, evaluator: usize, value: u32) {
    let staff = &judged.evaluators[evaluator];
    let shown = staff.get(&format!("{}?expand=questions,criteria", judged.project)).await.expect(200).json();
    let rating = |kind: &str, one: &Value| json!({ kind: one["resource_uri"], "value": value });
    let questions = shown["questions"].as_array().unwrap().iter().map(|one| rating("question", one));
    let criteria = shown["criteria"].as_array().unwrap().iter().map(|one| rating("criterion", one));
    let recommendation = if value < 3 { "no" } else { "yes" };
    let body = json!({
        "ratings": questions.chain(criteria).collect::<Vec<_>>(), "recommendation": recommendation, "completed": true,
    });
    staff.send(Request::put(&judged.evaluation(evaluator)).json(&body)).await;
}

async fn open(judged: &Judged, address: &str, staff: &Staff) -> Page {
    let mut page = Page::open().await;
    page.go(&format!("{}{address}", judged.visit.origin)).await;
    page.sign_in(staff).await;
    page
}

#[tokio::test(flavor = "multi_thread")]
async fn anchors_stand_beside_the_value_that_they_are_about() {
    let judged = Judged::by(1, json!({})).await;
    let anchors = json!([
        { "value": 1, "text": "Repeats the question." },
        { "value": 4.5, "text": "Names two trade-offs\nunasked." },
    ]);
    for list in ["questions", "criteria"] {
        let listed = judged.visit.owner.get(&format!("{}{list}/", judged.project)).await.expect(200).json();
        let uri = listed["objects"][0]["resource_uri"].as_str().unwrap().to_owned();
        judged.visit.owner.patch(&uri, json!({ "anchors": anchors })).await.expect(200);
    }
    let mut page = judged.opened_by(0).await;
    for (place, heading) in [(1, "Question 1 of 2"), (3, "Evaluation")] {
        page.turn_page(place, heading).await;
        page.until("document.querySelectorAll('.anchors li').length === 2").await;
        let field = format!(
            "[...document.querySelectorAll('label')].find(one => one.textContent === '{VALUE}').control"
        );
        // Readers of screens hear them with the field.
        let described = format!(
            "{field}.getAttribute('aria-describedby').split(' ').some(id => document.getElementById(id)?.className === 'anchors')"
        );
        assert_eq!(page.evaluate(&described).await, true);
        let beside = page.evaluate("document.querySelector('.anchors').innerText").await;
        assert_eq!(beside, "1\nRepeats the question.\n4.5\nNames two trade-offs\nunasked.", "{heading}");
    }
    page.turn_page(2, "Question 2 of 2").await;
    assert_eq!(page.evaluate("document.querySelectorAll('.anchors').length").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_said_first_is_told_apart_from_what_was_changed_later() {
    let judged = Judged::by(2, json!({})).await;
    rate(&judged, 0, 2).await;
    rate(&judged, 1, 4).await;
    rate(&judged, 0, 4).await;
    let mut page = Page::open().await;
    page.go(&judged.address().await).await;
    page.sign_in(&judged.visit.owner).await;
    page.on("result").await;
    page.turn_page(3, "Evaluation").await;
    page.tells("What all evaluators say").await;
    page.until("document.querySelectorAll('.others .item').length === 2").await;
    let mut said = Vec::new();
    for one in 0..2 {
        let text =
            page.evaluate(&format!("document.querySelectorAll('.others .item')[{one}].innerText")).await;
        said.push(text.as_str().unwrap().to_owned());
    }
    let [changed, kept] = &said[..] else { panic!() };
    assert_eq!(changed.matches("(at first: 2 / 5)").count(), 3, "{changed}");
    for words in ["Yes · at first: No · completed on ", " · judged before reading the others · changed on "]
    {
        assert!(changed.contains(words), "{changed}");
    }
    assert!(kept.contains("judged before reading the others") && !kept.contains("at first"), "{kept}");
    assert!(!kept.contains("changed on"), "{kept}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_results_of_a_project_are_a_file_that_no_spreadsheet_runs() {
    let judged = Judged::by(2, json!({})).await;
    let owner = &judged.visit.owner;
    let named = json!({ "first_name": "=1+2", "last_name": "Say \"hi\", Ada", "external_id": "+49" });
    owner.patch(&judged.visit.candidate.uri, named).await.expect(200);
    rate(&judged, 0, 2).await;
    rate(&judged, 1, 4).await;
    let path = judged.project.split("/projects/").nth(1).unwrap().trim_end_matches('/').to_owned();
    let mut page = open(&judged, &format!("/project/acme/{path}/"), owner).await;
    page.on("project").await;
    page.evaluate(
        "URL.createObjectURL = (file) => {
            window.file = file.arrayBuffer().then((bytes) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes));
            return 'blob:none';
        }",
    )
    .await;
    page.press("Results as CSV").await;
    page.until_promised("window.file").await;
    let file = page.evaluate("window.file").await;
    let candidate = owner.get(&judged.visit.candidate.uri).await.expect(200).json();
    let expected = format!(
        "\u{feff}candidate,external_id,first_name,last_name,interviewed_at,overall_rating,maximum_score,evaluations,definitely_no,no,\
         yes,strong_yes,vetos,interview_suite_url\r\n{},'+49,'=1+2,\"Say \"\"hi\"\", Ada\",{},3,5,2,0,1,1,0,0,{}\r\n",
        candidate["id"].as_str().unwrap(),
        candidate["interviewdate"].as_str().unwrap(),
        candidate["interview_suite_url"].as_str().unwrap(),
    );
    assert_eq!(file, expected);
    // A cell begins after the semicolon where these separate cells; hyphens in names are no formulas.
    let named = json!({ "first_name": "Anna-Lena", "last_name": "x;=1+1", "external_id": "7;\u{ff1d}1" });
    owner.patch(&judged.visit.candidate.uri, named).await.expect(200);
    page.evaluate("window.file = undefined").await;
    page.press("Results as CSV").await;
    page.until_promised("window.file").await;
    let file = page.evaluate("window.file").await;
    let cells = ",\"7;'\u{ff1d}1\",Anna-Lena,\"x;'=1+1\",";
    assert!(file.as_str().unwrap().contains(cells), "{file}");
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_has_yet_to_evaluate_is_offered_no_results() {
    let judged = Judged::by(2, json!({})).await;
    evaluate(&judged, 1, "Fine.").await;
    let path = judged.project.split("/projects/").nth(1).unwrap().trim_end_matches('/').to_owned();
    let mut page = open(&judged, &format!("/project/acme/{path}/"), &judged.evaluators[0]).await;
    page.on("project").await;
    page.tells("Waiting for your evaluation (1)").await;
    assert_eq!(page.evaluate("document.body.innerText.includes('CSV')").await, false);
}
