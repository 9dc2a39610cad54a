//! Until the operator starts an imported company, nothing of it moves and nothing leaves; people who were erased stay erased.

use std::fs;
use std::ops::Range;

use aws_sdk_dynamodb::types::AttributeValue;
use chrono::TimeDelta;
use serde_json::json;
use shared::clock::Clock as _;
use shared::domain::archive::RecordKind;
use shared::domain::candidate::CandidateStatus;
use shared::event::RecordOutcome;
use tests::app::TestApp;
use tests::assert_refusals;
use tests::caller::{Caller, last_segment};
use tests::http::Request;
use tests::platform::event;
use tests::table::{Item, Key};

use super::afterwards::enter;
use super::{ImportOptions, TrustedKeys, anyway, import_and_start, start, try_import};
use crate::admin::erase_company::planted::PlantedCompany;
use crate::admin::erase_company::{begin, finish};
use crate::admin::export::Archive;
use crate::admin::export::content::everything;
use crate::events::feed::read_all;
use crate::system::undeliverable::{bounced, put};

const NOT_SIGNED: &str =
    "line 1: no key of the archive, of this service or given by --key has signed this receipt";

#[tokio::test(flavor = "multi_thread")]
async fn until_a_company_starts_nothing_of_it_moves_and_nothing_leaves() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let fields = json!({ "default_interview_period": 2, "reminder_days": [1] });
    let project = owner.running_project(fields).await;
    let candidate = owner.candidate_at(&project, CandidateStatus::Invited).await;
    let ending = json!({ "name": "Report", "expires_at": app.clock().in_days(2) });
    owner.named_token_with(ending).await;
    app.settle().await;
    let archive = Archive::of(&app).await;

    let other = TestApp::start().await;
    let imported = try_import(&other, archive.folder.path(), anyway()).await.unwrap();
    assert!(!imported.is_started);
    let there = enter(&other, &owner).await;
    let shown = there.get(&candidate).await.expect(200).json();
    let email = shown["email"].as_str().unwrap();
    let mails = other.mails_to(email).len();
    assert_refusals!([
        there.post(&format!("{project}candidates/"), json!({})).await,
        there.patch(&candidate, json!({ "last_name": "King" })).await,
        there.delete(&candidate).await,
        there.post("/companies/acme/labels/", json!({ "text": "Sales" })).await,
    ], @r#"4 x 409 {"code":"company_not_started","detail":"This company was imported and can only be read. Ask the operator of the service to start it."}"#);
    // Without sessions and the like, which end by themselves.
    let contents = async || {
        let mut contents = other.table().contents().await;
        contents.retain(|(pk, sk), _| pk.starts_with("COMPANY#acme#PROJECT#") || sk.starts_with("TOKEN#"));
        contents
    };
    let before = contents().await;
    for _ in 0..20 {
        other.clock().advance(TimeDelta::days(1));
        other.sweep().await;
        other.settle().await;
    }
    assert_eq!(other.mails_to(email).len(), mails, "a mail has left");
    assert_eq!(contents().await, before);
    let there = enter(&other, &owner).await;
    assert_eq!(there.get(&candidate).await.expect(200).json(), shown);

    assert_eq!([start(&other, "acme").await, start(&other, "acme").await], [false, true]);
    assert!(try_import(&other, archive.folder.path(), anyway()).await.unwrap().is_started);
    // The reminder and the deadline, both of which have passed.
    for _ in 0..2 {
        other.sweep().await;
        other.settle().await;
    }
    assert_eq!(there.get(&candidate).await.expect(200).json()["status"], "expired");
    there.post("/companies/acme/labels/", json!({ "text": "Sales" })).await.expect(201);
}

/// The shards of the index by due date in which items of a company wait for its start, queue by queue.
const WAITING: [Range<u8>; 11] =
    [0..16, 20..22, 22..24, 38..42, 42..44, 45..49, 49..50, 50..52, 52..56, 57..59, 59..61];

/// The items in the index by due date, each with its shard.
async fn due_items(app: &TestApp) -> Vec<(u8, Key, Item)> {
    let items = app.table().contents().await.into_iter();
    let due = items
        .filter_map(|(key, item)| Some((item.get("due_shard")?.as_n().unwrap().parse().unwrap(), key, item)));
    due.collect()
}

