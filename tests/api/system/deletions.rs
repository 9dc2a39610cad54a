//! Deletions of what many projects refer to: one that breaks off half-way is finished without the client.

use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, Staff};
use tests::chaos::Chaos;

const VIDEOS: &str = "/companies/acme/videos/";

/// The first transaction is the second request, after the read of the admission.
const BEGUN: usize = 2;

/// Projects that refer to the same things.
async fn projects(owner: &Staff, count: usize, fields: &Value) -> Vec<String> {
    let mut projects = Vec::with_capacity(count);
    for _ in 0..count {
        projects.push(owner.project(fields.clone()).await);
    }
    projects
}

/// Deletes `uri`, which needs as many `calls`, and lets the process die after `requests` of them; the sweep does the rest.
async fn killed(app: &TestApp, chaos: &Chaos, owner: &Staff, uri: &str, requests: usize) {
    chaos.cut_after(requests);
    owner.delete(uri).await.expect(503);
    chaos.heal();
    app.settle().await;
    assert_eq!(app.sweep().await["OutboxFunction"]["deleted"], 0, "the request may still be at it");
    owner.get(uri).await.expect(200);
    app.clock().advance(TimeDelta::minutes(2));
    let swept = app.sweep().await["OutboxFunction"].clone();
    assert_eq!([&swept["deleted"], &swept["failed"]], [1, 0], "{swept}");
    owner.get(uri).await.expect(404);
    app.settle().await;
}

/// The number of stored effects.
async fn effects(app: &TestApp) -> usize {
    app.table().snapshot().await.keys().filter(|(_, sk)| sk == "EFFECT").count()
}

#[tokio::test]
async fn a_customer_with_roles_in_sixty_projects() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let mut people = Vec::new();
    for _ in 0..4 {
        people.push(app.staff("recruiter").await);
    }
    let uris: Vec<&str> = people.iter().map(|one| one.uri.as_str()).collect();
    let projects = projects(&owner, 60, &json!({ "evaluators": uris })).await;
    app.settle().await;
    let calls = owner.delete(uris[0]).await.expect(204).log().dynamodb_calls as usize;
    app.settle().await;
    assert_eq!(effects(&app).await, 0);
    for (one, requests) in people[1..].iter().zip([BEGUN, calls / 2, calls - 1]) {
        killed(&app, &chaos, &owner, &one.uri, requests).await;
        let mails = app.mails_to(&one.email);
        assert_eq!(mails.len(), 1, "the one that names who deleted it");
        assert!(mails[0].text.as_ref().unwrap().contains("Sam Staff"), "{:?}", mails[0].text);
        app.assert_sound();
    }
    for project in &projects {
        assert_eq!(owner.get(project).await.expect(200).json()["evaluators"], json!([]));
    }
    assert_eq!(effects(&app).await, 0);
}

#[tokio::test]
async fn a_video_that_forty_eight_projects_show() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let mut videos = Vec::new();
    for _ in 0..4 {
        let announced = json!({ "name": "Welcome", "upload_filename": "a.mp4", "content_type": "video/mp4", "size": 1000 });
        videos.push(owner.post(VIDEOS, announced).await.expect(201).uri("resource_uri"));
    }
    let shown: Vec<Value> = (0..).zip(&videos).map(|(n, uri)| json!({ "uri": uri, "position": n })).collect();
    let projects = projects(&owner, 48, &json!({ "videos": shown })).await;
    let calls = owner.delete(&videos[0]).await.expect(204).log().dynamodb_calls as usize;
    app.settle().await;
    for (uri, requests) in videos[1..].iter().zip([BEGUN, calls / 2, calls - 1]) {
        killed(&app, &chaos, &owner, uri, requests).await;
        app.assert_sound();
    }
    for project in &projects {
        assert_eq!(owner.get(project).await.expect(200).json()["videos"], json!([]));
    }
    assert_eq!((effects(&app).await, app.ledger().len()), (0, 4));
}

#[tokio::test]
async fn a_label_that_many_projects_carry() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let mut labels = Vec::new();
    for n in 0..4 {
        labels.push(owner.label(&format!("label {n}")).await);
    }
    let projects = projects(&owner, 20, &json!({ "labels": labels })).await;
    let calls = owner.delete(&labels[0]).await.expect(204).log().dynamodb_calls as usize;
    for (uri, requests) in labels[1..].iter().zip([BEGUN, calls / 2, calls - 1]) {
        killed(&app, &chaos, &owner, uri, requests).await;
        app.assert_sound();
    }
    for project in &projects {
        assert_eq!(owner.get(project).await.expect(200).json()["labels"], json!([]));
    }
    assert_eq!(effects(&app).await, 0);
}

#[tokio::test]
async fn a_client_that_repeats_a_broken_off_deletion_finishes_it_too() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let grace = app.staff("recruiter").await;
    projects(&owner, 5, &json!({ "evaluators": [grace.uri] })).await;
    chaos.cut_after(BEGUN + 3);
    owner.delete(&grace.uri).await.expect(503);
    chaos.heal();
    app.settle().await;
    app.clock().advance(TimeDelta::minutes(1));
    owner.delete(&grace.uri).await.expect(204);
    app.settle().await;
    app.clock().advance(TimeDelta::hours(1));
    let swept = app.sweep().await["OutboxFunction"].clone();
    assert_eq!([&swept["deleted"], &swept["outdated"]], [0, 0], "{swept}");
    assert_eq!((effects(&app).await, app.mails_to(&grace.email).len()), (0, 1));
}

#[tokio::test]
async fn a_customer_who_is_activated_again_meanwhile_is_not_deleted() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let grace = app.staff("recruiter").await;
    chaos.cut_after(BEGUN);
    owner.delete(&grace.uri).await.expect(503);
    chaos.heal();
    let entry = |one: &Staff, account_type: &str| {
        json!({
            "pk_attribute": "username", "account_type": account_type, "username": one.username,
            "email": one.email, "first_name": "Sam", "last_name": "Staff",
        })
    };
    let staff = json!([entry(&owner, "owner"), entry(&grace, "recruiter")]);
    let imported = owner.post("/companies/acme/customers/batch-import/", staff).await.expect(200).json();
    assert_eq!(imported["activated"], 1);
    app.clock().advance(TimeDelta::minutes(2));
    assert_eq!(app.sweep().await["OutboxFunction"]["outdated"], 1);
    grace.new_token().await.get("/whoami/").await.expect(200);
    assert_eq!(effects(&app).await, 0);
}
