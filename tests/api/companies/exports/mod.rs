//! Exports that owners request, and what they download.

mod downloads;
mod ends;
mod failures;
mod requests;
mod workers;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use export_writer::{ExportSummary, InvocationLimits};
use image::ImageFormat;
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};
use shared::domain::candidate::CandidateStatus;
use tempfile::TempDir;
use tests::app::TestApp;
use tests::caller::{Caller, Staff};
use tests::files::{Form, fetch, pdf, photo};
use tests::http::Request;

const EXPORTS: &str = "/companies/acme/exports/";
/// The limits of the schedule, but with the progress saved at each step.
const STEPWISE: InvocationLimits = InvocationLimits { pause: Duration::ZERO, ..InvocationLimits::SCHEDULED };

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

/// Runs the worker. Its summary comes without the delay, which follows from the clock.
async fn run(app: &TestApp) -> ExportSummary {
    ExportSummary { export_delay_seconds: 0, ..app.write_exports(STEPWISE).await.unwrap() }
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
    let (folder, gone) = download_what_is_left(owner, export).await;
    assert_eq!(gone, [""; 0]);
    folder
}

/// Downloads an export, of whose files some may be deleted or replaced. Returns the paths of these as well.
async fn download_what_is_left(owner: &impl Caller, export: &str) -> (TempDir, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let mut gone = Vec::new();
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
            let path = file["path"].as_str().unwrap();
            let fetched = fetch(file["url"].as_str().unwrap(), &[]).await;
            match fetched.status.as_u16() {
                200 => save(&format!("media/{path}"), file, &fetched.body),
                403 | 404 => gone.push(path.to_owned()),
                other => panic!("{other}: {file}"),
            }
        }
        next = page["meta"]["next"].as_str().map(str::to_owned);
    }
    (folder, gone)
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
