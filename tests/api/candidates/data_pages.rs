//! Documents with all data of a candidate that are longer than a response.

use std::collections::{BTreeMap, BTreeSet};

use chrono::TimeDelta;
use serde_json::{Value, json};
use shared::domain::candidate::CandidateStatus::Confirmed;
use tests::assert_refusal;
use tests::caller::{Caller, last_segment};
use tests::http::Request;
use tests::table::Key;

use crate::evaluations::crud::{EvaluationFixture, given, save, veto};

const EVALUATORS: usize = 60;
const ENTRIES: u64 = 60;

type Snapshot = BTreeMap<Key, Value>;

fn id(kind: char, number: usize) -> String {
    format!("01ARZ3NDEKTSV4RRFFQ69{kind}{number:04}")
}

/// The item whose keys are found in the snapshot.
fn item(snapshot: &Snapshot, is_wanted: impl Fn(&str, &str) -> bool) -> Value {
    snapshot.iter().find(|((pk, sk), _)| is_wanted(pk, sk)).unwrap().1.clone()
}

/// Makes `EVALUATORS` evaluations of a candidate like the stored one, each with the longest comments, every other one with a
/// veto. The first evaluators have the last vetoes.
fn evaluations(snapshot: &Snapshot, candidate: &mut Value) -> Vec<Value> {
    let template = item(snapshot, |pk, _| pk.ends_with("#EVALUATIONS"));
    let by = template["evaluator"].as_str().unwrap().to_owned();
    let rating = |kind: &str, number| json!({ "target": { kind: id('Q', number) }, "tenths": 40, "comment": "😀".repeat(500) });
    let ratings: Vec<Value> = (0..30)
        .map(|number| rating("question", number))
        .chain((0..20).map(|number| rating("criterion", number)))
        .collect();
    let mut items = Vec::new();
    for number in 0..EVALUATORS {
        let (evaluator, veto) = (id('A', number), id('V', EVALUATORS - number));
        let mut evaluation = template.clone();
        evaluation["evaluator"] = json!(evaluator);
        evaluation["sk"] = json!(format!("{}#{evaluator}", candidate["id"].as_str().unwrap()));
        evaluation["ratings"] = json!(ratings);
        evaluation["veto"] = json!({ "comment": "No.", "id": veto });
        candidate["evaluations"][&evaluator] = candidate["evaluations"][&by].clone();
        candidate["scores"][&evaluator] = candidate["scores"][&by].clone();
        candidate["scores"][&evaluator]["veto"] = json!(veto);
        if number % 2 == 1 {
            evaluation.as_object_mut().unwrap().remove("veto");
            candidate["scores"][&evaluator].as_object_mut().unwrap().remove("veto");
        }
        items.push(evaluation);
    }
    items
}

/// Entries of 50 KB, one after the other in the candidate's history and in that of their interview, from 10:10 on.
fn entries(snapshot: &Snapshot, candidate: &mut Value) -> Vec<Value> {
    let (id, first) = (candidate["id"].as_str().unwrap().to_owned(), candidate["version"].as_u64().unwrap());
    let own = format!("HISTORY#acme#{id}");
    let template = item(snapshot, |pk, sk| pk == own && sk == format!("{first:010}"));
    let mut items = Vec::new();
    for number in 0..2 * ENTRIES {
        let is_own = number % 2 == 0;
        let version = number / 2 + 1 + if is_own { first } else { 0 };
        let mut entry = template.clone();
        entry["sk"] = json!(format!("{version:010}"));
        entry["version_after"] = json!(version);
        entry["origin"]["at"] = json!(format!("2026-11-08T10:{}:{:02}Z", 10 + number / 60, number % 60));
        entry["change"]["details"]["facts"]["status"] = json!("x".repeat(50_000));
        if !is_own {
            entry["pk"] = json!(format!("{own}-interview"));
            entry["change"]["resource"]["kind"] = json!("interview");
        }
        items.push(entry);
    }
    candidate["version"] = json!(first + ENTRIES);
    items
}

/// Reads the pages from `uri` on, and calls `between` after the first.
async fn pages(caller: &impl Caller, uri: &str, between: impl AsyncFnOnce()) -> Vec<(Value, f64)> {
    let mut between = Some(between);
    let mut pages = Vec::new();
    let mut next = Some(uri.to_owned());
    while let Some(uri) = next {
        let page = caller.get(&uri).await.expect(200);
        let document = page.json();
        next = document["next"].as_str().map(str::to_owned);
        pages.push((document, page.log().read_units));
        if let Some(between) = between.take() {
            between().await;
        }
    }
    pages
}

fn all<'a>(pages: &'a [(Value, f64)], list: &str) -> Vec<&'a Value> {
    pages.iter().flat_map(|(page, _)| page[list].as_array().unwrap()).collect()
}

