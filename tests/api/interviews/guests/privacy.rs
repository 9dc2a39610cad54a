//! Guests, receivers of events and readers of logs learn only what they may.

use serde_json::{Value, json};
use tests::caller::{Caller, last_segment};
use tests::http::Response;
use tests::logs::Recording;

use super::super::reopening::reopening;
use super::{GuestFixture, PRIVATE};
use crate::evaluations::crud::save;

const RECIPIENT: &str = "Zugvogel of sales";

fn told(response: &Response) -> String {
    let headers: Vec<String> =
        response.headers.iter().map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())).collect();
    format!("{} {}", headers.join("\n"), String::from_utf8_lossy(&response.body))
}

#[tokio::test]
async fn a_guest_sees_nothing_of_the_candidate_but_names_and_answers() {
    let given = GuestFixture::start().await;
    let GuestFixture { app, owner, project, candidate, .. } = &given;
    owner.patch(project, json!({ "evaluators": [owner.uri] })).await.expect(200);
    let opinion = json!({ "comment": "Wonderful", "recommendation": "yes" });
    save(owner, &candidate.uri, opinion).await.expect(201);
    let (uri, key) = given.link(json!({ "recipient": RECIPIENT })).await;
    let seen = given.review(&key).await.expect(200);
    let film = seen.json()["questions"][0]["answer"]["streams"]["mp4"].as_str().unwrap().to_owned();
    let mut told_to_guests = told(&seen);
    let redirect = given.fetch(&film).await.expect(302);
    told_to_guests.push_str(&told(&redirect));
    let secrets = [
        &candidate.email,
        &owner.username,
        &owner.email,
        owner.id(),
        &candidate.key,
        &key,
        RECIPIENT,
        "Wonderful",
        last_segment(&uri),
    ];
    for secret in secrets.into_iter().chain(PRIVATE) {
        assert!(!told_to_guests.contains(secret), "{secret} in {told_to_guests}");
    }
    app.settle().await;
}

#[tokio::test]
async fn the_log_tells_who_has_watched_whom_and_no_key() {
    let recording = Recording::start();
    let given = GuestFixture::start().await;
    let (uri, key) = given.link(json!({ "recipient": RECIPIENT })).await;
    let person = format!("candidate {}", last_segment(&given.candidate.uri));
    let caller = format!("guest {}", last_segment(&uri));
    let seen = given.review(&key).await.expect(200);
    let film = given.fetch(&given.film(&key).await).await.expect(302);
    for log in [seen.log(), film.log()] {
        assert_eq!((&*log.caller, &*log.company), (&*caller, "acme"));
        assert_eq!(log.person.as_deref(), Some(&*person));
    }
    given.owner.delete(&uri).await.expect(204);
    let dead = given.review(&key).await.expect(401).log();
    assert_eq!((&*dead.caller, dead.person), ("", None));
    given.app.settle().await;
    let lines = recording.text();
    for secret in [&*key, RECIPIENT] {
        assert!(!lines.contains(secret), "{secret}");
    }
}

#[tokio::test]
async fn events_tell_that_a_link_was_made_and_deleted_and_not_for_whom() {
    let given = GuestFixture::start().await;
    let GuestFixture { app, owner, candidate, .. } = &given;
    let before = owner.get(&candidate.uri).await.expect(200);
    let (uri, key) = given.link(json!({ "recipient": RECIPIENT })).await;
    given.review(&key).await.expect(200);
    owner.delete(&uri).await.expect(204);
    app.settle().await;
    // No response about the candidate shows links.
    assert_eq!(owner.get(&candidate.uri).await.expect(200).header("etag"), before.header("etag"));
    let query = format!("resource={}", candidate.uri);
    let events = crate::events::feed::read_all(owner, &query).await;
    let history = owner.get(&format!("{}events/?page_size=100", candidate.uri)).await.expect(200).json();
    let history = history["objects"].as_array().unwrap().clone();
    for entries in [&events, &history] {
        let types: Vec<&Value> = entries.iter().rev().take(2).map(|event| &event["types"]).collect();
        assert_eq!(
            types,
            [&json!(["candidate.guest_link_deleted"]), &json!(["candidate.guest_link_created"])]
        );
        let text = json!(entries).to_string();
        for secret in [&*key, RECIPIENT, last_segment(&uri), "/review/"] {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
    }
    assert_eq!(history.last().unwrap()["data"]["changed"], json!(["guest_links"]));
}

#[tokio::test]
async fn the_document_with_all_data_names_guests_to_staff() {
    let given = GuestFixture::start().await;
    let GuestFixture { owner, candidate, .. } = &given;
    let data = format!("{}data/", candidate.uri);
    let without = owner.get(&data).await.expect(200);
    assert_eq!(without.json()["guest_links"], json!([]));
    let (_, key) = given.link(json!({ "recipient": RECIPIENT })).await;
    given.open(&key).await.expect(204);
    let with = owner.get(&data).await.expect(200);
    assert_eq!(with.log().dynamodb_calls, without.log().dynamodb_calls + 1);
    let expected = json!([{
        "recipient": RECIPIENT,
        "hide_name": false,
        "created_at": "2026-11-08T10:00:00Z",
        "created_by": owner.uri,
        "expires_at": "2026-11-22T10:00:00Z",
        "opened_at": "2026-11-08T10:00:00Z",
        "last_opened_at": "2026-11-08T10:00:00Z",
    }]);
    assert_eq!(with.json()["guest_links"], expected);
    // The candidate's own document has what they gave or can see.
    owner.send(reopening(&candidate.uri, json!({}))).await.expect(200);
    let own = candidate.get(&data).await.expect(200).json();
    assert_eq!(own.get("guest_links"), None);
}
