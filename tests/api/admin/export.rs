//! `export-company`: everything of a company in a signed archive, as of one moment, without a secret.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use admin::export::{CompanyExport, ExportResult};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use ring::signature::{ED25519, UnparsedPublicKey};
use serde_json::{Value, json};
use shared::domain::archive::RecordKind;
use tempfile::TempDir;
use tests::app::TestApp;
use tests::caller::{Caller, Staff, last_segment};
use tests::http::Request;
use tests::takes::Interviewee;
use tests::videos::film;

use crate::admin::erase_company::planted::{PlantedCompany, plant_company};
use crate::system::erasure::planted::CANARY;

/// The description of the format.
const FORMAT: &str = include_str!("../../../functions/PORTABILITY.md");

/// A record of an archive, as its line says.
type Record = Value;

/// An archive that was read.
struct Archive {
    folder: TempDir,
    result: ExportResult,
    manifest: Value,
    /// The records of each kind, by their identifiers.
    records: BTreeMap<String, BTreeMap<String, Record>>,
    /// The lines about files.
    media: Vec<Value>,
}

async fn try_export(app: &TestApp, company: &str, folder: &Path) -> Result<ExportResult, String> {
    let export = CompanyExport::new(app.app(), company.parse().unwrap(), |_| {});
    export.write_to(folder).await.map_err(|error| error.to_string())
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Archive {
    async fn of(app: &TestApp) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let result = try_export(app, "acme", folder.path()).await.unwrap();
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

    fn of_kind(&self, kind: RecordKind) -> &BTreeMap<String, Record> {
        &self.records[kind.name()]
    }

    /// Every byte of it but those of media.
    fn text(&self) -> String {
        let names =
            self.manifest["files"].as_array().unwrap().iter().map(|file| file["name"].as_str().unwrap());
        let names = names.chain(["manifest.json", "manifest.jws"]);
        names.map(|name| fs::read_to_string(self.folder.path().join(name)).unwrap()).collect()
    }

    /// What the manifest says of its files, its records and its media, and its signature.
    fn assert_whole(&self) {
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
        assert_eq!(self.manifest["media"], json!({ "count": self.media.len(), "bytes": bytes_of_media }));
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

/// A company with everything that can be stored, a candidate who was erased among it.
async fn everything(app: &TestApp) -> PlantedCompany {
    let planted = plant_company(app).await;
    let PlantedCompany { owner, .. } = &planted;
    let project = app.fill_with_everything(owner).await;
    let retention = json!({ "days": 400, "from": "project_closed", "request_days": 7, "notice_days": 0 });
    owner.send(Request::put("/companies/acme/retention/").json(&retention)).await.expect(200);
    let gone = owner.candidate(&project, json!({ "first_name": "Gone" })).await;
    let recorded = Interviewee::asked_by(owner.clone(), json!({})).await;
    recorded.record(&[&film()]).await;
    app.settle().await;
    owner.delete(&gone).await.expect(204);
    app.clock().advance(chrono::TimeDelta::minutes(1));
    app.settle().await;
    planted
}

/// The attributes in a value, those of an attribute behind a dot, and `…` for names that are data.
fn attributes(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (name, inner) in object {
                let is_data = name.len() == 26
                    && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
                let is_language = ["texts", "captions"].iter().any(|map| path.ends_with(map));
                let is_counter = name.contains(':');
                let is_kind =
                    ["consents", "legal", "facts", "previous"].iter().any(|map| path.ends_with(map));
                let name = if is_data || is_language || is_counter || is_kind { "…" } else { name };
                let path = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
                attributes(inner, &path, found);
            }
        }
        Value::Array(array) => {
            if array.iter().all(|inner| !inner.is_object()) {
                found.insert(path.to_owned());
            }
            for inner in array.iter().filter(|inner| inner.is_object()) {
                attributes(inner, path, found);
            }
        }
        _ => {
            found.insert(path.to_owned());
        }
    }
}

/// The attributes that the description of the format lists for a kind.
fn described(kind: RecordKind) -> BTreeSet<String> {
    let start = format!("\n| `{}` |", kind.name());
    let (_, rest) = FORMAT.rsplit_once(&start).unwrap_or_else(|| panic!("{} is not described", kind.name()));
    let attributes = rest.split('|').next().unwrap();
    attributes.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_archive_holds_every_attribute_that_is_described_and_no_other() {
    let app = TestApp::start().await;
    everything(&app).await;
    let archive = Archive::of(&app).await;
    archive.assert_whole();
    assert!(archive.result.is_exact);
    let mut wrong = String::new();
    for kind in RecordKind::ALL {
        let mut found = BTreeSet::new();
        for record in archive.of_kind(kind).values() {
            attributes(&record["value"], "", &mut found);
        }
        let described = described(kind);
        let quoted =
            |names: Vec<&String>| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let (missing, new) = (described.difference(&found).collect(), found.difference(&described).collect());
        let (missing, new) = (quoted(missing), quoted(new));
        if !missing.is_empty() || !new.is_empty() {
            wrong += &format!("{}: new: {new}; missing: {missing}\n", kind.name());
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// What stands in the table of a company, and is in no archive: by the start of the key.
const LEFT_OUT: [&str; 5] = ["EFFECT#", "NOTICES#", "WEBHOOK#", "CONVERSIONS", "COMPANY#acme/RETENTION#RUN"];

#[tokio::test(flavor = "multi_thread")]
async fn every_text_is_in_it_and_no_secret() {
    let app = TestApp::start().await;
    let PlantedCompany { owner, .. } = everything(&app).await;
    let other = app.owner_of("other").await;
    app.fill_with_everything(&other).await;
    app.settle().await;
    let archive = Archive::of(&app).await;
    let text = archive.text();
    assert!(!text.contains("\"other\"") && !text.contains(other.id()), "another company");
    assert!(!text.contains("Gone"), "somebody who was erased");

    // Each item of the company is a record with all its values, but for those that are left out.
    let mut secrets = 0;
    let mut texts = 0;
    for item in app.items() {
        let item: serde_dynamo::Item = serde_json::from_value(item).unwrap();
        let item: Value = serde_dynamo::from_item(item).unwrap();
        let (pk, sk) = (item["pk"].as_str().unwrap(), item["sk"].as_str().unwrap());
        let Some(kind) = kind_of(pk, sk) else { continue };
        if kind == RecordKind::Events && item["sequence"].is_null() {
            continue;
        }
        let left_out: Vec<String> = kind.left_out().iter().map(|path| (*path).to_owned()).collect();
        let mut values = BTreeMap::new();
        leaves(&item, "", &mut values);
        for (path, value) in values {
            let name = path.split('.').next().unwrap();
            if ["pk", "sk", "by_status_pk", "by_status_sk", "due_at", "due_shard", "expires_at"]
                .contains(&name)
            {
                continue;
            }
            let is_left_out =
                left_out.iter().any(|left| path == *left || path.starts_with(&format!("{left}.")));
            let quoted = value.to_string();
            if !is_left_out {
                texts += 1;
                assert!(text.contains(&quoted), "{kind:?} {path}: {quoted}");
            } else if value.as_str().is_some_and(|secret| secret.len() > 30) {
                secrets += 1;
                assert!(!text.contains(&quoted), "{kind:?} {path}");
            }
        }
    }
    assert!(texts > 1000 && secrets > 20, "{texts} texts, {secrets} secrets");
    assert!(text.contains(CANARY));
    for secret in [owner.secret(), "EFFECT#", "IDEMPOTENCY#"] {
        assert!(!text.contains(secret));
    }
}

/// The kind of the record of an item of the company; `None` for what is derived or in no archive.
fn kind_of(pk: &str, sk: &str) -> Option<RecordKind> {
    let starts = |text: &str, start: &str| text.starts_with(start);
    if LEFT_OUT.iter().any(|left| starts(&format!("{pk}/{sk}"), left) || starts(pk, left)) {
        return None;
    }
    Some(match pk {
        "COMPANY#acme" => match sk.split('#').next().unwrap() {
            "COMPANY" => RecordKind::Company,
            "CUSTOMER" => RecordKind::Customers,
            "LABEL" => RecordKind::Labels,
            "PROJECT" => RecordKind::Projects,
            "RETENTION" => RecordKind::Retention,
            "TOKEN" => RecordKind::Tokens,
            "WEBHOOK" => RecordKind::Webhooks,
            // The counts are derived, and the numbers of events are in the manifest.
            "TALLY" | "SEQUENCE" => return None,
            other => panic!("{other} is neither in the archive nor left out"),
        },
        "CAPTIONS#acme" => RecordKind::Captions,
        "GUESTS#acme" => RecordKind::GuestLinks,
        "LEGAL#acme" => RecordKind::LegalTexts,
        "LOGO#acme" => RecordKind::Logos,
        "VIDEOS#acme" => RecordKind::Videos,
        _ if starts(pk, "ANSWERS#acme#") => RecordKind::Answers,
        _ if starts(pk, "TEXTS#acme#") => RecordKind::WrittenAnswers,
        _ if starts(pk, "HISTORY#acme#") => RecordKind::Events,
        _ if starts(pk, "COMPANY#acme#PROJECT#") && pk.ends_with("#EVALUATIONS") => RecordKind::Evaluations,
        _ if starts(pk, "COMPANY#acme#PROJECT#") => match sk.split('#').next().unwrap() {
            "CANDIDATE" => RecordKind::Candidates,
            "INTERVIEW" => RecordKind::Questionnaires,
            // Derived from candidates and their evaluations.
            "RESULT" | "TALLY" => return None,
            other => panic!("{other} is neither in the archive nor left out"),
        },
        _ => {
            // What is derived, what belongs to no company alone, and what is under way.
            let others = [
                "COMPANY#acme#CUSTOMER#",
                "COMPANY#other",
                "LABEL#",
                "LOGIN#",
                "EXTERNAL#",
                "SEARCH#",
                "FAILURES#",
                "TOKEN#",
                "SESSION#",
                "UPLOAD#",
                "EVENT#",
                "RESET#",
                "IDEMPOTENCY#",
            ];
            let is_of_other = pk.split('#').nth(1) == Some("other");
            assert!(is_of_other || others.iter().any(|start| starts(pk, start)), "{pk} {sk}");
            return None;
        }
    })
}

/// The values in a value that are no objects and no lists, by their paths.
fn leaves(value: &Value, path: &str, found: &mut BTreeMap<String, Value>) {
    let inside = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match value {
        Value::Object(object) => object.iter().for_each(|(name, inner)| leaves(inner, &inside(name), found)),
        Value::Array(array) => {
            array
                .iter()
                .enumerate()
                .for_each(|(place, inner)| leaves(inner, &inside(&place.to_string()), found));
        }
        Value::Null => {}
        _ => drop(found.insert(path.to_owned(), value.clone())),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn files_belong_to_those_who_are_in_it() {
    let app = TestApp::start().await;
    let PlantedCompany { owner, .. } = everything(&app).await;
    let gone = Interviewee::asked_by(owner, json!({})).await;
    gone.record(&[&film()]).await;
    app.settle().await;
    // The recording is deleted after the candidate.
    gone.owner.delete(&gone.candidate.uri).await.expect(204);
    let left = format!("/{}/answers/", last_segment(&gone.candidate.uri));
    assert!(app.object_keys().iter().any(|key| key.contains(&left)));
    let archive = Archive::of(&app).await;
    archive.assert_whole();
    let kinds: BTreeSet<(&str, &str)> = archive
        .media
        .iter()
        .map(|line| {
            (
                line["path"].as_str().unwrap().split('/').next().unwrap(),
                line["content_type"].as_str().unwrap(),
            )
        })
        .collect();
    for expected in [
        ("candidates", "application/pdf"),
        ("candidates", "image/png"),
        ("candidates", "video/mp4"),
        ("customers", "image/jpeg"),
    ] {
        assert!(kinds.contains(&expected), "{expected:?}: {kinds:?}");
    }
    let logo = archive.of_kind(RecordKind::Logos).values().next().unwrap();
    assert!(logo["value"]["png"].as_str().unwrap().starts_with("iVBORw0KGgo"));
}

#[tokio::test]
async fn a_receipt_of_an_erasure_is_in_it() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let candidate = owner.candidate(&project, json!({ "first_name": "Gone" })).await;
    app.settle().await;
    owner.delete(&candidate).await.expect(204);
    app.clock().advance(chrono::TimeDelta::minutes(1));
    app.settle().await;
    let archive = Archive::of(&app).await;
    let receipts = archive.of_kind(RecordKind::Receipts);
    let (number, receipt) = receipts.first_key_value().unwrap();
    let event = &archive.of_kind(RecordKind::Events)[number];
    assert_eq!(event["value"]["change"]["types"], json!(["candidate.erased"]));
    let feed = owner.get("/companies/acme/events/?type=candidate.erased").await.expect(200).json();
    let id = feed["objects"][0]["id"].as_str().unwrap();
    let shown = owner.get(&format!("/companies/acme/events/{id}/receipt/")).await.expect(200).json();
    assert_eq!((receipts.len(), &receipt["value"]), (1, &shown));
    let statistics = archive.of_kind(RecordKind::Statistics);
    assert_eq!(
        statistics.values().map(|record| &record["value"]).collect::<Vec<_>>(),
        [&json!({ "erased:new": 1 })]
    );
}

/// Changes candidates, creates and deletes some, until it is done.
async fn change(owner: &Staff, project: &str, candidates: &[String], changes: usize) {
    for number in 0..changes {
        let candidate = &candidates[number % candidates.len()];
        match number % 5 {
            0 => drop(owner.candidate(project, json!({ "first_name": format!("New {number}") })).await),
            1 if number / 5 < candidates.len() => {
                owner.delete(&candidates[number / 5]).await;
            }
            _ => {
                owner.patch(candidate, json!({ "last_name": format!("Changed {number}") })).await;
            }
        }
        owner.app().settle().await;
    }
}

/// The project and the candidate whom an event is about.
fn subject_of(event: &Record) -> Option<String> {
    let resource = &event["value"]["change"]["resource"];
    Some(format!("{}/{}", resource["project"].as_str()?, resource["candidate"].as_str()?))
}

#[tokio::test(flavor = "multi_thread")]
async fn every_record_is_as_of_the_last_event_while_much_changes() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let mut candidates = Vec::new();
    for number in 0..120 {
        candidates.push(owner.candidate(&project, json!({ "first_name": format!("First {number}") })).await);
    }
    app.settle().await;
    let (_, first) = tokio::join!(change(&owner, &project, &candidates, 60), Archive::of(&app));
    app.settle().await;
    let last = Archive::of(&app).await;
    first.assert_whole();
    last.assert_whole();
    assert!(last.result.is_exact);
    assert!(first.result.is_exact && first.result.sequence > 122, "{:?}", first.result);
    let since: BTreeSet<String> = last
        .of_kind(RecordKind::Events)
        .values()
        .filter(|event| event["value"]["sequence"].as_u64().unwrap() > first.result.sequence)
        .filter_map(subject_of)
        .collect();
    // Who has had no event since is the same in both, those who are gone included.
    let (then, now) = (first.of_kind(RecordKind::Candidates), last.of_kind(RecordKind::Candidates));
    let everybody: BTreeSet<&String> = then.keys().chain(now.keys()).collect();
    let mut same = 0;
    for id in everybody.into_iter().filter(|id| !since.contains(*id)) {
        assert_eq!(then.get(id), now.get(id), "{id}");
        same += 1;
    }
    assert!(same > 50, "{same}");
    let events = first.of_kind(RecordKind::Events);
    // Who is in it was created and not deleted up to the last event, whatever came after.
    let mut expected = BTreeSet::new();
    for event in events.values() {
        match (event["value"]["change"]["types"][0].as_str().unwrap(), subject_of(event)) {
            ("candidate.created", Some(id)) => drop(expected.insert(id)),
            ("candidate.deleted", Some(id)) => drop(expected.remove(&id)),
            _ => {}
        }
    }
    assert_eq!(then.keys().cloned().collect::<BTreeSet<_>>(), expected);
    let numbers: Vec<u64> =
        events.values().map(|event| event["value"]["sequence"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=first.result.sequence).collect::<Vec<_>>());
}

#[tokio::test]
async fn what_is_newer_than_the_last_event_is_counted() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let candidate = owner.candidate(&project, json!({})).await;
    app.settle().await;
    // An event without a number, as it is for some tenths of a second.
    owner.patch(&candidate, json!({ "last_name": "Newer" })).await.expect(200);
    let archive = Archive::of(&app).await;
    assert_eq!(
        (&archive.manifest["is_exact"], &archive.manifest["newer_records"]),
        (&json!(false), &json!(1))
    );
    let id = format!("{}/{}", last_segment(&project), last_segment(&candidate));
    assert_eq!(archive.of_kind(RecordKind::Candidates)[&id]["value"]["profile"]["last_name"], "Newer");
    app.settle().await;
    let archive = Archive::of(&app).await;
    assert_eq!(
        (&archive.manifest["is_exact"], &archive.manifest["newer_records"]),
        (&json!(true), &json!(0))
    );
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
    let unsigned = TestApp::start_with(&[("RECEIPT_KEY", "")]).await;
    unsigned.owner().await;
    let folder = tempfile::tempdir().unwrap();
    let refused = try_export(&unsigned, "acme", folder.path()).await.unwrap_err();
    assert_eq!(refused, "RECEIPT_KEY is missing, which signs the archive");
    assert_eq!(files_below(folder.path()), BTreeSet::new());
}

#[tokio::test]
async fn an_item_that_only_a_newer_release_knows_stops_it() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let key = ("COMPANY#acme".to_owned(), format!("CUSTOMER#{}", owner.id()));
    let secret = aws_sdk_dynamodb::types::AttributeValue::S("hidden".to_owned());
    app.table().set(&key, "second_factor", secret).await;
    let folder = tempfile::tempdir().unwrap();
    let refused = try_export(&app, "acme", folder.path()).await.unwrap_err();
    assert!(refused.contains("an item of customers has an unknown attribute: second_factor"), "{refused}");
}
