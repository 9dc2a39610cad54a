//! Reminders that go without a request, and the mail about a completed interview.

use aws_sdk_dynamodb::types::AttributeValue;
use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::assert_refusal;
use tests::caller::{Caller, Invited, Staff, Token, last_segment};
use tests::effort;
use tests::http::Request;

use crate::system::undeliverable::{bounced as bounce, put};

/// The service, its owner, and a running project whose candidates are reminded on these days.
async fn given(days: Value) -> (TestApp, Staff, String) {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let fields = json!({ "allow_hash_login": true, "reminder_days": days, "interview_platform": "builtin" });
    let project = owner.running_project(fields).await;
    owner.post(&format!("{project}questions/"), json!({ "text": "Why us?" })).await.expect(201);
    (app, owner, project)
}

/// Lets time go on to so many hours before the deadline of `Staff::invite`, which is a week ahead at first, and sweeps.
async fn sweep_after(app: &TestApp, hours: i64) -> deadline_expiry::ExpirySummary {
    app.clock().advance(TimeDelta::hours(hours));
    app.expire_overdue().await
}

/// The subjects of the mails to a candidate, oldest first, without the name of the company and the project.
async fn mails(app: &TestApp, candidate: &Invited) -> Vec<&'static str> {
    app.settle().await;
    let kind = |subject: &str| match subject {
        _ if subject.contains("invites you") => "invitation",
        _ if subject.starts_with("Reminder") => "reminder",
        _ if subject.starts_with("Changed deadline") => "deadline",
        _ if subject.contains("has arrived") => "completed",
        _ => "another",
    };
    app.mails_to(&candidate.email).iter().rev().map(|mail| kind(&mail.subject)).collect()
}

async fn english(owner: &Staff) {
    owner.patch("/companies/acme/", json!({ "default_project_lang": "en" })).await.expect(200);
}

#[tokio::test]
async fn candidates_are_reminded_on_each_day_once() {
    let (app, owner, project) = given(json!([3, 1, 2])).await;
    english(&owner).await;
    assert_eq!(owner.get(&project).await.expect(200).json()["reminder_days"], json!([1, 2, 3]));
    let [ada, confirmed, begun, skipped] = [
        owner.invite(&project, json!({})).await,
        owner.invite(&project, json!({})).await,
        owner.invite(&project, json!({})).await,
        owner.invite(&project, json!({})).await,
    ];
    app.settle().await;
    confirmed.advance(&confirmed.uri).await.expect(200);
    for _ in 0..2 {
        begun.advance(&begun.uri).await.expect(200);
    }
    owner.skip(&skipped.uri).await.expect(200);
    let next = |token: Token, uri: String| async move {
        token.get(&uri).await.expect(200).json()["next_reminder_at"].clone()
    };
    assert_eq!(next(owner.new_token().await, ada.uri.clone()).await, app.clock().in_days(4));
    assert_eq!(next(owner.new_token().await, skipped.uri.clone()).await, Value::Null);
    assert_eq!(next(owner.new_token().await, begun.uri.clone()).await, Value::Null);

    assert_eq!(sweep_after(&app, 4 * 24 - 1).await.reminded, 0);
    for day in [3, 2, 1] {
        // A minute late, and then once more.
        let hours = if day == 3 { 1 } else { 24 };
        let summary = sweep_after(&app, hours).await;
        assert_eq!((summary.reminded, summary.dropped, summary.failed), (2, 0, 0), "{day}");
        assert_eq!(app.expire_overdue().await.reminded, 0);
        let expected = if day == 1 { Value::Null } else { json!(app.clock().in_days(1)) };
        assert_eq!(next(owner.new_token().await, ada.uri.clone()).await, expected);
    }
    for one in [&ada, &confirmed] {
        assert_eq!(mails(&app, one).await, ["invitation", "reminder", "reminder", "reminder"]);
    }
    for one in [&begun, &skipped] {
        assert_eq!(mails(&app, one).await, ["invitation"]);
    }

    // The event names nobody as its author.
    let events = owner.new_token().await.get(&format!("{}events/", ada.uri)).await.expect(200).json();
    let events = events["objects"].as_array().unwrap();
    let reminded: Vec<&Value> =
        events.iter().filter(|event| event["types"] == json!(["candidate.reminded"])).collect();
    assert_eq!(reminded.len(), 3);
    assert!(reminded.iter().all(|event| event["by"]["kind"] == "system"), "{reminded:?}");

    assert_eq!(sweep_after(&app, 24).await.expired, 2);
}

