//! Links that let people without an account watch the answers of a candidate.

mod access;
mod ends;
mod films;
mod openings;
mod parallel;
mod privacy;
mod refusals;
mod tokens;
mod wording;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::assert_refusal;
use tests::caller::{Caller, Invited, Staff, last_segment};
use tests::files::{fetch, put};
use tests::http::{Request, Response};
use tests::takes::signed_part;
use tests::videos::film;

use super::{begin, begin_take, project, write};
use crate::system::idempotency::{assert_first, assert_replay, keyed};

/// Words about the candidate that no guest may see.
const PRIVATE: [&str; 4] = ["+44 20 7946 0000", "12 St James's Square", "Ask for references", "ada-login"];

/// The candidate has completed an interview: a question was answered by a film, one in writing, one not at all.
pub(crate) struct GuestFixture {
    pub(crate) app: TestApp,
    pub(crate) owner: Staff,
    pub(crate) project: String,
    pub(crate) candidate: Invited,
    pub(crate) questions: Vec<String>,
}

impl GuestFixture {
    pub(crate) async fn start() -> Self {
        Self::of(TestApp::start().await).await
    }

    async fn of(app: TestApp) -> Self {
        let owner = app.owner().await;
        let asked = [
            json!({ "text": "Why us?", "takes": 1 }),
            json!({ "text": "Since when?", "kind": "text" }),
            json!({ "text": "Anything else?", "is_required": false }),
        ];
        let settings = json!({ "name": "Sales", "max_interview_time": 30 });
        let (project, questions) = project(&owner, settings, &asked).await;
        let candidate = begin(&owner, &project).await;
        let [phone, address, partner, username] = PRIVATE;
        let fields = json!({
            "phone": phone, "address": address, "partner_data": { "note": partner }, "username": username,
        });
        owner.patch(&candidate.uri, fields).await.expect(200);
        record_film(&candidate, &questions[0]).await;
        write(&candidate, &questions[1], "2019").await.expect(201);
        candidate.advance(&candidate.uri).await.expect(200);
        app.settle().await;
        Self { app, owner, project, candidate, questions }
    }

    fn links(&self) -> String {
        format!("{}guest-links/", self.candidate.uri)
    }

    /// The request that creates a link with these fields besides the recipient.
    pub(crate) fn creation(&self, fields: Value) -> Request {
        let mut body = json!({ "recipient": "Head of sales" });
        tests::caller::merge(&mut body, fields);
        Request::post(&self.links()).json(&body)
    }

    /// Creates a link, and gives its address and the key in its URL.
    async fn link(&self, fields: Value) -> (String, String) {
        let created = self.owner.send(self.creation(fields)).await.expect(201);
        (created.uri("resource_uri"), last_segment(&created.uri("url")).to_owned())
    }

    async fn review(&self, key: &str) -> Response {
        self.app.send(review(key)).await
    }

    /// A guest presses a button of the page.
    async fn open(&self, key: &str) -> Response {
        self.app.send(opening(key)).await
    }

    /// The URL of the film as a guest is shown it.
    pub(crate) async fn film(&self, key: &str) -> String {
        let shown = self.review(key).await.expect(200).json();
        shown["questions"][0]["answer"]["streams"]["mp4"].as_str().unwrap().to_owned()
    }

    async fn fetch(&self, address: &str) -> Response {
        self.app.send(Request::get(address)).await
    }
}

/// Records a take that can be converted.
async fn record_film(candidate: &Invited, question: &str) {
    let take = begin_take(candidate, question).await;
    let part = signed_part(1, &film());
    let signed = candidate.post(&format!("{take}parts/"), part).await.expect(200).json();
    assert_eq!(put(&signed["parts"][0], film()).await.status, 200);
    candidate.patch(&take, json!({ "parts": 1, "recorded_seconds": 2 })).await.expect(200);
}

/// The request of a guest with this key.
fn review(key: &str) -> Request {
    Request::get("/review/").header("authorization", &format!("GuestKey {key}"))
}

