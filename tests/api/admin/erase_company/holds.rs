//! Candidates on hold stop the erasure, which goes on by itself when their holds end.

use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, Staff};
use tests::http::Request;

use super::{begin, finish, items_of, listed, pass};

/// A company with some candidates; the first two are on hold.
async fn given(app: &TestApp, until: Option<&str>) -> (Staff, Vec<String>) {
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let mut candidates = Vec::new();
    for _ in 0..4 {
        candidates.push(owner.candidate(&project, json!({})).await);
    }
    for candidate in &candidates[..2] {
        let hold = json!({ "reason": "Lawsuit", "until": until });
        owner.send(Request::put(&format!("{candidate}hold/")).json(&hold)).await.expect(200);
    }
    app.settle().await;
    (owner, candidates)
}

async fn release(app: &TestApp, candidates: &[String]) -> Value {
    let command =
        json!({ "command": "erase-company", "company": "acme", "confirm": "acme", "release": candidates });
    app.operate(command).await.unwrap()["erasure"].clone()
}

#[tokio::test]
async fn an_erasure_waits_for_holds_and_names_them() {
    let app = TestApp::start().await;
    let (_, candidates) = given(&app, Some("2026-11-10T10:00:00Z")).await;
    begin(&app).await;
    for _ in 0..30 {
        pass(&app, TimeDelta::hours(1)).await;
    }
    let [erasure] = &listed(&app).await[..] else { panic!("one company") };
    let expected = json!({
        "company": "acme", "state": "held", "begun_at": "2026-11-08T10:00:00Z",
        "step": "candidates", "step_since": "2026-11-08T11:00:00Z", "held": candidates[..2],
        // The texts about them need their authors.
        "left": { "candidates": 2, "projects": 1, "videos": 0, "labels": 0, "customers": 1, "webhooks": 0 },
    });
    assert_eq!(*erasure, expected);
    app.assert_sound();
    for _ in 0..20 {
        pass(&app, TimeDelta::hours(1)).await;
    }
    finish(&app).await;
    assert!(!items_of(&app, "acme").await.iter().any(|key| key.contains("CANDIDATE#")));
}

#[tokio::test]
async fn the_operator_releases_holds_without_an_end() {
    let app = TestApp::start().await;
    let (_, candidates) = given(&app, None).await;
    begin(&app).await;
    pass(&app, TimeDelta::minutes(5)).await;
    let one = release(&app, &candidates[..1]).await;
    assert_eq!((&one["state"], &one["left"]["candidates"]), (&json!("held"), &json!(2)));
    pass(&app, TimeDelta::minutes(5)).await;
    assert_eq!(listed(&app).await[0]["held"], json!(candidates[1..2]));
    for _ in 0..10 {
        pass(&app, TimeDelta::days(100)).await;
    }
    assert_eq!(listed(&app).await[0]["held"], json!(candidates[1..2]));
    // The others are gone, which is no reason to refuse the command.
    release(&app, &candidates).await;
    finish(&app).await;
}
