//! DynamoDB as it is on bad days: every request is done once and whole, or not at all and says so.

use serde_json::json;
use tests::app::TestApp;
use tests::assert_refusal;
use tests::caller::{Caller, PASSWORD};
use tests::chaos::Fault;
use tests::http::Response;
use tokio::task::JoinSet;

/// How often the service tries at most.
const ATTEMPTS: u32 = 8;

#[track_caller]
fn assert_busy(response: Response) {
    let response = response;
    assert_refusal!(response, @r#"503 {"code":"busy","detail":"The service is busy. Try again shortly."}"#);
    assert_eq!(response.header("retry-after"), Some("2"));
    let body = String::from_utf8_lossy(&response.body).to_lowercase();
    for inside in ["dynamodb", "throttl", "exception", "rate exceeded", "test-table"] {
        assert!(!body.contains(inside), "{response}");
    }
    assert!(response.log().cause.is_some(), "the log knows more than the client");
}

#[tokio::test]
async fn a_passing_fault_is_not_noticed() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let faults = [Fault::Conflict, Fault::Throttled, Fault::Unreachable, Fault::AnswerLost];
    for (number, fault) in faults.into_iter().enumerate() {
        let ada = json!({ "first_name": "Ada", "last_name": "Byron", "username": format!("ada{number}") });
        chaos.next("TransactWriteItems", fault.clone());
        chaos.next("TransactWriteItems", fault.clone());
        let created = owner.post(&format!("{project}candidates/"), ada).await.expect(201);
        assert_eq!(created.log().dynamodb_calls, 1 + 3, "{fault:?}");
        app.assert_sound();

        let uri = created.uri("resource_uri");
        chaos.next("TransactWriteItems", fault.clone());
        let changed = owner.patch(&uri, json!({ "username": format!("countess{number}") })).await.expect(200);
        owner.get(&uri).await.expect_json(200, changed.json());
        app.assert_sound();

        chaos.next("TransactWriteItems", fault.clone());
        owner.set_status(&project, ["40-running", "60-closed"][number % 2]).await.expect(200);
        assert_eq!(owner.get(&project).await.expect(200).json()["candidates_count"], 1, "{fault:?}");

        chaos.next("TransactWriteItems", fault.clone());
        owner.delete(&uri).await.expect(204);
        assert_eq!(owner.get(&project).await.expect(200).json()["candidates_count"], 0, "{fault:?}");
    }
}

#[tokio::test]
async fn reads_and_logins_survive_passing_faults_too() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let candidate = owner.candidate(&project, json!({})).await;
    for fault in [Fault::Throttled, Fault::Unreachable, Fault::AnswerLost] {
        for operation in ["BatchGetItem", "Query", "PutItem"] {
            chaos.next(operation, fault.clone());
        }
        owner.get(&candidate).await.expect(200);
        let list = owner.get(&format!("{project}candidates/")).await.expect(200).json();
        assert_eq!(list["meta"]["total_count"], 1);
        owner.new_token().await.get("/whoami/").await.expect(200);
    }
}

#[tokio::test]
async fn a_transaction_that_is_never_admitted_is_given_up_and_leaves_nothing() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let candidate = owner.candidate(&project, json!({})).await;
    let before = app.table().snapshot().await;
    for fault in [Fault::Throttled, Fault::Conflict, Fault::Unreachable] {
        chaos.always("TransactWriteItems", fault);
        let ada = json!({ "first_name": "Ada", "last_name": "Byron", "username": "ada" });
        let refused = owner.post(&format!("{project}candidates/"), ada).await;
        assert_eq!(refused.log().dynamodb_calls, 1 + ATTEMPTS);
        assert_busy(refused);
        assert_busy(owner.patch(&candidate, json!({ "first_name": "Grace" })).await);
        assert_busy(owner.delete(&candidate).await);
        assert_busy(owner.set_status(&project, "40-running").await);
        assert_eq!(app.table().snapshot().await, before);
        chaos.heal();
    }
    owner.delete(&candidate).await.expect(204);
}

#[tokio::test]
async fn without_the_table_requests_are_neither_admitted_nor_refused() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    for fault in [Fault::Throttled, Fault::Unreachable] {
        for operation in ["BatchGetItem", "Query", "PutItem"] {
            chaos.always(operation, fault.clone());
        }
        // Not 401: a client that believes its token dead would throw it away.
        assert_busy(owner.get("/whoami/").await);
        assert_busy(owner.get(&format!("{project}candidates/")).await);
        assert_busy(app.anonymous().log_in("acme", "owner", PASSWORD).await);
        chaos.heal();
        owner.get("/whoami/").await.expect(200);
    }
}

#[tokio::test]
async fn unprocessed_keys_of_a_batch_are_read_as_well() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    // Enough of them that whatever is read has two halves.
    let mut candidate = String::new();
    for _ in 0..4 {
        candidate = owner.candidate(&project, json!({})).await;
    }
    for target in [&project, &candidate, &format!("{project}candidates/?status=new")] {
        let whole = owner.get(target).await.expect(200);
        chaos.next("BatchGetItem", Fault::HalfProcessed);
        chaos.next("BatchGetItem", Fault::HalfProcessed);
        let pieced = owner.get(target).await.expect_json(200, whole.json());
        assert_eq!(pieced.log().dynamodb_calls, whole.log().dynamodb_calls + 2, "{target}");
    }
}

#[tokio::test]
async fn a_use_that_cannot_be_noted_does_not_fail_the_request() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    app.clock().advance(chrono::TimeDelta::minutes(60));
    chaos.always("UpdateItem", Fault::Throttled);
    owner.get("/whoami/").await.expect(200);
    assert_eq!(chaos.requests("UpdateItem"), 1, "the answer does not wait for more than one attempt");
    chaos.heal();
    owner.get("/whoami/").await.expect(200);
    app.clock().advance(chrono::TimeDelta::minutes(119));
    owner.get("/whoami/").await.expect(200);
}

#[tokio::test]
async fn a_failed_invalidation_says_so() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let invalidate = || tests::http::Request::post("/api-token-invalidate/");
    chaos.always("DeleteItem", Fault::Throttled);
    assert_busy(owner.send(invalidate()).await);
    owner.get("/whoami/").await.expect(200);
    chaos.heal();
    chaos.next("DeleteItem", Fault::AnswerLost);
    owner.send(invalidate()).await.expect(204);
    owner.get("/whoami/").await.expect(401);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn counts_are_exact_though_no_transaction_passes_at_the_first_attempt() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    chaos.fail_first_attempts(&[Fault::Conflict, Fault::AnswerLost, Fault::Throttled, Fault::Unreachable]);
    let mut clients = JoinSet::new();
    for client in 0..8 {
        let (owner, project) = (owner.clone(), project.clone());
        clients.spawn(async move {
            for round in 0..5 {
                let username = format!("client-{client}-{round}");
                let candidate = owner.candidate(&project, json!({ "username": username })).await;
                if round % 2 == 0 {
                    owner.delete(&candidate).await.expect(204);
                }
            }
        });
    }
    clients.join_all().await;
    assert_eq!(chaos.requests("TransactWriteItems"), 2 + 2 * 64, "64 changes, each tried twice");
    assert_eq!(owner.get(&project).await.expect(200).json()["candidates_count"], 16);
}
