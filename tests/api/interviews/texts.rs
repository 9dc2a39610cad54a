//! Written answers, which have items of their own.

use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::Caller;

use super::{answer, begin, interview, project, write};

/// The longest text: 8,000 bytes.
fn longest(number: usize) -> String {
    char::from_u32(0x1_F600 + u32::try_from(number).unwrap()).unwrap().to_string().repeat(2_000)
}

async fn stored(app: &TestApp) -> usize {
    app.table().snapshot().await.keys().filter(|(pk, _)| pk.starts_with("TEXTS#")).count()
}

#[tokio::test]
async fn a_long_text_costs_its_own_size_however_many_there_are() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let questions: Vec<Value> =
        (1..=30).map(|number| json!({ "text": format!("Why {number}?"), "kind": "text" })).collect();
    let (project, asked) = project(&owner, json!({ "interview_platform": "builtin" }), &questions).await;
    let candidate = begin(&owner, &project).await;
    let mut units = Vec::new();
    for (number, question) in asked.iter().enumerate() {
        let written = write(&candidate, question, &longest(number)).await.expect(201);
        units.push(written.log().write_units);
    }
    // A text of 8 KB takes 16 units in a transaction, and what is written with it is small.
    assert!(units[29] < 45.0, "{units:?}");
    let again = write(&candidate, &asked[29], &longest(0)).await.expect(200);
    assert_eq!(again.json()["text"], longest(0));
    assert!(again.log().write_units < 45.0, "{:?}", again.log());
    let all = interview(&owner, &candidate.uri).await;
    let texts: Vec<&str> =
        all["answers"].as_array().unwrap().iter().map(|one| one["text"].as_str().unwrap()).collect();
    let expected: Vec<String> = (0..29).chain([0]).map(longest).collect();
    assert_eq!(texts, expected);
    let one = owner.get(&answer(&candidate, &asked[7])).await.expect(200);
    assert_eq!(one.json()["text"], longest(7));
    assert_eq!(one.log().dynamodb_calls, 2, "admission, and the text");
    let data = candidate.get(&format!("{}data/", candidate.uri)).await.expect(200).json();
    assert_eq!(data["answers"][7]["text"], longest(7));
}

#[tokio::test]
async fn a_reset_and_an_erasure_leave_no_text() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let questions = ["One?", "Two?"].map(|text| json!({ "text": text, "kind": "text" }));
    let (project, asked) = project(&owner, json!({ "interview_platform": "builtin" }), &questions).await;
    let candidate = begin(&owner, &project).await;
    for question in &asked {
        write(&candidate, question, "Because.").await.expect(201);
    }
    assert_eq!(stored(&app).await, 2);
    owner.delete(&answer(&candidate, &asked[0])).await.expect(204);
    assert_eq!(stored(&app).await, 1);
    owner.get(&answer(&candidate, &asked[0])).await.expect(404);
    let all = interview(&candidate, &candidate.uri).await;
    assert_eq!((&all["answers"][0]["text"], &all["answers"][1]["text"]), (&Value::Null, &json!("Because.")));
    write(&candidate, &asked[0], "Anew.").await.expect(201);
    assert_eq!(stored(&app).await, 2);
    owner.delete(&candidate.uri).await.expect(204);
    app.settle().await;
    assert_eq!(stored(&app).await, 0);
}
