//! Archives that were changed after they were signed.

use std::fs;

use shared::clock::SystemEntropy;
use shared::domain::archive::RecordKind;
use shared::domain::random::RandomSource as _;
use tests::app::TestApp;
use tests::effort;

use super::copied::{Copied, name_of};
use super::interruptions::small;
use super::{anyway, try_import};

fn below(limit: usize) -> usize {
    let mut bytes = [0; 8];
    SystemEntropy.fill(&mut bytes);
    usize::try_from(u64::from_le_bytes(bytes) % limit as u64).unwrap()
}

/// Changes one thing by chance. Returns what it has done; nothing if that changes nothing.
fn alter(copy: &Copied, names: &[String]) -> Option<String> {
    let name = &names[below(names.len())];
    let mut bytes = fs::read(copy.path(name)).unwrap();
    let before = bytes.clone();
    let mut lines: Vec<&[u8]> = before.split_inclusive(|byte| *byte == b'\n').collect();
    if lines.is_empty() {
        return None;
    }
    let line = below(lines.len());
    let what = match below(6) {
        0 => {
            let place = below(bytes.len());
            bytes[place] ^= 1 << below(8);
            "a bit"
        }
        1 => {
            lines.remove(line);
            bytes = lines.concat();
            "a line dropped"
        }
        2 => {
            lines.insert(line, lines[line]);
            bytes = lines.concat();
            "a line doubled"
        }
        3 => {
            let other = below(lines.len());
            lines.swap(line, other);
            bytes = lines.concat();
            "two lines swapped"
        }
        4 => {
            let other = copy.path(&names[below(names.len())]);
            let mut moved = fs::read(&other).unwrap();
            moved.extend_from_slice(lines[line]);
            fs::write(other, moved).unwrap();
            "a line copied to another file"
        }
        _ => {
            bytes.truncate(below(bytes.len()));
            "the end cut off"
        }
    };
    let is_copied = what.ends_with("another file");
    if !is_copied && bytes == before {
        return None;
    }
    if !is_copied {
        fs::write(copy.path(name), bytes).unwrap();
    }
    Some(format!("{what}: {name}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn no_change_passes_that_its_signer_has_not_made() {
    let app = TestApp::start().await;
    let archive = small(&app).await;
    let other = TestApp::start().await;
    let key = app.app().receipt_keys().await.unwrap().public()[0];
    let trusted = super::ImportOptions { trusted: super::TrustedKeys::Named(vec![key]), ..anyway() };
    let mut names: Vec<String> = RecordKind::ALL.map(name_of).into();
    names.extend(["media.jsonl", "manifest.json", "manifest.jws"].map(str::to_owned));
    names.extend(archive.media.iter().map(|line| format!("media/{}", line["path"].as_str().unwrap())));
    let before = other.table().contents().await;
    let mut altered = 0;
    let copy = Copied::of(&archive);
    while altered < effort::count(1_000) {
        let Some(what) = alter(&copy, &names) else { continue };
        altered += 1;
        // An attacker who changes files can change what the manifest says of them, but not sign it.
        if below(2) == 0 && what.contains("records/") && !what.contains("media/") {
            copy.describe();
        }
        let refused = try_import(&other, copy.folder.path(), trusted.clone()).await;
        assert!(refused.is_err(), "{what}: {refused:?}");
        for name in &names {
            fs::copy(archive.folder.path().join(name), copy.path(name)).unwrap();
        }
    }
    assert_eq!(other.table().contents().await, before);
    assert!(other.object_keys().is_empty());
    try_import(&other, copy.folder.path(), trusted).await.unwrap();
    let stranger = TestApp::start_with(&[("RECEIPT_SECRET_ID", "another")]).await;
    copy.sign(&stranger).await;
    let refused = try_import(&stranger, copy.folder.path(), anyway()).await.unwrap_err();
    assert_eq!(refused, "manifest.jws: no key in records/receipt-keys.jsonl has signed manifest.json");
}