#[tokio::test]
async fn reminders_follow_the_deadline_by_the_days_of_then() {
    let (app, owner, project) = given(json!([2])).await;
    english(&owner).await;
    let ada = owner.invite(&project, json!({})).await;
    // A later change of the days is for later deadlines.
    owner.patch(&project, json!({ "reminder_days": [1] })).await.expect(200);
    let next = |candidate: Value| candidate["next_reminder_at"].clone();
    assert_eq!(next(owner.get(&ada.uri).await.expect(200).json()), app.clock().in_days(5));
    let moved = owner.set_deadline(&ada.uri, &app.clock().in_days(3)).await.expect(200).json();
    assert_eq!(next(moved), app.clock().in_days(2));
    let same = owner
        .patch(&ada.uri, json!({ "phone": "1", "deadline": app.clock().in_days(3) }))
        .await
        .expect(200)
        .json();
    assert_eq!(next(same), app.clock().in_days(2));
    let none = owner.patch(&ada.uri, json!({ "deadline": null })).await.expect(200).json();
    assert_eq!(next(none), Value::Null);
    let near = owner.set_deadline(&ada.uri, &app.clock().in_days(1)).await.expect(200).json();
    assert_eq!(next(near), Value::Null, "that moment is over");
    owner.patch(&project, json!({ "reminder_days": [] })).await.expect(200);
    let far = owner.set_deadline(&ada.uri, &app.clock().in_days(9)).await.expect(200).json();
    assert_eq!(next(far), Value::Null);
    assert_eq!(sweep_after(&app, 8 * 24).await.reminded, 0);

    // Expired, and advanced again.
    owner.new_token().await.patch(&project, json!({ "reminder_days": [1] })).await.expect(200);
    sweep_after(&app, 24).await;
    let owner = owner.new_token().await;
    let expired = owner.set_deadline(&ada.uri, &app.clock().in_days(5)).await.expect(200).json();
    assert_eq!((&expired["status"], next(expired.clone())), (&json!("expired"), Value::Null));
    assert_eq!(next(owner.advance(&ada.uri).await.expect(200).json()), app.clock().in_days(4));
    assert_eq!(sweep_after(&app, 4 * 24).await.reminded, 1);
}

#[tokio::test]
async fn a_reminder_is_dropped_after_another_mail_an_outage_or_what_ends_mails() {
    let (app, owner, project) = given(json!([1])).await;
    english(&owner).await;
    let [asked, moved, silent, bounced, erased, plain] = {
        let mut all = Vec::new();
        for _ in 0..6 {
            all.push(owner.invite(&project, json!({})).await);
        }
        <[Invited; 6]>::try_from(all).ok().unwrap()
    };
    app.settle().await;
    owner.patch(&silent.uri, json!({ "receive_mails": false })).await.expect(200);
    assert_eq!(put(&app, bounce(&app, &bounced.email, "Permanent")).await, "applied");
    erased.send(Request::put(&format!("{}erasure-request/", erased.uri))).await.expect(200);
    app.clock().advance(TimeDelta::hours(5 * 24 + 1));
    let token = owner.new_token().await;
    token.post(&format!("{}reminder/", asked.uri), json!({})).await.expect(200);
    let new = (app.clock().in_days(1), TimeDelta::hours(1));
    token.set_deadline(&moved.uri, &new.0).await.expect(200);
    let summary = sweep_after(&app, 23).await;
    assert_eq!((summary.reminded, summary.dropped, summary.failed), (1, 4, 0));
    assert_eq!(mails(&app, &asked).await, ["invitation", "reminder"]);
    assert_eq!(mails(&app, &moved).await, ["invitation", "deadline"]);
    assert_eq!(mails(&app, &plain).await, ["invitation", "reminder"]);
    for one in [&silent, &bounced, &erased] {
        assert_eq!(mails(&app, one).await, ["invitation"]);
    }
}

#[tokio::test]
async fn what_an_outage_has_made_a_day_late_is_dropped() {
    let (app, owner, project) = given(json!([1, 2, 4])).await;
    english(&owner).await;
    let ada = owner.invite(&project, json!({})).await;
    app.settle().await;
    let summary = sweep_after(&app, 5 * 24).await;
    assert_eq!(
        (summary.reminded, summary.dropped),
        (1, 0),
        "of two days before; that of four is two days late"
    );
    assert_eq!(mails(&app, &ada).await, ["invitation", "reminder"]);
    // A month: everything is over.
    let summary = sweep_after(&app, 30 * 24).await;
    assert_eq!((summary.reminded, summary.expired), (0, 1));
    assert_eq!(mails(&app, &ada).await.len(), 2);
}

