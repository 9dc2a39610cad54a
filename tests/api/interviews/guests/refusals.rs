//! Which links are not made, and why.

use axum::http::Method;
use chrono::TimeDelta;
use serde_json::{Value, json};
use shared::domain::candidate::CandidateStatus;
use tests::caller::Caller;
use tests::http::{Request, send_each};
use tests::{assert_refusal, assert_refusals};

use super::super::{begin, project};
use super::GuestFixture;

#[tokio::test]
async fn the_body_is_checked_before_the_candidate() {
    let given = GuestFixture::start().await;
    let started = begin(&given.owner, &given.project).await;
    let links = format!("{}guest-links/", started.uri);
    let bodies = [
        json!({}),
        json!({ "recipient": " ", "expires_at": "soon", "hide_name": "yes" }),
        json!({ "recipient": "x".repeat(151), "expires_at": null, "hide_name": null }),
        json!({ "recipient": 7, "expires_at": "2026-11-08T10:00:00Z" }),
        json!({ "recipient": "x".repeat(150), "expires_at": "2027-02-06T10:00:01Z" }),
        json!({ "recipient": "x".repeat(150), "expires_at": "2027-02-06T10:00:00Z" }),
    ];
    assert_refusals!(send_each(bodies, |body| given.owner.post(&links, body)).await, @r#"
    400 {"recipient":["This field is required."]}
    400 {
      "expires_at":["Use ISO 8601 with a time zone, for example 2026-11-08T22:59:00Z."],
      "hide_name":["Must be a valid boolean."],
      "recipient":["This field may not be blank."]
    }
    400 {
      "expires_at":["This field may not be null."],
      "hide_name":["This field may not be null."],
      "recipient":["Ensure this field has no more than 150 characters."]
    }
    400 {"expires_at":["Must be in the future."],"recipient":["Not a valid string."]}
    400 {"expires_at":["Must be at most 90 days ahead."]}
    400 {"code":"not_interviewed","detail":"The candidate has not completed the interview. Make the link once they have, or once their time has ended with answers."}
    "#);
}

#[tokio::test]
async fn only_answers_of_complete_interviews_are_shown() {
    let given = GuestFixture::start().await;
    let GuestFixture { owner, candidate, .. } = &given;
    let request = Request::new(Method::PUT, &format!("{}erasure-request/", candidate.uri));
    owner.send(request).await.expect(200);
    assert_refusal!(owner.send(given.creation(json!({}))).await, @r#"400 {"code":"erasure_requested","detail":"The candidate has requested erasure and gets no more mails. Withdraw the request first."}"#);

    let optional = [json!({ "text": "Why us?", "is_required": false })];
    let (silent, _) = project(owner, json!({}), &optional).await;
    let silent = begin(owner, &silent).await;
    silent.advance(&silent.uri).await.expect(200);
    let external =
        owner.running_project(json!({ "interview_platform": "external", "allow_hash_login": true })).await;
    let elsewhere = owner.candidate_at(&external, CandidateStatus::Interviewed).await;
    let mut refused = Vec::new();
    for uri in [&silent.uri, &elsewhere] {
        let links = format!("{uri}guest-links/");
        assert_eq!(owner.get(&links).await.expect(200).json()["objects"], json!([]));
        refused.push(owner.post(&links, json!({ "recipient": "Bob" })).await);
    }
    assert_refusals!(refused, @r#"2 x 400 {"code":"no_answers","detail":"The candidate has answered no question in an interview that this service conducts."}"#);
}

#[tokio::test]
async fn a_candidate_has_at_most_twenty_links_that_have_not_ended() {
    let given = GuestFixture::start().await;
    let owner = &given.owner;
    let mut links = Vec::new();
    for number in 0..20 {
        let minutes = format!("2026-11-08T11:{number:02}:00Z");
        links.push(given.link(json!({ "expires_at": minutes })).await.0);
    }
    let before = given.app.table().snapshot().await;
    assert_refusal!(owner.send(given.creation(json!({}))).await, @r#"400 {"code":"too_many_links","detail":"A candidate may have 20 guest links that have not ended. Delete one first."}"#);
    assert_eq!(given.app.table().snapshot().await, before);
    owner.delete(&links[7]).await.expect(204);
    given.link(json!({})).await;
    owner.send(given.creation(json!({}))).await.expect_code(400, "too_many_links");
    // One has ended, and is listed for 30 more days.
    given.app.clock().advance(TimeDelta::hours(1));
    given.link(json!({})).await;
    let count = async || owner.get(&given.links()).await.expect(200).json()["meta"]["total_count"].clone();
    assert_eq!(count().await, 21);
    given.app.clock().advance(TimeDelta::days(30));
    let renewed = owner.new_token().await;
    assert_eq!(renewed.get(&given.links()).await.expect(200).json()["meta"]["total_count"], 20);
    renewed.get(&links[0]).await.expect(404);
    renewed.delete(&links[0]).await.expect(404);
    let shown: Value = renewed.get(&links[1]).await.expect(200).json();
    assert_eq!(shown["expires_at"], "2026-11-08T11:01:00Z");
}

#[tokio::test]
async fn links_of_others_are_not_found() {
    let given = GuestFixture::start().await;
    let (uri, _) = given.link(json!({})).await;
    let other = begin(&given.owner, &given.project).await;
    let moved = uri.replace(&given.candidate.uri, &other.uri);
    given.owner.get(&moved).await.expect(404);
    given.owner.delete(&moved).await.expect(404);
    given.owner.get(&format!("{}nothing/", given.links())).await.expect(404);
    given.owner.get(&uri).await.expect(200);
}

#[tokio::test]
async fn a_link_of_a_named_token_names_the_token() {
    let given = GuestFixture::start().await;
    let (uri, token) = given.owner.named_token("Tracking").await;
    let created = token.send(given.creation(json!({}))).await.expect(201).json();
    assert_eq!(created["created_by"], uri);
    let link = created["resource_uri"].as_str().unwrap();
    assert_eq!(given.owner.get(link).await.expect(200).json()["created_by"], uri);
}
