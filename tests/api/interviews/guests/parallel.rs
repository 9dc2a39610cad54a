//! Many at once.

use futures_util::future::join_all;
use serde_json::json;
use tests::app::TestApp;
use tests::caller::{Caller, last_segment};

use super::GuestFixture;

#[tokio::test]
async fn of_twenty_five_creations_at_once_twenty_are_done() {
    let given = GuestFixture::start().await;
    let creations = (0..25).map(|_| given.owner.send(given.creation(json!({}))));
    let responses = join_all(creations).await;
    let count = |status: u16| responses.iter().filter(|one| one.status.as_u16() == status).count();
    // A request that has lost too often is told to try again.
    assert!(count(201) <= 20 && count(201) + count(400) + count(409) == 25, "{responses:?}");
    let mut made = count(201);
    while made < 20 {
        given.owner.send(given.creation(json!({}))).await.expect(201);
        made += 1;
    }
    given.owner.send(given.creation(json!({}))).await.expect_code(400, "too_many_links");
    let list = given.owner.get(&format!("{}?page_size=100", given.links())).await.expect(200).json();
    assert_eq!(list["objects"].as_array().unwrap().len(), 20);
}

#[tokio::test]
async fn a_link_that_is_deleted_while_it_is_opened_stays_deleted() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let given = GuestFixture::of(app).await;
    let (uri, key) = given.link(json!({})).await;
    let held = chaos.pause_about("PutItem", last_segment(&uri));
    let meanwhile = async {
        held.reached().await;
        given.owner.delete(&uri).await.expect(204);
        held.resume();
    };
    let (seen, ()) = tokio::join!(given.review(&key), meanwhile);
    for refused in [seen, given.review(&key).await] {
        assert_eq!(refused.expect(401).json()["code"], "link_withdrawn");
    }
    assert!(!given.app.table().text().await.contains("Head of sales"));
}

#[tokio::test]
async fn a_deletion_takes_along_what_a_guest_does_meanwhile() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let given = GuestFixture::of(app).await;
    let (uri, key) = given.link(json!({})).await;
    let held = chaos.pause_about("TransactWriteItems", last_segment(&uri));
    let meanwhile = async {
        held.reached().await;
        given.review(&key).await.expect(200);
        held.resume();
    };
    let (deleted, ()) = tokio::join!(given.owner.delete(&uri), meanwhile);
    deleted.expect(204);
    assert_eq!(given.review(&key).await.expect(401).json()["code"], "link_withdrawn");
}

#[tokio::test]
async fn of_four_requests_at_once_each_counts() {
    let given = GuestFixture::start().await;
    let (uri, key) = given.link(json!({})).await;
    for seen in join_all((0..4).map(|_| given.review(&key))).await {
        seen.expect(200);
    }
    let items = given.app.table().snapshot().await;
    let (_, link) = items.into_iter().find(|((_, sk), _)| sk.ends_with(last_segment(&uri))).unwrap();
    assert_eq!((&link["version"], &link["requests"]["count"]), (&json!(5), &json!(4)), "{link}");
}
