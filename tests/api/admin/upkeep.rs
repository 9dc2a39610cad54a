//! The operator's commands that compare what follows from other things with what it follows from, and mend it.

use std::collections::BTreeSet;

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};
use shared::domain::candidate::CandidateStatus;
use shared::domain::effect::EffectTask;
use shared::domain::id::CandidateId;
use tests::app::TestApp;
use tests::caller::{Caller, Staff, last_segment};

const NOBODY: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

async fn recount(app: &TestApp, project: Option<&str>) -> Value {
    let command = json!({ "command": "recount", "company": "acme", "project": project });
    let outcome = app.operate(command).await.unwrap();
    outcome["recount"].clone()
}

async fn reindex(app: &TestApp) -> Value {
    let outcome = app.operate(json!({ "command": "reindex-search", "company": "acme" })).await.unwrap();
    outcome["search"].clone()
}

fn number(number: i64) -> AttributeValue {
    AttributeValue::N(number.to_string())
}

fn key(pk: &str, sk: &str) -> (String, String) {
    (pk.to_owned(), sk.to_owned())
}

/// A company with two projects, in which there is something to count.
async fn given(app: &TestApp) -> (Staff, String) {
    let owner = app.owner().await;
    app.staff("recruiter").await;
    owner.label("Sales").await;
    owner.named_token("Payroll").await;
    owner.project(json!({})).await;
    let project = owner.running_project(json!({ "allow_hash_login": true })).await;
    use CandidateStatus::{Expired, Interviewed, Invited, New, Skipped};
    for status in [New, New, Invited, Skipped, Expired, Interviewed] {
        owner.candidate_at(&project, status).await;
    }
    (owner, project)
}

#[tokio::test]
async fn counts_agree_with_the_items() {
    let app = TestApp::start().await;
    let (_, project) = given(&app).await;
    let before = app.table().snapshot().await;
    let counted = json!({ "projects": 2, "candidates": 6, "results": 0, "drift": [], "unreadable": [] });
    assert_eq!(recount(&app, None).await, counted);
    let counted = json!({ "projects": 1, "candidates": 6, "results": 0, "drift": [], "unreadable": [] });
    assert_eq!(recount(&app, Some(last_segment(&project))).await, counted);
    assert_eq!(app.table().snapshot().await, before);
    for (company, project, field) in [
        ("nowhere", None, "company"),
        ("No", None, "company"),
        ("acme", Some(NOBODY), "project"),
        ("acme", Some("x"), "project"),
    ] {
        let command = json!({ "command": "recount", "company": company, "project": project });
        let refused = app.operate(command).await.unwrap_err().to_string();
        assert!(refused.contains(&format!("{{\"{field}\":")), "{refused}");
    }
}

#[tokio::test]
async fn differences_are_reported_and_corrected() {
    let app = TestApp::start().await;
    let (_, project) = given(&app).await;
    let id = last_segment(&project);
    let partition = format!("COMPANY#acme#PROJECT#{id}");
    let sound = app.table().snapshot().await;
    let count = |shard: u8, counter: &str| {
        sound[&key(&partition, &format!("TALLY#{shard}"))][counter].as_i64().unwrap_or(0)
    };
    let (first, second, third) = ("TALLY#0", "TALLY#1", "TALLY#2");
    let table = app.table();
    table.set(&key(&partition, first), "status:new", number(count(0, "status:new") + 3)).await;
    table.set(&key(&partition, first), "evaluated_by:1f", number(2)).await;
    table.set(&key(&partition, second), "project_status", AttributeValue::S("60-closed".to_owned())).await;
    table.erase(&key(&partition, third)).await;
    table.set(&key("COMPANY#acme", "TALLY"), "customers", number(7)).await;
    table.set(&key("COMPANY#acme", "TALLY"), "owners", number(0)).await;
    table.set(&key("COMPANY#acme", "TALLY"), "named_tokens", number(2)).await;
    table.set(&key("COMPANY#acme", "TALLY"), "projects:60-closed", number(1)).await;

    let drift = recount(&app, None).await["drift"].clone();
    let drift = drift.as_array().unwrap();
    let of_project = |shard: u8, counter: &str, stored: Value, counted: Value| json!({ "project": id, "shard": shard, "counter": counter, "stored": stored, "counted": counted });
    let of_company = |counter: &str, stored: i64, counted: i64| json!({ "project": null, "shard": null, "counter": counter, "stored": stored, "counted": counted });
    for expected in [
        of_project(0, "status:new", (count(0, "status:new") + 3).into(), count(0, "status:new").into()),
        of_project(0, "evaluated_by:1f", 2.into(), 0.into()),
        of_project(1, "project_status", "60-closed".into(), "40-running".into()),
        of_project(2, "project_status", Value::Null, "40-running".into()),
        of_company("customers", 7, 2),
        of_company("owners", 0, 1),
        of_company("named_tokens", 2, 1),
        of_company("projects:60-closed", 1, 0),
    ] {
        assert!(drift.contains(&expected), "{expected} is not in {drift:?}");
    }
    assert_eq!(recount(&app, None).await["drift"], json!([]));
}

