//! Copies of archives, to change.

use std::fs;
use std::path::{Path, PathBuf};

use ring::digest::{SHA256, digest};
use serde_json::Value;
use shared::domain::archive::RecordKind;
use tempfile::TempDir;
use tests::app::TestApp;

use crate::admin::export::{Archive, hexadecimal};

/// A copy of an archive.
pub(super) struct Copied {
    pub(super) folder: TempDir,
}

impl Copied {
    pub(super) fn of(archive: &Archive) -> Self {
        let folder = tempfile::tempdir().unwrap();
        copy_all(archive.folder.path(), folder.path());
        Self { folder }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn lines(&self, name: &str) -> Vec<String> {
        String::from_utf8_lossy(&fs::read(self.path(name)).unwrap()).lines().map(str::to_owned).collect()
    }

    pub(super) fn write(&self, name: &str, lines: &[String]) {
        fs::write(self.path(name), lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    }

    pub(super) fn write_manifest(&self, manifest: &Value) {
        fs::write(self.path("manifest.json"), canonical(manifest)).unwrap();
    }

    /// Describes in the manifest what the files are now.
    pub(super) fn describe(&self) {
        let Ok(mut manifest) =
            serde_json::from_slice::<Value>(&fs::read(self.path("manifest.json")).unwrap())
        else {
            return;
        };
        for file in manifest["files"].as_array_mut().into_iter().flatten() {
            let bytes = fs::read(self.path(file["name"].as_str().unwrap())).unwrap();
            file["size"] = bytes.len().into();
            file["lines"] = bytes.iter().filter(|byte| **byte == b'\n').count().into();
            file["sha256"] = hexadecimal(digest(&SHA256, &bytes).as_ref()).into();
        }
        for kind in RecordKind::ALL {
            manifest["records"][kind.name()] = self.lines(&name_of(kind)).len().into();
        }
        let media: Vec<Value> =
            self.lines("media.jsonl").iter().filter_map(|line| serde_json::from_str(line).ok()).collect();
        manifest["media"]["count"] = media.len().into();
        manifest["media"]["bytes"] =
            media.iter().filter_map(|line| line["size"].as_u64()).sum::<u64>().into();
        self.write_manifest(&manifest);
    }

    /// Signs the manifest with the key of the service that has written the archive.
    pub(super) async fn sign(&self, app: &TestApp) {
        let manifest = fs::read(self.path("manifest.json")).unwrap();
        let keys = app.app().receipt_keys().await.unwrap();
        fs::write(self.path("manifest.jws"), keys.sign_manifest(&manifest)).unwrap();
    }
}

fn copy_all(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            fs::create_dir(&target).unwrap();
            copy_all(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

pub(super) fn canonical(value: &Value) -> String {
    serde_json_canonicalizer::to_string(value).unwrap()
}

pub(super) fn name_of(kind: RecordKind) -> String {
    format!("records/{}.jsonl", kind.name())
}
