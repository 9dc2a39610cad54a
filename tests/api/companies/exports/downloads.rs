//! Downloads of an export.

use std::fs;

use admin::export::export_company;
use admin::import::{ArchiveImport, ImportOptions, TrustedKeys};
use export_writer::ExportSummary;
use image::ImageFormat;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::assert_refusals;
use tests::caller::{Caller, last_segment};
use tests::chaos::Fault;
use tests::files::{Form, photo, put};
use tests::http::Request;
use tests::takes::Interviewee;
use tests::videos::film;

use super::{EXPORTS, company, download, download_what_is_left, events, files_in, run, written};

fn anyway() -> ImportOptions {
    let trusted = TrustedKeys::OfArchive;
    ImportOptions { trusted, name: None, keeps_grants: true, allows_missing: false, erased: Vec::new() }
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
        "id": last_segment(&export),
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

    // Files that wait for their conversion are in the archive as well.
    let waiting = json!({
        "name": "Welcome", "upload_filename": "w.mp4", "content_type": "video/mp4", "size": film().len(),
    });
    let waiting = first.post("/companies/acme/videos/", waiting).await.expect(201).json();
    assert_eq!(put(&waiting, film()).await.status, 200);
    let take = open.begin().await;
    assert_eq!(open.send(take, 1, &film()).await.status, 200);
    // The events get numbers, but nothing is converted.
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
    assert_eq!(events(&owner).await, [("company.exported".to_owned(), "customer".to_owned())]);

    let other = TestApp::start().await;
    let imported =
        ArchiveImport::new(other.app(), folder.path(), anyway(), |_| {}).unwrap().run().await.unwrap();
    assert_eq!((imported.sequence, imported.media), (same.sequence, same.media));
    other.leave_unsound("a take that was converted elsewhere");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_archive_whose_photo_was_replaced_before_the_download_is_imported_without_it() {
    let app = TestApp::start().await;
    let (owner, _) = company(&app).await;
    let pictured = Form::new().file("photo", "p.png", "image/png", &photo(ImageFormat::Png, 8, 8));
    owner.send(Request::patch(&owner.uri).form(pictured)).await.expect(200);
    app.settle().await;
    let export = written(&app, &owner).await;
    let replaced = Form::new().file("photo", "p.png", "image/png", &photo(ImageFormat::Png, 9, 9));
    owner.send(Request::patch(&owner.uri).form(replaced)).await.expect(200);
    app.settle().await;
    let (folder, gone) = download_what_is_left(&owner, &export).await;
    let [gone] = &gone[..] else { panic!("{gone:?}") };
    assert!(gone.starts_with(&format!("customers/{}/", owner.id())), "{gone}");

    let other = TestApp::start().await;
    let import = async |allows_missing| {
        let options = ImportOptions { allows_missing, ..anyway() };
        ArchiveImport::new(other.app(), folder.path(), options, |_| {}).unwrap().run().await
    };
    let refused = import(false).await.unwrap_err().to_string();
    let listed = fs::read_to_string(folder.path().join("media.jsonl")).unwrap();
    let line = 1 + listed.lines().position(|line| line.contains(gone)).unwrap();
    assert_eq!(
        refused,
        format!(
            "media.jsonl, line {line}: the file is missing; --allow-missing imports the archive without it"
        )
    );
    let imported = import(true).await.unwrap();
    assert_eq!((imported.media_missing, imported.was_there), (1, false));
    other.leave_unsound("a file is missing");
}

/// S3 answers 403 for an object that is not there to a role that may not list it, and refuses the list by which others can tell.
#[tokio::test(flavor = "multi_thread")]
async fn a_role_that_may_not_list_takes_a_refusal_for_absence_and_nothing_else() {
    let (app, [_table, bucket]) = TestApp::start_with_storage_chaos().await;
    let (owner, _) = company(&app).await;
    let export = written(&app, &owner).await;
    let media = format!("{export}media/");
    bucket.always("LIST", Fault::Refused("AccessDenied"));
    owner.get(&media).await.expect(200);
    app.empty_bucket();
    owner.get(&media).await.expect_code(404, "not_found");
    // Every object would look absent to such credentials.
    bucket.always("LIST", Fault::Refused("ExpiredToken"));
    owner.get(&media).await.expect(500);
    bucket.heal();
    owner.get(&media).await.expect(404);
    app.leave_unsound("the bucket was emptied");
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
    // URLs of media are signed anew for each answer.
    let cursor = page["meta"]["cursor"].as_str().unwrap();
    let by_cursor = owner.get(&format!("{media}?page_size=1&cursor={cursor}")).await.expect(200).json();
    assert_eq!(by_cursor["objects"][0]["path"], second["objects"][0]["path"]);
    assert_eq!(by_cursor["meta"], second["meta"]);
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
