//! A request that loses to another write is done again from its read, so that a client that is alone never gets 409
//! because of what the service itself writes.

use chrono::TimeDelta;
use image::ImageFormat;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::assert_refusal;
use tests::caller::{Caller, Staff, last_segment};
use tests::chaos::Chaos;
use tests::files::{Form, photo};
use tests::http::{Request, Response};

const CUSTOMERS: &str = "/companies/acme/customers/";

fn customer(name: &str) -> Value {
    json!({
        "first_name": "Grace", "last_name": "Hopper", "email": format!("{name}@acme.example"),
        "username": name, "account_type": "hiring-manager", "preferred_language": "en",
    })
}

/// The answer to a request whose next transaction waits while `meanwhile` is done.
async fn overtaken(
    chaos: &Chaos,
    request: impl Future<Output = Response>,
    meanwhile: impl AsyncFnOnce(),
) -> Response {
    let held = chaos.pause("TransactWriteItems");
    let meanwhile = async {
        held.reached().await;
        meanwhile().await;
        held.resume();
    };
    tokio::join!(request, meanwhile).0
}

async fn tag(caller: &impl Caller, uri: &str) -> String {
    caller.get(uri).await.expect(200).header("etag").unwrap().to_owned()
}

#[tokio::test]
async fn a_mail_that_is_sent_meanwhile_hinders_neither_a_change_nor_a_deletion() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let settle = async || {
        app.settle().await;
    };
    let created = owner.post(CUSTOMERS, customer("one")).await.expect(201);
    let one = created.uri("resource_uri");
    let change = owner.patch(&one, json!({ "position": "Admiral" }));
    let changed = overtaken(&chaos, change, settle).await.expect(200);
    assert_eq!(changed.json()["position"], "Admiral");
    // Admission and transaction, both twice.
    assert_eq!(changed.log().dynamodb_calls, 4);
    app.mailed_key("one@acme.example");
    let two = owner.post(CUSTOMERS, customer("two")).await.expect(201).uri("resource_uri");
    overtaken(&chaos, owner.delete(&two), settle).await.expect(204);
    // With the tag of the creation, since the mail has changed nothing that it shows.
    let created = owner.post(CUSTOMERS, customer("three")).await.expect(201);
    let three = created.uri("resource_uri");
    let seen = created.header("etag").unwrap();
    let change = Request::patch(&three).header("if-match", seen).json(&json!({ "position": "Captain" }));
    overtaken(&chaos, owner.send(change), settle).await.expect(200);
}

#[tokio::test]
async fn a_tag_follows_the_response() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let one = owner.post(CUSTOMERS, customer("one")).await.expect(201).uri("resource_uri");
    let seen = tag(&owner, &one).await;
    let versions = async || {
        let key = ("COMPANY#acme".to_owned(), format!("CUSTOMER#{}", last_segment(&one)));
        app.table().snapshot().await[&key]["version"].as_u64().unwrap()
    };
    let before = versions().await;
    app.settle().await;
    assert_eq!(versions().await, before + 1, "the mail's key was noted");
    assert_eq!(tag(&owner, &one).await, seen);
    let change =
        |tag: &str| Request::patch(&one).header("if-match", tag).json(&json!({ "position": "Admiral" }));
    let changed = owner.send(change(&seen)).await.expect(200);
    assert_eq!(changed.header("etag").unwrap(), tag(&owner, &one).await);
    owner.send(change(&seen)).await.expect_code(412, "precondition_failed");
    // A password shows nothing either.
    let person = app.staff("recruiter").await;
    let seen = tag(&owner, &person.uri).await;
    let password =
        json!({ "password": "another horse battery", "current_password": tests::caller::PASSWORD });
    person.patch(&person.uri, password).await.expect(200);
    assert_eq!(tag(&owner, &person.uri).await, seen);
}

