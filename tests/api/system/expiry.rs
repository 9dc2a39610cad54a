//! The schedule ends interviews and invitations whose deadline has passed.

use std::collections::BTreeMap;

use chrono::TimeDelta;
use deadline_expiry::ExpirySummary;
use serde_json::{Value, json};
use shared::clock::Clock;
use shared::domain::candidate::CandidateStatus::{self, Confirmed, Interviewed, Interviewing, Invited, New};
use shared::domain::id::CandidateId;
use tests::app::TestApp;
use tests::caller::{Caller, Staff, last_segment};
use tests::chaos::Fault;
use tests::logs;

/// The service, its owner, and a running project in which candidates need no password.
async fn given() -> (TestApp, Staff, String) {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({ "allow_hash_login": true })).await;
    (app, owner, project)
}

async fn status(owner: &Staff, uri: &str) -> Value {
    owner.get(uri).await.expect(200).json()["status"].clone()
}

#[tokio::test]
async fn a_passed_deadline_moves_a_candidate_once() {
    let (app, owner, project) = given().await;
    let mut candidates = BTreeMap::new();
    for before in CandidateStatus::ALL {
        let uri = owner.candidate_at(&project, before).await;
        owner.set_deadline(&uri, "2026-11-08T11:00:00Z").await.expect(200);
        candidates.insert(before, uri);
    }
    app.clock().advance(TimeDelta::minutes(60) - TimeDelta::seconds(1));
    let before = app.table().snapshot().await;
    assert_eq!(app.expire_overdue().await, ExpirySummary::default(), "not a second too early");
    assert_eq!(app.table().snapshot().await, before);

    app.clock().advance(TimeDelta::seconds(1));
    assert_eq!(
        app.expire_overdue().await,
        ExpirySummary { expired: 2, aborted: 1, ..ExpirySummary::default() }
    );
    for (before, uri) in &candidates {
        let now = match before {
            Invited | Confirmed => "expired",
            Interviewing => "aborted",
            other => other.as_str(),
        };
        let shown = owner.get(uri).await.expect(200).json();
        assert_eq!(shown["status"], now, "{before:?}");
        assert_eq!([&shown["activation_key"], &shown["interview_key"]], ["", ""]);
        assert_eq!(shown["deadline"], "2026-11-08T11:00:00Z");
    }
    let shown = owner.get(&project).await.expect(200).json();
    let count = |name: &str| shown[format!("{name}_candidates_count")].as_i64();
    assert_eq!([count("invited"), count("confirmed"), count("interviewing")], [Some(0); 3]);
    assert_eq!([count("expired"), count("aborted"), count("interviewed")], [Some(3), Some(2), Some(1)]);
    app.assert_sound();

    let before = app.table().snapshot().await;
    app.clock().advance(TimeDelta::minutes(1));
    assert_eq!(app.expire_overdue().await, ExpirySummary::default(), "nobody twice");
    assert_eq!(app.table().snapshot().await, before);
}

#[tokio::test]
async fn every_project_of_every_company_is_swept() {
    let (app, owner, project) = given().await;
    let stranger = app.owner_of("globex").await;
    let mut overdue = Vec::new();
    for staff in [&owner, &stranger] {
        for _ in 0..2 {
            let project = staff.running_project(json!({ "allow_hash_login": true })).await;
            for _ in 0..5 {
                let uri = staff.candidate_at(&project, Confirmed).await;
                staff.set_deadline(&uri, "2026-11-08T10:00:00Z").await.expect(200);
                overdue.push((staff, uri));
            }
        }
    }
    let kept = owner.candidate_at(&project, Invited).await;
    assert_eq!(app.expire_overdue().await, ExpirySummary { expired: 20, ..ExpirySummary::default() });
    for (staff, uri) in overdue {
        assert_eq!(status(staff, &uri).await, "expired");
    }
    assert_eq!(status(&owner, &kept).await, "invited");
}

#[tokio::test]
async fn after_a_long_outage_everything_is_caught_up() {
    let (app, owner, project) = given().await;
    for days in 1..=10 {
        let deadline = app.clock().in_days(days);
        owner.invite(&project, json!({ "deadline": deadline })).await;
    }
    app.clock().advance(TimeDelta::days(400));
    let lag_seconds = TimeDelta::days(399).num_seconds();
    assert_eq!(
        app.expire_overdue().await,
        ExpirySummary { expired: 10, lag_seconds, ..ExpirySummary::default() }
    );
}

