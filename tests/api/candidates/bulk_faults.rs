//! Requests about many candidates while others write at the same time, the process dies, or the storage or the time runs short.

use std::collections::BTreeMap;

use chrono::TimeDelta;
use serde_json::{Value, json};
use shared::domain::candidate::CandidateStatus;
use tests::app::TestApp;
use tests::assert_refusal;
use tests::caller::{Caller, Staff};
use tests::chaos::{Chaos, Fault, Pause};
use tests::effort;

use crate::candidates::bulk::{act, request, rows, statuses};
use crate::candidates::import::{KEY, entries, import};

/// The service with a running project without passwords, and `count` candidates who are new and can be invited.
async fn given(count: usize) -> (TestApp, Chaos, Staff, String) {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let project = owner.project(json!({ "allow_hash_login": true })).await;
    if count > 0 {
        import(&owner, &project, None, &entries(&app, count).into()).await.expect(200);
    }
    owner.set_status(&project, "40-running").await.expect(200);
    (app, chaos, owner, project)
}

/// The number of mails to each candidate that are noted, and of entries in their history.
async fn effects(app: &TestApp) -> BTreeMap<String, (usize, usize)> {
    let items = app.table().snapshot().await;
    let ids = items.keys().filter_map(|(_, sk)| sk.strip_prefix("CANDIDATE#"));
    let effects = ids.map(|id| {
        let mails = items.iter().filter(|((_, sk), item)| sk == "EFFECT" && item["task"]["candidate"] == id);
        let entries = items.keys().filter(|(pk, _)| pk.starts_with("HISTORY#") && pk.ends_with(id));
        (id.to_owned(), (mails.count(), entries.count()))
    });
    effects.collect()
}

/// Makes sure that each candidate got one more mail, and one more entry in their history, than `before`.
async fn assert_acted_once(app: &TestApp, before: &BTreeMap<String, (usize, usize)>, context: &str) {
    let after = effects(app).await;
    assert!(!before.is_empty());
    for (candidate, (mails, entries)) in before {
        assert_eq!(after[candidate], (mails + 1, entries + 1), "{context}: {candidate}");
    }
}

#[tokio::test]
async fn a_request_that_is_killed_five_times_and_repeated_takes_each_action_once() {
    let count = effort::count(1_000) as usize;
    let (app, chaos, owner, project) = given(count).await;
    let before = effects(&app).await;
    let body = json!({ "action": "advance", "status": "new" });
    let send = || owner.send(request(&project, Some(KEY), &body));
    for number in 0..5 {
        chaos.cut_after_writes(2 + count / 6 * number);
        // Once nothing comes through, the entries that are left have no time any more: none is tried in vain.
        let died = async {
            while chaos.left() != Some(0) {
                tokio::task::yield_now().await;
            }
            app.clock().advance(TimeDelta::seconds(30));
            std::future::pending::<()>().await;
        };
        tokio::select! {
            _ = send() => {}
            () = died => {}
        }
        chaos.heal();
        app.assert_sound();
        app.clock().advance(TimeDelta::seconds(30));
    }
    // Candidates who come or leave in between do not change the selection of the request.
    let late = owner
        .candidate(&project, json!({ "email": app.next_email(), "deadline": app.clock().in_days(3) }))
        .await;
    let done = send().await.expect(200);
    let report = done.json();
    assert_eq!(
        report["meta"],
        json!({ "total": count, "done": count, "failed": 0, "pending": 0, "more": false, "next": null })
    );
    assert_eq!(owner.get(&late).await.expect(200).json()["status"], "new");
    owner.delete(&late).await.expect(204);
    for row in rows(&report).iter().step_by(40) {
        let candidate = owner.get(row["candidate"].as_str().unwrap()).await.expect(200).json();
        assert_eq!(row["interview_url"], candidate["interview_url"]);
    }
    assert_acted_once(&app, &before, "").await;
    let replayed = send().await;
    assert_eq!((replayed.header("idempotent-replayed"), &replayed.body), (Some("true"), &done.body));
}

