//! Every POST under an Idempotency-Key: done once however often it is sent, and answered the same.

use axum::http::Method;
use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, Staff};
use tests::chaos::{Chaos, Fault};
use tests::files::Form;
use tests::http::{Request, Response};
use tokio::task::JoinSet;

use crate::access::{Given, Promises, Row};

const KEY: &str = "0c7ab1b6-3f5e-4f0a-9c57-6f3c2d1e8a90";

/// The POSTs whose answer is not kept: it holds a secret, or nobody is known for whom it could be.
const REPEATABLE: [&str; 7] = [
    "/api-token-auth/",
    "/api-token-invalidate/",
    "/api-session-auth/",
    "/api-session-invalidate/",
    "/api-activate/",
    "/api-password-reset/",
    "/api-password-reset/confirm/",
];

fn keyed(request: &Request) -> Request {
    request.clone().header("idempotency-key", KEY)
}

fn posts(promises: &Promises) -> impl Iterator<Item = &Row> {
    promises.rows.iter().filter(|row| row.method == Method::POST)
}

fn kept_posts(promises: &Promises) -> impl Iterator<Item = &Row> {
    posts(promises).filter(|row| !REPEATABLE.contains(&row.path))
}

fn is_replay(response: &Response) -> bool {
    response.header("idempotent-replayed") == Some("true")
}

#[track_caller]
fn assert_first(response: &Response) {
    assert!(response.status.is_success() && response.header("idempotent-replayed").is_none(), "{response}");
}

/// Makes sure that an answer is the first one once more; only what is shown once is missing.
#[track_caller]
fn assert_replay(again: &Response, first: &Response) {
    assert!(is_replay(again), "{again}");
    assert_eq!(again.status, first.status);
    let mut shown = first.json();
    if let Some(token) = shown.as_object_mut() {
        token.remove("value");
    }
    assert_eq!(again.json(), shown);
    for name in ["location", "etag", "content-type"] {
        assert_eq!(again.header(name), first.header(name), "{name} of {again}");
    }
}

#[tokio::test]
async fn every_post_is_done_once_for_one_key() {
    let given = Given::new().await;
    let promises = Promises::read();
    for row in kept_posts(&promises) {
        let request = keyed(&given.unsigned(row).await);
        let send = async |caller: &dyn Fn(Request) -> Request| given.app.send(caller(request.clone())).await;
        let first = send(&|request| given.owner.sign(request)).await;
        assert_first(&first);
        let done = given.app.table().snapshot().await;
        assert_replay(&send(&|request| given.owner.sign(request)).await, &first);
        let other_session = given.owner.new_token().await;
        assert_replay(&send(&|request| other_session.sign(request)).await, &first);
        let other = given.owner.sign(request.clone()).json(&json!({ "other": row.path }));
        given.app.send(other).await.expect_code(422, "idempotency_key_reused");
        assert_eq!(given.app.table().snapshot().await, done, "{}", row.path);
    }
}

#[tokio::test]
async fn a_form_is_the_same_by_what_its_parts_say() {
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
    for other in [
        ada("Byron"),
        ada("Byron").text("cv", "Mathematician"),
        cv(ada("Lovelace"), "cv.txt", "text/plain", b"Mathematician"),
        cv(ada("Byron"), "cv.doc", "text/plain", b"Mathematician"),
        cv(ada("Byron"), "cv.txt", "text/richtext", b"Mathematician"),
        cv(ada("Byron"), "cv.txt", "text/plain", b"Programmer"),
        form().text("phone", "1"),
    ] {
        send(other.separated_by("another")).await.expect_code(422, "idempotency_key_reused");
    }
    assert_eq!(owner.get(&project).await.expect(200).json()["candidates_count"], 1);
}

