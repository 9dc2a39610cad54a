//! Links that open nothing, or nothing any more: only their keys learn why.

use axum::http::Method;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::assert_refusal;
use tests::caller::Caller;
use tests::files::fetch;
use tests::http::{Request, Response};

use super::super::reopening::reopening;
use super::{GuestFixture, review};
use crate::admin::erase_company;

/// Checks the refusal of a key that opens nothing: always the same words after the same call.
#[track_caller]
fn assert_dead(response: &Response) {
    assert_refused(response, 1, 0.0);
}

/// The answer to the key of a link that shows nothing: the reason and the contact.
#[track_caller]
fn assert_ended(response: &Response, code: &str) {
    let end = response.json();
    let told = json!({ "company": { "name": "Acme & Sons", "logo": null }, "contact": { "person": "Zoë", "email": "jobs@acme.example" } });
    assert_eq!((response.status.as_u16(), &end["code"]), (401, &json!(code)), "{response}");
    assert_eq!([&end["company"], &end["contact"]], [&told["company"], &told["contact"]]);
    assert_eq!(end.as_object().unwrap().len(), 4, "{end}");
    assert_eq!(response.header("www-authenticate"), Some("Token"));
    let log = response.log();
    assert_eq!((&*log.caller, &*log.company), ("", ""), "{log:?}");
}

#[track_caller]
fn assert_refused(response: &Response, calls: u32, write_units: f64) {
    let expected =
        json!({ "code": "invalid_credential", "detail": "The credential is invalid or has expired." });
    assert_eq!((response.status.as_u16(), response.json()), (401, expected), "{response}");
    assert_eq!(response.header("www-authenticate"), Some("Token"));
    let log = response.log();
    assert_eq!((log.dynamodb_calls, log.write_units), (calls, write_units), "{log:?}");
    assert_eq!((&*log.caller, &*log.company), ("", ""), "{log:?}");
}

/// The key with other bytes from `at` on.
fn altered(key: &str, at: usize) -> String {
    let mut bytes = URL_SAFE_NO_PAD.decode(key.trim_start_matches("ivg_")).unwrap();
    bytes[at] ^= 1;
    format!("ivg_{}", URL_SAFE_NO_PAD.encode(bytes))
}

/// A link, and the addresses of the files that a guest was shown.
struct Watched {
    given: GuestFixture,
    uri: String,
    key: String,
    files: [String; 2],
}

impl Watched {
    async fn start() -> Self {
        let given = GuestFixture::start().await;
        given
            .owner
            .patch("/companies/acme/", json!({ "registration_email": "jobs@acme.example" }))
            .await
            .expect(200);
        given.owner.patch(&given.project, json!({ "contact_person": "Zoë" })).await.expect(200);
        let (uri, key) = given.link(json!({})).await;
        let answer = given.review(&key).await.expect(200).json()["questions"][0]["answer"].clone();
        let files =
            [&answer["streams"]["mp4"], &answer["thumb"]].map(|file| file.as_str().unwrap().to_owned());
        Self { given, uri, key, files }
    }

    async fn assert_alive(&self) {
        self.given.review(&self.key).await.expect(200);
        for file in &self.files {
            self.given.fetch(file).await.expect(302);
        }
    }

    /// Nothing is left of the link.
    async fn assert_unknown(&self) {
        assert_dead(&self.given.review(&self.key).await);
        for file in &self.files {
            assert_dead(&self.given.fetch(file).await);
        }
    }

    /// The candidate or the company is gone, whose link still awaits its deletion.
    async fn assert_orphaned(&self) {
        assert_refused(&self.given.review(&self.key).await, 2, 0.0);
        for file in &self.files {
            assert_refused(&self.given.fetch(file).await, 2, 0.0);
        }
    }

    /// The link tells why it shows nothing, its files do not.
    async fn assert_ended(&self, code: &str) {
        assert_ended(&self.given.review(&self.key).await, code);
        for file in &self.files {
            self.given.fetch(file).await.expect_code(401, "invalid_credential");
        }
        // Another secret learns nothing.
        assert_dead(&self.given.review(&altered(&self.key, 60)).await);
    }
}

#[tokio::test]
async fn keys_that_were_never_made_are_refused_alike() {
    let watched = Watched::start().await;
    let key = &watched.key;
    // The forged keys name another project, candidate or link, have other random bytes, or are of another company.
    for at in [15, 31, 47, 60, 73] {
        let forged = altered(key, at);
        assert_dead(&watched.given.review(&forged).await);
    }
    watched.assert_alive().await;
}

