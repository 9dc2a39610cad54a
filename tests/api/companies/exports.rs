//! Exports that owners request, and what they download.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use admin::export::export_company;
use admin::import::{ArchiveImport, ImportOptions, TrustedKey};
use aws_sdk_dynamodb::types::AttributeValue;
use chrono::TimeDelta;
use export_writer::{ExportSummary, RunLimits};
use image::ImageFormat;
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};
use shared::domain::candidate::CandidateStatus;
use tempfile::TempDir;
use tests::app::TestApp;
use tests::caller::{Caller, Staff, last_segment};
use tests::files::{Form, fetch, pdf, photo, put};
use tests::http::Request;
use tests::takes::Interviewee;
use tests::videos::film;
use tests::{assert_refusal, assert_refusals};

use crate::admin::erase_company::{begin, finish};

const EXPORTS: &str = "/companies/acme/exports/";
/// An export dies after every so many writes of the table, and of the bucket; with 1, after any of them, which takes minutes.
const STRIDES: [usize; 2] = [3, 9];
/// As the schedule, but with the progress saved at each step.
const STEPWISE: RunLimits = RunLimits { pause: Duration::ZERO, ..RunLimits::SCHEDULED };

/// A company with candidates, one of whom has files, and a recorded interview.
async fn company(app: &TestApp) -> (Staff, String) {
    let owner = app.owner().await;
    let project = owner.running_project(json!({ "allow_hash_login": true })).await;
    let candidate = owner.candidate_at(&project, CandidateStatus::Interviewed).await;
    let form = Form::new().file("photo", "p.png", "image/png", &photo(ImageFormat::Png, 8, 8)).file(
        "cv",
        "cv.pdf",
        "application/pdf",
        &pdf(1000),
    );
    owner.send(Request::patch(&candidate).form(form)).await.expect(200);
    owner.candidate(&project, json!({ "last_name": "Canary" })).await;
    app.settle().await;
    (owner, project)
}

async fn request(owner: &Staff) -> String {
    owner.post(EXPORTS, json!({})).await.expect(202).uri("resource_uri")
}

async fn run(app: &TestApp) -> ExportSummary {
    app.write_exports(STEPWISE).await.unwrap()
}

async fn written(app: &TestApp, owner: &Staff) -> String {
    let export = request(owner).await;
    assert_eq!(run(app).await.written, 1);
    app.settle().await;
    export
}

fn exported_objects(app: &TestApp) -> Vec<String> {
    app.object_keys().into_iter().filter(|key| key.starts_with("exports/")).collect()
}

/// The types of the company's events about exports, with the kinds of their authors.
async fn events(owner: &Staff) -> Vec<(String, String)> {
    let feed = owner.get("/companies/acme/events/?page_size=100").await.expect(200).json();
    let events = feed["objects"].as_array().unwrap().iter();
    let events = events.filter(|event| event["type"].as_str().unwrap().starts_with("company.export"));
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    events.map(|event| (text(&event["type"]), text(&event["by"]["kind"]))).collect()
}