#[tokio::test]
async fn a_run_goes_on_until_its_time_is_over_and_the_next_goes_on() {
    let (app, _, project) = given().await;
    app.fill(&project, 600, app.clock().now() + TimeDelta::days(1)).await;
    app.clock().advance(TimeDelta::days(1));
    let first = app.expire_without_time().await;
    app.assert_sound();
    // A page of each shard of the counts.
    assert_eq!((first.more, first.expired), (true, 400), "{first:?}");
    let second = app.expire_overdue().await;
    assert_eq!((first.expired + second.expired, second.more), (600, false));
    assert_eq!(app.expire_overdue().await, ExpirySummary::default(), "nobody is left");
}

#[tokio::test]
async fn candidates_of_a_company_do_not_wait_for_the_many_of_another() {
    let (app, _, project) = given().await;
    app.fill(&project, 600, app.clock().now() + TimeDelta::minutes(30)).await;
    let other = app.owner_of("globex").await;
    let invited = other.invite(&other.running_project(json!({})).await, json!({})).await;
    other.set_deadline(&invited.uri, "2026-11-08T11:00:00Z").await.expect(200);
    app.clock().advance(TimeDelta::hours(1));
    assert!(app.expire_without_time().await.more);
    assert_eq!(status(&other, &invited.uri).await, "expired");
}

#[tokio::test]
async fn six_thousand_of_a_company_do_not_hold_up_what_becomes_due_later() {
    let (app, _, project) = given().await;
    let other = app.owner_of("globex").await;
    let other_project = other.running_project(json!({})).await;
    app.fill(&project, 1, app.clock().now() + TimeDelta::minutes(30)).await;
    app.fill(&other_project, 1, app.clock().now() + TimeDelta::minutes(31)).await;
    let candidates = app.table().contents().await.into_iter();
    let candidates =
        candidates.filter(|((pk, sk), _)| pk.starts_with("COMPANY#") && sk.starts_with("CANDIDATE#"));
    let mut candidates: Vec<Value> =
        candidates.map(|(_, item)| serde_dynamo::from_item(item).unwrap()).collect();
    candidates.sort_by_key(|item| item["due_at"].to_string());
    let [many, one] = &candidates[..] else { panic!("{candidates:?}") };
    // The end of an identifier determines the shard, so that all share one.
    let id_of = |item: &Value| item["id"].as_str().unwrap().to_owned();
    let (id, end) = (id_of(many), id_of(many)[24..].to_owned());
    let copy = |item: &Value, copied: &str| -> Value {
        let mut copy = item.clone();
        for name in ["id", "sk", "by_status_sk"] {
            copy[name] = json!(item[name].as_str().unwrap().replace(&id_of(item), copied));
        }
        copy["due_shard"] = many["due_shard"].clone();
        copy
    };
    let later = format!("{}{end}", &id_of(one)[..24]);
    let copies = (0..6_000).map(|number| copy(many, &format!("{}{number:014}{end}", &id[..10])));
    let items: Vec<Value> = copies.chain([copy(one, &later)]).collect();
    app.table().load(&items).await;
    app.leave_unsound("candidates are copies, which nothing counts and no search finds");
    app.clock().advance(TimeDelta::hours(1));
    assert!(app.expire_without_time().await.more);
    assert_eq!(status(&other, &format!("{other_project}candidates/{later}/")).await, "expired");
}

#[tokio::test]
async fn a_candidate_whose_deadline_was_moved_meanwhile_is_not_expired() {
    // Between the index and the item, and between the item and its change.
    for (operation, moved_on) in [("BatchGetItem", 0), ("TransactWriteItems", 1)] {
        let (app, chaos) = TestApp::start_with_chaos().await;
        let owner = app.owner().await;
        let project = owner.running_project(json!({})).await;
        let invited = owner.invite(&project, json!({})).await;
        owner.set_deadline(&invited.uri, "2026-11-08T10:00:00Z").await.expect(200);
        let sweep = chaos.pause(operation);
        let meanwhile = async {
            sweep.reached().await;
            owner.set_deadline(&invited.uri, "2026-12-24T18:00:00Z").await.expect(200);
            sweep.resume();
        };
        let (summary, ()) = tokio::join!(app.expire_overdue(), meanwhile);
        assert_eq!(summary, ExpirySummary { moved_on, ..ExpirySummary::default() }, "{operation}");
        assert_eq!(status(&owner, &invited.uri).await, "invited");
        invited.get("/whoami/").await.expect(200);
    }
}

