//! Wherever an import dies: nobody gets in, and when it is repeated, its end is the same.

use admin::import::start_company;
use chrono::TimeDelta;
use image::ImageFormat;
use serde_json::json;
use shared::domain::candidate::CandidateStatus;
use tests::app::TestApp;
use tests::caller::{Caller, PASSWORD};
use tests::effort;
use tests::files::{Form, pdf, photo};
use tests::http::Request;
use tests::table::Contents;

use super::{anyway, try_import};
use crate::admin::erase_company::{begin, finish};
use crate::admin::export::Archive;

/// The items of the company, without the secrets that each try makes anew, and without how often counts were written.
async fn stored(app: &TestApp) -> Contents {
    let mut contents = app.table().contents().await;
    contents.retain(|(pk, _), _| {
        !["EXCHANGED#", "FAILURES#", "RESET#", "TOKEN#"].iter().any(|start| pk.starts_with(start))
    });
    for ((_, sk), item) in &mut contents {
        let is_counts = sk.starts_with("TALLY");
        let is_new =
            |name: &str| matches!(name, "hash" | "media_key") || is_counts && name.ends_with("version");
        item.retain(|name, _| !is_new(name));
    }
    contents
}

/// A company with some of everything, two files among it.
pub(super) async fn small(app: &TestApp) -> Archive {
    let owner = app.owner().await;
    let colleague = owner.colleague("recruiter", json!({})).await;
    let label = owner.label("Sales").await;
    let fields = json!({
        "labels": [label], "interview_managers": [colleague.uri], "default_interview_period": 1, "external_id": "REQ-7", "allow_hash_login": true,
    });
    let project = owner.running_project(fields).await;
    owner.post(&format!("{project}questions/"), json!({ "text": "Why us?" })).await.expect(201);
    let candidate = owner.candidate_at(&project, CandidateStatus::Interviewed).await;
    app.evaluate(&candidate, &owner.uri, true).await;
    owner.candidate_at(&project, CandidateStatus::Invited).await;
    let form = Form::new()
        .file("photo", "p.png", "image/png", &photo(ImageFormat::Png, 8, 8))
        .file("cv", "cv.pdf", "application/pdf", &pdf(1000))
        .text("external_id", "4711");
    owner.send(Request::patch(&candidate).form(form)).await.expect(200);
    owner.post(&format!("{candidate}shares/"), json!({ "customer": colleague.uri })).await.expect(201);
    let gone = owner.candidate(&project, json!({})).await;
    owner.delete(&gone).await.expect(204);
    owner.named_token("Payroll").await;
    let webhook = json!({ "url": "https://hooks.example.com/in" });
    owner.post("/companies/acme/webhooks/", webhook).await.expect(201);
    let retention = json!({ "days": 400, "from": "last_activity", "request_days": 7, "notice_days": 0 });
    owner.send(Request::put("/companies/acme/retention/").json(&retention)).await.expect(200);
    app.clock().advance(TimeDelta::minutes(1));
    app.settle().await;
    Archive::of(app).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_run_does_not_write_into_a_company_that_the_first_has_opened() {
    let source = TestApp::start().await;
    let archive = small(&source).await;
    let (app, chaos) = TestApp::start_with_chaos().await;
    let pause = chaos.pause_about("PutItem", "RETENTION");
    let slow = try_import(&app, archive.folder.path(), anyway());
    let fast = async {
        pause.reached().await;
        try_import(&app, archive.folder.path(), anyway()).await.unwrap();
        let opened = stored(&app).await;
        pause.resume();
        opened
    };
    let (slow, opened) = tokio::join!(slow, fast);
    assert_eq!(slow.unwrap_err(), "another run has stored the company; run this again to finish");
    assert_eq!(stored(&app).await, opened);
    assert!(try_import(&app, archive.folder.path(), anyway()).await.unwrap().was_there);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_that_died_does_not_go_on_in_a_company_that_is_being_erased() {
    let source = TestApp::start().await;
    let archive = small(&source).await;
    let (app, chaos) = TestApp::start_with_chaos().await;
    try_import(&app, archive.folder.path(), anyway()).await.unwrap();
    let try_to_start = async || {
        let started = start_company(app.app(), "acme".parse().unwrap()).await;
        started.map_err(|error| error.to_string())
    };
    // It has begun, and not ended.
    chaos.cut_after_writes(1);
    try_to_start().await.unwrap_err();
    chaos.heal();
    begin(&app).await;
    let refused = "the company acme is being erased";
    assert_eq!(try_to_start().await.unwrap_err(), refused);
    assert_eq!(try_import(&app, archive.folder.path(), anyway()).await.unwrap_err(), refused);
    finish(&app).await;
    assert_eq!(try_to_start().await.unwrap_err(), "no company acme was imported here");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_that_dies_and_is_repeated_ends_as_if_it_had_not() {
    let source = TestApp::start().await;
    let archive = small(&source).await;
    let mut deaths = 0;
    let (app, [table, bucket]) = TestApp::start_with_storage_chaos().await;
    // All deadlines have passed, so that a sweep would change what it finds.
    app.clock().advance(TimeDelta::days(40));
    let empty = app.table().contents().await;
    try_import(&app, archive.folder.path(), anyway()).await.unwrap();
    app.settle().await;
    let (expected, objects) = (stored(&app).await, app.object_keys());
    for (chaos, step) in [(&bucket, 3), (&table, 6)] {
        for requests in effort::numbers(step) {
            app.table().restore(&empty).await;
            app.empty_bucket();
            app.settle().await;
            chaos.cut_after_writes(requests);
            let first = try_import(&app, archive.folder.path(), anyway()).await;
            let has_died = chaos.left() == Some(0);
            chaos.heal();
            if !has_died {
                first.unwrap();
                break;
            }
            deaths += 1;
            let is_open =
                app.table().contents().await.contains_key(&("COMPANY#acme".to_owned(), "COMPANY".to_owned()));
            if !is_open {
                app.anonymous().log_in("acme", "owner", PASSWORD).await.expect(401);
                let forgotten = json!({ "company": "acme", "username": "owner" });
                app.anonymous().post("/api-password-reset/", forgotten).await.expect(202);
                app.sweep().await;
                app.settle().await;
                let is_mail = |(pk, sk): &(String, String)| pk.starts_with("RESET#") && sk == "MAIL";
                assert!(!app.table().contents().await.keys().any(is_mail), "after {requests} writes");
            }
            try_import(&app, archive.folder.path(), anyway()).await.unwrap();
            app.settle().await;
            assert_eq!(stored(&app).await, expected, "after {requests} writes");
            assert_eq!(app.object_keys(), objects);
            app.assert_sound();
        }
    }
    assert!(deaths > effort::bound(20, 4), "{deaths}");
}
