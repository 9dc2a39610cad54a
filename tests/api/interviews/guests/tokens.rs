//! Links of named tokens, and what else these have made: deleted with the token, if an owner says so.

use futures_util::future::join_all;
use serde_json::json;
use tests::app::TestApp;
use tests::assert_refusals;
use tests::caller::{Caller, last_segment};
use tests::http::send_each;
use tests::logs;

use super::GuestFixture;
use crate::events::feed::read_all;
use crate::interviews::{begin, project, write};

const WEBHOOKS: &str = "/companies/acme/webhooks/";

#[tokio::test]
async fn what_a_token_has_made_ends_with_it_if_the_owner_says_so() {
    let given = GuestFixture::start().await;
    let GuestFixture { app, owner, .. } = &given;
    let (uri, token) = owner.named_token("Tracking").await;
    let (_, other) = owner.named_token("Other").await;
    let hook = json!({ "url": "https://hooks.example.com/in" });
    let created = token.send(given.creation(json!({}))).await.expect(201);
    let key = last_segment(&created.uri("url")).to_owned();
    let made = [
        created.uri("resource_uri"),
        token.send(given.creation(json!({}))).await.expect(201).uri("resource_uri"),
        token.post(WEBHOOKS, hook.clone()).await.expect(201).uri("resource_uri"),
    ];
    let kept = [
        other.send(given.creation(json!({}))).await.expect(201).uri("resource_uri"),
        given.link(json!({})).await.0,
        other.post(WEBHOOKS, hook.clone()).await.expect(201).uri("resource_uri"),
        owner.post(WEBHOOKS, hook).await.expect(201).uri("resource_uri"),
    ];
    given.review(&key).await.expect(200);
    app.settle().await;
    app.app().finish_background().await;

    // A name that is not known leaves everything as it is.
    let before = app.table().snapshot().await;
    let names = ["", "guest-links,", "guest_links", "webhooks,tokens", "Webhooks", "webhooks&with=exports"];
    let delete = async |with: &str| owner.delete(&format!("{uri}?with={with}")).await;
    assert_refusals!(
        send_each(names, delete).await,
        @r#"6 x 400 {"with":["Choose from guest-links, webhooks."]}"#
    );
    assert_eq!(app.table().snapshot().await, before);
    token.get("/whoami/").await.expect(200);

    owner.delete(&format!("{uri}?with=guest-links,webhooks")).await.expect(204);
    token.get("/whoami/").await.expect_code(401, "invalid_credential");
    app.settle().await;
    for gone in &made {
        owner.get(gone).await.expect_code(404, "not_found");
    }
    given.review(&key).await.expect(401);
    for there in &kept {
        owner.get(there).await.expect(200);
    }
    let events = read_all(owner, &format!("by={}", owner.uri)).await;
    let types: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    let [first, rest @ ..] = &types[types.len() - 4..] else { panic!("{types:?}") };
    let mut rest = rest.to_vec();
    rest.sort_unstable();
    assert_eq!(
        (*first, rest),
        (
            "token.deleted",
            vec!["candidate.guest_link_deleted", "candidate.guest_link_deleted", "webhook.deleted"]
        )
    );
}

/// One try deletes 500 links.
#[tokio::test]
async fn more_links_than_one_try_deletes_are_deleted_by_the_next() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let asked = json!({ "text": "Since when?", "kind": "text" });
    let (project, questions) = project(&owner, json!({}), &[asked]).await;
    let (uri, token) = owner.named_token("Tracking").await;
    let create = async |_| {
        let candidate = begin(&owner, &project).await;
        write(&candidate, &questions[0], "2019").await.expect(201);
        candidate.advance(&candidate.uri).await.expect(200);
        // The most links that work at once.
        for _ in 0..20 {
            let guest = json!({ "recipient": "Head of sales" });
            token.post(&format!("{}guest-links/", candidate.uri), guest).await.expect(201);
        }
    };
    join_all((0..26).map(create)).await;
    app.settle().await;
    let left = async || {
        let items = app.table().contents().await;
        let links = items.iter().filter(|((pk, _), _)| pk.starts_with("GUESTS#"));
        links.filter(|(_, link)| !link.contains_key("withdrawn_at")).count()
    };
    assert_eq!(left().await, 520);
    owner.delete(&format!("{uri}?with=guest-links")).await.expect(204);
    logs::take_lines("outbox");
    app.settle().await;
    app.sweep().await;
    app.settle().await;
    let tries = logs::take_lines("outbox");
    let tries = tries.iter().filter(|line| line["task"] == "made-by-token-deleted");
    let outcomes: Vec<&str> = tries.map(|line| line["outcome"].as_str().unwrap()).collect();
    assert_eq!((outcomes, left().await), (vec!["Continued", "Deleted"], 0));
}

#[tokio::test]
async fn what_a_token_has_made_stays_unless_it_is_named() {
    let given = GuestFixture::start().await;
    let GuestFixture { app, owner, .. } = &given;
    let hook = json!({ "url": "https://hooks.example.com/in" });
    for (with, statuses) in
        [("", [200, 200]), ("?with=guest-links", [404, 200]), ("?with=webhooks&with=webhooks", [200, 404])]
    {
        let (uri, token) = owner.named_token("Tracking").await;
        let link = token.send(given.creation(json!({}))).await.expect(201).uri("resource_uri");
        let webhook = token.post(WEBHOOKS, hook.clone()).await.expect(201).uri("resource_uri");
        owner.delete(&format!("{uri}{with}")).await.expect(204);
        app.settle().await;
        let found = [owner.get(&link).await.status.as_u16(), owner.get(&webhook).await.status.as_u16()];
        assert_eq!(found, statuses, "{with}");
    }
}

#[tokio::test]
async fn a_request_that_a_token_sends_while_it_is_deleted_leaves_nothing() {
    let given = GuestFixture::start().await;
    let GuestFixture { app, owner, .. } = &given;
    let (uri, token) = owner.named_token("Tracking").await;
    app.leave_unsound(
        "the copy of a token by its value stands for a request that was authenticated before the deletion",
    );
    app.table().erase(&("COMPANY#acme".to_owned(), format!("TOKEN#{}", last_segment(&uri)))).await;
    token.send(given.creation(json!({}))).await.expect_code(404, "not_found");
    let hook = json!({ "url": "https://hooks.example.com/in" });
    token.post(WEBHOOKS, hook).await.expect_code(404, "not_found");
    let left = app.table().text().await;
    assert!(!left.contains("GUESTS#") && !left.contains("hooks.example.com"));
}