#[tokio::test]
async fn a_long_document_goes_on_over_pages_that_hold_everything_once() {
    let given = given().await;
    let EvaluationFixture { app, owner, evaluators: [one, _], .. } = &given;
    app.leave_unsound("evaluations and entries are written past the service");
    let candidate = given.interviewed().await;
    given.rate(one, &candidate, 4.0, 3.5).await.expect(201);
    veto(one, &candidate).await.expect(201);
    let snapshot = app.table().snapshot().await;
    let sort_key = format!("CANDIDATE#{}", last_segment(&candidate));
    let mut stored = item(&snapshot, |_, sk| sk == sort_key);
    let mut items = evaluations(&snapshot, &mut stored);
    items.extend(entries(&snapshot, &mut stored));
    items.push(stored.clone());
    app.table().load(&items).await;

    let data = format!("{candidate}data/");
    app.clock().advance(TimeDelta::minutes(30));
    let read = pages(owner, &data, async || {
        owner.patch(&candidate, json!({ "phone": "+44 1" })).await.expect(200);
    })
    .await;
    assert_eq!(read.len(), 3);
    let units: Vec<f64> = read.iter().map(|(_, units)| *units).collect();
    assert!(units[2] < units.iter().sum::<f64>() / 2.0, "a page costs what it shows: {units:?}");

    assert_eq!(read[0].0["schema"], "candidate-data/1");
    for (page, _) in &read[1..] {
        assert_eq!(
            (&page["schema"], &page["continues"]),
            (&json!("candidate-data-continuation/1"), &json!(data))
        );
        let fields: Vec<&str> = page.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(
            fields,
            ["continues", "evaluations", "first_judgements", "history", "next", "schema", "vetos"]
        );
    }
    let evaluators: Vec<&str> = all(&read, "evaluations")
        .iter()
        .map(|row| last_segment(row["evaluator"].as_str().unwrap()))
        .collect();
    let expected: Vec<String> =
        (0..EVALUATORS).map(|number| id('A', number)).chain([one.id().to_owned()]).collect();
    assert_eq!(evaluators, expected);
    let vetos: BTreeSet<&str> =
        all(&read, "vetos").iter().map(|row| last_segment(row["evaluator"].as_str().unwrap())).collect();
    assert_eq!((vetos.len(), all(&read, "vetos").len()), (EVALUATORS / 2 + 1, EVALUATORS / 2 + 1));
    let of_page = |page: usize| {
        read[page].0["vetos"].as_array().unwrap().iter().map(|row| row["evaluator"].as_str().unwrap())
    };
    assert!(of_page(0).is_sorted_by(|one, next| one > next), "the oldest first");

    let history = all(&read, "history");
    assert!(history.is_sorted_by_key(|entry| entry["timestamp"].as_str()), "oldest first");
    let version =
        |entry: &&Value| (entry["data"]["resource_uri"].to_string(), entry["data"]["version"].as_u64());
    let distinct: BTreeSet<_> = history.iter().map(version).collect();
    let count = 2 * ENTRIES + stored["version"].as_u64().unwrap() - ENTRIES + 1;
    assert_eq!((distinct.len() as u64, history.len() as u64), (count, count));
    assert_eq!(history.last().unwrap()["data"]["changed"], json!(["phone"]), "written after the first page");

    let last = read[1].0["next"].as_str().unwrap();
    let tag = owner.get(last).await.expect(200).header("etag").unwrap().to_owned();
    owner.send(Request::get(last).header("if-none-match", &tag)).await.expect(304);
    assert_refusal!(owner.get(&format!("{data}?after=x")).await, @r#"400 {"after":["Invalid place. Follow `next` unchanged."]}"#);
}

#[tokio::test]
async fn entries_that_are_hidden_from_the_caller_take_their_room_and_stay_hidden() {
    let given = given().await;
    let EvaluationFixture { app, owner, evaluators: [one, two], project, .. } = &given;
    app.leave_unsound("entries are written past the service");
    owner.patch(project, json!({ "interview_managers": [two.uri] })).await.expect(200);
    let candidate = owner.candidate_at(project, Confirmed).await;
    // The entry of a draft, which is no event.
    save(one, &candidate, json!({ "comment": "Well." })).await.expect(201);
    let snapshot = app.table().snapshot().await;
    let sort_key = format!("CANDIDATE#{}", last_segment(&candidate));
    let mut stored = item(&snapshot, |_, sk| sk == sort_key);
    let mut items = entries(&snapshot, &mut stored);
    items.push(stored);
    app.table().load(&items).await;
    let data = format!("{candidate}data/");
    let [hidden, shown] = [pages(two, &data, async || {}).await, pages(owner, &data, async || {}).await];
    assert_eq!((hidden.len(), shown.len()), (2, 2));
    assert_eq!(hidden[0].1, shown[0].1, "as much is read for both");
    let drafts = |pages: &[(Value, f64)]| {
        let history = all(pages, "history");
        history
            .iter()
            .filter(|entry| entry["data"]["resource_uri"] == candidate && entry["type"].is_null())
            .count()
    };
    assert_eq!((drafts(&hidden), drafts(&shown)), (0, ENTRIES as usize + 1));
}
