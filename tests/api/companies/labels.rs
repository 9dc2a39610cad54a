//! Labels, by which a company sorts its projects.

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, last_segment};
use tests::{assert_refusal, assert_refusals};

const LABELS: &str = "/companies/acme/labels/";

#[tokio::test]
async fn a_label_is_created_read_changed_and_deleted() {
    let app = TestApp::start().await;
    let recruiter = app.staff("recruiter").await;
    let created = recruiter.post(LABELS, json!({ "text": " Sales ", "company": 7 })).await.expect(201);
    let uri = created.uri("resource_uri");
    assert_eq!(created.header("location"), Some(uri.as_str()));
    let company = "https://hr.example/api/v3/companies/acme/";
    let label = |text: &str| json!({ "id": last_segment(&uri), "resource_uri": uri, "company": company, "text": text });
    assert_eq!(created.json(), label("Sales"));
    let reader = app.staff("hiring-manager").await;
    reader.get(&uri).await.expect_json(200, label("Sales"));
    recruiter.patch(&uri, json!({ "text": "Vertrieb" })).await.expect_json(200, label("Vertrieb"));
    recruiter.patch(&uri, label("Vertrieb")).await.expect_json(200, label("Vertrieb"));
    recruiter.patch(&uri, json!({})).await.expect_json(200, label("Vertrieb"));
    app.assert_sound();
    recruiter.delete(&uri).await.expect(204);
    let missing = recruiter.get(&uri).await.expect_code(404, "not_found").body;
    recruiter.delete(&uri).await.expect(404);
    assert_eq!(recruiter.patch(&uri, json!({ "text": "x" })).await.expect(404).body, missing);
}

