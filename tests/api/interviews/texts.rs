//! Written answers, which have items of their own.

use aws_sdk_dynamodb::types::AttributeValue;
use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::assert_refusal;
use tests::caller::Caller;
use tests::http::Request;

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
async fn a_text_that_may_only_be_the_first_replaces_none_and_one_that_may_not_be_the_first_needs_one() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let question = json!({ "text": "One?", "kind": "text" });
    let (project, asked) = project(&owner, json!({ "interview_platform": "builtin" }), &[question]).await;
    let candidate = begin(&owner, &project).await;
    let target = answer(&candidate, &asked[0]);
    let put = |condition: &str, text: &str| {
        Request::put(&target).json(&json!({ "text": text })).header(condition, "*")
    };
    candidate.send(put("if-match", "None.")).await.expect_code(412, "precondition_failed");
    candidate.send(put("if-none-match", "First.")).await.expect(201);
    candidate.send(put("if-none-match", "Second.")).await.expect_code(412, "precondition_failed");
    assert_eq!(owner.get(&target).await.expect(200).json()["text"], "First.");
    candidate.send(put("if-match", "Third.")).await.expect(200);
    owner.delete(&target).await.expect(204);
    candidate.send(put("if-match", "Fourth.")).await.expect_code(412, "precondition_failed");
    owner.get(&target).await.expect(404);
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

#[tokio::test]
async fn six_hundred_texts_an_hour_are_stored() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let question = json!({ "text": "Why?", "kind": "text" });
    let (project, asked) = project(&owner, json!({ "interview_platform": "builtin" }), &[question]).await;
    let candidate = begin(&owner, &project).await;
    write(&candidate, &asked[0], "0").await.expect(201);
    for number in 1..600 {
        write(&candidate, &asked[0], &number.to_string()).await.expect(200);
    }
    app.clock().advance(TimeDelta::minutes(59));
    let refused = write(&candidate, &asked[0], "more").await;
    assert_eq!((refused.header("retry-after"), refused.log().write_units), (Some("60"), 0.0));
    assert_refusal!(refused, @r#"429 {"code":"throttled","detail":"Too many attempts. Try again after the seconds in `Retry-After`."}"#);
    app.clock().advance(TimeDelta::minutes(1));
    write(&candidate, &asked[0], "more").await.expect(200);
}

#[tokio::test]
async fn a_long_history_is_erased_in_several_tries() {
    const ENTRIES: u64 = 2_500;
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let question = json!({ "text": "Why?", "kind": "text" });
    let (project, asked) = project(&owner, json!({ "interview_platform": "builtin" }), &[question]).await;
    let candidate = begin(&owner, &project).await;
    for text in ["One.", "Two."] {
        write(&candidate, &asked[0], text).await;
    }
    let contents = app.table().contents().await;
    let is_second = |(pk, sk): &&(String, String)| pk.ends_with("-interview") && sk == "0000000002";
    let entry = contents[contents.keys().find(is_second).unwrap()].clone();
    for version in 3..=ENTRIES {
        let mut entry = entry.clone();
        entry.insert("sk".to_owned(), AttributeValue::S(format!("{version:010}")));
        entry.insert("version_after".to_owned(), AttributeValue::N(version.to_string()));
        app.table().put(entry).await;
    }
    let answers = contents.keys().find(|(pk, _)| pk.starts_with("ANSWERS#")).unwrap();
    app.table().set(answers, "version", AttributeValue::N(ENTRIES.to_string())).await;
    let said = async || {
        let entries = app.table().snapshot().await;
        let says = |item: &Value| item.to_string().contains("changed");
        entries.iter().filter(|((pk, _), item)| pk.ends_with("-interview") && says(item)).count()
    };
    owner.delete(&candidate.uri).await.expect(204);
    app.settle().await;
    let left = said().await;
    assert!((1..1_000).contains(&left), "{left}");
    app.sweep().await;
    app.settle().await;
    assert_eq!(said().await, 0);
    app.clock().advance(TimeDelta::minutes(50));
    app.sweep().await;
    app.settle().await;
    let feed = owner.get("/companies/acme/events/?type=candidate.erased").await.expect(200).json();
    let erased = &feed["objects"][0]["data"]["erased"];
    assert!(erased["history_entries"].as_u64().unwrap() > ENTRIES, "{feed}");
}
