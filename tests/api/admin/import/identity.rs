//! That an export of what was imported is the same, byte for byte.

use std::fs;

use shared::domain::archive::RecordKind;
use tests::app::TestApp;

use super::{anyway, try_import};
use crate::admin::export::Archive;
use crate::admin::export::content::everything;

fn file(archive: &Archive, name: &str) -> String {
    fs::read_to_string(archive.folder.path().join(name)).unwrap()
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
    second.assert_whole();
    let names = RecordKind::ALL.map(|kind| format!("records/{}.jsonl", kind.name()));
    for name in names.iter().map(String::as_str).chain(["media.jsonl"]) {
        assert_eq!(file(&first, name), file(&second, name), "{name}");
    }
    assert_eq!(first.result.sequence, second.result.sequence);
    let again = try_import(&other, first.folder.path(), anyway()).await.unwrap();
    assert!(again.was_there);
}
