//! Anchors of questions and criteria: what values of the scale mean, for staff only.

use serde_json::{Value, json};
use shared::domain::candidate::CandidateStatus::{Interviewed, Interviewing};
use tests::caller::{Caller, Staff};
use tests::http::{Request, send_each};
use tests::{assert_refusal, assert_refusals};

use crate::evaluations::questions::given;

/// Creates a question and a criterion with these anchors, and returns both addresses.
async fn anchored(owner: &Staff, project: &str, anchors: &Value) -> [String; 2] {
    let question = json!({ "text": "Why us?", "anchors": anchors });
    let criterion = json!({ "name": "Listening", "anchors": anchors });
    let question = owner.post(&format!("{project}questions/"), question).await.expect(201);
    let criterion = owner.post(&format!("{project}criteria/"), criterion).await.expect(201);
    [question.uri("resource_uri"), criterion.uri("resource_uri")]
}

async fn shown(owner: &Staff, uri: &str) -> Value {
    owner.get(uri).await.expect(200).json()["anchors"].clone()
}

#[tokio::test]
async fn anchors_ascend_follow_the_scale_and_can_be_sent_back() {
    let (_app, owner, project) = given().await;
    let sent =
        json!([{ "value": 4, "text": "Names two\ntrade-offs unasked" }, { "value": 0.5, "text": "Guesses" }]);
    for uri in anchored(&owner, &project, &sent).await {
        let of_five = json!([{ "value": 0.5, "text": "Guesses" }, { "value": 4, "text": "Names two\ntrade-offs unasked" }]);
        assert_eq!(shown(&owner, &uri).await, of_five);
        owner.patch(&project, json!({ "maximum_score": 10 })).await.expect(200);
        let read = owner.get(&uri).await.expect(200);
        let of_ten = json!([{ "value": 1, "text": "Guesses" }, { "value": 8, "text": "Names two\ntrade-offs unasked" }]);
        assert_eq!(read.json()["anchors"], of_ten);
        // An evaluation that was read on another scale is no change when it is sent back, so the first scale still counts.
        let put = owner.send(Request::put(&uri).json(&read.json())).await.expect(200);
        assert_eq!((put.header("etag"), put.json()), (read.header("etag"), read.json()));
        owner.patch(&project, json!({ "maximum_score": 1 })).await.expect(200);
        let read = owner.get(&uri).await.expect(200).json();
        assert_eq!([&read["anchors"][0]["value"], &read["anchors"][1]["value"]], [&json!(0.1), &json!(0.8)]);
        owner.send(Request::put(&uri).json(&read)).await.expect(200);
        owner.patch(&project, json!({ "maximum_score": 5 })).await.expect(200);
        assert_eq!(shown(&owner, &uri).await, of_five);
        // A change of something else leaves them; a PUT without them empties them.
        owner.patch(&uri, json!({ "position": 9 })).await.expect(200);
        assert_eq!(shown(&owner, &uri).await, of_five);
        owner.send(Request::put(&uri).json(&json!({ "text": "Why?", "name": "Why?" }))).await.expect(400);
        let name = if uri.contains("questions") { "text" } else { "name" };
        owner.send(Request::put(&uri).json(&json!({ name: "Why?" }))).await.expect(200);
        assert_eq!(shown(&owner, &uri).await, json!([]));
    }
}

#[tokio::test]
async fn anchors_never_meet_on_a_short_scale() {
    let (_app, owner, project) = given().await;
    owner.patch(&project, json!({ "maximum_score": 1000 })).await.expect(200);
    let sent: Vec<Value> = (0..11)
        .map(|number| json!({ "value": 999.0 + f64::from(number) / 10.0, "text": format!("No. {number}") }))
        .collect();
    let [question, _] = anchored(&owner, &project, &json!(sent)).await;
    owner.patch(&project, json!({ "maximum_score": 1 })).await.expect(200);
    let values: Vec<Value> =
        shown(&owner, &question).await.as_array().unwrap().iter().map(|one| one["value"].clone()).collect();
    assert_eq!(json!(values), json!([0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]));
}

