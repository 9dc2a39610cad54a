//! Imports that were begun and are given up, and the bounds of what a manifest tells.

use std::fs;

use serde_json::{Value, json};
use shared::archive::MediaPlace;
use tests::app::TestApp;

use super::copied::Copied;
use super::interruptions::small;
use super::{anyway, try_import};
use crate::admin::erase_company::{begin, finish};
use crate::admin::export::Archive;

#[tokio::test(flavor = "multi_thread")]
async fn half_an_import_is_listed_and_can_be_erased() {
    let source = TestApp::start().await;
    let archive = small(&source).await;
    for writes in [4, 12, 30] {
        let (app, [table, _bucket]) = TestApp::start_with_storage_chaos().await;
        table.cut_after_writes(writes);
        try_import(&app, archive.folder.path(), anyway()).await.unwrap_err();
        table.heal();
        let listed = app.operate(json!({ "command": "list-companies" })).await.unwrap();
        assert_eq!(listed["companies"], json!([]));
        assert_eq!(listed["imports"][0]["company"], "acme");
        assert_eq!(listed["imports"][0]["opened_at"], Value::Null);
        assert_eq!(listed["imports"][0]["stored_at"], Value::Null);
        begin(&app).await;
        let refused = try_import(&app, archive.folder.path(), anyway()).await.unwrap_err();
        assert!(refused.contains("A company with this identifier was erased."), "{refused}");
        finish(&app).await;
        let listed = app.operate(json!({ "command": "list-companies" })).await.unwrap();
        assert_eq!(listed["imports"], json!([]));
        assert_eq!(app.object_keys(), [""; 0]);
        let left = app.table().contents().await.into_keys();
        let left: Vec<_> = left.filter(|(pk, _)| pk.starts_with("COMPANY#acme")).collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_of_the_same_size_that_is_there_already_is_replaced() {
    let source = TestApp::start().await;
    let archive = small(&source).await;
    let app = TestApp::start().await;
    let bucket = app.app().config().bucket.as_deref().unwrap();
    assert!(!archive.media.is_empty());
    for file in &archive.media {
        let (place, below) = MediaPlace::of(file["path"].as_str().unwrap()).unwrap();
        let key = format!("{}{below}", place.prefix(&"acme".parse().unwrap()));
        let other = vec![b'x'; file["size"].as_u64().unwrap().try_into().unwrap()];
        let put = app.app().aws().s3().put_object().bucket(bucket).key(key);
        put.content_type(file["content_type"].as_str().unwrap()).body(other.into()).send().await.unwrap();
    }
    try_import(&app, archive.folder.path(), anyway()).await.unwrap();
    assert_eq!(Archive::of(&app).await.media, archive.media);
}

/// Changes the last byte of a file in a copy of an archive.
fn alter(copy: &Copied, file: &Value) {
    let path = copy.path(&format!("media/{}", file["path"].as_str().unwrap()));
    let mut bytes = fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(path, bytes).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_was_altered_and_kept_its_size_is_not_stored() {
    let source = TestApp::start().await;
    let archive = small(&source).await;
    let (app, [table, _bucket]) = TestApp::start_with_storage_chaos().await;
    let empty = app.table().contents().await;
    let hash = |line: usize| format!("media.jsonl, line {line}: the file has another hash");
    for (line, file) in (1..).zip(&archive.media) {
        let copy = Copied::of(&archive);
        alter(&copy, file);
        let refused = try_import(&app, copy.folder.path(), anyway()).await.unwrap_err();
        assert_eq!(refused, hash(line));
    }
    assert_eq!(app.table().contents().await, empty);
    // After the validation, S3 compares the hash.
    let copy = Copied::of(&archive);
    let pause = table.pause("TransactWriteItems");
    let altered = async {
        pause.reached().await;
        archive.media.iter().for_each(|file| alter(&copy, file));
        pause.resume();
    };
    let (imported, ()) = tokio::join!(try_import(&app, copy.folder.path(), anyway()), altered);
    imported.unwrap_err();
    assert_eq!(app.object_keys(), [""; 0]);
    // Repeated, the import validates the files again.
    assert_eq!(try_import(&app, copy.folder.path(), anyway()).await.unwrap_err(), hash(1));
    try_import(&app, archive.folder.path(), anyway()).await.unwrap();
    assert_eq!(Archive::of(&app).await.media, archive.media);
}

#[tokio::test]
async fn numbers_of_a_manifest_have_bounds() {
    let app = TestApp::start().await;
    app.owner().await;
    app.settle().await;
    let archive = Archive::of(&app).await;
    let other = TestApp::start().await;
    for (number, is_accepted) in [((1_u64 << 53) - 1, true), (1 << 53, false), (u64::MAX, false)] {
        let copy = Copied::of(&archive);
        let text = fs::read_to_string(copy.path("manifest.json")).unwrap();
        let sequence = format!("\"sequence\":{}", archive.result.sequence);
        assert!(text.contains(&sequence));
        let changed = text.replace(&sequence, &format!("\"sequence\":{number}"));
        fs::write(copy.path("manifest.json"), changed).unwrap();
        copy.sign(&app).await;
        let imported = try_import(&other, copy.folder.path(), anyway()).await;
        match is_accepted {
            true => assert_eq!(imported.unwrap().sequence, number),
            false => {
                let refused = imported.unwrap_err();
                assert_eq!(refused, format!("manifest.json: {number} is too large"));
            }
        }
    }
}
