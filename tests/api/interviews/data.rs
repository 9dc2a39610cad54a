//! Answers in the document with all data of a candidate.

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::assert_refusals;
use tests::caller::{Caller, last_segment};
use tests::takes::Interviewee;
use tests::videos::film;

use crate::evaluations::crud::save;

#[tokio::test]
async fn the_document_holds_the_recordings_and_what_happened_to_them() {
    let app = TestApp::start().await;
    let person = Interviewee::asked(&app, json!({})).await;
    person.record(&[&film()]).await;
    app.settle().await;
    let data = format!("{}data/", person.candidate.uri);
    let own = person.candidate.get(&data).await.expect(200).json();
    app.complete(&person.candidate.uri).await;
    let whole = person.owner.get(&data).await.expect(200).json();
    let [answer] = &whole["answers"].as_array().unwrap()[..] else { panic!("{whole}") };
    assert_eq!(last_segment(answer["question"].as_str().unwrap()), last_segment(&person.answer));
    let take = &answer["takes"][0];
    assert_eq!((&take["status"], &take["seconds"]), (&json!("successful"), &json!(2)));
    app.anonymous().get(take["url"].as_str().unwrap()).await.expect(302);

    let kinds = |document: &Value| -> Vec<(String, String)> {
        let entries = document["history"].as_array().unwrap();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        entries.iter().map(|entry| (text(&entry["timestamp"]), text(&entry["type"]))).collect()
    };
    let history = kinds(&whole);
    assert!(history.is_sorted_by_key(|(at, _)| at.clone()), "{history:?}");
    for expected in ["candidate.interviewed", "answer.converted"] {
        assert!(history.iter().any(|(_, kind)| kind == expected), "{expected} in {history:?}");
    }
    assert_eq!(own["answers"][0]["takes"][0]["seconds"], 2);
    assert_eq!(own.get("history"), None);
}

#[tokio::test]
async fn the_document_is_refused_while_a_part_of_it_cannot_be_read() {
    let app = TestApp::start().await;
    let person = Interviewee::asked(&app, json!({})).await;
    person.begin().await;
    app.complete(&person.candidate.uri).await;
    let (project, _) = person.candidate.uri.split_once("candidates/").unwrap();
    person.owner.patch(project, json!({ "evaluators": [person.owner.uri] })).await.expect(200);
    let question = format!("{project}questions/{}/", last_segment(&person.answer));
    let ratings = json!([{ "question": question, "value": 4 }]);
    let evaluation = json!({ "ratings": ratings, "recommendation": "yes", "completed": true });
    save(&person.owner, &person.candidate.uri, evaluation).await.expect(201);
    let data = format!("{}data/", person.candidate.uri);
    let contents = app.table().contents().await;
    let mut refused = Vec::new();
    let (project, candidate) = (last_segment(project), last_segment(&person.candidate.uri));
    let partitions = [
        format!("COMPANY#acme#PROJECT#{project}#EVALUATIONS"),
        format!("HISTORY#acme#{candidate}"),
        format!("HISTORY#acme#{candidate}-interview"),
        format!("ANSWERS#acme#{project}"),
    ];
    for partition in &partitions {
        let (key, stored) = contents.iter().find(|((pk, _), _)| pk == partition).expect(partition);
        app.table().set(key, "version", AttributeValue::S("sealed".to_owned())).await;
        refused.push(person.owner.get(&data).await);
        app.table().set(key, "version", stored["version"].clone()).await;
    }
    assert_refusals!(refused, @r#"4 x 503 {"code":"unreadable","detail":"This resource was written by a newer release that is still being deployed. Try again in a minute."}"#);
    person.owner.get(&data).await.expect(200);
}
