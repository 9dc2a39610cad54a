//! `export-company`: everything of a company in a signed archive, as of one moment, without a secret.

mod attributes;
pub(super) mod content;
mod moment;
mod rest;
mod stored_types;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use admin::export::export_company;
use aws_sdk_dynamodb::types::AttributeValue;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use image::ImageFormat;
use ring::digest::{SHA256, digest};
use ring::signature::{ED25519, UnparsedPublicKey};
use serde_json::{Value, json};
use shared::archive::ExportResult;
use shared::domain::archive::RecordKind;
use tempfile::TempDir;
use tests::app::TestApp;
use tests::caller::Caller;
use tests::files::{Form, photo};
use tests::http::Request;

/// A record of an archive, as its line says.
pub(super) type Record = Value;

/// An archive that was read.
pub(super) struct Archive {
    pub(super) folder: TempDir,
    pub(super) result: ExportResult,
    pub(super) manifest: Value,
    /// The records of each kind, by their identifiers.
    pub(super) records: BTreeMap<String, BTreeMap<String, Record>>,
    /// The lines about files.
    pub(super) media: Vec<Value>,
}

async fn try_export(app: &TestApp, company: &str, folder: &Path) -> Result<ExportResult, String> {
    let exported = export_company(app.app(), company.parse().unwrap(), folder, ()).await;
    exported.map_err(|error| error.to_string())
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Archive {
    pub(super) async fn of(app: &TestApp) -> Self {
        Self::of_company(app, "acme").await
    }

    pub(super) async fn of_company(app: &TestApp, company: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let result = try_export(app, company, folder.path()).await.unwrap();
        Self::read(folder, result)
    }

    fn read(folder: TempDir, result: ExportResult) -> Self {
        let text = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        let manifest: Value = serde_json::from_str(&text("manifest.json")).unwrap();
        let mut records = BTreeMap::new();
        for kind in RecordKind::ALL {
            let read = lines(&text(&format!("records/{}.jsonl", kind.name())));
            let ids: Vec<&str> = read.iter().map(|record| record["id"].as_str().unwrap()).collect();
            assert!(ids.is_sorted_by(|one, other| one < other), "{}: {ids:?}", kind.name());
            let by_id = read.iter().map(|record| (record["id"].as_str().unwrap().to_owned(), record.clone()));
            records.insert(kind.name().to_owned(), by_id.collect());
        }
        let media = lines(&text("media.jsonl"));
        Self { folder, result, manifest, records, media }
    }

    pub(super) fn of_kind(&self, kind: RecordKind) -> &BTreeMap<String, Record> {
        &self.records[kind.name()]
    }

    /// Every byte of it but those of media.
    fn text(&self) -> String {
        let names =
            self.manifest["files"].as_array().unwrap().iter().map(|file| file["name"].as_str().unwrap());
        let names = names.chain(["manifest.json", "manifest.jws"]);
        names.map(|name| fs::read_to_string(self.folder.path().join(name)).unwrap()).collect()
    }

    /// Checks that the manifest describes all files, records and media, and that its signature holds.
    pub(super) fn assert_whole(&self) {
        let read = |name: &str| fs::read(self.folder.path().join(name)).unwrap();
        let mut named: BTreeSet<String> = BTreeSet::new();
        for file in self.manifest["files"].as_array().unwrap() {
            let name = file["name"].as_str().unwrap();
            let bytes = read(name);
            assert_eq!(file["size"], bytes.len(), "{name}");
            assert_eq!(file["sha256"], hexadecimal(digest(&SHA256, &bytes).as_ref()), "{name}");
            assert_eq!(file["lines"], bytes.iter().filter(|byte| **byte == b'\n').count(), "{name}");
            named.insert(name.to_owned());
        }
        let counted: BTreeMap<&String, usize> =
            self.records.iter().map(|(kind, records)| (kind, records.len())).collect();
        assert_eq!(self.manifest["records"], json!(counted));
        assert!(self.media.is_sorted_by_key(|line| line["path"].as_str()));
        let mut bytes_of_media = 0;
        for line in &self.media {
            let name = format!("media/{}", line["path"].as_str().unwrap());
            let bytes = read(&name);
            assert_eq!(line["size"], bytes.len(), "{name}");
            assert_eq!(line["sha256"], hexadecimal(digest(&SHA256, &bytes).as_ref()), "{name}");
            let owner = (line["owner"]["kind"].as_str().unwrap(), line["owner"]["id"].as_str().unwrap());
            assert!(self.records[owner.0].contains_key(owner.1), "{line}");
            bytes_of_media += bytes.len();
            named.insert(name);
        }
        assert_eq!(
            self.manifest["media"],
            json!({ "count": self.media.len(), "bytes": bytes_of_media, "missing": 0 })
        );
        named.extend(["manifest.json".to_owned(), "manifest.jws".to_owned()]);
        assert_eq!(files_below(self.folder.path()), named);
        assert!(self.is_signed(&read("manifest.json"), &String::from_utf8(read("manifest.jws")).unwrap()));
    }

    /// Whether this is the signature of the manifest by a key that the archive names.
    fn is_signed(&self, manifest: &[u8], jws: &str) -> bool {
        let [header, payload, signature] = jws.split('.').collect::<Vec<_>>().try_into().unwrap();
        assert_eq!(payload, "");
        let named: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(header).unwrap()).unwrap();
        assert_eq!((&named["alg"], &named["typ"]), (&json!("EdDSA"), &json!("company-export+jws")));
        let key = &self.of_kind(RecordKind::ReceiptKeys)[named["kid"].as_str().unwrap()]["value"];
        let key = URL_SAFE_NO_PAD.decode(key["x"].as_str().unwrap()).unwrap();
        let signed = format!("{header}.{}", URL_SAFE_NO_PAD.encode(manifest));
        let signature = URL_SAFE_NO_PAD.decode(signature).unwrap();
        UnparsedPublicKey::new(&ED25519, key).verify(signed.as_bytes(), &signature).is_ok()
    }
}