/// Enters what waits in the index of `app` into that of `other`, as later writes of an imported company do.
async fn plant_due(app: &TestApp, other: &TestApp) {
    let mut imported = other.table().contents().await;
    for (shard, key, due) in due_items(app).await {
        if WAITING.iter().any(|queue| queue.contains(&shard)) {
            // An imported item has secrets of its own.
            let place = ["due_shard", "due_at"].map(|name| (name.to_owned(), due[name].clone()));
            let mut item = imported.remove(&key).unwrap_or(due);
            item.extend(place);
            other.table().put(item).await;
        }
    }
}

/// Of all that schedules do: deadlines, reminders of candidates and evaluators, notices to staff, retention, webhooks, conversions, exports.
#[tokio::test(flavor = "multi_thread")]
async fn no_schedule_writes_anything_of_a_company_with_everything_before_it_starts() {
    let app = TestApp::start().await;
    let PlantedCompany { owner, .. } = everything(&app).await;
    let project = owner.running_project(json!({ "allow_hash_login": true })).await;
    // A mail tells of the first one, and the second one waits for the next mail.
    for _ in 0..2 {
        let candidate = owner.invite(&project, json!({})).await;
        candidate.ask(&candidate.uri, "technical", "My camera is broken.").await.expect(200);
        app.settle().await;
    }
    let candidate = owner.candidate(&project, json!({})).await;
    owner.send(Request::put(&format!("{candidate}erasure-request/"))).await.expect(200);
    app.settle().await;
    let archive = Archive::of(&app).await;
    let other = TestApp::start().await;
    other.clock().advance(app.clock().now() - other.clock().now());
    try_import(&other, archive.folder.path(), anyway()).await.unwrap();
    other.settle().await;
    assert_eq!(due_items(&other).await, [], "schedules would read them every minute");
    plant_due(&app, &other).await;
    let planted = due_items(&other).await;
    for queue in WAITING {
        assert!(planted.iter().any(|(shard, ..)| queue.contains(shard)), "nothing waits in {queue:?}");
    }
    let before = other.table().contents().await;
    // Longer than tokens are shown after their end.
    for _ in 0..20 {
        other.clock().advance(TimeDelta::days(2));
        // A mail that is to leave is a write too.
        let swept = other.sweep().await;
        assert_eq!(other.table().contents().await, before, "{swept:?}");
        other.settle().await;
    }

    start(&other, "acme").await;
    let mut notices = 0;
    for _ in 0..4 {
        other.clock().advance(TimeDelta::days(1));
        notices += other.sweep().await["OutboxFunction"]["notices"].as_u64().unwrap();
        other.settle().await;
    }
    assert!(notices > 0, "evaluators are reminded on working mornings");
    assert_ne!(other.table().contents().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_that_cannot_be_read_holds_up_its_company_alone() {
    let app = TestApp::start().await;
    let fields = json!({ "default_interview_period": 2 });
    let project = app.owner().await.running_project(fields.clone()).await;
    app.owner().await.candidate_at(&project, CandidateStatus::Invited).await;
    app.settle().await;
    let archive = Archive::of(&app).await;

    let other = TestApp::start().await;
    try_import(&other, archive.folder.path(), anyway()).await.unwrap();
    other.settle().await;
    plant_due(&app, &other).await;
    let stranger = other.owner_of("globex").await;
    let project = stranger.running_project(fields).await;
    let invited = stranger.candidate_at(&project, CandidateStatus::Invited).await;
    other.settle().await;
    let import = ("COMPANY#acme".to_owned(), "IMPORT".to_owned());
    other.table().set(&import, "started_at", AttributeValue::S("soon".to_owned())).await;
    let contents = async || {
        let mut contents = other.table().contents().await;
        contents.retain(|(pk, _), _| pk.starts_with("COMPANY#acme"));
        contents
    };
    let before = contents().await;
    other.clock().advance(TimeDelta::days(10));
    other.sweep().await;
    assert_eq!(contents().await, before);
    let stranger = stranger.again().await;
    assert_eq!(stranger.get(&invited).await.expect(200).json()["status"], "expired");
    other.leave_unsound("an import cannot be read");
}

#[tokio::test(flavor = "multi_thread")]
async fn reports_before_the_start_change_nothing_and_count_after_it() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let fields = json!({ "default_interview_period": 2, "reminder_days": [1], "allow_hash_login": true });
    let project = owner.running_project(fields).await;
    let interviewing = owner.candidate_at(&project, CandidateStatus::Interviewing).await;
    let invited = owner.invite(&project, json!({})).await;
    let suppressed = owner.invite(&project, json!({})).await;
    app.settle().await;
    put(&app, bounced(&app, &suppressed.email, "Permanent")).await;
    app.settle().await;
    let archive = Archive::of(&app).await;

    let other = TestApp::start().await;
    try_import(&other, archive.folder.path(), anyway()).await.unwrap();
    let now = other.clock().now().format("%Y-%m-%dT%H:%M:%SZ").to_string();
    let completed = event("interview.completed", &now, json!({ "candidate": interviewing }));
    let bounce = bounced(&app, &invited.email, "Permanent");
    let before = other.table().contents().await;
    for report in [&completed, &bounce] {
        let refused = other.report(report.clone()).await;
        assert!(matches!(refused, Err(shared::Error::NotStarted)), "{refused:?}");
    }
    assert_eq!(other.table().contents().await, before);

    // A write by the operator enters the candidate in the index by due date.
    let free = json!({ "command": "free-address", "company": "acme", "address": suppressed.email });
    assert_eq!(other.operate(free).await.unwrap()["freed"], json!([suppressed.uri]));
    other.settle().await;
    let mails = other.mails_to(&suppressed.email).len();
    for _ in 0..10 {
        other.clock().advance(TimeDelta::days(1));
        other.sweep().await;
        other.settle().await;
    }
    assert_eq!(other.mails_to(&suppressed.email).len(), mails, "a reminder has left");
    let there = enter(&other, &owner).await;
    assert_eq!(there.get(&suppressed.uri).await.expect(200).json()["status"], "invited");

    start(&other, "acme").await;
    for report in [completed, bounce] {
        assert_eq!(other.report(report).await.unwrap(), RecordOutcome::Applied);
    }
    assert_eq!(there.get(&interviewing).await.expect(200).json()["status"], "interviewed");
    assert_eq!(there.get(&invited.uri).await.expect(200).json()["email_status"], "bounced");
    for _ in 0..2 {
        other.sweep().await;
        other.settle().await;
    }
    assert_eq!(there.get(&suppressed.uri).await.expect(200).json()["status"], "expired");
}

#[tokio::test(flavor = "multi_thread")]
async fn candidates_whom_a_receipt_names_are_not_there_any_more() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let gone = owner.candidate(&project, json!({ "first_name": "Gone", "email": "gone@acme.example" })).await;
    let stays = owner.candidate(&project, json!({})).await;
    app.settle().await;
    let archive = Archive::of(&app).await;
    owner.delete(&gone).await.expect(204);
    app.clock().advance(TimeDelta::minutes(1));
    app.settle().await;
    let later = Archive::of(&app).await;
    let file = later.folder.path().join("records/receipts.jsonl");

    let other = TestApp::start_with(&[("RECEIPT_SECRET_ID", "another")]).await;
    let copied = tempfile::tempdir().unwrap();
    let forged = copied.path().join("forged.jsonl");
    let line = fs::read_to_string(&file).unwrap();
    fs::write(&forged, line.replace("\"jws\":\"ey", "\"jws\":\"eY")).unwrap();
    let misspelt = copied.path().join("misspelt.jsonl");
    let refusals =
        [(forged, NOT_SIGNED), (misspelt, "misspelt.jsonl: No such file or directory (os error 2)")];
    let before = other.table().contents().await;
    for (file, expected) in refusals {
        let options = ImportOptions { erased: vec![file], ..anyway() };
        let refused = try_import(&other, archive.folder.path(), options).await.unwrap_err();
        assert!(refused.ends_with(expected), "{refused}");
    }
    assert_eq!(other.table().contents().await, before);
    let options = ImportOptions { erased: vec![file], ..anyway() };
    let imported = try_import(&other, archive.folder.path(), options.clone()).await.unwrap();
    assert_eq!((imported.erased, imported.kept.as_slice()), (1, &[] as &[String]));
    other.clock().advance(TimeDelta::minutes(1));
    other.settle().await;
    let again = try_import(&other, archive.folder.path(), options).await.unwrap();
    assert_eq!((again.was_there, again.erased), (true, 1));
    start(&other, "acme").await;
    let there = enter(&other, &owner).await;
    there.get(&gone).await.expect(404);
    there.get(&stays).await.expect(200);
    assert!(other.mails_to("gone@acme.example").is_empty());
    let events = read_all(&there, &format!("after={}", archive.result.sequence)).await;
    let types: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["candidate.deleted", "candidate.erased"]);
    let receipt = Archive::of(&other).await.of_kind(RecordKind::Receipts).values().next().unwrap().clone();
    assert_eq!(receipt["value"]["statement"]["reason"], "restored");
    assert!(receipt["value"]["statement"]["candidate"].as_str().unwrap().contains(last_segment(&gone)));
}