#[tokio::test]
async fn a_candidate_who_moved_on_does_not_delay_the_others() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let ready = json!({ "email": "ada@mail.example", "deadline": "2026-11-08T11:00:00Z" });
    // Candidates are swept together whose identifiers end alike: of seventeen, two do.
    let mut by_ending = BTreeMap::new();
    let [one, two] = loop {
        let uri = owner.candidate(&project, ready.clone()).await;
        let id: CandidateId = last_segment(&uri).parse().unwrap();
        if let Some(other) = by_ending.insert(id.to_bytes()[15] % 16, uri.clone()) {
            break [other, uri];
        }
    };
    for uri in [&one, &two] {
        owner.advance(uri).await.expect(200);
    }
    app.clock().advance(TimeDelta::minutes(60));
    let together = chaos.pause("TransactWriteItems");
    let meanwhile = async {
        together.reached().await;
        owner.skip(&one).await.expect(200);
        together.resume();
    };
    let (summary, ()) = tokio::join!(app.expire_overdue(), meanwhile);
    assert_eq!(summary, ExpirySummary { expired: 1, moved_on: 1, ..ExpirySummary::default() });
    assert_eq!([status(&owner, &one).await, status(&owner, &two).await], ["skipped", "expired"]);
}

#[tokio::test]
async fn a_busy_table_is_asked_once_for_candidates_who_are_changed_together() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    app.fill(&project, 40, app.clock().now()).await;
    let before = chaos.requests("TransactWriteItems");
    chaos.always("TransactWriteItems", Fault::Throttled);
    assert_eq!(app.expire_overdue().await, ExpirySummary { failed: 40, ..ExpirySummary::default() });
    // A transaction for each shard of the project's counts, in eight attempts at most.
    assert!(chaos.requests("TransactWriteItems") - before <= 4 * 8);
    chaos.heal();
    assert_eq!(app.expire_overdue().await, ExpirySummary { expired: 40, ..ExpirySummary::default() });
}

#[tokio::test]
async fn a_deadline_that_is_cleared_or_not_yet_counting_expires_no_candidate() {
    let (app, owner, project) = given().await;
    let cleared = owner.candidate_at(&project, Invited).await;
    owner.patch(&cleared, json!({ "deadline": null })).await.expect(200);
    for status in [New, Interviewed] {
        let uri = owner.candidate_at(&project, status).await;
        owner.set_deadline(&uri, "2001-01-01T00:00:00Z").await.expect(200);
    }
    let deleted = owner.candidate_at(&project, Invited).await;
    owner.delete(&deleted).await.expect(204);
    app.clock().advance(TimeDelta::days(30));
    assert_eq!(app.expire_overdue().await, ExpirySummary::default());
}

#[tokio::test]
async fn each_run_logs_one_line() {
    let (app, owner, project) = given().await;
    let one = owner.candidate_at(&project, Invited).await;
    let two = owner.candidate_at(&project, Interviewing).await;
    for uri in [&one, &two] {
        owner.set_deadline(uri, "2026-11-08T09:58:30Z").await.expect(200);
    }
    logs::take_lines("deadline-expiry");
    app.expire_overdue().await;
    let lines = logs::take_lines("deadline-expiry");
    let [line] = &lines[..] else { panic!("not one line: {lines:#?}") };
    for (field, value) in [
        ("level", json!("INFO")),
        ("message", json!("swept")),
        ("expired", json!(1)),
        ("aborted", json!(1)),
        ("moved_on", json!(0)),
        ("failed", json!(0)),
        ("lag_seconds", json!(90)),
        ("more", json!(false)),
    ] {
        assert_eq!(line[field], value, "{field} in {line}");
    }
    for field in ["milliseconds", "dynamodb_calls", "read_units", "write_units"] {
        assert!(line[field].as_f64().is_some_and(|number| number > 0.0), "{field} in {line}");
    }
}
