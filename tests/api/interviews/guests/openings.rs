//! Openings of a guest link: the guest's page reports one when they press something, and no program that reads the answers does.

use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::caller::Caller;
use tests::http::Request;

use super::{GuestFixture, opening, review};

/// The first and the last opening of a link, as its managers see them.
async fn openings(given: &GuestFixture, uri: &str) -> [Value; 2] {
    let link = given.owner.get(uri).await.expect(200).json();
    [link["opened_at"].clone(), link["last_opened_at"].clone()]
}

#[tokio::test]
async fn reading_the_answers_opens_no_link() {
    let given = GuestFixture::start().await;
    let (uri, key) = given.link(json!({})).await;
    for _ in 0..3 {
        given.review(&key).await.expect(200);
        given.app.send(review(&key).head()).await.expect(200);
        given.fetch(&given.film(&key).await).await.expect(302);
        given.app.clock().advance(TimeDelta::minutes(11));
    }
    assert_eq!(openings(&given, &uri).await, [Value::Null, Value::Null]);
}

#[tokio::test]
async fn openings_within_ten_minutes_count_as_one() {
    let given = GuestFixture::start().await;
    let (uri, key) = given.link(json!({})).await;
    for _ in 0..60 {
        let told = given.open(&key).await.expect(204);
        assert!(told.body.is_empty());
        // The link; whether it shows something; the request, which counts.
        assert_eq!((told.log().dynamodb_calls, told.log().write_units), (3, 1.0));
        given.app.clock().advance(TimeDelta::minutes(1));
    }
    assert_eq!(openings(&given, &uri).await, ["2026-11-08T10:00:00Z", "2026-11-08T10:55:00Z"]);
}

#[tokio::test]
async fn no_link_is_opened_before_it_was_created() {
    let given = GuestFixture::start().await;
    given.app.clock().advance(TimeDelta::milliseconds(20_700));
    let (uri, key) = given.link(json!({})).await;
    given.app.clock().advance(TimeDelta::seconds(9));
    given.open(&key).await.expect(204);
    let created = given.owner.get(&uri).await.expect(200).json()["created_at"].clone();
    assert_eq!(created, "2026-11-08T10:00:20Z");
    assert_eq!(openings(&given, &uri).await, [created.clone(), created.clone()]);
    given.app.clock().advance(TimeDelta::minutes(11));
    given.open(&key).await.expect(204);
    assert_eq!(openings(&given, &uri).await, [created, json!("2026-11-08T10:11:00Z")]);
}

#[tokio::test]
async fn an_opening_takes_the_key_of_a_link_that_works_and_nothing_else() {
    let given = GuestFixture::start().await;
    let (uri, key) = given.link(json!({})).await;
    let before = given.app.table().snapshot().await;
    let bare = Request::post("/review/opening/");
    given.app.send(bare.clone()).await.expect_code(401, "not_authenticated");
    let token = bare.clone().header("authorization", &format!("Token {}", given.owner.secret()));
    given.app.send(token).await.expect_code(401, "invalid_credential");
    given.open(&key[..key.len() - 1]).await.expect_code(401, "invalid_credential");
    given.app.send(opening(&key).json(&json!({ "at": "now" }))).await.expect(400);
    let keyed = opening(&key).header("if-match", "\"1\"");
    given.app.send(keyed).await.expect_code(400, "if_match_not_supported");
    let get = Request::get("/review/opening/").header("authorization", &format!("GuestKey {key}"));
    given.app.send(get).await.expect_code(405, "method_not_allowed");
    assert_eq!(openings(&given, &uri).await[0], Value::Null);
    assert_eq!(given.app.table().snapshot().await.len(), before.len());
    given.owner.delete(&uri).await.expect(204);
    assert_eq!(given.open(&key).await.expect(401).json()["code"], "link_withdrawn");
}