/// The request by which the page tells that a guest with this key has opened the link.
fn opening(key: &str) -> Request {
    Request::post("/review/opening/").header("authorization", &format!("GuestKey {key}"))
}

#[tokio::test]
async fn a_guest_watches_the_answers_and_their_manager_sees_when() {
    let given = GuestFixture::start().await;
    let GuestFixture { app, owner, candidate, .. } = &given;
    let created = owner.send(given.creation(json!({}))).await.expect(201);
    let mut link = created.json();
    let url = link["url"].as_str().unwrap().to_owned();
    let key = url.strip_prefix("https://hr.example/review/ivg_").unwrap_or_else(|| panic!("{url}"));
    let uri = created.uri("resource_uri");
    assert_eq!(created.header("location"), Some(&*uri));
    link.as_object_mut().unwrap().remove("url");
    let expected = json!({
        "id": last_segment(&uri),
        "resource_uri": uri,
        "candidate": candidate.uri,
        "recipient": "Head of sales",
        "hide_name": false,
        "expires_at": "2026-11-22T10:00:00Z",
        "created_at": "2026-11-08T10:00:00Z",
        "created_by": owner.uri,
        "opened_at": null,
        "last_opened_at": null,
    });
    assert_eq!(link, expected);
    let shown = owner.get(&uri).await.expect_json(200, expected.clone());
    assert_eq!(shown.header("etag"), created.header("etag"));

    app.clock().advance(TimeDelta::seconds(90));
    let seen = given.review(&format!("ivg_{key}")).await.expect(200);
    assert_eq!(seen.header("cache-control"), Some("private, no-store"));
    let mut seen = seen.json();
    let film = seen["questions"][0]["answer"].take();
    assert_eq!(
        seen,
        json!({
            "company": { "name": "Acme & Sons", "logo": null },
            "project": { "name": "Sales" },
            "candidate": { "first_name": "Ada", "last_name": "Lovelace" },
            "ended_at": "2026-11-08T10:00:00Z",
            "expires_at": "2026-11-22T10:00:00Z",
            "questions": [
                { "text": "Why us?", "video": null, "answer": null },
                {
                    "text": "Since when?",
                    "video": null,
                    "answer": { "text": "2019", "seconds": null, "streams": {}, "thumb": null, "dimensions": null, "captions": [] },
                },
                { "text": "Anything else?", "video": null, "answer": null },
            ],
        })
    );
    assert_eq!((&film["text"], &film["seconds"]), (&json!(""), &json!(2)));
    assert_eq!(film["dimensions"].as_object().unwrap().len(), 2);
    for address in [&film["streams"]["mp4"], &film["thumb"]] {
        let found = given.fetch(address.as_str().unwrap()).await.expect(302);
        let file = fetch(found.header("location").unwrap(), &[]).await;
        assert_eq!(file.status, 200);
    }

    // A program that checks links has come so far as well.
    owner.get(&uri).await.expect_json(200, expected.clone());
    given.open(&format!("ivg_{key}")).await.expect(204);
    let mut opened = expected;
    opened["opened_at"] = json!("2026-11-08T10:01:00Z");
    opened["last_opened_at"] = json!("2026-11-08T10:01:00Z");
    let shown = owner.get(&uri).await.expect_json(200, opened.clone());
    assert_ne!(shown.header("etag"), created.header("etag"));
    let list = owner.get(&given.links()).await.expect(200).json();
    assert_eq!((&list["meta"]["total_count"], &list["objects"]), (&json!(1), &json!([opened])));
    // The guest's opening does not stand in the way of a manager who has read the link before.
    let delete = Request::delete(&uri).header("if-match", created.header("etag").unwrap());
    owner.send(delete).await.expect(204);
    owner.get(&uri).await.expect(404);
    let list = owner.get(&given.links()).await.expect(200).json();
    assert_eq!(list["objects"], json!([]));
}

