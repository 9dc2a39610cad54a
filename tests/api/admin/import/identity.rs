//! That an export of what was imported is the same, byte for byte.

use std::fs;

use chrono::TimeDelta;
use serde_json::json;
use shared::clock::Clock;
use shared::domain::archive::RecordKind;
use tests::app::TestApp;
use tests::caller::Caller;

use super::afterwards::enter;
use super::{anyway, import_and_start, try_import};
use crate::admin::erase_company::planted::PlantedCompany;
use crate::admin::export::Archive;
use crate::admin::export::content::everything;

fn file(archive: &Archive, name: &str) -> String {
    fs::read_to_string(archive.folder.path().join(name)).unwrap()
}

/// That everything but the manifest is the same, byte for byte.
fn assert_same(first: &Archive, second: &Archive) {
    second.assert_whole();
    let names = RecordKind::ALL.map(|kind| format!("records/{}.jsonl", kind.name()));
    for name in names.iter().map(String::as_str).chain(["media.jsonl"]) {
        assert_eq!(file(first, name), file(second, name), "{name}");
    }
    assert_eq!(first.result.sequence, second.result.sequence);
}

/// That the company of `app` is the same once another deployment has imported it.
pub(crate) async fn assert_moves(app: &TestApp) {
    app.settle().await;
    let first = Archive::of(app).await;
    assert!(first.result.is_exact, "{:?}", first.result);
    let other = TestApp::start().await;
    other.clock().advance(app.clock().now() - other.clock().now());
    try_import(&other, first.folder.path(), anyway()).await.unwrap();
    other.settle().await;
    assert_same(&first, &Archive::of(&other).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_of_what_was_imported_is_the_same() {
    let app = TestApp::start().await;
    everything(&app).await;
    let first = Archive::of(&app).await;
    let other = TestApp::start().await;
    let imported = try_import(&other, first.folder.path(), anyway()).await.unwrap();
    assert_eq!((imported.was_there, imported.records), (false, first.result.records));
    let second = Archive::of(&other).await;
    assert_same(&first, &second);
    let again = try_import(&other, first.folder.path(), anyway()).await.unwrap();
    assert!(again.was_there);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_company_that_has_moved_moves_again() {
    let app = TestApp::start().await;
    let PlantedCompany { owner, .. } = everything(&app).await;
    let first = Archive::of(&app).await;
    let second = TestApp::start_with(&[("RECEIPT_SECRET_ID", "another")]).await;
    import_and_start(&second, first.folder.path()).await;
    let there = enter(&second, &owner).await;
    let projects = there.get("/companies/acme/projects/?status=40-running").await.expect(200).json();
    let project = projects["objects"][0]["resource_uri"].as_str().unwrap();
    let mut candidates = Vec::new();
    for name in ["Grace", "Edsger"] {
        let person = json!({ "first_name": name, "last_name": "New", "email": second.next_email() });
        let created = there.post(&format!("{project}candidates/"), person).await.expect(201);
        candidates.push(created.uri("resource_uri"));
    }
    there.delete(&candidates[0]).await.expect(204);
    second.clock().advance(TimeDelta::minutes(1));
    second.settle().await;
    let moved = Archive::of(&second).await;
    assert_eq!(moved.of_kind(RecordKind::Receipts).len(), first.of_kind(RecordKind::Receipts).len() + 1);
    let third = TestApp::start_with(&[("RECEIPT_SECRET_ID", "another")]).await;
    try_import(&third, moved.folder.path(), anyway()).await.unwrap();
    assert_same(&moved, &Archive::of(&third).await);
}