#[tokio::test]
async fn counters_of_unused_sets_of_evaluators_are_removed() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({ "allow_hash_login": true, "evaluators": [owner.uri] })).await;
    let candidate = owner.candidate_at(&project, CandidateStatus::Interviewed).await;
    app.evaluate(&candidate, &owner.uri, true).await;
    let sets = async || {
        let items = app.table().snapshot().await;
        let shards = items.into_iter().filter(|((_, sk), _)| sk.starts_with("TALLY#"));
        let sets = shards.flat_map(|(_, item)| item.as_object().unwrap().clone());
        sets.filter(|(name, _)| name.starts_with("evaluated_by:")).collect::<Vec<_>>()
    };
    let nobody = ("evaluated_by:0".to_owned(), json!(0));
    assert!(sets().await.contains(&nobody), "the candidate was in this one");
    assert_eq!(recount(&app, None).await["drift"], json!([]));
    assert_eq!(sets().await, [("evaluated_by:1".to_owned(), json!(1))]);
    app.assert_sound();
    assert_eq!(owner.get(&project).await.expect(200).json()["evaluated_candidates_count"], 1);
    let before = app.table().snapshot().await;
    recount(&app, None).await;
    assert_eq!(app.table().snapshot().await, before, "there is nothing left to forget");
}

#[tokio::test]
async fn nothing_is_lost_that_happens_while_it_is_counted() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let partition = format!("COMPANY#acme#PROJECT#{}", last_segment(&project));
    for shard in 0..4 {
        app.table().set(&key(&partition, &format!("TALLY#{shard}")), "status:skipped", number(5)).await;
    }
    let work = async || {
        for number in 0..8 {
            let candidate = owner.candidate(&project, json!({})).await;
            if number % 2 == 0 {
                owner.delete(&candidate).await.expect(204);
            }
            owner.label(&format!("Label {number}")).await;
        }
    };
    let command = || app.operate(json!({ "command": "recount", "company": "acme" }));
    let ((), one, two) = tokio::join!(work(), command(), command());
    // A recount that kept being overtaken may be tried again.
    for outcome in [one, two] {
        assert!(matches!(outcome, Ok(_) | Err(shared::Error::Changed)), "{outcome:?}");
    }
    recount(&app, None).await;
}

#[tokio::test]
async fn search_entries_are_made_again_and_stale_ones_erased() {
    let app = TestApp::start().await;
    let (owner, project) = given(&app).await;
    let zoe = owner.candidate(&project, json!({ "first_name": "Zoë", "last_name": "李 Ли" })).await;
    app.owner_of("globex").await;
    let sound = app.table().snapshot().await;
    let entries = sound.keys().filter(|(pk, _)| pk.starts_with("SEARCH#acme#")).count();
    let done = |added: usize, removed: usize| json!({ "candidates": 7, "entries": entries, "added": added, "removed": removed });
    assert_eq!(reindex(&app).await, done(0, 0));
    assert_eq!(app.table().snapshot().await, sound);

    let partition = |start: &str| {
        let (source, word) = start.split_once('#').unwrap();
        let group = u32::from(word.chars().next().unwrap()) % 32;
        format!("SEARCH#acme#{source}#{group:02}#PROJECT#{}", last_segment(&project))
    };
    let newest = |id: &str| id.parse::<CandidateId>().unwrap().reversed();
    let [zoe, nobody] = [newest(last_segment(&zoe)), newest(NOBODY)];
    let entry = |start: &str, candidate| key(&partition(start), &format!("{start} {candidate}"));
    for word in ["NAME#zoe", "NAME#李"] {
        app.table().erase(&entry(word, zoe)).await;
    }
    // One has no place in the index, or one where nobody looks.
    app.table().put_bare(&entry("NAME#ли", zoe)).await;
    for (start, candidate) in [
        ("NAME#old", zoe),
        ("EMAIL#zoe", zoe),
        ("NAME##odd#", zoe),
        ("NAME#gone", nobody),
        ("EMAIL#q", nobody),
    ] {
        app.table().put_bare(&entry(start, candidate)).await;
    }
    let elsewhere = key(&partition("NAME#gone").replace("acme", "globex"), &format!("NAME#gone {zoe}"));
    app.table().put_bare(&elsewhere).await;
    assert_eq!(reindex(&app).await, done(3, 5));
    app.table().erase(&elsewhere).await;
    assert_eq!(app.table().snapshot().await, sound, "no other company's entries are touched");

    let refused =
        app.operate(json!({ "command": "reindex-search", "company": "nowhere" })).await.unwrap_err();
    assert!(refused.to_string().contains("There is no such company."), "{refused}");
}

#[tokio::test]
async fn whole_projects_are_found_again_while_they_change() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    app.fill(&project, 30, "2027-01-01T00:00:00Z".parse().unwrap()).await;
    let list = owner.get(&format!("{project}candidates/?page_size=30")).await.expect(200).json();
    let candidates: Vec<String> = list["objects"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["resource_uri"].as_str().unwrap().to_owned())
        .collect();
    let work = async || {
        for (number, candidate) in candidates.iter().enumerate() {
            if number % 3 == 0 {
                owner.delete(candidate).await.expect(204);
            } else {
                let rename = json!({ "first_name": format!("Grace{number}") });
                owner.patch(candidate, rename).await.expect(200);
            }
        }
    };
    tokio::join!(work(), reindex(&app));
    reindex(&app).await;
    assert_eq!(reindex(&app).await["candidates"], 20);
    assert_eq!(reindex(&app).await["added"], 0);
    // These have no logins, which is all that they lack.
    let entries =
        app.table().snapshot().await.into_keys().filter(|(pk, _)| pk.starts_with("SEARCH#")).count();
    assert_eq!(reindex(&app).await["entries"], entries);
}

#[test]
fn the_handbook_names_the_kinds_of_effects_that_can_be_retried() {
    let handbook = include_str!("../../../functions/admin/README.md");
    let list = handbook.split("Kinds are the log's values of `task`:").nth(1).unwrap();
    let list = list.split("`retried` in the result").next().unwrap();
    let named: BTreeSet<&str> = list.split('`').skip(1).step_by(2).collect();
    assert_eq!(named, BTreeSet::from(EffectTask::KINDS));
}