#[tokio::test(flavor = "multi_thread")]
async fn receipts_by_a_later_key_of_the_former_deployment_count_if_it_is_named() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let gone = owner.candidate(&project, json!({})).await;
    app.settle().await;
    let archive = Archive::of(&app).await;
    // A deployment with another key takes the company in.
    let later = TestApp::start_with(&[("RECEIPT_SECRET_ID", "another")]).await;
    import_and_start(&later, archive.folder.path()).await;
    enter(&later, &owner).await.delete(&gone).await.expect(204);
    later.clock().advance(TimeDelta::minutes(1));
    later.settle().await;
    let newer = Archive::of(&later).await;
    let keys = [
        app.app().receipt_keys().await.unwrap().public()[0],
        later.app().receipt_keys().await.unwrap().public()[0],
    ];

    let other = TestApp::start().await;
    let options = |trusted| ImportOptions {
        trusted,
        erased: vec![newer.folder.path().join("records/receipts.jsonl")],
        ..anyway()
    };
    for trusted in [TrustedKeys::OfArchive, TrustedKeys::Named(vec![keys[0]])] {
        let refused = try_import(&other, archive.folder.path(), options(trusted)).await.unwrap_err();
        assert!(refused.ends_with(NOT_SIGNED), "{refused}");
    }
    let foreign = options(TrustedKeys::Named(vec![keys[1]]));
    let refused = try_import(&other, archive.folder.path(), foreign).await.unwrap_err();
    assert!(refused.starts_with("manifest.jws: this is no signature of manifest.json"), "{refused}");
    let named = options(TrustedKeys::Named(keys.to_vec()));
    let imported = try_import(&other, archive.folder.path(), named).await.unwrap();
    assert_eq!((imported.erased, imported.kept.len()), (1, 0));
    other.settle().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_was_erased_here_does_not_come_back_under_another_name() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let colleague = owner.colleague("recruiter", json!({})).await;
    let project = owner.running_project(json!({ "interview_managers": [colleague.uri] })).await;
    let gone = owner.candidate(&project, json!({})).await;
    let stays = owner.candidate(&project, json!({})).await;
    app.settle().await;
    let archive = Archive::of(&app).await;
    owner.delete(&gone).await.expect(204);
    owner.delete(&colleague.uri).await.expect(204);
    app.clock().advance(TimeDelta::minutes(1));
    app.settle().await;
    let named = |name: &str| ImportOptions { name: Some(name.parse().unwrap()), ..anyway() };
    let imported = try_import(&app, archive.folder.path(), named("globex")).await.unwrap();
    assert_eq!((imported.erased, imported.kept.len()), (2, 0));
    app.settle().await;
    let copy = Archive::of_company(&app, "globex").await;
    let left: Vec<String> = copy.of_kind(RecordKind::Candidates).keys().cloned().collect();
    assert_eq!(left.len(), 1);
    assert!(left[0].ends_with(last_segment(&stays)));
    assert_eq!(copy.of_kind(RecordKind::Customers).len(), 1);
    assert!(
        !copy
            .of_kind(RecordKind::Projects)
            .values()
            .any(|one| one.to_string().contains(last_segment(&colleague.uri)))
    );

    begin(&app).await;
    finish(&app).await;
    let imported = try_import(&app, archive.folder.path(), named("initech")).await.unwrap();
    assert_eq!((imported.erased, imported.kept.len()), (3, 1), "the last owner stays");
    app.settle().await;
    assert!(Archive::of_company(&app, "initech").await.of_kind(RecordKind::Candidates).is_empty());
}
