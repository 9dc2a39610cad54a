//! That all records are as of one moment, while much changes.

use std::collections::BTreeSet;

use serde_json::json;
use shared::domain::archive::RecordKind;
use tests::app::TestApp;
use tests::caller::{Caller, Staff, last_segment};

use super::{Archive, Record};

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
    // Candidates without an event since are the same in both, those who are gone included.
    let (then, now) = (first.of_kind(RecordKind::Candidates), last.of_kind(RecordKind::Candidates));
    let everybody: BTreeSet<&String> = then.keys().chain(now.keys()).collect();
    let mut same = 0;
    for id in everybody.into_iter().filter(|id| !since.contains(*id)) {
        assert_eq!(then.get(id), now.get(id), "{id}");
        same += 1;
    }
    assert!(same > 50, "{same}");
    let events = first.of_kind(RecordKind::Events);
    // The archive has the candidates who were created and not deleted up to the last event, whatever came after.
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
