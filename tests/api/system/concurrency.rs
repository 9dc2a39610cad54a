//! Many clients at once: counts stay exact, and of two changes of the same thing one loses cleanly.

use std::collections::VecDeque;

use serde_json::{Value, json};
use tests::app::TestApp;
use tests::assert_refusal;
use tests::caller::{Caller, Staff};
use tests::effort;
use tokio::task::JoinSet;

const CLIENTS: usize = 16;
const OPERATIONS: u32 = 2_000;

/// Creates two candidates, deletes the older, and so on; tells how many are left.
async fn come_and_go(owner: Staff, project: String, operations: usize) -> usize {
    let mut left = VecDeque::new();
    for operation in 0..operations {
        match operation % 3 {
            0 | 1 => left.push_back(owner.candidate(&project, json!({})).await),
            _ => {
                let oldest: String = left.pop_front().unwrap();
                owner.delete(&oldest).await.expect(204);
            }
        }
    }
    left.len()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn counts_are_exact_after_sixteen_clients_and_two_thousand_operations() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let mut clients = JoinSet::new();
    for _ in 0..CLIENTS {
        clients.spawn(come_and_go(
            owner.clone(),
            project.clone(),
            effort::count(OPERATIONS) as usize / CLIENTS,
        ));
    }
    let left: usize = clients.join_all().await.into_iter().sum();

    let counted = owner.get(&project).await.expect(200).json();
    assert_eq!(counted["candidates_count"], left);
    let list = owner.get(&format!("{project}candidates/")).await.expect(200).json();
    assert_eq!(list["meta"]["total_count"], left);
    let items = app.table().snapshot().await;
    assert_eq!(items.keys().filter(|(_, sk)| sk.starts_with("CANDIDATE#")).count(), left);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_who_delete_one_candidate_one_succeeds() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    owner.candidate(&project, json!({})).await;
    let candidate = owner.candidate(&project, json!({})).await;
    let mut clients = JoinSet::new();
    for _ in 0..CLIENTS {
        let (owner, candidate) = (owner.clone(), candidate.clone());
        clients.spawn(async move { owner.delete(&candidate).await.status.as_u16() });
    }
    let statuses = clients.join_all().await;
    assert_eq!(statuses.iter().filter(|status| **status == 204).count(), 1, "{statuses:?}");
    assert!(statuses.iter().all(|status| [204, 404, 409].contains(status)), "{statuses:?}");
    assert_eq!(owner.get(&project).await.expect(200).json()["candidates_count"], 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_who_want_a_username_one_gets_it() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let mut clients = JoinSet::new();
    for _ in 0..CLIENTS {
        let (owner, candidates) = (owner.clone(), format!("{project}candidates/"));
        let ada = json!({ "first_name": "Ada", "last_name": "Byron", "username": "ada" });
        clients.spawn(async move { owner.post(&candidates, ada).await });
    }
    let mut created = 0;
    for response in clients.join_all().await {
        match response.status.as_u16() {
            201 => created += 1,
            _ => assert_refusal!(response, @r#"400 {"username":["This username is already in use."]}"#),
        }
    }
    assert_eq!(created, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_project_that_opens_and_closes_keeps_its_counts() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let mut clients = JoinSet::new();
    for _ in 0..4 {
        clients.spawn(come_and_go(owner.clone(), project.clone(), 15));
    }
    for status in ["40-running", "60-closed", "40-running", "60-closed"] {
        owner.set_status(&project, status).await.expect(200);
    }
    clients.join_all().await;
}

/// Everything that a candidate needs to be invited.
fn ready(app: &TestApp) -> Value {
    json!({ "email": "ada@mail.example", "deadline": app.clock().in_days(7) })
}

#[tokio::test]
async fn a_candidate_invited_meanwhile_keeps_a_project_from_closing() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let candidate = owner.candidate(&project, ready(&app)).await;
    let closing = chaos.pause("TransactWriteItems");
    let meanwhile = async {
        closing.reached().await;
        owner.advance(&candidate).await.expect(200);
        closing.resume();
    };
    let (refused, ()) = tokio::join!(owner.set_status(&project, "60-closed"), meanwhile);
    assert_refusal!(refused, @r#"400 {"code":"cannot_archive","detail":"The project cannot be closed while candidates are invited, confirmed, interviewing or not fully evaluated."}"#);
    assert_eq!(owner.get(&project).await.expect(200).json()["status"], "40-running");
}

#[tokio::test]
async fn a_project_closed_meanwhile_keeps_a_candidate_from_being_invited() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let candidate = owner.candidate(&project, ready(&app)).await;
    let inviting = chaos.pause("TransactWriteItems");
    let meanwhile = async {
        inviting.reached().await;
        owner.set_status(&project, "60-closed").await.expect(200);
        inviting.resume();
    };
    let (refused, ()) = tokio::join!(owner.advance(&candidate), meanwhile);
    assert_refusal!(refused, @r#"400 {"code":"project_not_running","detail":"The project is not running. Set its status to `40-running` first."}"#);
    assert_eq!(owner.get(&candidate).await.expect(200).json()["status"], "new");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_project_is_ever_closed_with_an_open_candidate() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    for _ in 0..20 {
        let project = owner.running_project(json!({})).await;
        let candidate = owner.candidate(&project, ready(&app)).await;
        let mut clients = JoinSet::new();
        for _ in 0..2 {
            let [one, two] = [owner.clone(), owner.clone()];
            let (project, candidate) = (project.clone(), candidate.clone());
            clients.spawn(async move { one.set_status(&project, "60-closed").await });
            clients.spawn(async move { two.advance(&candidate).await });
        }
        for response in clients.join_all().await {
            assert!([200, 400, 409].contains(&response.status.as_u16()), "{response}");
        }
        let status = async |uri: &str| owner.get(uri).await.expect(200).uri("status");
        let (of_project, of_candidate) = (status(&project).await, status(&candidate).await);
        let expected = [("60-closed", "new"), ("40-running", "invited")];
        assert!(
            expected.contains(&(of_project.as_str(), of_candidate.as_str())),
            "{of_project} {of_candidate}"
        );
    }
}

#[tokio::test]
async fn a_change_that_lost_is_applied_to_the_new_state() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let candidate = owner.candidate(&project, json!({})).await;
    for (uri, field, other) in [(&project, "contact_person", "internal_id"), (&candidate, "phone", "gender")]
    {
        let late = chaos.pause("TransactWriteItems");
        let meanwhile = async {
            late.reached().await;
            owner.patch(uri, json!({ other: "first" })).await.expect(200);
            late.resume();
        };
        let (late, ()) = tokio::join!(owner.patch(uri, json!({ field: "second" })), meanwhile);
        late.expect(200);
        let now = owner.get(uri).await.expect(200).json();
        assert_eq!((&now[other], &now[field]), (&json!("first"), &json!("second")));
    }
}

#[tokio::test]
async fn a_concurrent_change_does_not_revive_a_deleted_resource() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let candidate = owner.candidate(&project, json!({ "username": "ada", "email": "a@b.co" })).await;
    let late = chaos.pause("TransactWriteItems");
    let meanwhile = async {
        late.reached().await;
        owner.delete(&candidate).await.expect(204);
        late.resume();
    };
    let change = owner.patch(&candidate, json!({ "username": "countess", "first_name": "Augusta" }));
    let (refused, ()) = tokio::join!(change, meanwhile);
    assert_refusal!(refused, @r#"404 {"code":"not_found","detail":"Not found."}"#);
    owner.get(&candidate).await.expect(404);
}
