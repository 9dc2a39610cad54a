//! Dry runs: the report of what would happen, while nothing happens.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use shared::domain::candidate::CandidateStatus;
use tests::app::TestApp;
use tests::assert_refusal;
use tests::caller::{Caller, Staff};
use tests::http::Request;

use crate::candidates::bulk::{act, given, request, rows};
use crate::candidates::import::{KEY, entry, import};
use crate::system::undeliverable::bounced;

/// Numbers that look random and are the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut next = self.0;
        next = (next ^ (next >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        next = (next ^ (next >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((next ^ (next >> 31)) % end as u64).unwrap()
    }

    fn one_of<T: Clone>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())].clone()
    }
}

/// The number of mails to candidates that are noted.
async fn mails(app: &TestApp) -> usize {
    let items = app.table().snapshot().await;
    items.iter().filter(|((_, sk), item)| sk == "EFFECT" && item["task"]["candidate"].is_string()).count()
}

/// Sends a dry run, and makes sure that it leaves every item as it is.
async fn dry(owner: &Staff, request: Request) -> Value {
    let app = owner.app();
    let before = app.table().contents().await;
    let response = owner.send(request).await.expect(200);
    // The slot of the company, which is taken and released.
    assert_eq!(response.log().write_units, 2.0);
    assert!(app.table().contents().await == before, "a dry run has written");
    response.json()
}

/// A report but for links, and for what only a dry run says.
fn comparable(report: &Value) -> Value {
    let mut report = report.clone();
    let meta = report["meta"].as_object_mut().unwrap();
    meta.remove("dry_run");
    meta.remove("mails");
    for row in report["objects"].as_array_mut().unwrap() {
        row["interview_url"] = json!("");
    }
    report
}

#[tokio::test]
async fn a_dry_run_of_an_action_reports_what_the_action_then_does() {
    let (app, owner, project) = given().await;
    let mut numbers = Numbers(51);
    let mut names = vec!["external_id:nobody".to_owned()];
    for number in 0..24 {
        let status = CandidateStatus::ALL[number % CandidateStatus::ALL.len()];
        let uri = owner.candidate_at(&project, status).await;
        let has_key = numbers.below(3) == 0;
        let key = format!("key {number}");
        if has_key {
            owner.patch(&uri, json!({ "external_id": key })).await.expect(200);
        }
        if numbers.below(4) == 0 {
            owner.patch(&uri, json!({ "receive_mails": false })).await.expect(200);
        }
        if numbers.below(5) == 0 {
            owner.send(Request::put(&format!("{uri}erasure-request/"))).await.expect(200);
        }
        names.push(if has_key { format!("external_id:{key}") } else { uri });
    }
    for round in 0..16 {
        let action = numbers.one_of(&["advance", "advance", "deadline", "remind", "skip", "cancel"]);
        let mut body = json!({ "action": action });
        if action == "cancel" {
            body["reason"] = json!("The position is filled.");
            body["notify"] = json!(numbers.below(2) == 0);
        }
        if action == "deadline" || (action == "advance" && numbers.below(2) == 0) {
            body["deadline"] = app.clock().in_days(numbers.one_of(&[-1, 3, 9])).into();
        }
        if numbers.below(3) == 0 {
            body["status"] = json!(numbers.one_of(&CandidateStatus::ALL));
        } else {
            let picked = names.iter().filter(|_| numbers.below(3) == 0).cloned();
            let mut picked: Vec<String> = picked.collect();
            picked.push(names[0].clone());
            body["candidates"] = json!(picked.into_iter().collect::<BTreeSet<_>>());
        }
        body["dry_run"] = json!(true);
        let judged = dry(&owner, request(&project, None, &body)).await;
        assert_eq!(judged["meta"]["dry_run"], true);
        assert!(rows(&judged).iter().all(|row| row["interview_url"] == ""));
        body["dry_run"] = json!(false);
        let noted = mails(&app).await;
        let report = act(&owner, &project, body.clone()).await.expect(200).json();
        assert_eq!(comparable(&judged), comparable(&report), "round {round}: {body}");
        assert_eq!(report["meta"].get("dry_run").or(report["meta"].get("mails")), None);
        assert_eq!(judged["meta"]["mails"], mails(&app).await - noted, "round {round}: {body}");
    }
}