#[tokio::test]
async fn a_text_has_something_to_see_in_it_and_at_most_100_characters() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let uri = owner.label("Sales").await;
    let before = app.table().snapshot().await;
    assert_refusal!(owner.post(LABELS, json!({})).await, @r#"400 {"text":["This field is required."]}"#);
    let mut refusals = Vec::new();
    for text in [json!(""), json!(" \u{200b}"), json!(null), json!(1), json!("x".repeat(101)), json!("\u{7}")]
    {
        refusals.push(owner.post(LABELS, json!({ "text": text })).await);
        refusals.push(owner.patch(&uri, json!({ "text": text })).await);
    }
    assert_refusals!(refusals, @r#"
        6 x 400 {"text":["This field may not be blank."]}
        2 x 400 {"text":["This field may not be null."]}
        2 x 400 {"text":["Not a valid string."]}
        2 x 400 {"text":["Ensure this field has no more than 100 characters."]}
        "#);
    assert_eq!(app.table().snapshot().await, before);
    // A character that folding swells to eighteen.
    owner.label(&"\u{fdfa}".repeat(100)).await;
    owner.label("x").await;
}

#[tokio::test]
async fn a_text_is_unique_in_the_company_ignoring_case() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let (sales, other) = (owner.label("Vertrieb Süd").await, owner.label("Technik").await);
    for same in ["Vertrieb Süd", "VERTRIEB SÜD", "vertrieb su\u{308}d", " Vertrieb Süd "] {
        assert_refusal!(owner.post(LABELS, json!({ "text": same })).await, @r#"400 {"text":["A label with this text already exists."]}"#);
        assert_refusal!(owner.patch(&other, json!({ "text": same })).await, @r#"400 {"text":["A label with this text already exists."]}"#);
    }
    // The label's own text is no obstacle, and a text that was given up is free.
    let changed = owner.patch(&sales, json!({ "text": "VERTRIEB SÜD" })).await.expect(200).json();
    assert_eq!(changed["text"], "VERTRIEB SÜD");
    owner.patch(&sales, json!({ "text": "Vertrieb" })).await.expect(200);
    owner.label("Vertrieb Süd").await;
    owner.delete(&other).await.expect(204);
    owner.label("technik").await;
    let stranger = app.owner_of("globex").await;
    stranger.label("Technik").await;
}

#[tokio::test]
async fn of_many_concurrent_creations_of_a_text_one_succeeds() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let create = async |n: usize| {
        let text = if n.is_multiple_of(2) { "Sales" } else { "SALES" };
        owner.post(LABELS, json!({ "text": text })).await
    };
    let (a, b, c, d) = tokio::join!(create(0), create(1), create(2), create(3));
    let (made, refused): (Vec<_>, Vec<_>) =
        [a, b, c, d].into_iter().partition(|response| response.status.as_u16() == 201);
    assert_eq!(made.len(), 1);
    for response in refused {
        assert_refusal!(response, @r#"400 {"text":["A label with this text already exists."]}"#);
    }
    assert_eq!(owner.get(LABELS).await.expect(200).json()["meta"]["total_count"], 1);
}

#[tokio::test]
async fn labels_are_listed_in_pages_the_oldest_first() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    owner.get(LABELS).await.expect_json(
        200,
        json!({ "meta": { "total_count": 0, "previous": null, "next": null, "cursor": null }, "objects": [] }),
    );
    for text in ["Sales", "Technik", "Alpha"] {
        owner.label(text).await;
    }
    app.owner_of("globex").await.label("Theirs").await;
    let texts = |list: &Value| -> Vec<Value> {
        list["objects"].as_array().unwrap().iter().map(|label| label["text"].clone()).collect()
    };
    let first = owner.get(&format!("{LABELS}?page_size=2")).await.expect(200);
    assert_eq!(first.log().dynamodb_calls, 3);
    let first = first.json();
    assert_eq!(
        (texts(&first), &first["meta"]["total_count"]),
        (vec!["Sales".into(), "Technik".into()], &json!(3))
    );
    let second = owner.get(first["meta"]["next"].as_str().unwrap()).await.expect(200).json();
    assert_eq!(texts(&second), ["Alpha"]);
    assert_refusal!(owner.get(&format!("{LABELS}?page=3&page_size=2")).await, @r#"400 {"page":["The list ends before page 3."]}"#);
}

#[tokio::test]
async fn a_deleted_label_is_taken_from_every_project_that_carries_it() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let (gone, kept) = (owner.label("Gone").await, owner.label("Kept").await);
    let both = owner.project(json!({ "labels": [gone, kept] })).await;
    let one = owner.running_project(json!({ "labels": [gone] })).await;
    let none = owner.project(json!({ "labels": [kept] })).await;
    owner.delete(&gone).await.expect(204);
    for (project, labels) in [(&both, json!([kept])), (&one, json!([])), (&none, json!([kept]))] {
        assert_eq!(owner.get(project).await.expect(200).json()["labels"], labels);
    }
    assert_refusal!(owner.patch(&none, json!({ "labels": [gone] })).await, @r#"400 {"labels":["Label [id] does not exist."]}"#);
}

#[tokio::test]
async fn no_project_adds_a_label_whose_deletion_has_begun() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let label = owner.label("Half gone").await;
    let (carrier, other) =
        (owner.project(json!({ "labels": [label] })).await, owner.project(json!({})).await);
    // A process that dies over a deletion leaves the label so.
    let key = ("COMPANY#acme".to_owned(), format!("LABEL#{}", last_segment(&label)));
    app.table().set(&key, "is_active", AttributeValue::Bool(false)).await;
    assert_refusal!(owner.patch(&other, json!({ "labels": [label] })).await, @r#"400 {"labels":["Label [id] does not exist."]}"#);
    // A project that has the label may keep it, and another DELETE finishes the deletion.
    owner.patch(&carrier, json!({ "labels": [label], "name": "Kept" })).await.expect(200);
    owner.delete(&label).await.expect(204);
    assert_eq!(owner.get(&carrier).await.expect(200).json()["labels"], json!([]));
}

#[tokio::test]
async fn a_label_is_deleted_while_projects_change() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let label = owner.label("Gone").await;
    let mut projects = Vec::new();
    for _ in 0..4 {
        projects.push(owner.project(json!({ "labels": [label] })).await);
    }
    let rename = async || {
        for project in projects.iter().chain(&projects) {
            // A request that comes too late reads again; that the label is gone is then nothing new.
            let response = owner.patch(project, json!({ "contact_person": "Grace" })).await;
            assert!(matches!(response.status.as_u16(), 200 | 409), "{response}");
        }
    };
    let (deleted, ()) = tokio::join!(owner.delete(&label), rename());
    deleted.expect(204);
    for project in &projects {
        assert_eq!(owner.get(project).await.expect(200).json()["labels"], json!([]));
    }
}

#[tokio::test]
async fn labels_of_others_look_like_none() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let theirs = app.owner_of("globex").await.label("Theirs").await;
    let missing = owner.get(&format!("{LABELS}01ARZ3NDEKTSV4RRFFQ69G5FAV/")).await.expect(404).body;
    let id = last_segment(&theirs).to_owned();
    for target in
        [theirs, format!("{LABELS}{id}/"), format!("{LABELS}x/"), format!("{LABELS}{}/", id.to_lowercase())]
    {
        assert_eq!(owner.get(&target).await.expect(404).body, missing, "{target}");
        assert_eq!(owner.patch(&target, json!({ "text": "x" })).await.expect(404).body, missing);
        assert_eq!(owner.delete(&target).await.expect(404).body, missing);
    }
}
