//! Every POST under an Idempotency-Key: done once however often it is sent, and answered the same.

use axum::http::Method;
use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::assert_refusal;
use tests::caller::Caller;
use tests::files::Form;
use tests::http::{Request, Response};

use crate::system::access::{AccessFixture, AccessRow, AccessTable};
use crate::system::idempotency_faults::kinds;

const KEY: &str = "0c7ab1b6-3f5e-4f0a-9c57-6f3c2d1e8a90";

/// The POSTs whose answer is not kept: it holds a secret, or nobody is known for whom it could be.
const REPEATABLE: [&str; 12] = [
    "/api-token-auth/",
    "/api-token-exchange/",
    "/api-token-invalidate/",
    "/api-session-auth/",
    "/api-session-invalidate/",
    "/api-activate/",
    "/api-email-confirm/",
    "/api-email-restore/",
    "/api-password-reset/",
    "/candidate-links/",
    "/api-password-reset/confirm/",
    "/whoami/key/",
];

pub(crate) fn keyed(request: &Request) -> Request {
    request.clone().header("idempotency-key", KEY)
}

// The POST of guests is left out, since it keeps no answer: tests/api/interviews/guests has it.
fn posts(promises: &AccessTable) -> impl Iterator<Item = &AccessRow> {
    promises.rows.iter().filter(|row| row.method == Method::POST && !row.path.starts_with("/review/"))
}

fn kept_posts(promises: &AccessTable) -> impl Iterator<Item = &AccessRow> {
    posts(promises).filter(|row| !REPEATABLE.contains(&row.path))
}

/// Whether staff do what a row says. The requests of candidates about their answers are in `interviews/takes.rs`.
fn is_of_staff(row: &AccessRow) -> bool {
    AccessFixture::doer(row) != "this-candidate"
}

pub(crate) fn is_replay(response: &Response) -> bool {
    response.header("idempotent-replayed") == Some("true")
}

#[track_caller]
pub(crate) fn assert_first(response: &Response) {
    assert!(response.status.is_success() && response.header("idempotent-replayed").is_none(), "{response}");
}

/// Makes sure that an answer is the first one once more; only what is shown once is missing.
#[track_caller]
pub(crate) fn assert_replay(again: &Response, first: &Response) {
    assert!(is_replay(again), "{again}");
    assert_eq!(again.status, first.status);
    let mut shown = first.json();
    for secret in ["value", "secret"] {
        shown.as_object_mut().map(|shown| shown.remove(secret));
    }
    assert_eq!(again.json(), shown);
    for name in ["location", "etag", "content-type"] {
        assert_eq!(again.header(name), first.header(name), "{name} of {again}");
    }
}