#[tokio::test]
async fn what_is_no_key_is_refused_unread() {
    let watched = Watched::start().await;
    let Watched { given, key, .. } = &watched;
    let token = given.owner.secret();
    for value in [
        format!("Token {key}"),
        format!("ActivationKey {key}"),
        format!("GuestKey {token}"),
        format!("GuestKey {}", &key[..key.len() - 8]),
        format!("GuestKey {}", key.trim_start_matches("ivg_")),
        format!("Token {token}"),
        format!("ActivationKey {}", given.candidate.key),
        "GuestKey".to_owned(),
        "GuestKey ivg_".to_owned(),
    ] {
        let refused = given.app.send(Request::get("/review/").header("authorization", &value)).await;
        let refused = refused.expect_code(401, "invalid_credential");
        assert_eq!(refused.log().dynamodb_calls, 0, "{value}");
    }
    let none = given.app.send(Request::get("/review/")).await.expect_code(401, "not_authenticated");
    assert_eq!(none.log().dynamodb_calls, 0);
    let twice = review(key).header("authorization", &format!("GuestKey {key}"));
    given.app.send(twice).await.expect_code(401, "invalid_credential");
    given.app.send(review(key)).await.expect(200);
}

#[tokio::test]
async fn a_guest_sends_no_unknown_parameters() {
    let watched = Watched::start().await;
    let send = async |request: Request| watched.given.app.send(request).await;
    let key = format!("GuestKey {}", watched.key);
    let with = |query: &str| Request::get(&format!("/review/{query}")).header("authorization", &key);
    send(with("?candidate=1")).await.expect_code(400, "unknown_parameter");
    send(with("?_=1&format=json")).await.expect(200);
    // Refused before the parameter: a stranger learns nothing from it.
    send(Request::get("/review/?candidate=1")).await.expect_code(401, "not_authenticated");
}

#[tokio::test]
async fn a_link_ends_to_the_second_and_says_so_however_long_ago() {
    let watched = Watched::start().await;
    let (_, token) = watched.given.owner.named_token("Long").await;
    let clock = watched.given.app.clock();
    clock.advance(TimeDelta::days(14) - TimeDelta::seconds(1));
    watched.given.review(&watched.key).await.expect(200);
    clock.advance(TimeDelta::seconds(1));
    watched.assert_ended("link_expired").await;
    clock.advance(TimeDelta::days(400));
    // Others that were made since then have taken its place in the list.
    token.send(watched.given.creation(json!({}))).await.expect(201);
    watched.assert_ended("link_expired").await;
}

#[tokio::test]
async fn files_can_be_fetched_for_fifteen_minutes_and_no_longer_than_the_link_works() {
    let watched = Watched::start().await;
    let Watched { given, key, files, .. } = &watched;
    let clock = given.app.clock();
    // The bucket serves the file behind the address for so long.
    let lifetime = async |address: &str| -> u64 {
        let found = given.fetch(address).await.expect(302);
        let location = url::Url::parse(found.header("location").unwrap()).unwrap();
        let expires = location.query_pairs().find(|(name, _)| name == "X-Amz-Expires").unwrap().1;
        expires.parse().unwrap()
    };
    assert_eq!(lifetime(&files[0]).await, 900);
    assert_eq!(lifetime(&files[1]).await, 60);
    clock.advance(TimeDelta::minutes(14));
    assert_eq!(lifetime(&files[0]).await, 60);
    clock.advance(TimeDelta::minutes(1));
    for file in files {
        given.fetch(file).await.expect_code(401, "invalid_credential");
    }
    // The page fetches new ones.
    let found = given.fetch(&given.film(key).await).await.expect(302);
    assert_eq!(fetch(found.header("location").unwrap(), &[]).await.status, 200);

    let soon = (clock_now(given) + TimeDelta::minutes(5)).to_rfc3339();
    let (_, key) = given.link(json!({ "expires_at": soon })).await;
    let film = given.film(&key).await;
    assert!((1..=300).contains(&lifetime(&film).await));
    clock.advance(TimeDelta::minutes(5));
    given.fetch(&film).await.expect_code(401, "invalid_credential");
}

fn clock_now(given: &GuestFixture) -> chrono::DateTime<chrono::Utc> {
    shared::clock::Clock::now(given.app.clock())
}

#[tokio::test]
async fn a_deleted_link_is_dead_at_once_with_the_files_that_it_has_shown() {
    let watched = Watched::start().await;
    watched.assert_alive().await;
    let (_, other) = watched.given.link(json!({})).await;
    watched.given.owner.delete(&watched.uri).await.expect(204);
    watched.given.owner.delete(&watched.uri).await.expect(404);
    watched.assert_ended("link_withdrawn").await;
    let text = watched.given.app.table().text().await;
    assert_eq!(text.matches("Head of sales").count(), 1, "that of the other link");
    watched.given.review(&other).await.expect(200);
}