#[tokio::test]
async fn a_reminder_is_not_repeated_by_a_run_that_goes_on_wherever_the_first_one_stopped() {
    for survived in effort::numbers(3) {
        let (app, chaos, owner, project) = given(0).await;
        let mut names = Vec::new();
        for _ in 0..5 {
            names.push(owner.invite(&project, json!({})).await.uri);
        }
        names.push("external_id:nobody".to_owned());
        let before = effects(&app).await;
        let body = json!({ "action": "remind", "candidates": names });
        let send = || owner.send(request(&project, Some(KEY), &body));
        chaos.cut_after(survived);
        let first = send().await;
        let is_whole = first.header("content-type").is_some() && chaos.left().is_some_and(|left| left > 0);
        chaos.heal();
        app.clock().advance(TimeDelta::seconds(30));
        let report = send().await.expect(200).json();
        assert_eq!(statuses(&report), ["done", "done", "done", "done", "done", "failed"], "after {survived}");
        assert_acted_once(&app, &before, &format!("after {survived} calls")).await;
        if is_whole {
            assert!(survived > 10, "{survived}");
            break;
        }
    }
}

#[tokio::test]
async fn a_run_that_was_only_thought_dead_and_its_successor_take_each_action_once() {
    for action in ["remind", "skip"] {
        let (app, chaos, owner, project) = given(0).await;
        let mut names = Vec::new();
        for _ in 0..8 {
            names.push(owner.invite(&project, json!({})).await.uri);
        }
        let before = effects(&app).await;
        let body = json!({ "action": action, "candidates": names });
        let send = || owner.send(request(&project, Some(KEY), &body));
        let held: Vec<Pause> = (0..4).map(|_| chaos.pause("TransactWriteItems")).collect();
        let meanwhile = async {
            for lane in &held {
                lane.reached().await;
            }
            app.clock().advance(TimeDelta::seconds(30));
            let successor = send().await.expect(200);
            app.clock().advance(TimeDelta::seconds(-30));
            held.iter().for_each(Pause::resume);
            successor
        };
        let (first, successor) = tokio::join!(send(), meanwhile);
        assert_eq!(first.expect(200).json(), successor.json());
        assert_eq!(successor.json()["meta"]["done"], 8);
        let after = effects(&app).await;
        let mailed = usize::from(action == "remind");
        for (candidate, (mails, entries)) in before {
            assert_eq!(after[&candidate], (mails + mailed, entries + 1), "{action}: {candidate}");
        }
    }
}

#[tokio::test]
async fn who_leaves_the_status_before_their_turn_is_left_alone() {
    let (app, chaos, owner, project) = given(0).await;
    let first = owner.invite(&project, json!({})).await;
    let second = owner.invite(&project, json!({})).await;
    // The transaction about them is under way when they confirm.
    let hold = |uri: &str| chaos.pause_about("TransactWriteItems", tests::caller::last_segment(uri));
    let held = hold(&second.uri);
    let meanwhile = async {
        held.reached().await;
        second.advance(&second.uri).await.expect(200);
        held.resume();
    };
    let (report, ()) =
        tokio::join!(act(&owner, &project, json!({ "action": "skip", "status": "invited" })), meanwhile);
    let report = report.expect(200).json();
    assert_eq!(statuses(&report), ["done", "failed"]);
    assert_eq!(
        rows(&report)[1]["errors"],
        json!({ "code": "status_changed", "detail": "The candidate is no longer in the `status` of the request." })
    );
    assert_eq!(rows(&report)[1]["candidate"], second.uri);
    assert_eq!(owner.get(&first.uri).await.expect(200).json()["status"], "skipped");
    assert_eq!(owner.get(&second.uri).await.expect(200).json()["status"], "confirmed");
    app.assert_sound();
}

