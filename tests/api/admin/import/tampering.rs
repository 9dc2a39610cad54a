//! That nothing is written from an archive with a change that its signer has not made, nor from one that would harm.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use ring::digest::{SHA256, digest};
use serde_json::{Value, json};
use shared::clock::SystemEntropy;
use shared::domain::archive::RecordKind;
use shared::domain::random::RandomSource as _;
use tempfile::TempDir;
use tests::app::TestApp;

use super::interruptions::small;
use super::{anyway, try_import};
use crate::admin::export::content::everything;
use crate::admin::export::{Archive, hexadecimal};

/// A copy of an archive.
struct Copied {
    folder: TempDir,
}

impl Copied {
    fn of(archive: &Archive) -> Self {
        let folder = tempfile::tempdir().unwrap();
        copy_all(archive.folder.path(), folder.path());
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn lines(&self, name: &str) -> Vec<String> {
        String::from_utf8_lossy(&fs::read(self.path(name)).unwrap()).lines().map(str::to_owned).collect()
    }

    fn write(&self, name: &str, lines: &[String]) {
        fs::write(self.path(name), lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    }

    fn write_manifest(&self, manifest: &Value) {
        fs::write(self.path("manifest.json"), canonical(manifest)).unwrap();
    }

    /// Describes in the manifest what the files are now.
    fn describe(&self) {
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
    fn sign(&self, app: &TestApp) {
        let manifest = fs::read(self.path("manifest.json")).unwrap();
        let keys = app.app().config().receipt_keys.clone().unwrap();
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

fn canonical(value: &Value) -> String {
    serde_json_canonicalizer::to_string(value).unwrap()
}

fn name_of(kind: RecordKind) -> String {
    format!("records/{}.jsonl", kind.name())
}

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
    let key = app.app().config().receipt_keys.clone().unwrap().public()[0];
    let trusted = super::ImportOptions { trusted: super::TrustedKey::Named(key), ..anyway() };
    let mut names: Vec<String> = RecordKind::ALL.map(name_of).into();
    names.extend(["media.jsonl", "manifest.json", "manifest.jws"].map(str::to_owned));
    names.extend(archive.media.iter().map(|line| format!("media/{}", line["path"].as_str().unwrap())));
    let before = other.table().contents().await;
    let mut altered = 0;
    let copy = Copied::of(&archive);
    while altered < 1_000 {
        let Some(what) = alter(&copy, &names) else { continue };
        altered += 1;
        // Whoever changes files can change what the manifest says of them, but not sign it.
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
    let stranger = TestApp::start_with(&[("RECEIPT_KEY", "another")]).await;
    copy.sign(&stranger);
    let refused = try_import(&stranger, copy.folder.path(), anyway()).await.unwrap_err();
    assert_eq!(refused, "manifest.jws: no key in records/receipt-keys.jsonl has signed manifest.json");
}

/// A change of the first record of a kind.
fn edit(copy: &Copied, kind: RecordKind, change: impl FnOnce(&mut Value)) {
    edit_record(copy, kind, |_| true, change);
}

/// A change of the first record of a kind that `is_it`.
fn edit_record(
    copy: &Copied,
    kind: RecordKind,
    is_it: impl Fn(&Value) -> bool,
    change: impl FnOnce(&mut Value),
) {
    let mut lines = copy.lines(&name_of(kind));
    let records: Vec<Value> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let place = records.iter().position(is_it).unwrap();
    let mut record = records[place].clone();
    change(&mut record);
    lines[place] = canonical(&record);
    copy.write(&name_of(kind), &lines);
}

fn edit_media(copy: &Copied, start: &str, change: impl FnOnce(&mut Value)) -> String {
    let mut lines = copy.lines("media.jsonl");
    let place = lines.iter().position(|line| line.contains(&format!("\"path\":\"{start}"))).unwrap();
    let mut line: Value = serde_json::from_str(&lines[place]).unwrap();
    let path = line["path"].as_str().unwrap().to_owned();
    change(&mut line);
    lines[place] = canonical(&line);
    copy.write("media.jsonl", &lines);
    path
}

/// What a copy of an archive is changed to, and how it is refused.
type Attack = (&'static str, fn(&Copied), &'static str);

/// Changes by somebody whose key is accepted.
const ATTACKS: [Attack; 36] = [
    (
        "an unknown member",
        |copy| edit(copy, RecordKind::Labels, |one| one["extra"] = json!(1)),
        "labels.jsonl, line 1: unknown field",
    ),
    (
        "an unknown attribute",
        |copy| edit(copy, RecordKind::Labels, |one| one["value"]["extra"] = json!(1)),
        "members or values that no record has",
    ),
    (
        "a secret",
        |copy| edit(copy, RecordKind::Customers, |one| one["value"]["password_hash"] = json!("$argon2id$")),
        "members or values that no record has",
    ),
    (
        "a key of a candidate",
        |copy| edit(copy, RecordKind::Candidates, |one| one["value"]["access_key"] = json!("known")),
        "members or values that no record has",
    ),
    (
        "a value of a token",
        |copy| edit(copy, RecordKind::Tokens, |one| one["value"]["hash"] = json!("known")),
        "members or values that no record has",
    ),
    (
        "another company",
        |copy| edit(copy, RecordKind::Labels, |one| one["value"]["company"] = json!("globex")),
        "it is of another company",
    ),
    (
        "another identifier",
        |copy| edit(copy, RecordKind::Labels, |one| one["id"] = json!("01ARZ3NDEKTSV4RRFFQ69G5FAV")),
        "its identifier should be",
    ),
    (
        "no identifier of the service",
        |copy| {
            edit(copy, RecordKind::Labels, |one| {
                one["id"] = json!("../x");
                one["value"]["id"] = json!("../x");
            })
        },
        "labels.jsonl, line 1",
    ),
    (
        "a version that cannot rise",
        |copy| edit(copy, RecordKind::Labels, |one| one["version"] = json!(99_999_999_999_u64)),
        "not a number of writes",
    ),
    (
        "a version of zero",
        |copy| edit(copy, RecordKind::Labels, |one| one["version"] = json!(0)),
        "not a number of writes",
    ),
    (
        "an event after the last write",
        |copy| edit(copy, RecordKind::Labels, |one| one["event_version"] = json!(1_000)),
        "not a number of writes",
    ),
    (
        "days beyond every calendar",
        |copy| {
            edit(copy, RecordKind::Retention, |one| {
                one["value"]["scheduled"]["rule"]["days"] = json!(u32::MAX)
            })
        },
        "is too large",
    ),
    (
        "a moment beyond every calendar",
        |copy| {
            edit(copy, RecordKind::Candidates, |one| {
                one["value"]["profile"]["deadline"] = json!("+262142-12-31T23:59:59Z")
            })
        },
        "is too early or too late",
    ),
    (
        "a text with a line break",
        |copy| {
            edit(copy, RecordKind::Customers, |one| {
                one["value"]["first_name"] = json!("A\r\nBcc: x@y.example")
            })
        },
        "Control characters are not allowed.",
    ),
    (
        "a text that is too long",
        |copy| edit(copy, RecordKind::Labels, |one| one["value"]["text"] = json!("x".repeat(10_000))),
        "Ensure this field has no more than",
    ),
    (
        "an address that is none",
        |copy| {
            edit(copy, RecordKind::Customers, |one| one["value"]["email"] = json!("x@y.example, z@y.example"))
        },
        "Enter a valid email address.",
    ),
    (
        "a script as a link",
        |copy| {
            edit(copy, RecordKind::Projects, |one| {
                one["value"]["settings"]["job_url"] = json!("javascript:alert(1)")
            })
        },
        "Enter a valid URL",
    ),
    (
        "a script as a way back",
        |copy| {
            edit(copy, RecordKind::Projects, |one| {
                one["value"]["settings"]["return_url"] = json!("javascript:alert(1)")
            })
        },
        "Use a URL that begins with https://",
    ),
    (
        "captions with markup",
        |copy| {
            edit(copy, RecordKind::Captions, |one| {
                one["value"]["text"] =
                    json!("WEBVTT\n\n00:00:01.000 --> 00:00:04.000\n<script>alert(1)</script>\n")
            })
        },
        "members or values that no record has",
    ),
    (
        "a user name of another",
        |copy| {
            edit_record(
                copy,
                RecordKind::Candidates,
                |one| !one["value"]["profile"]["username"].is_null(),
                |one| one["value"]["profile"]["username"] = json!("OWNER"),
            )
        },
        "somebody else has this user name",
    ),
    (
        "a project that is missing",
        |copy| {
            let lines = copy.lines(&name_of(RecordKind::Projects));
            copy.write(&name_of(RecordKind::Projects), &lines[1..]);
        },
        "its project is missing",
    ),
    (
        "a customer that is missing",
        |copy| {
            let lines = copy.lines(&name_of(RecordKind::Customers));
            copy.write(&name_of(RecordKind::Customers), &lines[1..]);
        },
        "a customer is missing",
    ),
    (
        "a candidate twice",
        |copy| {
            let mut lines = copy.lines(&name_of(RecordKind::Candidates));
            lines.insert(0, lines[0].clone());
            copy.write(&name_of(RecordKind::Candidates), &lines);
        },
        "not in their order, or one comes twice",
    ),
    (
        "an event with a number of the future",
        |copy| {
            edit(copy, RecordKind::Events, |one| {
                one["id"] = json!("00000000009999999999");
                one["value"]["sequence"] = json!(9_999_999_999_u64);
            })
        },
        "its number is not one of the archive's events",
    ),
    (
        "an event in the way of the next write",
        |copy| {
            edit_record(
                copy,
                RecordKind::Events,
                |one| one["value"]["change"]["resource"]["kind"] == "company",
                |one| one["value"]["version_after"] = json!(1_000),
            )
        },
        "its version is not one of the resource",
    ),
    (
        "a receipt with another statement",
        |copy| {
            edit(copy, RecordKind::Receipts, |one| {
                one["value"]["statement"]["reason"] = json!("company_closed")
            })
        },
        "it does not say what is signed",
    ),
    (
        "no receipts",
        |copy| copy.write(&name_of(RecordKind::Receipts), &[]),
        "the receipt of an erasure is missing",
    ),
    (
        "a logo that is a page",
        |copy| edit(copy, RecordKind::Logos, |one| one["value"]["png"] = json!("PGh0bWw+")),
        "the company has another logo",
    ),
    (
        "a path that leads out",
        |copy| {
            drop(edit_media(copy, "candidates/", |line| {
                line["path"] = json!("candidates/../../../etc/passwd")
            }))
        },
        "this is no path of a file",
    ),
    (
        "a file of somebody else",
        |copy| drop(edit_media(copy, "candidates/", |line| line["owner"]["id"] = json!("x/y"))),
        "its owner is not the one of its path",
    ),
    (
        "a page as a photo",
        |copy| {
            let path = edit_media(copy, "candidates/", |line| line["content_type"] = json!("text/html"));
            let _ = path;
        },
        "the file is not of its content type",
    ),
    (
        "a link to a file",
        |copy| {
            let path = edit_media(copy, "candidates/", |_| {});
            let path = copy.path(&format!("media/{path}"));
            let kept = path.with_extension("kept");
            fs::rename(&path, &kept).unwrap();
            symlink(&kept, &path).unwrap();
        },
        "there is no such file of this size",
    ),
    (
        "a file that nothing names",
        |copy| fs::write(copy.path("media/extra"), "x").unwrap(),
        "media/extra: the archive names no such file",
    ),
    (
        "a link beside the records",
        |copy| symlink("/etc/passwd", copy.path("records/extra")).unwrap(),
        "records/extra: the archive names no such file",
    ),
    (
        "a line without an end",
        |copy| {
            let path = copy.path(&name_of(RecordKind::Labels));
            let text = fs::read_to_string(&path).unwrap();
            fs::write(path, text.trim_end()).unwrap();
        },
        "or has no end",
    ),
    (
        "a line of two megabytes",
        |copy| copy.write(&name_of(RecordKind::Labels), &["x".repeat(2 << 20)]),
        "it is longer than",
    ),
];

#[tokio::test(flavor = "multi_thread")]
async fn what_would_harm_is_refused_although_it_is_signed() {
    let app = TestApp::start().await;
    everything(&app).await;
    let archive = Archive::of(&app).await;
    let other = TestApp::start().await;
    let before = other.table().contents().await;
    let mut wrong = String::new();
    for (name, attack, expected) in ATTACKS {
        let copy = Copied::of(&archive);
        attack(&copy);
        copy.describe();
        copy.sign(&app);
        match try_import(&other, copy.folder.path(), anyway()).await {
            Err(refused) if refused.contains(expected) => {}
            outcome => wrong += &format!("{name}: {outcome:?}\n"),
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    for (member, value, expected) in [
        ("format", json!("interview-service-export/2"), "this release reads interview-service-export/1"),
        ("extra", json!(1), "unknown field `extra`"),
        ("files", json!([]), "the files are not those of"),
        ("records", json!({}), "the number of receipt-keys is wrong"),
        ("media", json!({ "count": 0, "bytes": 0, "missing": 0 }), "the numbers of media are wrong"),
        ("company", json!("../acme"), "manifest.json: "),
    ] {
        let copy = Copied::of(&archive);
        let mut manifest = archive.manifest.clone();
        manifest[member] = value;
        copy.write_manifest(&manifest);
        copy.sign(&app);
        let refused = try_import(&other, copy.folder.path(), anyway()).await.unwrap_err();
        assert!(refused.contains(expected), "{member}: {refused}");
    }
    assert_eq!(other.table().contents().await, before);
    assert!(other.object_keys().is_empty());
}
