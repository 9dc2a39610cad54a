//! Exports that break off, and those that are given up.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use chrono::TimeDelta;
use export_writer::{ExportSummary, InvocationLimits};
use serde_json::json;
use tests::app::TestApp;
use tests::caller::{Caller, last_segment};
use tests::{effort, logs};

use super::{
    EXPORTS, STEPWISE, company, download, events, exported_objects, files_in, request, run, written,
};

#[tokio::test(flavor = "multi_thread")]
async fn an_export_that_dies_anywhere_begins_again() {
    let (app, chaos) = TestApp::start_with_storage_chaos().await;
    let (owner, _) = company(&app).await;
    let expected = files_in(download(&owner, &written(&app, &owner).await).await.path());
    let mut deaths = 0;
    let [table, bucket] = &chaos;
    for (storage, step) in [(table, 4), (bucket, 12)] {
        for writes in effort::numbers(step) {
            app.clock().advance(TimeDelta::hours(25));
            app.settle().await;
            let owner = owner.new_token().await;
            let export = owner.post(EXPORTS, json!({})).await.expect(202).uri("resource_uri");
            storage.cut_after_writes(writes);
            let first = app.write_exports(STEPWISE).await;
            let has_died = storage.left() == Some(0);
            storage.heal();
            if !has_died {
                assert_eq!(first.unwrap().written, 1);
                break;
            }
            deaths += 1;
            app.clock().advance(TimeDelta::minutes(17));
            let again = run(&app).await;
            let view = owner.get(&export).await.expect(200).json();
            assert_eq!(view["status"], "successful", "after {writes} writes, {again:?}");
            let folder = download(&owner, &export).await;
            let mut found = files_in(folder.path());
            // Sessions and events have come since.
            found.retain(|name, _| {
                !["records/events.jsonl", "records/customers.jsonl"].contains(&name.as_str())
            });
            let same = |name: &String| found.get(name) == expected.get(name);
            assert!(found.keys().all(same), "after {writes} writes");
            app.settle().await;
        }
    }
    assert!(deaths > effort::bound(5, 0), "{deaths}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_that_cannot_be_written_is_given_up_and_told() {
    let app = TestApp::start().await;
    company(&app).await;
    let owner = app.staff("owner").await;
    let export = request(&owner).await;
    app.settle().await;
    let contents = app.table().contents().await;
    let (key, candidate) = contents.into_iter().find(|((_, sk), _)| sk.starts_with("CANDIDATE#")).unwrap();
    app.table().set(&key, "surprise", AttributeValue::Bool(true)).await;
    for attempt in 1..=3 {
        assert_eq!(run(&app).await, ExportSummary { failed: 1, ..ExportSummary::default() }, "{attempt}");
        assert_eq!(run(&app).await, ExportSummary::default());
        assert_eq!(owner.get(&export).await.expect(200).json()["status"], "running");
        app.clock().advance(TimeDelta::minutes(3));
    }
    assert_eq!(run(&app).await, ExportSummary { given_up: 1, ..ExportSummary::default() });
    app.settle().await;
    let view = owner.get(&export).await.expect(200).json();
    assert_eq!((&view["status"], &view["failure"]), (&json!("failed"), &json!("internal")));
    assert_eq!(app.mails_to(&owner.email)[0].subject, "Acme & Sons: the export of all data has failed");
    assert_eq!(run(&app).await, ExportSummary { cleared: 1, ..ExportSummary::default() });
    assert_eq!(exported_objects(&app), [""; 0]);
    assert_eq!(events(&owner).await, []);
    // Another one may be requested.
    app.table().put(candidate).await;
    written(&app, &owner).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_company_that_takes_too_long_is_told_so_at_once() {
    let app = TestApp::start().await;
    let (owner, _) = company(&app).await;
    let export = request(&owner).await;
    let limits = InvocationLimits { archive: Duration::ZERO, ..STEPWISE };
    let summary = app.write_exports(limits).await.unwrap();
    assert_eq!(summary, ExportSummary { given_up: 1, ..ExportSummary::default() });
    let view = owner.get(&export).await.expect(200).json();
    assert_eq!((&view["status"], &view["failure"]), (&json!("failed"), &json!("too_large")));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_attempt_whose_time_ends_while_it_uploads_is_given_up() {
    let (app, [_table, bucket]) = TestApp::start_with_storage_chaos().await;
    let (owner, _) = company(&app).await;
    let export = request(&owner).await;
    let pause = bucket.pause("PUT");
    let late = async {
        pause.reached().await;
        app.clock().advance(TimeDelta::minutes(12));
        pause.resume();
    };
    let (summary, ()) = tokio::join!(run(&app), late);
    assert_eq!(summary, ExportSummary { given_up: 1, ..ExportSummary::default() });
    let view = owner.get(&export).await.expect(200).json();
    assert_eq!((&view["status"], &view["failure"]), (&json!("failed"), &json!("too_large")));
    assert_eq!(exported_objects(&app), [""; 0]);
}

/// The folder of the attempt that is writing an archive with this text.
fn scratch_folder_with(text: &str) -> PathBuf {
    let holds = |folder: &PathBuf| {
        let records = fs::read_to_string(folder.join("archive/records/candidates.jsonl"));
        records.is_ok_and(|records| records.contains(text))
    };
    let folders = fs::read_dir(std::env::temp_dir()).unwrap();
    folders.map(|entry| entry.unwrap().path()).find(holds).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_company_that_does_not_fit_on_the_disk_is_told_so_after_one_attempt() {
    let (app, [_table, bucket]) = TestApp::start_with_storage_chaos().await;
    let (owner, project) = company(&app).await;
    let candidate = owner.candidate(&project, json!({})).await;
    let export = request(&owner).await;
    let pause = bucket.pause("LIST");
    let full = async {
        pause.reached().await;
        // The next file that is written is on a device without room.
        let folder = scratch_folder_with(last_segment(&candidate));
        let events = folder.join("archive/records/events.jsonl");
        fs::remove_file(&events).unwrap();
        symlink("/dev/full", &events).unwrap();
        pause.resume();
    };
    let (summary, ()) = tokio::join!(run(&app), full);
    assert_eq!(summary, ExportSummary { given_up: 1, ..ExportSummary::default() });
    let view = owner.get(&export).await.expect(200).json();
    assert_eq!((&view["status"], &view["failure"]), (&json!("failed"), &json!("too_large")));
    assert_eq!(exported_objects(&app), [""; 0]);
}

#[tokio::test]
async fn an_export_that_does_not_end_is_a_delay_in_the_log_until_it_has_ended() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let (owner, _) = company(&app).await;
    let delay = || logs::take_lines("exports").pop().unwrap()["export_delay_seconds"].clone();
    assert_eq!(run(&app).await, ExportSummary::default());
    assert_eq!(delay(), 0);
    request(&owner).await;
    app.clock().advance(TimeDelta::minutes(50));
    let pause = chaos.pause_about("Query", "ANSWERS");
    let meanwhile = async {
        pause.reached().await;
        app.clock().advance(TimeDelta::minutes(11));
        // Another worker finds nothing to do, and tells how long the owner has waited.
        assert_eq!(run(&app).await, ExportSummary::default());
        assert_eq!(delay(), 61 * 60);
        pause.resume();
    };
    let (ended, ()) = tokio::join!(run(&app), meanwhile);
    assert_eq!(ended, ExportSummary { written: 1, ..ExportSummary::default() });
    assert_eq!(run(&app).await, ExportSummary::default());
    assert_eq!(delay(), 0);
}
