//! Whatever happens during an erasure, its end is the same.

use chrono::TimeDelta;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, PASSWORD};
use tests::effort;

use super::planted::plant_company;
use super::{begin, finish, items_of, listed, pass};
use crate::candidates::import::{entries, import};
use crate::events::webhooks::endpoint::TestEndpoint;
use crate::events::webhooks::webhook;
use crate::system::erasure::planted::found;
use crate::system::erasure::{drift, erase_again};

/// The keys of the company's items that are left. Sessions end by themselves.
async fn left(app: &TestApp) -> Vec<String> {
    let mut left = items_of(app, "acme").await;
    left.retain(|key| !key.starts_with("SESSION#"));
    left.extend(app.object_keys());
    left
}

/// Runs the function that erases companies.
async fn run(app: &TestApp) {
    // A run that is killed may answer nothing.
    let _ = retention::handle(app.app(), IgnoredAny).await;
}

/// A company with one of everything that has no files.
async fn fill(app: &TestApp, endpoint: &TestEndpoint) {
    let owner = app.owner().await;
    let colleague = owner.colleague("recruiter", json!({})).await;
    let label = owner.label("Sales").await;
    let project =
        owner.running_project(json!({ "labels": [label], "interview_managers": [colleague.uri] })).await;
    for name in ["Ada", "Grace"] {
        owner.candidate(&project, json!({ "first_name": name })).await;
    }
    owner.named_token("Payroll").await;
    let video =
        json!({ "name": "Welcome", "upload_filename": "a.mp4", "content_type": "video/mp4", "size": 9 });
    owner.post("/companies/acme/videos/", video).await.expect(201);
    webhook(&owner, json!({ "url": endpoint.url })).await;
    app.settle().await;
}

#[tokio::test]
async fn an_erasure_that_dies_between_two_writes_ends_as_if_it_had_not() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let endpoint = TestEndpoint::willing().await;
    fill(&app, &endpoint).await;
    begin(&app).await;
    app.settle().await;
    let mut moments = Vec::new();
    while !listed(&app).await.is_empty() {
        // Everything that was under way has ended the first time.
        app.clock().advance(TimeDelta::minutes(30));
        moments.push(app.table().contents().await);
        pass(&app, TimeDelta::zero()).await;
    }
    assert!((2..10).contains(&moments.len()), "{}", moments.len());
    let undisturbed = left(&app).await;
    assert_eq!(undisturbed.iter().filter(|key| !key.starts_with("UPLOAD#")).count(), 1, "{undisturbed:?}");
    let mut deaths = 0;
    for moment in &moments {
        for writes in effort::numbers(9) {
            app.table().restore(moment).await;
            chaos.cut_after_writes(writes);
            run(&app).await;
            let has_died = chaos.left() == Some(0);
            chaos.heal();
            if !has_died {
                break;
            }
            deaths += 1;
            finish(&app).await;
            assert_eq!(left(&app).await, undisturbed, "after {writes} writes");
        }
    }
    assert!(deaths > effort::bound(20, 4), "{deaths}");
}

#[tokio::test]
async fn candidates_whom_a_request_creates_that_was_under_way_are_erased() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let list = Value::from(entries(&app, 3));
    let pause = chaos.pause_about("TransactWriteItems", "ada-1");
    let late = import(&owner, &project, Some("late"), &list);
    let end = async {
        pause.reached().await;
        begin(&app).await;
        // No function runs for longer than 15 minutes.
        for _ in 0..3 {
            pass(&app, TimeDelta::minutes(5)).await;
        }
        pause.resume();
    };
    tokio::join!(late, end);
    let candidates =
        items_of(&app, "acme").await.into_iter().filter(|key| key.contains("CANDIDATE#")).count();
    assert!(candidates > 0);
    finish(&app).await;
    assert_eq!(left(&app).await, ["COMPANY#acme ERASURE"]);
}

#[tokio::test]
async fn a_restored_company_is_erased_again() {
    let app = TestApp::start().await;
    plant_company(&app).await;
    let mut moments = vec![app.moment()];
    app.clock().advance(TimeDelta::minutes(1));
    let mut last = begin(&app).await["step"].clone();
    moments.push(app.moment());
    while let [erasure] = &listed(&app).await[..] {
        // One moment of each step.
        if erasure["step"] != last {
            moments.push(app.moment());
            last = erasure["step"].clone();
        }
        pass(&app, TimeDelta::hours(1)).await;
    }
    moments.push(app.moment());
    assert!(moments.len() > 4, "{last}");
    let undisturbed = left(&app).await;
    for (step, moment) in effort::cases(moments.iter().enumerate()) {
        app.clock().advance(TimeDelta::minutes(1));
        app.take_back_to(moment).await;
        // Tokens and webhooks do not come back.
        drift(&app).await;
        let since = (moment.at - TimeDelta::minutes(15)).to_rfc3339();
        assert_eq!(erase_again(&app, &since).await["kept"], json!([]), "step {step}");
        assert_eq!(drift(&app).await, json!([]), "step {step}");
        app.anonymous().log_in("acme", "owner", PASSWORD).await.expect(401);
        finish(&app).await;
        app.settle().await;
        assert_eq!(found(&app.moment()), [] as [String; 0], "step {step}");
        assert_eq!(left(&app).await, undisturbed, "step {step}");
    }
    app.assert_sound();
}
