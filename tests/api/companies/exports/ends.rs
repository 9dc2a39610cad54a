//! How exports end: by time, by an owner, by an erasure, and with the contract of their company.

use std::fs;
use std::time::Duration;

use chrono::TimeDelta;
use export_writer::{ExportSummary, InvocationLimits};
use image::ImageFormat;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, last_segment};
use tests::chaos::Pause;
use tests::files::{Form, photo};
use tests::http::Request;

use super::{EXPORTS, company, download, events, exported_objects, files_in, request, run, written};
use crate::admin::erase_company::{begin, finish};

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_export_leaves_nothing_to_download() {
    let app = TestApp::start().await;
    let (owner, _) = company(&app).await;
    let export = written(&app, &owner).await;
    assert!(exported_objects(&app).len() > 20);
    let tag = owner.get(&export).await.expect(200).header("etag").unwrap().to_owned();
    let stale = Request::delete(&export).header("if-match", "\"0\"");
    owner.send(stale).await.expect(412);
    owner.send(Request::delete(&export).header("if-match", &tag)).await.expect(204);
    for uri in [export.clone(), format!("{export}media/")] {
        owner.get(&uri).await.expect(404);
    }
    owner.delete(&export).await.expect(404);
    assert_eq!(owner.get(EXPORTS).await.expect(200).json()["objects"], json!([]));
    assert_eq!(run(&app).await, ExportSummary { cleared: 1, ..ExportSummary::default() });
    assert_eq!(exported_objects(&app), [""; 0]);
    assert_eq!(run(&app).await, ExportSummary::default());
    app.settle().await;
    let expected = [("company.exported", "customer"), ("company.export_deleted", "customer")];
    assert_eq!(events(&owner).await, expected.map(|(kind, by)| (kind.to_owned(), by.to_owned())));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_that_is_deleted_while_it_is_written_ends() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let (owner, _) = company(&app).await;
    let export = request(&owner).await;
    let pause = chaos.pause_about("Query", "ANSWERS");
    let deleted = async {
        pause.reached().await;
        owner.delete(&export).await.expect(204);
        pause.resume();
    };
    let (ended, ()) = tokio::join!(run(&app), deleted);
    assert_eq!(ended, ExportSummary { moved_on: 1, ..ExportSummary::default() });
    assert_eq!(exported_objects(&app), [""; 0]);
    assert_eq!(run(&app).await, ExportSummary { cleared: 1, ..ExportSummary::default() });
    app.settle().await;
    assert_eq!(events(&owner).await, [("company.export_deleted".to_owned(), "customer".to_owned())]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_erasure_deletes_exports_before_it_is_told() {
    let app = TestApp::start().await;
    let (owner, project) = company(&app).await;
    let gone = owner.candidate(&project, json!({})).await;
    app.settle().await;
    let export = written(&app, &owner).await;
    owner.delete(&gone).await.expect(204);
    app.settle().await;
    owner.get(&export).await.expect(404);
    assert_eq!(exported_objects(&app), [""; 0]);
    let expected = [("company.exported", "customer"), ("company.export_deleted", "system")];
    assert_eq!(events(&owner).await, expected.map(|(kind, by)| (kind.to_owned(), by.to_owned())));
    // Staff are persons too.
    let colleague = owner.colleague("recruiter", json!({})).await;
    let export = written(&app, &owner).await;
    owner.delete(&colleague.uri).await.expect(204);
    app.settle().await;
    owner.get(&export).await.expect(404);
    assert_eq!(exported_objects(&app), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_goes_on_without_candidates_who_are_erased_while_it_is_written() {
    // Before the candidate is read, before the feed is, and while files are uploaded.
    for (place, operation, text) in [(0, "Query", "ANSWERS"), (0, "Query", "EVENTS"), (1, "PUT", "")] {
        let (app, chaos) = TestApp::start_with_storage_chaos().await;
        let (owner, project) = company(&app).await;
        let gone = owner.candidate(&project, json!({ "last_name": "Vanished" })).await;
        let form = Form::new().file("photo", "p.png", "image/png", &photo(ImageFormat::Png, 9, 9));
        owner.send(Request::patch(&gone).form(form)).await.expect(200);
        app.settle().await;
        let export = request(&owner).await;
        let pause = match text {
            "" => chaos[place].pause(operation),
            text => chaos[place].pause_about(operation, text),
        };
        let erased = async {
            pause.reached().await;
            owner.delete(&gone).await.expect(204);
            app.settle().await;
            pause.resume();
        };
        let (ended, ()) = tokio::join!(run(&app), erased);
        assert_eq!(ended, ExportSummary { written: 1, ..ExportSummary::default() }, "at {operation} {text}");
        let folder = download(&owner, &export).await;
        let texts: String = files_in(folder.path())
            .into_values()
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .collect();
        assert!(texts.contains("Canary") && !texts.contains("Vanished"), "at {operation} {text}");
        // The event of the erasure alone keeps the candidate's identifier.
        for name in ["records/candidates.jsonl", "media.jsonl"] {
            let lines = fs::read_to_string(folder.path().join(name)).unwrap();
            assert!(!lines.contains(last_segment(&gone)), "at {operation} {text}");
        }
        // The last look for files that may still have come: it finds an archive without the candidate.
        app.clock().advance(TimeDelta::minutes(30));
        app.settle().await;
        app.sweep().await;
        app.settle().await;
    }
}

/// The worker learns of an erasure when it shows the archive, and reads the candidate again before the history is stripped: at its first,
/// second and third write of the export after that.
#[tokio::test(flavor = "multi_thread")]
async fn a_history_that_is_stripped_after_the_worker_has_read_it_again_is_not_in_the_archive() {
    for writes in 0..3 {
        strip_after(writes).await;
    }
}

/// Has the history of an erased candidate stripped once the worker, which has learnt of the erasure, has written the export so often.
async fn strip_after(writes: usize) {
    let (app, [table, bucket]) = TestApp::start_with_storage_chaos().await;
    let (owner, project) = company(&app).await;
    // The external identifier stands in each entry of the history until it is stripped.
    let gone = owner.candidate(&project, json!({ "external_id": "Vanished" })).await;
    app.settle().await;
    let export = request(&owner).await;
    let uploaded = bucket.pause("PUT");
    let erased = async {
        uploaded.reached().await;
        owner.delete(&gone).await.expect(204);
        // The record of the erasure is written after the export was withdrawn, and before the history is stripped.
        let recorded = bucket.pause("PUT");
        let read_again = async {
            recorded.reached().await;
            let mut saved = table.pause_about("PutItem", last_segment(&export));
            uploaded.resume();
            for _ in 0..writes {
                saved.reached().await;
                let next = table.pause_about("PutItem", last_segment(&export));
                saved.resume();
                saved = next;
            }
            saved.reached().await;
            recorded.resume();
            saved
        };
        let (_, saved) = tokio::join!(app.settle(), read_again);
        saved.resume();
    };
    // The worker saves nothing between its steps, and so learns of nothing there.
    let limits = InvocationLimits { pause: Duration::MAX, ..InvocationLimits::SCHEDULED };
    let (ended, ()) = tokio::join!(app.write_exports(limits), erased);
    assert_eq!(ended.unwrap().written, 1);
    let folder = download(&owner, &export).await;
    let texts =
        files_in(folder.path()).into_values().map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let texts: String = texts.collect();
    assert!(texts.contains("Canary") && !texts.contains("Vanished"), "after {writes} writes");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_ends_although_somebody_is_erased_every_minute() {
    let (app, [table, bucket]) = TestApp::start_with_storage_chaos().await;
    let owner = app.owner().await;
    let mut gone = Vec::new();
    for number in 0..5 {
        let project = owner.running_project(json!({})).await;
        owner.candidate(&project, json!({ "last_name": format!("Canary {number}") })).await;
        for _ in 0..2 {
            gone.push(owner.candidate(&project, json!({ "last_name": "Vanished" })).await);
        }
    }
    app.settle().await;
    let export = request(&owner).await;
    let erase = async |candidate: &str, pause: Pause| {
        pause.reached().await;
        app.clock().advance(TimeDelta::minutes(1));
        owner.delete(candidate).await.expect(204);
        app.settle().await;
        pause.resume();
    };
    let erasures = async {
        // The worker reads the answers of five projects, then the events, then it uploads files; it reads and uploads again after an
        // erasure.
        let places = [("Query", "ANSWERS"); 5].into_iter().chain([("Query", "EVENTS"); 3]);
        for (candidate, (operation, text)) in gone.iter().zip(places) {
            erase(candidate, table.pause_about(operation, text)).await;
        }
        for candidate in &gone[8..] {
            erase(candidate, bucket.pause("PUT")).await;
        }
    };
    let (ended, ()) = tokio::join!(run(&app), erasures);
    assert_eq!(ended, ExportSummary { written: 1, ..ExportSummary::default() });
    let folder = download(&owner, &export).await;
    let records = fs::read_to_string(folder.path().join("records/candidates.jsonl")).unwrap();
    assert_eq!((records.matches("Canary").count(), records.contains("Vanished")), (5, false));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_can_be_downloaded_for_three_days() {
    let app = TestApp::start().await;
    let (owner, _) = company(&app).await;
    let export = written(&app, &owner).await;
    app.clock().advance(TimeDelta::hours(72) - TimeDelta::seconds(1));
    assert_eq!(run(&app).await, ExportSummary::default());
    let owner = owner.new_token().await;
    assert_eq!(owner.get(&export).await.expect(200).json()["status"], "successful");
    app.clock().advance(TimeDelta::seconds(1));
    assert_eq!(run(&app).await, ExportSummary { cleared: 1, ..ExportSummary::default() });
    let view = owner.get(&export).await.expect(200).json();
    assert_eq!(
        (&view["status"], &view["files"], &view["size"]),
        (&json!("expired"), &json!([]), &Value::Null)
    );
    assert_eq!(view["expires_at"], "2026-11-11T10:00:00Z");
    assert_eq!(exported_objects(&app), [""; 0]);
    assert_eq!(run(&app).await, ExportSummary::default());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_contract_takes_exports_along() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let (owner, _) = company(&app).await;
    written(&app, &owner).await;
    request(&owner).await;
    let pause = chaos.pause_about("Query", "ANSWERS");
    let ended = async {
        pause.reached().await;
        begin(&app).await;
        app.settle().await;
        pause.resume();
    };
    let (summary, ()) = tokio::join!(run(&app), ended);
    assert_eq!(summary, ExportSummary { moved_on: 1, ..ExportSummary::default() });
    assert_eq!(exported_objects(&app), [""; 0]);
    finish(&app).await;
    assert!(!app.table().contents().await.keys().any(|(pk, _)| pk.starts_with("EXPORTS#")));
}