#[tokio::test]
async fn a_link_may_hide_the_name_and_work_for_another_time() {
    let given = GuestFixture::start().await;
    let (uri, key) =
        given.link(json!({ "hide_name": true, "expires_at": "2026-11-08T12:00:00+01:00" })).await;
    let seen = given.review(&key).await.expect(200).json();
    assert_eq!((&seen["candidate"], &seen["expires_at"]), (&Value::Null, &json!("2026-11-08T11:00:00Z")));
    assert!(!seen.to_string().contains("Lovelace"), "{seen}");
    assert_eq!(given.owner.get(&uri).await.expect(200).json()["hide_name"], true);
}

#[tokio::test]
async fn answers_that_are_converted_or_failed_say_so() {
    let given = GuestFixture::start().await;
    let GuestFixture { app, owner, project, questions, .. } = &given;
    let candidate = begin(owner, project).await;
    record_film(&candidate, &questions[0]).await;
    super::record(&candidate, &questions[2]).await;
    write(&candidate, &questions[1], "2020").await.expect(201);
    candidate.advance(&candidate.uri).await.expect(200);
    let body = json!({ "recipient": "Bob" });
    let created = owner.post(&format!("{}guest-links/", candidate.uri), body).await.expect(201);
    let key = last_segment(&created.uri("url")).to_owned();
    let answers = async || -> Vec<Value> {
        let seen = given.review(&key).await.expect(200).json();
        seen["questions"].as_array().unwrap().iter().map(|question| question["answer"].clone()).collect()
    };
    let waiting = json!({ "text": "", "seconds": null, "streams": {}, "thumb": null, "dimensions": null, "captions": [] });
    let seen = answers().await;
    assert_eq!([&seen[0], &seen[2]], [&waiting, &waiting]);
    app.settle().await;
    let seen = answers().await;
    assert_eq!(seen[0]["seconds"], 2);
    // The bytes are no film.
    assert_eq!(seen[2], Value::Null);
}

#[tokio::test]
async fn a_repeated_creation_shows_the_url_again_and_makes_no_second_link() {
    let given = GuestFixture::start().await;
    let request = keyed(&given.creation(json!({})));
    let first = given.owner.send(request.clone()).await;
    assert_first(&first);
    assert_replay(&given.owner.send(request).await, &first);
    assert_eq!(given.owner.get(&given.links()).await.expect(200).json()["meta"]["total_count"], 1);
    let key = last_segment(&first.uri("url")).to_owned();
    given.review(&key).await.expect(200);
    // Sealed, so that who reads the table cannot use the link.
    assert!(!given.app.table().text().await.contains(&key));
}