#[tokio::test]
async fn one_that_keeps_losing_is_told_so() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let mut losing = Box::pin(owner.patch(&project, json!({ "contact_person": "Ada" })));
    let mut losses = 0;
    let response = loop {
        let held = chaos.pause("TransactWriteItems");
        tokio::select! {
            response = &mut losing => break response,
            () = held.reached() => {}
        }
        losses += 1;
        owner.patch(&project, json!({ "internal_id": losses.to_string() })).await.expect(200);
        held.resume();
    };
    assert_refusal!(response, @r#"409 {"code":"changed","detail":"Another request modified this resource. Fetch it and try again."}"#);
    assert_eq!(losses, 10);
    chaos.heal();
}

#[tokio::test]
async fn rules_see_the_current_state() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let ada = owner.invite(&project, json!({})).await;
    let skip = async || drop(owner.skip(&ada.uri).await.expect(200));
    overtaken(&chaos, owner.remind(&ada.uri), skip).await.expect(400);
    let person = app.staff("recruiter").await;
    let demote = async || {
        owner.patch(&person.uri, json!({ "account_type": "hiring-manager" })).await.expect(200);
    };
    let video = person.post("/companies/acme/labels/", json!({ "text": "a" })).await;
    let label = video.expect(201).uri("resource_uri");
    let rename = async || {
        demote().await;
        owner.patch(&label, json!({ "text": "b" })).await.expect(200);
    };
    overtaken(&chaos, person.patch(&label, json!({ "text": "c" })), rename).await.expect(403);
    app.settle().await;
}

#[tokio::test]
async fn a_post_with_a_key_is_done_again_and_then_replayed() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let ada = owner.invite(&project, json!({})).await;
    let remind = || Request::post(&format!("{}reminder/", ada.uri)).header("idempotency-key", "k");
    let change = async || drop(owner.patch(&ada.uri, json!({ "phone": "1" })).await.expect(200));
    let first = overtaken(&chaos, owner.send(remind()), change).await.expect(200);
    assert_eq!((first.json()["phone"].clone(), first.header("idempotent-replayed")), (json!("1"), None));
    let again = owner.send(remind()).await.expect(200);
    assert_eq!((again.json(), again.header("idempotent-replayed")), (first.json(), Some("true")));
    app.settle().await;
    assert_eq!(app.mails_to(&ada.email).len(), 2, "an invitation and a reminder");
}

#[tokio::test]
async fn a_file_comes_with_the_attempt_that_is_done_and_those_of_others_go() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let candidate = owner.candidate(&owner.project(json!({})).await, json!({})).await;
    let form = Form::new().file("photo", "p.png", "image/png", &photo(ImageFormat::Png, 8, 8));
    let change = async || drop(owner.patch(&candidate, json!({ "phone": "1" })).await.expect(200));
    let request = owner.send(Request::patch(&candidate).form(form));
    let changed = overtaken(&chaos, request, change).await.expect(200);
    assert_eq!(changed.json()["phone"], "1");
    app.anonymous().get(&changed.uri("photo")).await.expect(302);
    assert_eq!(app.object_keys().len(), 2);
    app.clock().advance(TimeDelta::days(1));
    app.sweep().await;
    app.settle().await;
    app.assert_files_sound().await;
}

#[tokio::test]
async fn a_deletion_in_steps_goes_on_from_where_it_lost() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let video = owner.label("a").await;
    for number in 0..2 {
        owner.project(json!({ "name": format!("P{number}"), "labels": [video] })).await;
    }
    // The label is marked, then both projects; the last step loses.
    let steps: Vec<_> = (0..4).map(|_| chaos.pause("TransactWriteItems")).collect();
    let meanwhile = async {
        for step in &steps[..3] {
            step.reached().await;
            step.resume();
        }
        steps[3].reached().await;
        owner.patch(&video, json!({ "text": "b" })).await.expect(200);
        steps[3].resume();
    };
    let (deleted, ()) = tokio::join!(delete_as_seen(&owner, &video), meanwhile);
    deleted.expect(204);
    owner.get(&video).await.expect(404);
}

async fn delete_as_seen(owner: &Staff, uri: &str) -> Response {
    let seen = tag(owner, uri).await;
    owner.send(Request::delete(uri).header("if-match", &seen)).await
}