#[tokio::test]
async fn a_dry_run_of_an_import_reports_what_the_import_then_does() {
    let (app, owner, project) = given().await;
    owner.candidate(&project, json!({ "username": "ada-1", "external_id": "key 1" })).await;
    let colleague = owner.colleague("recruiter", json!({})).await;
    let mut numbers = Numbers(7);
    let path = format!("{project}candidates/import/?dry_run=true");
    for round in 0..6 {
        let entries: Vec<Value> = (0..20)
            .map(|number| {
                let mut entry = entry(&app, 100 * round + number);
                match numbers.below(10) {
                    0 => {
                        entry["username"] =
                            json!(numbers.one_of(&["ADA-1", "twice", colleague.email.as_str()]))
                    }
                    1 => entry["email"] = Value::Null,
                    2 => entry["deadline"] = json!(numbers.one_of(&["2001-01-01T00:00:00Z", "soon"])),
                    3 => entry["first_name"] = Value::Null,
                    4 => entry["consents"] = json!([{ "kind": "consent", "version": 9, "language": "en" }]),
                    5 => entry["receive_mails"] = json!(false),
                    6 => entry = json!("Ada"),
                    _ => {}
                }
                if entry.is_object() && numbers.below(2) == 0 {
                    entry["external_id"] = json!(format!("key {}", numbers.below(12)));
                }
                entry
            })
            .collect();
        let list = json!(entries);
        let judged = dry(&owner, Request::post(&path).json(&list)).await;
        let known: BTreeSet<String> = known_candidates(&app).await;
        let noted = mails(&app).await;
        let mut report = import(&owner, &project, None, &list).await.expect(200).json();
        assert_eq!(judged["meta"]["mails"], mails(&app).await - noted, "round {round}");
        // A dry run cannot name a candidate that it has not created.
        for row in report["objects"].as_array_mut().unwrap() {
            let is_known =
                row["candidate"].as_str().is_some_and(|uri| known.contains(tests::caller::last_segment(uri)));
            if !is_known {
                row["candidate"] = Value::Null;
                row["interview_suite_url"] = Value::Null;
            }
        }
        assert_eq!(comparable(&judged), comparable(&report), "round {round}");
    }
}

async fn known_candidates(app: &TestApp) -> BTreeSet<String> {
    let items = app.table().snapshot().await;
    let ids = items.keys().filter_map(|(_, sk)| sk.strip_prefix("CANDIDATE#"));
    ids.map(str::to_owned).collect()
}

#[tokio::test]
async fn of_two_entries_with_one_key_the_second_fails_and_mails_are_those_to_candidates() {
    let (app, owner, project) = given().await;
    let mut list: Vec<Value> = (0..4).map(|number| entry(&app, number)).collect();
    list[0]["external_id"] = json!("A-17");
    list[1]["external_id"] = json!("A-17");
    list[2]["receive_mails"] = json!(false);
    let path = format!("{project}candidates/import/?dry_run=true");
    let report = dry(&owner, Request::post(&path).json(&json!(list))).await;
    assert_eq!(
        report["meta"],
        json!({ "total": 4, "created": 3, "invited": 3, "failed": 1, "pending": 0, "dry_run": true, "mails": 2 })
    );
    let taken = json!({ "external_id": ["This external_id is already in use."] });
    assert_eq!(rows(&report)[1]["errors"], taken);
    assert!(rows(&report).iter().all(|row| row["candidate"].is_null() && row["interview_url"] == ""));
    app.settle().await;
    for number in 0..4 {
        assert!(app.mails_to(&format!("ada-{number}@mail.example")).is_empty());
    }
    let feed = owner.get("/companies/acme/events/?type=candidate.created").await.expect(200).json();
    assert_eq!(feed["objects"], json!([]));
}

#[tokio::test]
async fn a_dry_run_takes_no_idempotency_key_and_uses_none_up() {
    let (app, owner, project) = given().await;
    let before = app.table().contents().await;
    let list = json!([entry(&app, 0)]);
    let body = json!({ "action": "skip", "status": "new", "dry_run": true });
    let path = format!("{project}candidates/import/");
    let keyed = Request::post(&format!("{path}?dry_run=true")).json(&list).header("idempotency-key", KEY);
    for refused in [owner.send(keyed).await, owner.send(request(&project, Some(KEY), &body)).await] {
        assert_refusal!(refused, @r#"400 {"code":"dry_run_with_key","detail":"A dry run changes nothing, so it takes no `Idempotency-Key`. Send the request without it."}"#);
    }
    for wrong in ["", "yes", "1"] {
        let refused = owner.send(Request::post(&format!("{path}?dry_run={wrong}")).json(&list)).await;
        assert_refusal!(refused, @r#"400 {"dry_run":["Must be `true` or `false`."]}"#);
    }
    assert!(app.table().contents().await == before);
    let real = Request::post(&format!("{path}?dry_run=false")).json(&list).header("idempotency-key", KEY);
    assert_eq!(owner.send(real).await.expect(200).json()["meta"]["invited"], 1);
    owner.send(request(&project, Some(KEY), &json!({ "action": "skip", "status": "new" }))).await.expect(200);
}

#[tokio::test]
async fn a_mail_that_would_not_be_delivered_is_not_counted() {
    let (app, owner, project) = given().await;
    let ada = owner.invite(&project, json!({})).await;
    app.settle().await;
    for _ in 0..2 {
        ada.advance(&ada.uri).await.expect(200);
    }
    app.abort(&ada.uri).await;
    let (uri, email) = (ada.uri, ada.email);
    let body = |is_dry: bool| json!({ "action": "advance", "candidates": [uri], "dry_run": is_dry });
    assert_eq!(act(&owner, &project, body(true)).await.expect(200).json()["meta"]["mails"], 1);
    app.put_event(bounced(&app, &email, "Permanent")).await;
    assert_eq!(act(&owner, &project, body(true)).await.expect(200).json()["meta"]["mails"], 0);
}