#[tokio::test]
async fn whoever_is_deleted_before_their_turn_is_not_found() {
    let (_app, chaos, owner, project) = given(0).await;
    let ada = owner.invite(&project, json!({})).await;
    let held = chaos.pause_about("TransactWriteItems", tests::caller::last_segment(&ada.uri));
    let meanwhile = async {
        held.reached().await;
        owner.delete(&ada.uri).await.expect(204);
        held.resume();
    };
    let body = json!({ "action": "skip", "candidates": [ada.uri] });
    let (report, ()) = tokio::join!(act(&owner, &project, body), meanwhile);
    let row = report.expect(200).json()["objects"][0].clone();
    assert_eq!((&row["errors"]["code"], &row["candidate"]), (&json!("not_found"), &Value::Null));
}

#[tokio::test]
async fn while_another_run_holds_the_lease_no_candidate_is_read() {
    let (app, chaos, owner, project) = given(40).await;
    let body = json!({ "action": "advance", "status": "new" });
    let send = || owner.send(request(&project, Some(KEY), &body));
    let held = chaos.pause("TransactWriteItems");
    let meanwhile = async {
        held.reached().await;
        let refused = send().await;
        assert_refusal!(refused, @r#"409 {"code":"in_progress","detail":"A request with this `Idempotency-Key` is still running. Retry after the seconds in `Retry-After`."}"#);
        assert!(refused.log().read_units < 10.0, "{}", refused.log().read_units);
        held.resume();
    };
    let (done, ()) = tokio::join!(send(), meanwhile);
    assert_eq!(done.expect(200).json()["meta"]["done"], 40);
    app.assert_sound();
}

#[tokio::test]
async fn an_entry_that_loses_to_other_writes_too_often_is_done_by_a_repetition() {
    let (_app, chaos, owner, project) = given(0).await;
    let ada = owner.invite(&project, json!({})).await;
    let other = owner.invite(&project, json!({})).await;
    let body = json!({ "action": "skip", "candidates": [ada.uri, other.uri] });
    let send = || owner.send(request(&project, Some(KEY), &body));
    let id = tests::caller::last_segment(&ada.uri);
    let meanwhile = async {
        // The entry loses once as it was read for all entries, and ten times anew.
        for number in 0..11 {
            let held = chaos.pause_about("TransactWriteItems", id);
            held.reached().await;
            owner.patch(&ada.uri, json!({ "phone": format!("{number}") })).await.expect(200);
            held.resume();
        }
    };
    let (first, ()) = tokio::join!(send(), meanwhile);
    let report = first.expect(200).json();
    assert_eq!(statuses(&report), ["failed", "done"]);
    assert_eq!(
        rows(&report)[0]["errors"],
        json!({ "code": "changed", "detail": "Another request modified this resource. Fetch it and try again." })
    );
    let repeated = send().await.expect(200);
    assert_eq!(repeated.header("idempotent-replayed"), None);
    assert_eq!(statuses(&repeated.json()), ["done", "done"]);
    assert_eq!(owner.get(&ada.uri).await.expect(200).json()["status"], "skipped");
    assert_eq!(send().await.header("idempotent-replayed"), Some("true"));
}

#[tokio::test]
async fn entries_for_which_there_was_no_time_are_left_to_a_repeat() {
    let (app, chaos, owner, project) = given(10).await;
    let body = json!({ "action": "advance", "status": "new" });
    let held: Vec<Pause> = (0..4).map(|_| chaos.pause("TransactWriteItems")).collect();
    let meanwhile = async {
        for lane in &held {
            lane.reached().await;
        }
        app.clock().advance(TimeDelta::seconds(22));
        held.iter().for_each(Pause::resume);
    };
    let send = || owner.send(request(&project, Some(KEY), &body));
    let (first, ()) = tokio::join!(send(), meanwhile);
    let report = first.expect(200).json();
    assert_eq!(
        report["meta"],
        json!({ "total": 10, "done": 4, "failed": 0, "pending": 6, "more": false, "next": null })
    );
    let left = rows(&report).iter().find(|row| row["status"] == "pending").unwrap();
    assert_eq!((&left["code"], &left["interview_url"]), (&json!("not_done_in_time"), &json!("")));
    assert!(left["candidate"].is_string());
    let advice = "Retry the whole request with the same `Idempotency-Key`.";
    assert!(report["detail"].as_str().unwrap().ends_with(advice), "{report:#}");
    let repeated = send().await.expect(200).json();
    assert_eq!(
        repeated["meta"],
        json!({ "total": 10, "done": 10, "failed": 0, "pending": 0, "more": false, "next": null })
    );
    assert_eq!(repeated.get("detail"), None);
}

#[tokio::test]
async fn what_writes_nothing_waits_for_no_turn() {
    let (app, chaos, owner, project) = given(0).await;
    let invited = owner.invite(&project, json!({})).await.uri;
    let skipped = owner.candidate_at(&project, CandidateStatus::Skipped).await;
    let new = owner.candidate(&project, json!({ "deadline": app.clock().in_days(7) })).await;
    let nobody = format!("{project}candidates/01JQ8Z6R7ZP4S3C0V9N2M5K8TD/");
    let body = json!({ "action": "skip", "candidates": [invited, skipped, new, nobody] });
    // No entry begins a turn any more.
    let held = chaos.pause_about("BatchGetItem", "01JQ8Z6R7ZP4S3C0V9N2M5K8TD");
    let late = async {
        held.reached().await;
        app.clock().advance(TimeDelta::seconds(22));
        held.resume();
    };
    let (report, ()) = tokio::join!(act(&owner, &project, body), late);
    let report = report.expect(200).json();
    assert_eq!(statuses(&report), ["pending", "failed", "pending", "failed"], "{report}");
    let codes: Vec<&Value> = rows(&report).iter().map(|row| &row["code"]).collect();
    assert_eq!(codes, ["not_done_in_time", "no_transition", "not_done_in_time", "not_found"]);

    let owners = json!({ "first_name": "Ada", "last_name": "Byron", "external_id": "1" });
    owner.post(&format!("{project}candidates/"), owners.clone()).await.expect(201);
    let unknown = json!([{ "kind": "consent", "version": 9, "language": "en" }]);
    let mut consenting = json!({ "first_name": "Ada", "last_name": "Byron" });
    consenting["consents"] = unknown;
    let list = json!([owners, consenting, { "first_name": "Ada", "last_name": "Byron" }]);
    let held = chaos.pause_about("BatchGetItem", "EXTERNAL#");
    let late = async {
        held.reached().await;
        app.clock().advance(TimeDelta::seconds(22));
        held.resume();
    };
    let (report, ()) = tokio::join!(import(&owner, &project, None, &list), late);
    let report = report.expect(200).json();
    assert_eq!(statuses(&report), ["failed", "failed", "pending"], "{report}");
}

#[tokio::test]
async fn a_deadline_stays_if_the_project_stops_before_the_advance() {
    let (app, chaos, owner, project) = given(1).await;
    let deadline = app.clock().in_days(20);
    let held = chaos.pause("TransactWriteItems");
    let meanwhile = async {
        held.reached().await;
        owner.set_status(&project, "10-incomplete").await.expect(200);
        held.resume();
    };
    let body = json!({ "action": "advance", "status": "new", "deadline": deadline });
    let (report, ()) = tokio::join!(act(&owner, &project, body), meanwhile);
    let row = report.expect(200).json()["objects"][0].clone();
    assert_eq!(row["errors"]["code"], "project_not_running");
    let candidate = owner.get(row["candidate"].as_str().unwrap()).await.expect(200).json();
    assert_eq!((&candidate["status"], &candidate["deadline"]), (&json!("new"), &json!(deadline)));
}

#[tokio::test]
async fn what_the_storage_did_and_nobody_heard_of_is_not_done_again() {
    let (app, chaos, owner, project) = given(0).await;
    let uri = owner.candidate_at(&project, CandidateStatus::Invited).await;
    let before = effects(&app).await;
    let body = json!({ "action": "remind", "candidates": [uri] });
    let send = || owner.send(request(&project, Some(KEY), &body));
    chaos.always("TransactWriteItems", Fault::AnswerLost);
    let deaf = send().await.expect(200).json();
    assert_eq!(deaf["objects"][0]["errors"]["code"], "busy");
    chaos.heal();
    assert_eq!(statuses(&send().await.expect(200).json()), ["done"]);
    assert_acted_once(&app, &before, "").await;
}