#[tokio::test]
async fn a_repeated_creation_of_a_link_that_was_deleted_says_so() {
    let given = GuestFixture::start().await;
    let request = keyed(&given.creation(json!({})));
    let first = given.owner.send(request.clone()).await.expect(201);
    given.link(json!({})).await;
    given.owner.delete(&first.uri("resource_uri")).await.expect(204);
    let before = given.app.table().snapshot().await;
    for _ in 0..2 {
        assert_refusal!(given.owner.send(request.clone()).await, @r#"400 {"code":"link_deleted","detail":"The guest link that this request has created was deleted. Send a new `Idempotency-Key` to create another."}"#);
    }
    assert_eq!(given.app.table().snapshot().await, before);
    assert_first(&given.owner.send(given.creation(json!({})).header("idempotency-key", "another")).await);
}

#[tokio::test]
async fn no_browser_keeps_a_recording_that_a_guest_has_watched() {
    let given = GuestFixture::start().await;
    let (_, key) = given.link(json!({})).await;
    let film = given.film(&key).await;
    for request in [Request::get(&film), Request::get(&film).head()] {
        let redirect = given.app.send(request).await.expect(302);
        assert_eq!(redirect.header("cache-control"), Some("private, no-store"));
        let location = url::Url::parse(redirect.header("location").unwrap()).unwrap();
        let said = location.query_pairs().find(|(name, _)| name == "response-cache-control");
        assert_eq!(said.map(|(_, value)| value.into_owned()).as_deref(), Some("private, no-store"));
    }
    let location = given.fetch(&film).await.expect(302).header("location").unwrap().to_owned();
    assert_eq!(fetch(&location, &[]).await.header("cache-control"), "private, no-store");
}

#[tokio::test]
async fn an_unknown_key_takes_the_same_work_whether_or_not_its_company_exists() {
    let given = GuestFixture::start().await;
    let (_, key) = given.link(json!({})).await;
    let film = given.film(&key).await;
    let known = URL_SAFE_NO_PAD.decode(key.strip_prefix("ivg_").unwrap()).unwrap();
    // Identifiers of project, candidate and link, 24 random bytes, the company.
    let with = |changed: usize, company: &str| {
        let mut bytes = known[..72].to_vec();
        bytes[changed] ^= 1;
        format!("ivg_{}", URL_SAFE_NO_PAD.encode([&bytes[..], company.as_bytes()].concat()))
    };
    let mut seen = Vec::new();
    // A link that there is not, of a candidate there is, of one there is not, and of a company that there is not.
    for unknown in [with(47, "acme"), with(31, "acme"), with(0, "acme"), with(47, "none"), with(0, "none")] {
        let refused = given.review(&unknown).await.expect_code(401, "invalid_credential").log();
        seen.push((refused.dynamodb_calls, refused.read_units.to_bits(), refused.write_units.to_bits()));
    }
    // The URL of a file names the link too: another identifier of a link, and another company, are refused at the same cost.
    let (path, token) = film.rsplit_once('/').unwrap();
    let mut token = URL_SAFE_NO_PAD.decode(token.trim_end_matches(".mp4")).unwrap();
    let last_of_link = token.len() - 17;
    token[last_of_link] ^= 1;
    let token = URL_SAFE_NO_PAD.encode(token);
    for path in [path.to_owned(), path.replace("/companies/acme/", "/companies/none/")] {
        let refused = given.fetch(&format!("{path}/{token}.mp4")).await;
        let refused = refused.expect_code(401, "invalid_credential").log();
        seen.push((refused.dynamodb_calls, refused.read_units.to_bits(), refused.write_units.to_bits()));
    }
    assert_eq!(seen[0].0, 1);
    assert!(seen.iter().all(|one| *one == seen[0]), "{seen:?}");
}

#[tokio::test]
async fn each_request_for_the_answers_costs_a_write() {
    let given = GuestFixture::start().await;
    let (_, key) = given.link(json!({})).await;
    for request in [review(&key), review(&key).head()] {
        let seen = given.app.send(request).await.expect(200);
        // The link; whether it shows something; the request, which counts; what it shows; the texts.
        assert_eq!((seen.log().dynamodb_calls, seen.log().write_units), (5, 1.0));
    }
    let fetched = given.fetch(&given.film(&key).await).await.expect(302).log();
    assert_eq!((fetched.dynamodb_calls, fetched.write_units), (2, 0.0));
}

#[tokio::test]
async fn by_one_link_the_answers_are_shown_three_hundred_times_an_hour() {
    let given = GuestFixture::start().await;
    let (uri, key) = given.link(json!({})).await;
    let (_, other) = given.link(json!({})).await;
    for number in 0..300 {
        match number % 3 {
            0 => given.review(&key).await.expect(200),
            1 => given.app.send(review(&key).head()).await.expect(200),
            _ => given.open(&key).await.expect(204),
        };
    }
    given.open(&key).await.expect_code(429, "throttled");
    let refused = given.review(&key).await;
    assert_refusal!(refused, @r#"429 {"code":"throttled","detail":"Too many attempts. Try again after the seconds in `Retry-After`."}"#);
    assert_eq!(refused.header("retry-after"), Some("3600"));
    // The large items are not read for it, and nothing is written.
    assert_eq!((refused.log().dynamodb_calls, refused.log().write_units), (1, 0.0));
    given.review(&other).await.expect(200);
    // A manager sees nothing of it, and another link does not count it.
    assert_eq!(given.owner.get(&uri).await.expect(200).json().get("requests"), None);
    given.app.clock().advance(TimeDelta::minutes(60));
    given.review(&key).await.expect(200);
}