#[tokio::test]
async fn every_post_is_done_once_for_one_key() {
    let given = AccessFixture::new().await;
    let promises = AccessTable::read();
    for row in kept_posts(&promises).filter(|row| is_of_staff(row)) {
        let doer = given.staff(AccessFixture::doer(row));
        let request = keyed(&given.unsigned(row).await);
        let send = async |caller: &dyn Fn(Request) -> Request| given.app.send(caller(request.clone())).await;
        let first = send(&|request| doer.sign(request)).await;
        assert_first(&first);
        let done = given.app.table().snapshot().await;
        assert_replay(&send(&|request| doer.sign(request)).await, &first);
        let other_session = doer.new_token().await;
        assert_replay(&send(&|request| other_session.sign(request)).await, &first);
        let other = doer.sign(request.clone()).json(&json!({ "other": row.path }));
        assert_refusal!(given.app.send(other).await, @r#"422 {"code":"idempotency_key_reused","detail":"This `Idempotency-Key` was used with a different request. Send a new key."}"#);
        assert_eq!(given.app.table().snapshot().await, done, "{}", row.path);
    }
}

#[tokio::test]
async fn forms_are_equal_if_their_parts_are() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let ada = |last_name| Form::new().text("first_name", "Ada").text("last_name", last_name);
    let cv = |form: Form, name, content_type, text: &[u8]| form.file("cv", name, content_type, text);
    let send =
        async |form| owner.send(keyed(&Request::post(&format!("{project}candidates/"))).form(form)).await;
    let form = || cv(ada("Byron"), "cv.txt", "text/plain", b"Mathematician");
    let first = send(form()).await;
    assert_first(&first);
    assert_replay(&send(form().separated_by("another")).await, &first);
    let encoded = "Content-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\n";
    for other in [
        ada("Byron"),
        ada("Byron").text("cv", "Mathematician"),
        cv(ada("Lovelace"), "cv.txt", "text/plain", b"Mathematician"),
        cv(ada("Byron"), "cv.doc", "text/plain", b"Mathematician"),
        cv(ada("Byron"), "cv.txt", "text/richtext", b"Mathematician"),
        cv(ada("Byron"), "cv.txt", "text/plain", b"Programmer"),
        ada("Byron").part("name=\"cv\"; filename=\"cv.txt\"", encoded, b"Mathematician"),
        form().text("phone", "1"),
    ] {
        assert_refusal!(send(other.separated_by("another")).await, @r#"422 {"code":"idempotency_key_reused","detail":"This `Idempotency-Key` was used with a different request. Send a new key."}"#);
    }
    assert_eq!(owner.get(&project).await.expect(200).json()["candidates_count"], 1);
}

#[tokio::test]
async fn users_and_companies_know_nothing_of_each_others_keys() {
    let given = AccessFixture::new().await;
    let admin = given.app.staff("admin").await;
    let elsewhere = given.app.owner_of("umbrella").await;
    let promises = AccessTable::read();
    for row in kept_posts(&promises).filter(|row| is_of_staff(row)) {
        let request = keyed(&given.unsigned(row).await);
        assert_first(&given.staff(AccessFixture::doer(row)).send(request.clone()).await);
        let others = admin.send(request.clone()).await;
        assert!(!is_replay(&others), "{others}");
        elsewhere.send(request.clone()).await.expect_code(404, "not_found");
        assert_refusal!(given.app.anonymous().send(request).await, @r#"401 {"code":"not_authenticated","detail":"Authentication credentials were not provided."}"#);
    }
    for company in ["acme", "umbrella"] {
        let owner = if company == "acme" { &given.owner } else { &elsewhere };
        let label =
            Request::post(&format!("/companies/{company}/labels/")).json(&json!({ "text": "Urgent" }));
        assert_first(&owner.send(label.header("idempotency-key", "theirs")).await);
    }
}

#[tokio::test]
async fn a_named_token_has_keys_of_its_own() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let [(_, one), (_, other)] = [owner.named_token("One").await, owner.named_token("Other").await];
    let project = owner.project(json!({})).await;
    let create = keyed(&Request::post(&format!("{project}candidates/")))
        .json(&json!({ "first_name": "Ada", "last_name": "Byron" }));
    let first = one.send(create.clone()).await;
    assert_first(&first);
    assert_first(&other.send(create.clone()).await);
    assert_first(&owner.send(create.clone()).await);
    assert_replay(&one.send(create).await, &first);
}

#[tokio::test]
async fn where_nothing_is_kept_keys_are_taken_all_the_same() {
    let given = AccessFixture::new().await;
    let promises = AccessTable::read();
    for row in posts(&promises).filter(|row| REPEATABLE.contains(&row.path)) {
        let before = given.app.table().snapshot().await;
        let response = given.app.send(keyed(&given.request(AccessFixture::doer(row), row).await)).await;
        assert_first(&response);
        let after = given.app.table().snapshot().await;
        let kept = after.keys().filter(|(pk, _)| pk.starts_with("IDEMPOTENCY#")).count();
        assert_eq!(kept, before.keys().filter(|(pk, _)| pk.starts_with("IDEMPOTENCY#")).count());
    }
}

#[tokio::test]
async fn a_key_that_is_none_is_refused_everywhere() {
    let given = AccessFixture::new().await;
    let promises = AccessTable::read();
    for row in posts(&promises) {
        let request = given.request(AccessFixture::doer(row), row).await;
        let before = given.app.table().snapshot().await;
        for key in ["", "two words", &"k".repeat(256)] {
            let refused = given.app.send(request.clone().header("idempotency-key", key)).await;
            assert_refusal!(refused, @r#"400 {"code":"invalid_idempotency_key","detail":"Send one Idempotency-Key of 1 to 255 visible ASCII characters."}"#);
        }
        assert_eq!(given.app.table().snapshot().await, before);
    }
}

#[tokio::test]
async fn a_key_is_forgotten_after_a_day() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let post = |text: &str| keyed(&Request::post("/companies/acme/labels/")).json(&json!({ "text": text }));
    let first = owner.send(post("one")).await;
    assert_first(&first);
    app.clock().advance(TimeDelta::hours(24) - TimeDelta::seconds(1));
    let owner = owner.new_token().await;
    assert_replay(&owner.send(post("one")).await, &first);
    app.clock().advance(TimeDelta::seconds(1));
    let anew = owner.send(post("two")).await;
    assert_first(&anew);
    assert_replay(&owner.send(post("two")).await, &anew);
}

#[tokio::test]
async fn a_refused_request_may_be_corrected_under_the_same_key() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    owner.label("taken").await;
    owner.candidate(&project, json!({ "username": "taken" })).await;
    let colleague = owner.colleague("hiring-manager", json!({})).await;
    let roles = format!("{project}roles/");
    let nobody = "/api/v3/companies/acme/customers/00000000000000000000000000/";
    for (path, wrong, right) in [
        ("/companies/acme/labels/", json!({ "text": "taken" }), json!({ "text": "free" })),
        ("/companies/acme/projects/", json!({ "name": "" }), json!({ "name": "Sales" })),
        (
            &format!("{project}candidates/"),
            json!({ "first_name": "Ada", "last_name": "Byron", "username": "taken" }),
            json!({ "first_name": "Ada", "last_name": "Byron", "username": "free" }),
        ),
        (
            &roles,
            json!({ "customer": nobody, "role": "evaluator" }),
            json!({ "customer": colleague.uri, "role": "evaluator" }),
        ),
    ] {
        let before = app.table().snapshot().await;
        let send = async |body: &Value| owner.send(keyed(&Request::post(path)).json(body)).await;
        send(&wrong).await.expect(400);
        assert_eq!(app.table().snapshot().await, before);
        let mended = send(&right).await;
        assert_first(&mended);
        assert_replay(&send(&right).await, &mended);
    }
}

