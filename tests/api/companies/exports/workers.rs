//! Workers that write archives at once, that die, or that write while people are erased and change.

use chrono::TimeDelta;
use export_writer::{ExportSummary, MOST_AT_ONCE};
use serde_json::json;
use tests::app::TestApp;
use tests::caller::{Caller, last_segment};

use super::{STEPWISE, company, download, exported_objects, files_in, request, run, written};

#[tokio::test(flavor = "multi_thread")]
async fn five_archives_are_written_at_once_while_expired_ones_are_deleted() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let (owner, _) = company(&app).await;
    written(&app, &owner).await;
    app.clock().advance(TimeDelta::hours(72) - TimeDelta::minutes(5));
    // Each worker is killed once it has begun.
    for number in 0..MOST_AT_ONCE {
        let other = app.owner_of(&format!("other-{number}")).await;
        other.post(&format!("/companies/{}/exports/", other.company), json!({})).await.expect(202);
        chaos.cut_after_writes(1);
        app.write_exports(STEPWISE).await.unwrap();
        chaos.heal();
    }
    let last = app.owner_of("last").await;
    let export = last.post("/companies/last/exports/", json!({})).await.expect(202).uri("resource_uri");
    app.clock().advance(TimeDelta::minutes(5));
    assert_eq!(run(&app).await, ExportSummary { cleared: 1, more: true, ..ExportSummary::default() });
    assert_eq!(last.get(&export).await.expect(200).json()["status"], "pending");
    assert_eq!(exported_objects(&app), [""; 0]);
    app.clock().advance(TimeDelta::minutes(12));
    assert_eq!(run(&app).await, ExportSummary { written: MOST_AT_ONCE + 1, ..ExportSummary::default() });
}

#[test]
fn the_function_has_an_execution_more_than_archives_are_written_at_once() {
    let template = include_str!("../../../../template.yaml");
    let function = template.split_once("\n  ExportWriterFunction:\n").unwrap().1;
    let reserved = function.split_once("ReservedConcurrentExecutions: !If [ReservesConcurrency, ").unwrap().1;
    let reserved: usize = reserved.split_once(',').unwrap().0.parse().unwrap();
    assert_eq!(reserved, MOST_AT_ONCE + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_dies_after_its_export_was_deleted_leaves_nothing() {
    let (app, [_table, bucket]) = TestApp::start_with_storage_chaos().await;
    let (owner, _) = company(&app).await;
    let export = request(&owner).await;
    let pause = bucket.pause("PUT");
    let deleted = async {
        pause.reached().await;
        owner.delete(&export).await.expect(204);
        assert_eq!(run(&app).await, ExportSummary { cleared: 1, ..ExportSummary::default() });
        bucket.cut_after(0);
        pause.resume();
    };
    let (ended, ()) = tokio::join!(run(&app), deleted);
    bucket.heal();
    assert_eq!(ended, ExportSummary { failed: 1, ..ExportSummary::default() });
    assert_eq!(exported_objects(&app).len(), 1, "stored after the others were deleted");
    app.clock().advance(TimeDelta::minutes(17));
    assert_eq!(run(&app).await, ExportSummary { cleared: 1, ..ExportSummary::default() });
    assert_eq!(exported_objects(&app), [""; 0]);
    assert_eq!(run(&app).await, ExportSummary::default());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_of_candidates_who_change_each_time_they_are_read_is_tried_again_soon() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let (owner, project) = company(&app).await;
    let candidate = owner.candidate(&project, json!({ "last_name": "Restless" })).await;
    request(&owner).await;
    let pauses: Vec<_> = (0..10).map(|_| chaos.pause_about("Query", "ANSWERS#")).collect();
    let changes = async {
        for (number, pause) in pauses.iter().enumerate() {
            pause.reached().await;
            owner.patch(&candidate, json!({ "last_name": format!("Restless {number}") })).await.expect(200);
            pause.resume();
        }
    };
    let (ended, ()) = tokio::join!(run(&app), changes);
    assert_eq!(ended, ExportSummary { failed: 1, ..ExportSummary::default() });
    app.clock().advance(TimeDelta::minutes(2));
    assert_eq!(run(&app).await, ExportSummary { written: 1, ..ExportSummary::default() });
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_that_begins_during_an_erasure_holds_nothing_of_the_person() {
    // At once, and after an outage: an export that begins so late is not taken for one that has read the person.
    for minutes in [0, 20] {
        let (app, chaos) = TestApp::start_with_chaos().await;
        let (owner, project) = company(&app).await;
        let gone = owner.candidate(&project, json!({ "external_id": "VANISHED-1" })).await;
        app.settle().await;
        owner.delete(&gone).await.expect(204);
        app.clock().advance(TimeDelta::minutes(minutes));
        let export = request(&owner).await;
        let history = format!("HISTORY#acme#{}", last_segment(&gone));
        // Exports are withdrawn, and then the history is stripped.
        let pause = chaos.pause_about("Query", &history);
        let exported = async {
            pause.reached().await;
            assert_eq!(run(&app).await, ExportSummary { written: 1, ..ExportSummary::default() });
            let folder = download(&owner, &export).await;
            let events = &files_in(folder.path())["records/events.jsonl"];
            assert!(String::from_utf8_lossy(events).contains("VANISHED-1"), "after {minutes} minutes");
            pause.resume();
        };
        tokio::join!(app.settle(), exported);
        owner.get(&export).await.expect(404);
        assert_eq!(exported_objects(&app), [""; 0]);
    }
}
