//! A POST under an Idempotency-Key that is sent many times at once, or whose process or connection dies.

use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::assert_refusal;
use tests::caller::{Caller, Staff};
use tests::chaos::{Chaos, Fault};
use tests::effort;
use tests::http::Request;
use tokio::task::JoinSet;

use crate::system::idempotency::{assert_first, assert_replay, is_replay, keyed};

/// POSTs of every kind, each with how the sort key begins of the one item that it creates.
pub(crate) async fn kinds(app: &TestApp) -> (Staff, Vec<(Request, &'static str)>) {
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
    for response in busy {
        assert_refusal!(response, @r#"409 {"code":"in_progress","detail":"A request with this `Idempotency-Key` is still running. Retry after the seconds in `Retry-After`."}"#);
    }
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
    let all = (0..=2).flat_map(|survived| (0..kinds_count).map(move |index| (index, survived)));
    for (index, survived) in effort::cases(all) {
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

#[tokio::test]
async fn a_lost_response_is_replayed_to_a_retry() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let (owner, mut requests) = kinds(&app).await;
    requests.truncate(requests.len() - 1);
    for (request, kind) in requests {
        let before = count(&app, kind).await;
        chaos.always("TransactWriteItems", Fault::AnswerLost);
        assert_refusal!(owner.send(request.clone()).await, @r#"503 {"code":"busy","detail":"The service is busy. Try again shortly."}"#);
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
    for survived in effort::cases(0..=calls) {
        let repeated = import_staff(Some(survived as usize)).await;
        assert_eq!((&repeated.0, repeated.1), (&report, mails), "after {survived} calls");
    }
}