#[tokio::test]
async fn later_changes_do_not_affect_the_replayed_response() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let candidate = owner.invite(&project, json!({})).await.uri;
    let remind = keyed(&Request::post(&format!("{candidate}reminder/")));
    let share = keyed(&Request::post(&format!("{candidate}shares/"))).json(&json!({ "customer": owner.uri }));
    let [reminded, shared] = [owner.send(remind.clone()).await, owner.send(share.clone()).await];
    owner.delete(&shared.uri("resource_uri")).await.expect(204);
    owner.skip(&candidate).await.expect(200);
    assert_replay(&owner.send(remind.clone()).await, &reminded);
    assert_replay(&owner.send(share).await, &shared);
    assert_eq!(owner.get(&candidate).await.expect(200).json()["shares"], json!([]));
    // A caller who may not see the resource any more gets no replay.
    owner.delete(&candidate).await.expect(204);
    owner.send(remind).await.expect_code(404, "not_found");
}

#[tokio::test]
async fn callers_who_lost_access_get_no_replay() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let manager = app.staff("hiring-manager").await;
    let project = owner.project(json!({ "interview_managers": [owner.uri, manager.uri] })).await;
    let create = keyed(&Request::post(&format!("{project}candidates/")))
        .json(&json!({ "first_name": "Ada", "last_name": "Byron" }));
    assert_first(&manager.send(create.clone()).await);
    owner.patch(&project, json!({ "interview_managers": [], "evaluators": [manager.uri] })).await.expect(200);
    assert_refusal!(manager.send(create).await, @r#"
        403 {
          "code":"permission_denied",
          "detail":"You do not have the permission `change_project` here.",
          "permission":"change_project"
        }
    "#);
}

#[tokio::test]
async fn a_secret_is_not_kept_to_be_shown_again() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let chosen = "a-value-that-is-long-enough-to-be-chosen";
    for (key, body) in [("a", json!({ "name": "Ours" })), ("b", json!({ "name": "Theirs", "value": chosen }))]
    {
        let post = Request::post("/companies/acme/tokens/").json(&body).header("idempotency-key", key);
        let first = owner.send(post.clone()).await.expect(201);
        assert_first(&first);
        assert!(!app.table().text().await.contains(&first.uri("value")));
        let again = owner.send(post).await;
        assert_replay(&again, &first);
        assert!(again.json().get("value").is_none());
        let read = owner.get(&again.uri("resource_uri")).await.expect_json(200, again.json());
        assert_eq!(read.header("etag"), first.header("etag"));
        app.token(&first.uri("value")).get("/whoami/").await.expect(200);
    }
}