#[tokio::test]
async fn links_rest_while_an_interview_goes_on() {
    let watched = Watched::start().await;
    let GuestFixture { owner, candidate, .. } = &watched.given;
    owner.send(reopening(&candidate.uri, json!({}))).await.expect(200);
    watched.assert_ended("link_resting").await;
    let refused = owner.send(watched.given.creation(json!({}))).await;
    assert_refusal!(refused, @r#"400 {"code":"interview_reopened","detail":"The interview was reopened. Make the link once the candidate has completed it again; earlier links work again then."}"#);
    let link = owner.get(&watched.uri).await.expect(200).json();
    assert_eq!(link["recipient"], "Head of sales");
    candidate.advance(&candidate.uri).await.expect(200);
    watched.assert_alive().await;
}

#[tokio::test]
async fn a_link_that_rests_is_not_opened() {
    let watched = Watched::start().await;
    let given = &watched.given;
    let GuestFixture { owner, candidate, .. } = given;
    let (uri, key) = given.link(json!({})).await;
    let assert_unopened = async |code: &str| {
        assert_ended(&given.open(&key).await, code);
        let link = owner.get(&uri).await.expect(200).json();
        assert_eq!([&link["opened_at"], &link["last_opened_at"]], [&Value::Null, &Value::Null]);
    };
    let request = format!("{}erasure-request/", candidate.uri);
    owner.send(Request::put(&request)).await.expect(200);
    assert_unopened("candidate_gone").await;
    owner.delete(&request).await.expect(204);
    owner.send(reopening(&candidate.uri, json!({}))).await.expect(200);
    assert_unopened("link_resting").await;
    // Such requests count, too.
    for _ in 2..300 {
        assert_ended(&given.review(&key).await, "link_resting");
    }
    given.review(&key).await.expect_code(429, "throttled");
}

#[tokio::test]
async fn links_rest_while_a_candidate_wants_to_be_erased() {
    let watched = Watched::start().await;
    let GuestFixture { owner, candidate, .. } = &watched.given;
    let request = format!("{}erasure-request/", candidate.uri);
    owner.send(Request::new(Method::PUT, &request)).await.expect(200);
    watched.assert_ended("candidate_gone").await;
    owner.delete(&request).await.expect(204);
    watched.assert_alive().await;
    // A hold keeps the candidate, and changes nothing for guests.
    let hold = json!({ "reason": "A lawsuit." });
    owner.send(Request::put(&format!("{}hold/", candidate.uri)).json(&hold)).await.expect(200);
    watched.assert_alive().await;
}

#[tokio::test]
async fn links_end_with_their_candidate_and_leave_nothing() {
    let watched = Watched::start().await;
    let GuestFixture { app, owner, candidate, .. } = &watched.given;
    owner.delete(&candidate.uri).await.expect(204);
    // Before the outbox has erased anything.
    watched.assert_orphaned().await;
    app.settle().await;
    watched.assert_unknown().await;
    let left: Vec<String> = app
        .table()
        .contents()
        .await
        .into_keys()
        .map(|(pk, _)| pk)
        .filter(|pk| pk.starts_with("GUESTS#"))
        .collect();
    assert_eq!(left, [] as [String; 0]);
}

#[tokio::test]
async fn links_end_with_the_contract_of_their_company() {
    let watched = Watched::start().await;
    let app = &watched.given.app;
    erase_company::begin(app).await;
    watched.assert_orphaned().await;
    erase_company::finish(app).await;
    assert_dead(&watched.given.review(&watched.key).await);
    let text = app.table().text().await;
    assert!(!text.contains("Head of sales") && !text.contains("GUESTS#"));
}

#[tokio::test]
async fn a_link_outlives_whoever_has_made_it() {
    let watched = Watched::start().await;
    let given = &watched.given;
    let manager = given.app.staff("hiring-manager").await;
    given.owner.patch(&given.project, json!({ "interview_managers": [manager.uri] })).await.expect(200);
    let created = manager.send(given.creation(json!({}))).await.expect(201);
    let key = tests::caller::last_segment(&created.uri("url")).to_owned();
    given.owner.patch(&given.project, json!({ "interview_managers": [] })).await.expect(200);
    given.review(&key).await.expect(200);
    given.owner.delete(&manager.uri).await.expect(204);
    given.app.settle().await;
    given.review(&key).await.expect(200);
    let shown: Value = given.owner.get(&created.uri("resource_uri")).await.expect(200).json();
    assert_eq!(shown["created_by"], manager.uri);
}
