//! Questions whose texts change after they were asked: answers are shown under the text that the candidate has read.

use serde_json::{Value, json};
use tests::app::TestApp;
use tests::assert_refusal;
use tests::caller::{Caller, last_segment};
use tests::http::Request;

use super::GuestFixture;
use crate::evaluations::crud::save;
use crate::interviews::{answer, begin, interview, project, write};

const ASKED: [&str; 3] = ["Why us?", "Since when?", "Anything else?"];
const CHANGED: [&str; 3] = ["Why not us?", "Until when?", "Nothing else?"];

fn texts(list: &Value, name: &str) -> Vec<String> {
    list.as_array().unwrap().iter().map(|one| one[name].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn answers_are_shown_under_the_question_as_it_was_asked() {
    let given = GuestFixture::start().await;
    let GuestFixture { owner, project, candidate, questions, .. } = &given;
    let (_, key) = given.link(json!({})).await;
    owner.patch(project, json!({ "evaluators": [owner.uri] })).await.expect(200);
    let evaluation = json!({ "ratings": [{ "question": questions[0], "value": 4 }], "completed": true });
    save(owner, &candidate.uri, evaluation).await.expect(201);
    let shown = async || {
        let all = interview(owner, &candidate.uri).await;
        let result = format!("{project}results/{}/", last_segment(&candidate.uri));
        let result = owner.get(&result).await.expect(200).json();
        let listed = owner.get(&format!("{project}results/")).await.expect(200).json();
        let data = owner.get(&format!("{}data/", candidate.uri)).await.expect(200).json();
        let [film, text] = &data["answers"].as_array().unwrap()[..] else { panic!("{data}") };
        let mut data = [film, text].map(|one| one["question_text"].as_str().unwrap().to_owned());
        data.sort();
        let one = owner.get(&answer(candidate, &questions[1])).await.expect(200).json();
        let asked = texts(&all["answers"], "question_text");
        assert_eq!(asked, texts(&result["question_results"], "question_text"));
        assert_eq!(asked, texts(&listed["objects"][0]["question_results"], "question_text"));
        let mut answered = [asked[0].clone(), asked[1].clone()];
        answered.sort();
        assert_eq!(answered, data);
        assert_eq!(one["question_text"], asked[1]);
        assert_eq!(asked, texts(&given.review(&key).await.expect(200).json()["questions"], "text"));
        asked
    };
    assert_eq!(shown().await, ASKED);
    let costs = async || owner.get(&format!("{project}results/")).await.expect(200).log().dynamodb_calls;
    let calls = costs().await;
    for (question, text) in questions.iter().zip(CHANGED) {
        let question = owner.patch(question, json!({ "text": text })).await.expect(200).json();
        assert_eq!(question["text"], text);
        assert_eq!(question.get("former_texts"), None);
    }
    assert_eq!(shown().await, [ASKED[0], ASKED[1], CHANGED[2]], "nothing was answered to the last one");
    assert_eq!(costs().await, calls + 1, "answers are read only once texts have changed");
    owner.patch(&questions[0], json!({ "text": ASKED[0] })).await.expect(200);
    assert_eq!(shown().await, [ASKED[0], ASKED[1], CHANGED[2]]);
}

#[tokio::test]
async fn a_share_of_a_candidate_shows_the_project_and_what_was_asked_and_no_question_of_the_project() {
    let given = GuestFixture::start().await;
    let GuestFixture { app, owner, project, candidate, questions, .. } = &given;
    let sharee = app.staff("hiring-manager").await;
    let target = format!("{}interview/", candidate.uri);
    sharee.get(&target).await.expect_code(404, "not_found");
    owner.post(&format!("{}shares/", candidate.uri), json!({ "customer": sharee.uri })).await.expect(201);
    for (question, text) in questions.iter().zip(CHANGED) {
        owner.patch(question, json!({ "text": text })).await.expect(200);
    }
    owner.patch(project, json!({ "name": "Sales <b>2</b>" })).await.expect(200);
    for reader in [owner, &sharee] {
        let shown = interview(reader, &candidate.uri).await;
        assert_eq!(texts(&shown["answers"], "question_text"), [ASKED[0], ASKED[1], CHANGED[2]]);
        assert_eq!(shown["project_name"], "Sales <b>2</b>");
    }
    for hidden in [project.clone(), format!("{project}questions/"), questions[0].clone()] {
        sharee.get(&hidden).await.expect_code(404, "not_found");
    }
}

#[tokio::test]
async fn a_text_that_is_written_anew_answers_todays_question() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let question = json!({ "text": "One?", "kind": "text" });
    let (project, asked) = project(&owner, json!({ "interview_platform": "builtin" }), &[question]).await;
    let candidate = begin(&owner, &project).await;
    let shown = async || interview(&owner, &candidate.uri).await["answers"][0]["question_text"].clone();
    assert_eq!(shown().await, "One?");
    write(&candidate, &asked[0], "Because.").await.expect(201);
    owner.patch(&asked[0], json!({ "text": "Two?" })).await.expect(200);
    let replacement = Request::put(&asked[0]).json(&json!({ "text": "Three?", "kind": "text" }));
    owner.send(replacement).await.expect(200);
    assert_eq!(shown().await, "One?");
    let written = write(&candidate, &asked[0], "Indeed.").await.expect(200).json();
    assert_eq!(written["question_text"], "Three?");
    assert_eq!(shown().await, "Three?");
    owner.delete(&answer(&candidate, &asked[0])).await.expect(204);
    owner.patch(&asked[0], json!({ "text": "Four?" })).await.expect(200);
    assert_eq!(shown().await, "Four?", "nothing is answered any more");
}

#[tokio::test]
async fn texts_are_kept_from_the_first_candidate_on_up_to_a_limit() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let question = json!({ "text": "One?", "kind": "text" });
    let (project, asked) = project(&owner, json!({ "interview_platform": "builtin" }), &[question]).await;
    let kept = async || app.table().snapshot().await.values().any(|item| item.to_string().contains("former"));
    owner.patch(&asked[0], json!({ "text": "Two?" })).await.expect(200);
    assert!(!kept().await, "nobody was asked");
    // A candidate begins and answers while a change is on its way that has seen nobody begin.
    let paused = chaos.pause("TransactWriteItems");
    let change = owner.patch(&asked[0], json!({ "text": "Three?" }));
    let meanwhile = async {
        paused.reached().await;
        let candidate = begin(&owner, &project).await;
        write(&candidate, &asked[0], "Because.").await.expect(201);
        paused.resume();
        candidate
    };
    let (changed, candidate) = tokio::join!(change, meanwhile);
    changed.expect(200);
    assert!(kept().await);
    assert_eq!(interview(&owner, &candidate.uri).await["answers"][0]["question_text"], "Two?");
    let mut number = 0;
    let refused = loop {
        number += 1;
        let text = char::from_u32(0x1_F600 + number).unwrap().to_string().repeat(1000);
        let changed = owner.patch(&asked[0], json!({ "text": text })).await;
        if changed.status != 200 {
            break changed;
        }
    };
    assert_refusal!(refused, @r#"400 {"code":"too_many_texts","detail":"The texts of the questions were changed too often since candidates began: answers are shown with the text that was asked. Copy the project to ask other questions."}"#);
    assert_eq!(number, 16, "60,000 bytes");
    assert_eq!(interview(&owner, &candidate.uri).await["answers"][0]["question_text"], "Two?");
    owner.patch(&asked[0], json!({ "internal_description": "Listen." })).await.expect(200);
}