#[tokio::test]
async fn users_and_companies_know_nothing_of_each_others_keys() {
    let given = Given::new().await;
    let admin = given.app.staff("admin").await;
    let elsewhere = given.app.owner_of("umbrella").await;
    let promises = Promises::read();
    for row in kept_posts(&promises) {
        let request = keyed(&given.unsigned(row).await);
        assert_first(&given.owner.send(request.clone()).await);
        let others = admin.send(request.clone()).await;
        assert!(!is_replay(&others), "{others}");
        elsewhere.send(request.clone()).await.expect_code(404, "not_found");
        given.app.anonymous().send(request).await.expect_code(401, "not_authenticated");
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
    let given = Given::new().await;
    let promises = Promises::read();
    for row in posts(&promises).filter(|row| REPEATABLE.contains(&row.path)) {
        let before = given.app.table().snapshot().await;
        let response = given.app.send(keyed(&given.request("owner", row).await)).await;
        assert_first(&response);
        let after = given.app.table().snapshot().await;
        let kept = after.keys().filter(|(pk, _)| pk.starts_with("IDEMPOTENCY#")).count();
        assert_eq!(kept, before.keys().filter(|(pk, _)| pk.starts_with("IDEMPOTENCY#")).count());
    }
}

#[tokio::test]
async fn a_key_that_is_none_is_refused_everywhere() {
    let given = Given::new().await;
    let promises = Promises::read();
    for row in posts(&promises) {
        let request = given.request("owner", row).await;
        let before = given.app.table().snapshot().await;
        for key in ["", "two words", &"k".repeat(256)] {
            let refused = given.app.send(request.clone().header("idempotency-key", key)).await;
            refused.expect_code(400, "invalid_idempotency_key");
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
async fn what_was_refused_may_be_mended_under_the_same_key() {
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
async fn what_has_changed_since_does_not_change_the_answer() {
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
    // What the caller may no longer know of is not told again.
    owner.delete(&candidate).await.expect(204);
    owner.send(remind).await.expect_code(404, "not_found");
}

#[tokio::test]
async fn whoever_lost_the_right_is_not_answered_again() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let manager = app.staff("hiring-manager").await;
    let project = owner.project(json!({ "interview_managers": [owner.uri, manager.uri] })).await;
    let create = keyed(&Request::post(&format!("{project}candidates/")))
        .json(&json!({ "first_name": "Ada", "last_name": "Byron" }));
    assert_first(&manager.send(create.clone()).await);
    owner.patch(&project, json!({ "interview_managers": [], "evaluators": [manager.uri] })).await.expect(200);
    manager.send(create).await.expect_code(403, "permission_denied");
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
async fn what_an_answer_shows_is_kept_for_nobody_but_who_has_the_key() {
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
    owner.send(post().body("text/csv", "text,x")).await.expect_code(415, "unsupported_media_type");
    let huge = format!("{{\"text\": \"{}\"}}", "a".repeat(2 * 1024 * 1024));
    owner.send(post().body("application/json", huge)).await.expect_code(413, "too_large");
    let first = owner.send(post().body("application/json", r#"{"text": "x"}"#)).await;
    assert_first(&first);
    let spaced = owner.send(post().body("application/json", r#"{"text":  "x"}"#)).await;
    spaced.expect_code(422, "idempotency_key_reused");
    let elsewhere =
        keyed(&Request::post("/companies/acme/labels/?x=1")).body("application/json", r#"{"text": "x"}"#);
    owner.send(elsewhere).await.expect_code(422, "idempotency_key_reused");
    // With or without its final slash it is the same route.
    let bare = keyed(&Request::post("/companies/acme/labels")).body("application/json", r#"{"text": "x"}"#);
    assert_replay(&owner.send(bare).await, &first);
}

/// POSTs of every kind, each with how the sort key begins of the one item that it creates.
async fn kinds(app: &TestApp) -> (Staff, Vec<(Request, &'static str)>) {
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let candidate = owner.invite(&project, json!({})).await.uri;
    let colleague = owner.colleague("hiring-manager", json!({})).await;
    let person = |name: &str| {
        json!({ "first_name": "Grace", "last_name": "Hopper", "email": format!("{name}@acme.example"),
            "account_type": "hiring-manager", "preferred_language": "en" })
    };
    let ada = json!({ "first_name": "Ada", "last_name": "Byron", "username": "ada" });
    let post = |path: &str, body: Value| keyed(&Request::post(path)).json(&body);
    let requests = vec![
        (post("/companies/acme/labels/", json!({ "text": "Urgent" })), "LABEL#"),
        (post("/companies/acme/projects/", json!({ "name": "New" })), "TALLY#0"),
        (post("/companies/acme/customers/", person("grace")), "CUSTOMER#"),
        (post("/companies/acme/tokens/", json!({ "name": "Payroll" })), "TOKEN#"),
        (post(&format!("{project}candidates/"), ada), "CANDIDATE#"),
        (
            post(&format!("{project}roles/"), json!({ "customer": colleague.uri, "role": "evaluator" })),
            "PROJECT#",
        ),
        (post(&format!("{candidate}shares/"), json!({ "customer": owner.uri })), "SHARE#"),
        (keyed(&Request::post(&format!("{candidate}reminder/"))), "EFFECT"),
        (
            post(
                &format!("{project}candidates/import/"),
                json!([{ "first_name": "Eve", "last_name": "Byron" }]),
            ),
            "CANDIDATE#",
        ),
    ];
    (owner, requests)
}

/// How many items of a kind there are, but for those that lead from a secret to it.
async fn count(app: &TestApp, kind: &str) -> usize {
    let items = app.table().snapshot().await;
    items.keys().filter(|(pk, sk)| sk.starts_with(kind) && pk != sk).count()
}

/// Sends a request sixteen times at once, makes sure that it was done once, and gives how many items of a kind it made.
async fn sixteen_at_once(owner: &Staff, request: Request, kind: &str) -> usize {
    let app = owner.app();
    let before = count(app, kind).await;
    let mut clients = JoinSet::new();
    for _ in 0..16 {
        let (owner, request) = (owner.clone(), request.clone());
        clients.spawn(async move { owner.send(request).await });
    }
    let (replays, others): (Vec<_>, Vec<_>) = clients.join_all().await.into_iter().partition(is_replay);
    let (busy, first): (Vec<_>, Vec<_>) = others.into_iter().partition(|one| one.status == 409);
    assert_eq!((first.len(), replays.len() + busy.len()), (1, 15), "{kind}: {first:?}");
    assert_first(&first[0]);
    replays.iter().for_each(|replay| assert_replay(replay, &first[0]));
    busy.into_iter().for_each(|busy| drop(busy.expect_code(409, "in_progress")));
    assert_replay(&owner.send(request).await, &first[0]);
    app.assert_sound();
    count(app, kind).await - before
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_sixteen_at_once_one_has_an_effect() {
    let app = TestApp::start().await;
    let (owner, requests) = kinds(&app).await;
    for (request, kind) in requests {
        assert_eq!(sixteen_at_once(&owner, request, kind).await, 1, "{kind}");
    }
    let list = staff_list(&owner).await;
    let import = keyed(&Request::post("/companies/acme/customers/batch-import/")).json(&list);
    assert_eq!(sixteen_at_once(&owner, import, "CUSTOMER#").await, 20);
}

#[tokio::test]
async fn a_process_that_died_at_any_moment_leaves_the_whole_effect_or_none() {
    let kinds_count = { kinds(&TestApp::start().await).await.1.len() - 1 };
    for index in 0..kinds_count {
        for survived in 0..=2 {
            let (app, chaos) = TestApp::start_with_chaos().await;
            let (owner, mut requests) = kinds(&app).await;
            let (request, kind) = requests.swap_remove(index);
            let before = app.table().snapshot().await;
            chaos.cut_after(survived);
            let lost = owner.send(request.clone()).await;
            chaos.heal();
            let left = app.table().snapshot().await;
            assert_eq!(left != before, survived == 2, "{kind} after {survived} calls");
            let repeated = owner.send(request.clone()).await;
            match survived {
                2 => assert_replay(&repeated, &lost),
                _ => assert_first(&repeated),
            }
            let done = app.table().snapshot().await;
            assert_replay(&owner.send(request).await, &repeated);
            assert_eq!(app.table().snapshot().await, done);
        }
    }
}

#[tokio::test]
async fn a_client_that_never_heard_of_its_success_hears_of_it_when_it_asks_again() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let (owner, mut requests) = kinds(&app).await;
    requests.truncate(requests.len() - 1);
    for (request, kind) in requests {
        let before = count(&app, kind).await;
        chaos.always("TransactWriteItems", Fault::AnswerLost);
        owner.send(request.clone()).await.expect_code(503, "busy");
        chaos.heal();
        let created = count(&app, kind).await;
        assert!(created > before, "{kind}");
        let told = owner.send(request).await;
        assert!(is_replay(&told) && told.status.is_success(), "{told}");
        assert_eq!(count(&app, kind).await, created);
    }
}

/// Twenty new people besides all who are there, in two transactions.
async fn staff_list(owner: &Staff) -> Value {
    let page = owner.get("/companies/acme/customers/").await.expect(200).json();
    let mut list: Vec<Value> = page["objects"].as_array().unwrap().clone();
    list.extend((0..20).map(|number| {
        json!({ "first_name": "Grace", "last_name": "Hopper", "username": format!("grace-{number}"),
            "email": format!("grace-{number}@acme.example"), "account_type": "recruiter",
            "preferred_language": "en" })
    }));
    list.iter_mut().for_each(|entry| entry["pk_attribute"] = "username".into());
    list.into()
}

async fn import_staff(survived: Option<usize>) -> (Value, usize, u32) {
    let (app, chaos): (TestApp, Chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let list = staff_list(&owner).await;
    let request = keyed(&Request::post("/companies/acme/customers/batch-import/")).json(&list);
    if let Some(survived) = survived {
        chaos.cut_after(survived);
        let _ = owner.send(request.clone()).await;
        chaos.heal();
        app.clock().advance(TimeDelta::seconds(30));
    }
    let response = owner.send(request.clone()).await.expect(200);
    assert_replay(&owner.send(request).await, &response);
    app.assert_sound();
    let mut report = response.json();
    for object in report["objects"].as_array_mut().unwrap() {
        object["customer"].take();
    }
    (report, count(&app, "EFFECT").await, response.log().dynamodb_calls)
}

#[tokio::test]
async fn an_import_of_staff_that_broke_off_is_finished_by_a_repeat_and_answered_as_if_it_had_not() {
    let (report, mails, calls) = import_staff(None).await;
    assert_eq!((&report["created"], mails), (&json!(20), 20));
    for survived in 0..=calls {
        let repeated = import_staff(Some(survived as usize)).await;
        assert_eq!((&repeated.0, repeated.1), (&report, mails), "after {survived} calls");
    }
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
