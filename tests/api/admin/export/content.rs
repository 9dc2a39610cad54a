//! The records of an archive, and the items that are in none.

use std::collections::{BTreeMap, BTreeSet};

use export_writer::InvocationLimits;
use serde_json::{Value, json};
use shared::domain::archive::RecordKind;
use tests::app::TestApp;
use tests::caller::{Caller, last_segment};
use tests::http::Request;
use tests::takes::Interviewee;
use tests::videos::film;

use super::rest::plant_rest;
use super::{Archive, Record};
use crate::admin::erase_company::planted::{PlantedCompany, plant_company};
use crate::system::erasure::planted::CANARY;

/// A company with everything that can be stored, a candidate who was erased among it.
pub(in crate::admin) async fn everything(app: &TestApp) -> PlantedCompany {
    let planted = plant_company(app).await;
    let PlantedCompany { owner, .. } = &planted;
    let project = app.fill_with_everything(owner).await;
    let retention = json!({ "days": 400, "from": "project_closed", "request_days": 7, "notice_days": 0 });
    owner.send(Request::put("/companies/acme/retention/").json(&retention)).await.expect(200);
    let gone = owner.candidate(&project, json!({ "first_name": "Gone" })).await;
    app.settle().await;
    owner.delete(&gone).await.expect(204);
    app.settle().await;
    // The event of the export is in the archive, though the export itself is not.
    app.write_exports(InvocationLimits::SCHEDULED).await.unwrap();
    app.clock().advance(chrono::TimeDelta::minutes(1));
    app.settle().await;
    plant_rest(app, owner).await;
    planted
}

/// The starts of the keys of a company's items that are in no archive.
const LEFT_OUT: [&str; 6] =
    ["EFFECT#", "EXPORTS#", "NOTICES#", "WEBHOOK#", "CONVERSIONS", "COMPANY#acme/RETENTION#RUN"];

#[tokio::test(flavor = "multi_thread")]
async fn every_item_is_in_it_and_no_secret() {
    let app = TestApp::start().await;
    let PlantedCompany { owner, .. } = everything(&app).await;
    let other = app.owner_of("other").await;
    app.fill_with_everything(&other).await;
    app.settle().await;
    let archive = Archive::of(&app).await;
    let text = archive.text();
    assert!(!text.contains("\"other\"") && !text.contains(other.id()), "another company");
    assert!(!text.contains("Gone"), "a candidate who was erased");

    let mut items: BTreeMap<RecordKind, usize> = BTreeMap::new();
    let mut secrets = 0;
    for item in app.items() {
        let item: serde_dynamo::Item = serde_json::from_value(item).unwrap();
        let mut item: Value = serde_dynamo::from_item(item).unwrap();
        let Some(kind) = kind_of(item["pk"].as_str().unwrap(), item["sk"].as_str().unwrap()) else {
            continue;
        };
        // An entry without an event.
        if kind == RecordKind::Events && item["sequence"].is_null() {
            continue;
        }
        for path in kind.left_out() {
            let (parent, name) = path.rsplit_once('.').unwrap_or(("", path));
            let parent = if parent.is_empty() { Some(&mut item) } else { item.get_mut(parent) };
            let Some(left_out) = parent.and_then(|parent| parent.as_object_mut()?.remove(name)) else {
                continue;
            };
            let texts = serde_json::to_string(&left_out).unwrap();
            for secret in texts.split('"').filter(|secret| secret.len() > 30) {
                secrets += 1;
                assert!(!text.contains(secret), "{kind:?}: {path}");
            }
        }
        let value = item.as_object_mut().unwrap();
        let version = value.remove("version").unwrap();
        for name in
            ["pk", "sk", "by_status_pk", "by_status_sk", "due_at", "due_shard", "revision", "event_version"]
        {
            value.remove(name);
        }
        // The end of an item by TTL, which only an event has as a value, too.
        if kind != RecordKind::Events {
            value.remove("expires_at");
        }
        let is_it = |record: &&Record| {
            let mut stored = record["value"].clone();
            // It is written beside the item that counts.
            if kind == RecordKind::Tokens {
                let uses = ["last_used_at", "exchanged_at", "last_problem"];
                stored.as_object_mut().unwrap().retain(|name, _| !uses.contains(&name.as_str()));
            }
            record["version"] == version && stored == item
        };
        assert!(archive.of_kind(kind).values().find(is_it).is_some(), "{kind:?} has no record {item}");
        *items.entry(kind).or_default() += 1;
    }
    let made = [RecordKind::ReceiptKeys, RecordKind::Receipts, RecordKind::Statistics, RecordKind::Usage];
    for kind in RecordKind::ALL.into_iter().filter(|kind| !made.contains(kind)) {
        assert_eq!(items.get(&kind), Some(&archive.of_kind(kind).len()), "{kind:?}");
    }
    assert!(secrets > 20, "{secrets} secrets");
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
            "SIGN_IN" => RecordKind::SignIn,
            "TOKEN" => RecordKind::Tokens,
            "WEBHOOK" => RecordKind::Webhooks,
            // The counts are derived, and the numbers of events are in the manifest. Usage is a record for each month.
            "TALLY" | "SEQUENCE" | "USAGE" => return None,
            // The import of this deployment is no part of the company.
            "IMPORT" => return None,
            // In a record of another form.
            "RECEIPT_KEY" => return None,
            other => panic!("{other} is neither in the archive nor left out"),
        },
        "CAPTIONS#acme" => RecordKind::Captions,
        "GUESTS#acme" => RecordKind::GuestLinks,
        "LEGAL#acme" => RecordKind::LegalTexts,
        "LOGO#acme" => RecordKind::Logos,
        "VIDEOS#acme" => RecordKind::Videos,
        _ if starts(pk, "TAKE_CAPTIONS#acme#") => RecordKind::AnswerCaptions,
        _ if starts(pk, "ANSWERS#acme#") => RecordKind::Answers,
        _ if starts(pk, "TEXTS#acme#") => RecordKind::WrittenAnswers,
        _ if starts(pk, "HISTORY#acme#") => RecordKind::Events,
        _ if starts(pk, "COMPANY#acme#PROJECT#") && pk.ends_with("#EVALUATIONS") => RecordKind::Evaluations,
        _ if starts(pk, "COMPANY#acme#PROJECT#") => match sk.split('#').next().unwrap() {
            "CANDIDATE" => RecordKind::Candidates,
            "INTERVIEW" => RecordKind::Questionnaires,
            // Derived from candidates and their evaluations.
            "HELP" | "RESULT" | "TALLY" => return None,
            other => panic!("{other} is neither in the archive nor left out"),
        },
        _ => {
            // These items are derived, belong to no company alone, or are under way.
            let others = [
                "COMPANY#acme#CUSTOMER#",
                "COMPANY#other",
                "LABEL#",
                "LOGIN#",
                "EXTERNAL#",
                "SEARCH#",
                "FAILURES#",
                "TOKEN#",
                "TRUSTS#",
                "EXCHANGED#",
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
