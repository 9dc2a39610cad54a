//! Archives that an attacker has signed.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};
use shared::domain::archive::RecordKind;
use tests::app::TestApp;

use super::copied::{Copied, canonical, name_of};
use super::{anyway, try_import};
use crate::admin::export::Archive;
use crate::admin::export::content::everything;

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

/// A change to a copy of an archive, with the refusal of the copy.
type Attack = (&'static str, fn(&Copied), &'static str);

/// Changes by somebody whose key is accepted.
const ATTACKS: [Attack; 44] = [
    (
        "usage of a month to come",
        |copy| edit(copy, RecordKind::Usage, |one| one["id"] = json!("2099-01")),
        "usage.jsonl, line 1: a month after the archive was made",
    ),
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
        |copy| {
            edit(copy, RecordKind::Candidates, |one| {
                one["value"]["access_key"] = json!({ "hash": "known", "sealed": "known" })
            })
        },
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
        "other captions than the video names",
        |copy| {
            edit(copy, RecordKind::Captions, |one| {
                one["value"]["text"] = json!("WEBVTT\n\n00:00:01.000 --> 00:00:04.000\nNo.\n")
            })
        },
        "its video is missing, or does not have it",
    ),
    (
        "other captions than the answer names",
        |copy| {
            edit(copy, RecordKind::AnswerCaptions, |one| {
                one["value"]["text"] = json!("WEBVTT\n\n00:00:01.000 --> 00:00:04.000\nNo.\n")
            })
        },
        "the answers of the candidate do not have it",
    ),
    (
        "captions that are missing",
        |copy| {
            let lines = copy.lines(&name_of(RecordKind::AnswerCaptions));
            copy.write(&name_of(RecordKind::AnswerCaptions), &lines[1..]);
        },
        "captions of an answer are missing",
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
        "another account has this user name",
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
        "usage of a month that is none",
        |copy| edit(copy, RecordKind::Usage, |one| one["id"] = json!("2026-13")),
        "this is not what was used in a month",
    ),
    (
        "usage of something that is not counted",
        |copy| edit(copy, RecordKind::Usage, |one| one["value"]["mails_sent"] = json!(1)),
        "this is not what was used in a month",
    ),
    (
        "usage of less than nothing",
        |copy| edit(copy, RecordKind::Usage, |one| one["value"]["seconds_converted"] = json!(-1)),
        "this is not what was used in a month",
    ),
    (
        "usage beyond what JSON counts",
        |copy| edit(copy, RecordKind::Usage, |one| one["value"]["seconds_converted"] = json!(u64::MAX)),
        "is too large",
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
        "this is no file of this size",
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
        copy.sign(&app).await;
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
        copy.sign(&app).await;
        let refused = try_import(&other, copy.folder.path(), anyway()).await.unwrap_err();
        assert!(refused.contains(expected), "{member}: {refused}");
    }
    assert_eq!(other.table().contents().await, before);
    assert!(other.object_keys().is_empty());
}