fn hash(bytes: &[u8]) -> String {
    digest(&SHA256, bytes).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

async fn fetched(file: &Value) -> Vec<u8> {
    let fetched = fetch(file["url"].as_str().unwrap(), &[]).await;
    assert_eq!(fetched.status, 200, "{file}");
    fetched.body
}

/// Downloads an export as the documentation says.
async fn download(owner: &impl Caller, export: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let save = |name: &str, file: &Value, bytes: &[u8]| {
        assert_eq!(
            (file["size"].as_u64(), file["sha256"].as_str()),
            (Some(bytes.len() as u64), Some(&*hash(bytes))),
            "{name}"
        );
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    };
    let view = owner.get(export).await.expect(200).json();
    for file in view["files"].as_array().unwrap() {
        let bytes = fetched(file).await;
        save(file["name"].as_str().unwrap(), file, &bytes);
    }
    let mut next = Some(format!("{export}media/?page_size=2"));
    while let Some(page) = next {
        let page = owner.get(&page).await.expect(200).json();
        for file in page["objects"].as_array().unwrap() {
            let bytes = fetched(file).await;
            save(&format!("media/{}", file["path"].as_str().unwrap()), file, &bytes);
        }
        next = page["meta"]["next"].as_str().map(str::to_owned);
    }
    folder
}

/// The files of a folder by their paths, but for the manifest, which has the moment of its creation.
fn files_in(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(one) = folders.pop() {
        for entry in fs::read_dir(one).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                files.insert(name, fs::read(path).unwrap());
            }
        }
    }
    files.retain(|name, _| !name.starts_with("manifest"));
    files
}

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_downloads_everything_and_another_deployment_takes_it_in() {
    let app = TestApp::start().await;
    let (first, _) = company(&app).await;
    Interviewee::asked_by(first.clone(), json!({})).await.record(&[&film()]).await;
    let open = Interviewee::asked_by(first.clone(), json!({})).await;
    app.settle().await;
    let owner = app.staff("owner").await;
    let colleague = app.staff("owner").await;
    let created = owner.post(EXPORTS, json!({})).await.expect(202);
    let export = created.uri("resource_uri");
    assert_eq!(created.header("location"), Some(export.as_str()));
    let mut view = json!({
        "resource_uri": export,
        "company": "https://hr.example/api/v3/companies/acme/",
        "status": "pending",
        "failure": null,
        "progress": { "records": 0, "media": 0, "share": 0.0 },
        "created_at": "2026-11-08T10:00:00Z",
        "created_by": owner.uri,
        "finished_at": null,
        "expires_at": null,
        "sequence": null,
        "is_exact": null,
        "size": null,
        "media": format!("{export}media/"),
    });
    assert_eq!(created.json(), view);
    let mut listed = colleague.get(EXPORTS).await.expect(200).json();
    assert_eq!(listed["objects"], json!([view]));
    view["files"] = json!([]);
    colleague.get(&export).await.expect_json(200, view.clone());
    assert_eq!(owner.get(&format!("{export}media/")).await.expect(200).json()["objects"], json!([]));
    app.settle().await;
    for one in [&owner, &colleague] {
        let mail = app.mails_to(&one.email).remove(0);
        assert_eq!(mail.subject, "Acme & Sons: all data is being exported");
        assert!(mail.text.as_ref().unwrap().contains(last_segment(&export)), "{:?}", mail.text);
    }

    // What waits for its conversion is taken along as well.
    let waiting = json!({
        "name": "Welcome", "upload_filename": "w.mp4", "content_type": "video/mp4", "size": film().len(),
    });
    let waiting = first.post("/companies/acme/videos/", waiting).await.expect(201).json();
    assert_eq!(put(&waiting, film()).await.status, 200);
    let take = open.begin().await;
    assert_eq!(open.send(take, 1, &film()).await.status, 200);
    // Their events get numbers, but nothing is converted.
    while app.events().deliver_stream().await.unwrap() > 0 {}

    assert_eq!(run(&app).await, ExportSummary { written: 1, ..ExportSummary::default() });
    let copy = tempfile::tempdir().unwrap();
    let same = export_company(app.app(), "acme".parse().unwrap(), copy.path(), ()).await.unwrap();
    let shown = owner.get(&export).await.expect(200).json();
    let sizes: u64 =
        shown["files"].as_array().unwrap().iter().map(|file| file["size"].as_u64().unwrap()).sum();
    view["files"] = shown["files"].clone();
    view["status"] = "successful".into();
    view["progress"] = json!({ "records": same.records, "media": same.media, "share": 1.0 });
    view["finished_at"] = "2026-11-08T10:00:00Z".into();
    view["expires_at"] = "2026-11-11T10:00:00Z".into();
    view["sequence"] = same.sequence.into();
    view["is_exact"] = true.into();
    view["size"] = sizes.into();
    assert_eq!(shown, view);
    assert!(same.media >= 6, "{same:?}");
    listed = owner.get(EXPORTS).await.expect(200).json();
    view.as_object_mut().unwrap().remove("files");
    assert_eq!(listed["objects"], json!([view]));
    let media = owner.get(&format!("{export}media/?page=2&page_size=3")).await.expect(200).json();
    assert_eq!(media["meta"]["total_count"], same.media);
    assert_eq!(media["objects"].as_array().unwrap().len() as u64, same.media - 3);

    let folder = download(&owner, &export).await;
    assert_eq!(files_in(folder.path()), files_in(copy.path()));
    app.settle().await;
    assert_eq!(app.mails_to(&owner.email)[0].subject, "Acme & Sons: the export of all data is ready");
    assert_eq!(app.mails_to(&colleague.email)[0].subject, "Acme & Sons: all data is being exported");
    assert_eq!(events(&owner).await, [("company.exported".to_owned(), "system".to_owned())]);

    let other = TestApp::start().await;
    let options = ImportOptions { trusted: TrustedKey::OfArchive, name: None, keeps_grants: true };
    let imported =
        ArchiveImport::new(other.app(), folder.path(), options, |_| {}).unwrap().run().await.unwrap();
    assert_eq!((imported.sequence, imported.media), (same.sequence, same.media));
    other.leave_unsound("a take that was converted elsewhere");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_owners_in_person_use_exports() {
    let app = TestApp::start().await;
    let (owner, _) = company(&app).await;
    let export = request(&owner).await;
    let media = format!("{export}media/");
    let integration = app.staff("owner").await;
    app.table().set_customer(&integration.uri, "authenticate_on_behalf", AttributeValue::Bool(true)).await;
    let login = json!({ "company": "acme", "username": owner.username });
    let acting = app.token(&integration.post("/api-token-auth/", login).await.expect(200).uri("token"));
    let (_, token) = owner.named_token("Payroll").await;
    for response in [
        acting.get(EXPORTS).await,
        acting.post(EXPORTS, json!({})).await,
        acting.get(&export).await,
        acting.get(&media).await,
        acting.delete(&export).await,
        token.get(EXPORTS).await,
        token.post(EXPORTS, json!({})).await,
        token.get(&export).await,
        token.get(&media).await,
        token.delete(&export).await,
    ] {
        response.expect_json(
            403,
            json!({
                "detail": "You do not have permission to perform this action.", "code": "permission_denied",
            }),
        );
    }
    let stranger = app.owner_of("other").await;
    for uri in [EXPORTS, &export, &media] {
        stranger.get(uri).await.expect(404);
        app.anonymous().get(uri).await.expect(401);
    }
    let elsewhere = export.replace("/acme/", "/other/");
    stranger.get(&elsewhere).await.expect(404);
    stranger.delete(&elsewhere).await.expect(404);
    owner.get(&export).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_export_runs_at_a_time_and_four_are_requested_in_a_day() {
    let app = TestApp::start().await;
    let (owner, _) = company(&app).await;
    let both = tokio::join!(owner.post(EXPORTS, json!({})), owner.post(EXPORTS, json!({})));
    let mut statuses = [both.0.status, both.1.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [202, 400]);
    assert_refusal!(owner.post(EXPORTS, json!({})).await, @r#"400 {"code":"export_running","detail":"An export of this company is still running. Wait until it has ended, or delete it."}"#);
    let running = owner.get(EXPORTS).await.expect(200).json()["objects"][0]["resource_uri"].clone();
    owner.delete(running.as_str().unwrap()).await.expect(204);
    let key = Request::post(EXPORTS).header("idempotency-key", "one");
    let keyed = owner.send(key.clone()).await.expect(202);
    let repeated = owner.send(key).await.expect(202);
    assert_eq!(repeated.json(), keyed.json());
    owner.delete(&keyed.uri("resource_uri")).await.expect(204);
    for _ in 0..2 {
        app.clock().advance(TimeDelta::hours(1));
        let again = owner.new_token().await;
        let export = again.post(EXPORTS, json!({})).await.expect(202).uri("resource_uri");
        again.delete(&export).await.expect(204);
    }
    let refused = owner.new_token().await.post(EXPORTS, json!({})).await.expect(429);
    assert_eq!(refused.header("retry-after"), Some("79200"));
    app.clock().advance(TimeDelta::hours(22));
    owner.new_token().await.post(EXPORTS, json!({})).await.expect(202);
}

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
    let expected = [("company.exported", "system"), ("company.export_deleted", "customer")];
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
    let expected = [("company.exported", "system"), ("company.export_deleted", "system")];
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
async fn an_export_begins_again_when_somebody_is_erased_while_it_is_written() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let (owner, project) = company(&app).await;
    let gone = owner.candidate(&project, json!({ "last_name": "Vanished" })).await;
    app.settle().await;
    let export = request(&owner).await;
    // What it has read of the candidate is in its folder by then.
    let pause = chaos.pause_about("Query", "EVENTS");
    let erased = async {
        pause.reached().await;
        owner.delete(&gone).await.expect(204);
        app.settle().await;
        pause.resume();
    };
    let (ended, ()) = tokio::join!(run(&app), erased);
    assert_eq!(ended, ExportSummary { moved_on: 1, ..ExportSummary::default() });
    assert_eq!(owner.get(&export).await.expect(200).json()["status"], "pending");
    assert_eq!(exported_objects(&app), [""; 0]);
    assert_eq!(run(&app).await, ExportSummary { written: 1, ..ExportSummary::default() });
    let folder = download(&owner, &export).await;
    let texts: String = files_in(folder.path())
        .into_values()
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .collect();
    assert!(texts.contains("Canary") && !texts.contains("Vanished"));
    // Its identifier is left in the event of the erasure alone.
    let records = fs::read_to_string(folder.path().join("records/candidates.jsonl")).unwrap();
    assert!(!records.contains(last_segment(&gone)));
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
async fn an_export_that_dies_anywhere_begins_again() {
    let (app, chaos) = TestApp::start_with_storage_chaos().await;
    let (owner, _) = company(&app).await;
    let expected = files_in(download(&owner, &written(&app, &owner).await).await.path());
    let mut deaths = 0;
    for (number, storage) in chaos.iter().enumerate() {
        for writes in (0..).step_by(STRIDES[number]) {
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
    assert!(deaths > 5, "{deaths}");
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
    let limits = RunLimits { archive: Duration::ZERO, ..STEPWISE };
    let summary = app.write_exports(limits).await.unwrap();
    assert_eq!(summary, ExportSummary { given_up: 1, ..ExportSummary::default() });
    let view = owner.get(&export).await.expect(200).json();
    assert_eq!((&view["status"], &view["failure"]), (&json!("failed"), &json!("too_large")));
}

#[tokio::test(flavor = "multi_thread")]
async fn media_are_listed_by_pages() {
    let app = TestApp::start().await;
    let (owner, _) = company(&app).await;
    let export = written(&app, &owner).await;
    let media = format!("{export}media/");
    let page = owner.get(&format!("{media}?page_size=1")).await.expect(200).json();
    let next = page["meta"]["next"].as_str().unwrap();
    let second = owner.get(next).await.expect(200).json();
    assert_ne!(page["objects"], second["objects"]);
    let back = owner.get(second["meta"]["previous"].as_str().unwrap()).await.expect(200).json();
    assert_eq!(back["objects"][0]["path"], page["objects"][0]["path"]);
    assert_eq!(second["meta"]["next"], Value::Null);
    assert_refusals!([
        owner.get(&format!("{media}?page=3&page_size=1")).await,
        owner.get(&format!("{media}?page_size=101")).await,
    ], @r#"
    400 {"page":["The list ends before page 3."]}
    400 {"page_size":["Use a whole number from 1 to 100."]}
    "#);
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