#[tokio::test]
async fn two_sweeps_at_once_remind_once_and_a_deadline_in_the_same_minute_comes_first() {
    let (app, owner, project) = given(json!([1])).await;
    english(&owner).await;
    let mut all = Vec::new();
    for _ in 0..30 {
        all.push(owner.invite(&project, json!({})).await);
    }
    app.clock().advance(TimeDelta::hours(6 * 24));
    let sweeps = futures_util::future::join_all((0..3).map(|_| app.expire_overdue())).await;
    assert_eq!(sweeps.iter().map(|summary| summary.reminded).sum::<usize>(), 30);
    for one in &all {
        assert_eq!(mails(&app, one).await, ["invitation", "reminder"]);
    }

    let (app, owner, project) = given(json!([1])).await;
    let late = owner.invite(&project, json!({})).await;
    let summary = sweep_after(&app, 7 * 24).await;
    assert_eq!((summary.reminded, summary.expired), (0, 1));
    assert_eq!(owner.new_token().await.get(&late.uri).await.expect(200).json()["status"], "expired");
}

#[tokio::test]
async fn a_project_that_cannot_be_read_holds_up_no_other() {
    let (app, owner, project) = given(json!([1])).await;
    english(&owner).await;
    let broken = owner.running_project(json!({ "allow_hash_login": true, "reminder_days": [1] })).await;
    let ada = owner.invite(&project, json!({})).await;
    let grace = owner.invite(&broken, json!({})).await;
    let late = owner.invite(&broken, json!({ "deadline": app.clock().in_days(6) })).await;
    app.settle().await;
    let key = ("COMPANY#acme".to_owned(), format!("PROJECT#{}", last_segment(&broken)));
    let settings = app.table().contents().await[&key]["settings"].clone();
    app.table().set(&key, "settings", AttributeValue::S("x".to_owned())).await;
    let summary = sweep_after(&app, 6 * 24).await;
    assert_eq!((summary.reminded, summary.expired, summary.failed), (1, 1, 1));
    assert_eq!(mails(&app, &ada).await, ["invitation", "reminder"]);

    // Once it can be read, the reminder follows.
    app.table().set(&key, "settings", settings).await;
    assert_eq!(app.expire_overdue().await.reminded, 1);
    assert_eq!(mails(&app, &grace).await, ["invitation", "reminder"]);
    assert_eq!(owner.new_token().await.get(&late.uri).await.expect(200).json()["status"], "expired");
}

#[tokio::test]
async fn days_are_few_different_and_before_the_deadline() {
    let (app, owner, project) = given(json!([])).await;
    assert_eq!(owner.get(&project).await.expect(200).json()["reminder_days"], json!([]));
    let before = app.table().snapshot().await;
    for (days, refusal) in [
        (json!([1, 2, 3, 4]), "Ensure this list has no more than 3 items."),
        (json!([1, 1]), "Each day may appear only once."),
        (json!([0]), "Use whole numbers from 1 to 14."),
        (json!([15]), "Use whole numbers from 1 to 14."),
        (json!([-1]), "Use whole numbers from 1 to 14."),
        (json!([1.5]), "Use whole numbers from 1 to 14."),
        (json!(["1"]), "Use whole numbers from 1 to 14."),
        (json!(1), "Expected a list of items."),
        (Value::Null, "This field may not be null."),
    ] {
        let response = owner.patch(&project, json!({ "reminder_days": days })).await;
        response.expect_json(400, json!({ "reminder_days": [refusal] }));
    }
    assert_eq!(app.table().snapshot().await, before);
}

