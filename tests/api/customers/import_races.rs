//! Imports of customers while the service, or other people, change the same customers.

use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::assert_refusal;
use tests::caller::{Caller, Staff, last_segment};
use tests::chaos::Chaos;
use tests::effort;
use tests::http::{Request, Response};

use crate::customers::import::{CUSTOMERS, IMPORT, counts, entry, of};

/// The list of the owner and of these many new customers.
fn list(owner: &Staff, others: usize) -> Value {
    let other = |number| entry(&format!("user-{number}"), &owner.app().next_email(), "recruiter");
    [of(owner, "owner")].into_iter().chain((0..others).map(other)).collect()
}

/// The customers whose invitation is still to be mailed, each with its effect.
async fn uninvited(app: &TestApp) -> Vec<(String, String)> {
    let effects = app.table().snapshot().await.into_iter().filter(|((_, sk), _)| sk == "EFFECT");
    effects.map(|((pk, _), effect)| (effect["task"]["customer"].as_str().unwrap().to_owned(), pk)).collect()
}

/// Sends the mail of an effect, as the table's stream has the outbox do.
async fn mail(app: &TestApp, effect: &str) {
    let keys = json!({ "pk": { "S": effect }, "sk": { "S": "EFFECT" } });
    let event = json!({ "Records": [{ "dynamodb": { "Keys": keys, "SequenceNumber": "1" } }] });
    outbox::handle(app.app(), serde_json::from_value(event).unwrap()).await.unwrap();
}

/// The answer to an import, during which `meanwhile` gets the body of each transaction before it comes through.
async fn overtaken(
    chaos: &Chaos,
    import: impl Future<Output = Response>,
    mut meanwhile: impl AsyncFnMut(&str),
) -> Response {
    let mut import = Box::pin(import);
    loop {
        chaos.record();
        let held = chaos.pause("TransactWriteItems");
        tokio::select! {
            response = &mut import => {
                chaos.heal();
                return response;
            }
            () = held.reached() => {}
        }
        let bodies = chaos.recorded();
        meanwhile(&String::from_utf8_lossy(bodies.last().unwrap())).await;
        held.resume();
    }
}

async fn active(owner: &Staff) -> usize {
    let list = owner.get(&format!("{CUSTOMERS}?page_size=100")).await.expect(200).json();
    list["objects"].as_array().unwrap().iter().filter(|one| one["is_active"] == true).count()
}

#[tokio::test]
async fn each_transaction_may_lose_to_a_mail() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    owner.post(IMPORT, list(&owner, 40)).await.expect(200);
    let mut uninvited = uninvited(&app).await;
    assert_eq!(uninvited.len(), 40);
    let mut lost = 0;
    let import = owner.post(IMPORT, json!([of(&owner, "owner")]));
    let answer = overtaken(&chaos, import, async |transaction| {
        if let Some(place) = uninvited.iter().position(|(customer, _)| transaction.contains(customer)) {
            mail(&app, &uninvited.swap_remove(place).1).await;
            lost += 1;
        }
    });
    let answer = answer.await.expect(200).json();
    assert_eq!(counts(&answer), [0, 0, 40, 1], "{answer}");
    assert!(lost >= 20, "{lost}");
    assert_eq!(active(&owner).await, 1);
    app.settle().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_are_deactivated_while_their_invitations_are_mailed() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let count = u64::from(effort::count(999));
    let everyone = owner.post(IMPORT, list(&owner, count as usize)).await.expect(200).json();
    assert_eq!(counts(&everyone), [count, 0, 0, 1]);
    let mails = tokio::spawn({
        let app = app.clone();
        async move { app.settle().await }
    });
    let answer = owner.post(IMPORT, json!([of(&owner, "owner")])).await.expect(200).json();
    assert_eq!(counts(&answer), [0, 0, count, 1]);
    mails.await.unwrap();
    app.settle().await;
}

#[tokio::test]
async fn rules_see_customers_as_they_are_when_their_turn_comes() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let [admin, raised] = [app.staff("admin").await, app.staff("recruiter").await];
    let gone = owner.colleague("recruiter", json!({})).await;
    let both = json!([of(&owner, "owner"), of(&admin, "admin")]);
    // One of those to deactivate is deleted, which leaves nothing to do for them.
    let delete = async |transaction: &str| {
        if transaction.contains(last_segment(&gone.uri)) {
            owner.delete(&gone.uri).await.expect(204);
        }
    };
    let kept = json!([both[0], both[1], of(&raised, "recruiter")]);
    overtaken(&chaos, admin.post(IMPORT, kept), delete).await.expect(200);
    owner.get(&gone.uri).await.expect(404);
    // The other becomes an admin, whom another admin may not deactivate.
    let raise = async |transaction: &str| {
        if transaction.contains(last_segment(&raised.uri)) {
            owner.patch(&raised.uri, json!({ "account_type": "admin" })).await.expect(200);
        }
    };
    let refused = overtaken(&chaos, admin.post(IMPORT, both), raise).await;
    assert_refusal!(refused, @r#"400 {"non_field_errors":["The list must include \"recruiter-2\", whom you may not deactivate."]}"#);
    raised.get("/whoami/").await.expect(200);
    app.settle().await;
}

#[tokio::test]
async fn an_import_that_broke_off_is_finished_by_a_retry_with_the_same_key() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let list = list(&owner, 40);
    let request = Request::post(IMPORT).json(&list).header("idempotency-key", "staff");
    // The admission, the lease, the staff, the names, and the first of three transactions come through.
    chaos.cut_after(5);
    assert_refusal!(owner.send(request.clone()).await, @r#"503 {"code":"busy","detail":"The service is busy. Try again shortly."}"#);
    chaos.heal();
    let some = active(&owner).await;
    assert!((2..41).contains(&some), "{some}");
    app.clock().advance(TimeDelta::minutes(2));
    let uninvited = uninvited(&app).await;
    assert_eq!(uninvited.len(), some - 1);
    mail(&app, &uninvited[0].1).await;
    let resumed = owner.send(request.clone()).await.expect(200);
    assert_eq!(counts(&resumed.json()), [40, 0, 0, 1]);
    assert_eq!(active(&owner).await, 41);
    let again = owner.send(request).await.expect(200);
    assert_eq!((again.json(), again.header("idempotent-replayed")), (resumed.json(), Some("true")));
    app.settle().await;
    for entry in &list.as_array().unwrap()[1..] {
        assert_eq!(app.mails_to(entry["email"].as_str().unwrap()).len(), 1, "{entry}");
    }
}

#[tokio::test]
async fn an_import_without_time_is_finished_by_sending_the_list_again() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let list = list(&owner, 40);
    let late = async |_: &str| app.clock().advance(TimeDelta::seconds(11));
    let first = overtaken(&chaos, owner.post(IMPORT, list.clone()), late).await;
    assert_refusal!(first, @r#"503 {"code":"busy","detail":"The service is busy. Try again shortly."}"#);
    assert_eq!(active(&owner).await, 1 + 2 * 14);
    let second = owner.post(IMPORT, list).await.expect(200).json();
    assert_eq!(counts(&second), [12, 0, 0, 29]);
    app.settle().await;
}