#[tokio::test]
async fn recorded_responses_are_readable_only_with_the_key() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let ada = json!({ "first_name": "Augusta", "last_name": "Lovelace", "email": "augusta@mail.example" });
    let request = owner.sign(Request::post(&format!("{project}candidates/")).json(&ada));
    let created = app.send(keyed(&request)).await.expect(201);
    let many = json!([{ "first_name": "Annabella", "last_name": "Milbanke" }]);
    let import = owner.sign(Request::post(&format!("{project}candidates/import/")).json(&many));
    let imported = app.send(keyed(&import)).await.expect(200);
    assert_replay(&app.send(keyed(&request)).await, &created);
    assert_replay(&app.send(keyed(&import)).await, &imported);
    let found = imported.json()["objects"][0]["candidate"].as_str().unwrap().to_owned();
    for uri in [created.uri("resource_uri"), found.clone()] {
        owner.delete(&uri).await.expect(204);
    }
    app.settle().await;
    let stored = app.table().text().await;
    assert!(stored.contains("IDEMPOTENCY#"));
    for personal in ["Augusta", "Lovelace", "augusta@mail.example", "Annabella", &found, KEY] {
        assert!(!stored.contains(personal), "{personal}");
    }
    assert_replay(&app.send(keyed(&request)).await, &created);
}

#[tokio::test]
async fn a_body_of_any_kind_is_known_again_byte_by_byte() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let post = || keyed(&Request::post("/companies/acme/labels/"));
    assert_refusal!(owner.send(post().body("text/csv", "text,x")).await, @r#"415 {"code":"unsupported_media_type","detail":"Send the body as application/json."}"#);
    let huge = format!("{{\"text\": \"{}\"}}", "a".repeat(2 * 1024 * 1024));
    assert_refusal!(owner.send(post().body("application/json", huge)).await, @r#"413 {"code":"too_large","detail":"The request body is too large."}"#);
    let first = owner.send(post().body("application/json", r#"{"text": "x"}"#)).await;
    assert_first(&first);
    let spaced = owner.send(post().body("application/json", r#"{"text":  "x"}"#)).await;
    assert_refusal!(spaced, @r#"422 {"code":"idempotency_key_reused","detail":"This `Idempotency-Key` was used with a different request. Send a new key."}"#);
    let elsewhere =
        keyed(&Request::post("/companies/acme/labels/?x=1")).body("application/json", r#"{"text": "x"}"#);
    assert_refusal!(owner.send(elsewhere).await, @r#"422 {"code":"idempotency_key_reused","detail":"This `Idempotency-Key` was used with a different request. Send a new key."}"#);
    // With or without its final slash it is the same route.
    let bare = keyed(&Request::post("/companies/acme/labels")).body("application/json", r#"{"text": "x"}"#);
    assert_replay(&owner.send(bare).await, &first);
}

#[tokio::test]
async fn a_key_costs_no_call_and_a_repeat_costs_one() {
    let app = TestApp::start().await;
    let (owner, mut requests) = kinds(&app).await;
    requests.truncate(requests.len() - 1);
    for (request, kind) in requests {
        let first = owner.send(request.clone()).await;
        assert_eq!(first.log().dynamodb_calls, 2, "{kind}, as without a key");
        let again = owner.send(request).await;
        assert_eq!((again.log().dynamodb_calls, again.log().write_units), (1, 0.0), "{kind}");
    }
    // Whether it was not refused by what the same request has done meanwhile, one more look tells.
    let refused =
        Request::post("/companies/acme/labels/").json(&json!({})).header("idempotency-key", "refused");
    assert_eq!(owner.send(refused).await.expect(400).log().dynamodb_calls, 2);
    let plain = owner.post("/companies/acme/labels/", json!({ "text": "plain" })).await.expect(201);
    assert_eq!(plain.log().dynamodb_calls, 2);
}