#[tokio::test]
async fn wrong_anchors_are_refused_and_nothing_changes() {
    let (app, owner, project) = given().await;
    let [question, criterion] = anchored(&owner, &project, &json!([{ "value": 3, "text": "Fair" }])).await;
    let before = app.table().snapshot().await;
    let anchor = |value: Value, text: Value| json!({ "anchors": [{ "value": value, "text": text }] });
    let bodies = || {
        [
            json!({ "anchors": null }),
            json!({ "anchors": "x" }),
            json!({ "anchors": [7] }),
            json!({ "anchors": [{ "value": 3 }] }),
            json!({ "anchors": [{ "text": "x" }] }),
            json!({ "anchors": [{ "value": 3, "text": "x", "txet": "y" }] }),
            anchor(json!(5.1), json!("x")),
            anchor(json!(-1), json!("x")),
            anchor(json!(3.25), json!("x")),
            anchor(json!("3"), json!("x")),
            anchor(json!(3), json!(" ")),
            anchor(json!(3), json!("x".repeat(501))),
            json!({ "anchors": [{ "value": 3, "text": "x" }, { "value": 3.0, "text": "y" }] }),
            json!({ "anchors": vec![json!({ "value": 3, "text": "x" }); 12] }),
        ]
    };
    let mut refusals = send_each(bodies(), |body| owner.patch(&question, body)).await;
    let others = send_each(bodies(), |body| owner.patch(&criterion, body)).await;
    for (one, other) in refusals.iter().zip(&others) {
        assert_eq!(one.json(), other.json());
    }
    refusals.truncate(14);
    assert_refusals!(refusals, @r#"
        400 {"anchors":["This field may not be null."]}
        400 {"anchors":["Expected a list of items."]}
        2 x 400 {"anchors":["Expected objects with value."]}
        400 {"anchors":["Expected objects with text."]}
        400 {"anchors[0].txet":["There is no such field. Did you mean text?"]}
        2 x 400 {"anchors":["Ensure each value is from 0 to 5."]}
        400 {"anchors":["Ensure that values have at most one decimal."]}
        400 {"anchors":["A valid number is required."]}
        400 {"anchors":["This field may not be blank."]}
        400 {"anchors":["Ensure this field has no more than 500 characters."]}
        400 {"anchors":["Each value may have only one anchor."]}
        400 {"anchors":["Ensure this list has no more than 11 items."]}
        "#);
    assert_eq!(app.table().snapshot().await, before);
}

#[tokio::test]
async fn anchors_are_open_once_candidates_have_begun_and_candidates_never_see_them() {
    let (_app, owner, project) = given().await;
    let [question, criterion] = anchored(&owner, &project, &json!([{ "value": 3, "text": "Fair" }])).await;
    let candidate = owner.invite(&project, json!({})).await;
    let itself = candidate.register().await;
    for _ in ["confirmed", "interviewing"] {
        itself.advance(&candidate.uri).await.expect(200);
    }
    for uri in [&question, &criterion] {
        owner.patch(uri, json!({ "anchors": [{ "value": 3, "text": "Canary" }] })).await.expect(200);
    }
    for target in [&question, &format!("{project}questions/"), &candidate.uri] {
        let read = itself.get(target).await.expect(200).json().to_string();
        assert!(!read.contains("Canary") && !read.contains("anchors"), "{read}");
    }
    owner.candidate_at(&project, Interviewing).await;
    let data = itself.get(&format!("{}data/", candidate.uri)).await.expect(200).json().to_string();
    assert!(!data.contains("Canary"));
}

#[tokio::test]
async fn a_copy_with_another_scale_has_the_anchors_on_its_own() {
    let (_app, owner, project) = given().await;
    anchored(&owner, &project, &json!([{ "value": 4, "text": "Good" }])).await;
    let copy = json!({ "name": "Copy", "copy_of": project, "maximum_score": 10 });
    let copy = owner.post("/companies/acme/projects/", copy).await.expect(201).uri("resource_uri");
    let shown = owner.get(&format!("{copy}?expand=questions,criteria")).await.expect(200).json();
    for list in ["questions", "criteria"] {
        assert_eq!(shown[list][0]["anchors"], json!([{ "value": 8, "text": "Good" }]));
    }
}

#[tokio::test]
async fn texts_and_anchors_of_a_project_fit_in_their_item_together() {
    let (app, owner, project) = given().await;
    let long = |count: usize| "\u{1F600}".repeat(count);
    let anchors: Vec<Value> =
        (0..11).map(|value| json!({ "value": f64::from(value) / 2.0, "text": long(500) })).collect();
    let mut uris = Vec::new();
    for _ in 0..14 {
        let question = json!({ "text": "Why?", "anchors": anchors });
        uris.push(
            owner.post(&format!("{project}questions/"), question).await.expect(201).uri("resource_uri"),
        );
    }
    let texts = json!({ "text": long(1000), "internal_description": long(1000) });
    for uri in &uris[..2] {
        owner.patch(uri, texts.clone()).await.expect(200);
    }
    let question = json!({ "text": "Why?", "anchors": anchors });
    let criterion = json!({ "name": "Listening", "anchors": anchors });
    let before = app.table().snapshot().await;
    let refusals = [
        owner.post(&format!("{project}questions/"), question).await,
        owner.patch(&uris[2], texts).await,
        owner.post(&format!("{project}criteria/"), criterion).await,
    ];
    assert_refusals!(refusals, @r#"
        3 x 400 {"anchors":["The texts and anchors of all questions and criteria may have 330,000 bytes together. Shorten some."]}
        "#);
    assert_eq!(app.table().snapshot().await, before);
    // Without anchors, the longest texts fit as before.
    for uri in &uris {
        owner.patch(uri, json!({ "anchors": [] })).await.expect(200);
    }
    owner.candidate_at(&project, Interviewed).await;
    assert_refusal!(owner.patch(&uris[0], json!({ "takes": 1 })).await, @r#"400 {"code":"questions_in_use","detail":"A candidate has begun the interview. Only `text`, `internal_description` and `anchors` of questions can still change."}"#);
}