fn files_below(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    found
}

#[tokio::test]
async fn nothing_is_written_without_a_company_a_key_or_an_empty_folder() {
    let app = TestApp::start().await;
    app.owner().await;
    let folder = tempfile::tempdir().unwrap();
    let refused = try_export(&app, "nobody", folder.path()).await.unwrap_err();
    assert_eq!(refused, "there is no company nobody");
    assert_eq!(files_below(folder.path()), BTreeSet::new());
    fs::write(folder.path().join("notes"), "mine").unwrap();
    let refused = try_export(&app, "acme", folder.path()).await.unwrap_err();
    assert_eq!(refused, format!("{} is not empty", folder.path().display()));
    let unsigned = TestApp::start_with(&[("RECEIPT_SECRET_ID", "")]).await;
    unsigned.owner().await;
    let folder = tempfile::tempdir().unwrap();
    let refused = try_export(&unsigned, "acme", folder.path()).await.unwrap_err();
    assert_eq!(refused, "environment variable RECEIPT_SECRET_ID: is missing");
    assert_eq!(files_below(folder.path()), BTreeSet::new());
}

#[tokio::test]
async fn an_item_that_only_a_newer_release_knows_stops_it() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let key = ("COMPANY#acme".to_owned(), format!("CUSTOMER#{}", owner.id()));
    let secret = AttributeValue::S("hidden".to_owned());
    app.table().set(&key, "second_factor", secret).await;
    let folder = tempfile::tempdir().unwrap();
    let refused = try_export(&app, "acme", folder.path()).await.unwrap_err();
    assert!(refused.contains("an item of customers has an unknown attribute: second_factor"), "{refused}");
}

#[tokio::test]
async fn a_file_that_a_record_names_and_that_is_gone_is_counted() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let form = Form::new().file("photo", "p.png", "image/png", &photo(ImageFormat::Png, 8, 8));
    owner.send(Request::patch(&owner.uri).form(form)).await.expect(200);
    app.settle().await;
    let [key] = &app.object_keys()[..] else { panic!("the photo alone") };
    let bucket = app.app().config().bucket.as_deref().unwrap();
    app.app().aws().s3().delete_object().bucket(bucket).key(key).send().await.unwrap();
    let archive = Archive::of(&app).await;
    assert_eq!(archive.manifest["media"], json!({ "count": 0, "bytes": 0, "missing": 1 }));
    app.leave_unsound("a file is missing");
}

#[tokio::test]
async fn a_new_folder_is_its_owners_alone() {
    let app = TestApp::start().await;
    app.owner().await;
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("archive");
    try_export(&app, "acme", &archive).await.unwrap();
    assert_eq!(fs::metadata(archive).unwrap().permissions().mode() & 0o777, 0o700);
}