#[tokio::test]
async fn managers_see_the_next_reminder_and_all_staff_the_days() {
    let (_, owner, project) = given(json!([1])).await;
    let reviewer = owner.colleague("hiring-manager", json!({})).await.activate().await;
    owner.patch(&project, json!({ "reviewers": [reviewer.uri] })).await.expect(200);
    let ada = owner.invite(&project, json!({})).await;
    assert_eq!(reviewer.get(&project).await.expect(200).json()["reminder_days"], json!([1]));
    for other in [reviewer.get(&ada.uri).await, ada.get(&ada.uri).await, ada.get("/whoami/candidate/").await]
    {
        assert_eq!(other.expect(200).json().get("next_reminder_at"), None);
    }
    assert_refusal!(reviewer.patch(&project, json!({ "reminder_days": [2] })).await, @r#"
        403 {
          "code":"permission_denied",
          "detail":"You do not have the permission `change_project` here.",
          "permission":"change_project"
        }
    "#);
}

#[tokio::test]
async fn the_end_of_an_interview_here_is_confirmed_by_mail() {
    let (app, owner, project) = given(json!([])).await;
    english(&owner).await;
    owner.patch(&project, json!({ "contact_person": "Grace Hopper" })).await.expect(200);
    let questions = owner.get(&format!("{project}questions/")).await.expect(200).json();
    let optional = json!({ "is_required": false });
    owner.patch(questions["objects"][0]["resource_uri"].as_str().unwrap(), optional).await.expect(200);
    let begin = async || {
        let candidate = owner.invite(&project, json!({})).await;
        app.settle().await;
        for _ in 0..2 {
            candidate.advance(&candidate.uri).await.expect(200);
        }
        candidate
    };
    let (own, closed, reported, aborted) = (begin().await, begin().await, begin().await, begin().await);
    let silent = begin().await;
    owner.patch(&silent.uri, json!({ "receive_mails": false })).await.expect(200);
    for one in [&own, &silent] {
        one.advance(&one.uri).await.expect(200);
    }
    app.complete(&reported.uri).await;
    app.abort(&aborted.uri).await;
    for one in [&own, &reported] {
        assert_eq!(mails(&app, one).await, ["invitation", "completed"]);
    }
    for one in [&silent, &aborted, &closed] {
        assert_eq!(mails(&app, one).await, ["invitation"]);
    }
    // Takes that are on their way still arrive, for some minutes.
    let summary = sweep_after(&app, 7 * 24 + 1).await;
    assert_eq!(summary.interviewed, 1, "{summary:?}");
    assert_eq!(mails(&app, &closed).await, ["invitation", "completed"]);

    let mail = app.mails_to(&own.email).remove(0);
    let text = mail.text.as_deref().unwrap();
    assert!(text.contains("Grace Hopper") && !text.contains("http"), "{text}");
}

#[tokio::test]
async fn the_end_of_an_interview_elsewhere_is_not() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({ "allow_hash_login": true })).await;
    let ada = owner.invite(&project, json!({})).await;
    app.settle().await;
    for _ in 0..2 {
        ada.advance(&ada.uri).await.expect(200);
    }
    app.complete(&ada.uri).await;
    assert_eq!(mails(&app, &ada).await.len(), 1);
}

/// Kills the run that reminds after each of its writes in turn.
#[tokio::test]
async fn a_run_that_is_killed_at_any_write_reminds_each_once() {
    for writes in effort::numbers(3) {
        let (app, chaos) = TestApp::start_with_chaos().await;
        let owner = app.owner().await;
        english(&owner).await;
        let project = owner.running_project(json!({ "allow_hash_login": true, "reminder_days": [1] })).await;
        let mut all = Vec::new();
        for _ in 0..6 {
            all.push(owner.invite(&project, json!({})).await);
        }
        app.settle().await;
        app.clock().advance(TimeDelta::hours(6 * 24));
        chaos.cut_after_writes(writes);
        let _ = app.events().run_schedules().await;
        let was_spared = chaos.left() > Some(0);
        chaos.heal();
        for _ in 0..5 {
            app.settle().await;
            app.clock().advance(TimeDelta::minutes(1));
            app.sweep().await;
        }
        for one in &all {
            assert_eq!(mails(&app, one).await, ["invitation", "reminder"], "{writes} writes");
        }
        if was_spared {
            assert!(writes > 0);
            break;
        }
    }
}

#[tokio::test]
async fn a_record_of_a_reminder_that_comes_twice_mails_once() {
    let (app, owner, project) = given(json!([1])).await;
    english(&owner).await;
    let ada = owner.invite(&project, json!({})).await;
    app.settle().await;
    assert_eq!(sweep_after(&app, 6 * 24).await.reminded, 1);
    let effect = app.table().contents().await.into_keys().find(|(_, sk)| sk == "EFFECT").unwrap().0;
    let record = json!({
        "eventName": "INSERT",
        "dynamodb": {
            "Keys": { "pk": { "S": effect }, "sk": { "S": "EFFECT" } },
            "SequenceNumber": "111",
        },
    });
    for records in [json!([record, record]), json!([record])] {
        let event = serde_json::from_value(json!({ "Records": records })).unwrap();
        outbox::handle(app.app(), event).await.unwrap();
    }
    assert_eq!(mails(&app, &ada).await, ["invitation", "reminder"]);
}

#[tokio::test]
async fn a_project_that_is_not_running_reminds_nobody() {
    let (app, owner, project) = given(json!([1])).await;
    english(&owner).await;
    let ada = owner.invite(&project, json!({})).await;
    app.settle().await;
    // No request stops a project whose candidates are invited: this is the second lock.
    let key = ("COMPANY#acme".to_owned(), format!("PROJECT#{}", last_segment(&project)));
    app.table().set(&key, "status", AttributeValue::S("60-closed".to_owned())).await;
    let summary = sweep_after(&app, 6 * 24).await;
    assert_eq!((summary.reminded, summary.dropped, summary.failed), (0, 1, 0));
    assert_eq!(mails(&app, &ada).await, ["invitation"]);
    app.leave_unsound("no counts and no index follow the status of the project");
}
