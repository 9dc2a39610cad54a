//! Effects that the outbox cannot do: which wait, which are given up, and how the operator has them taken up again.

use chrono::TimeDelta;
use serde_json::{Value, json};
use shared::event::TableEvent;
use tests::app::TestApp;
use tests::caller::{Caller, Staff};
use tests::chaos::{Chaos, Fault};
use tests::effort;
use tests::logs;

async fn effects(app: &TestApp) -> Vec<Value> {
    let all = app.table().snapshot().await.into_iter();
    all.filter(|((_, sk), _)| sk == "EFFECT").map(|(_, effect)| effect).collect()
}

/// The address of a candidate of a company who is invited, by a mail that is still to be sent.
async fn invited(owner: &Staff) -> String {
    let project = owner.running_project(json!({})).await;
    owner.invite(&project, json!({})).await.email
}

async fn retry(app: &TestApp, mut selection: Value) -> Value {
    selection["command"] = json!("retry-effects");
    app.operate(selection).await.unwrap()["retried"].clone()
}

async fn swept(app: &TestApp, what: &str) -> Value {
    app.sweep().await["OutboxFunction"][what].clone()
}

/// An address to which SES takes no mail, and everything that is to go there given up.
async fn given_up(app: &TestApp, ses: &Chaos) {
    ses.always("SendRawEmail", Fault::Refused("InvalidParameterValue"));
    app.settle().await;
    ses.heal();
}

#[tokio::test]
async fn a_refused_sender_or_account_holds_mails_back_and_loses_none() {
    let codes = ["MessageRejected", "MailFromDomainNotVerifiedException", "AccountSendingPausedException"];
    for code in effort::cases(codes) {
        let (app, ses) = TestApp::start_with_ses_chaos().await;
        let email = invited(&app.owner().await).await;
        ses.always("SendRawEmail", Fault::Refused(code));
        logs::take_lines("outbox");
        app.settle().await;
        // The alarm `MailsRefused` counts these lines.
        let lines = logs::take_lines("outbox");
        assert!(
            lines
                .iter()
                .any(|line| (&line["outcome"], &line["reason"]) == (&json!("Postponed"), &json!(code)))
        );
        for hour in 1..=70 {
            app.clock().advance(TimeDelta::hours(1));
            assert_eq!(swept(&app, "postponed").await, 1, "{code}, hour {hour}");
        }
        assert_eq!(effects(&app).await[0]["attempts"], 1, "none of them counts");
        ses.heal();
        app.clock().advance(TimeDelta::hours(1));
        assert_eq!(swept(&app, "sent").await, 1, "{code}");
        assert_eq!((app.mails_to(&email).len(), effects(&app).await.len()), (1, 0));
    }
}

#[tokio::test]
async fn effects_that_were_given_up_are_retried_or_deleted_after_ninety_days() {
    let (app, ses) = TestApp::start_with_ses_chaos().await;
    let email = invited(&app.owner().await).await;
    ses.always("SendRawEmail", Fault::Refused("AccountSendingPausedException"));
    app.settle().await;
    app.clock().advance(TimeDelta::days(3) + TimeDelta::minutes(1));
    logs::take_lines("outbox");
    assert_eq!(swept(&app, "given_up").await, 1);
    // The template has an alarm for this message. As an error it would take a release back, for what SES refuses.
    let lines = logs::take_lines("outbox");
    let line = lines.iter().find(|line| line["message"] == "given up").unwrap();
    assert_eq!((&line["level"], &line["task"]), (&json!("WARN"), &json!("invitation")), "{line}");
    let effect = effects(&app).await.remove(0);
    assert_eq!(effect["given_up_at"], "2026-11-11T10:01:00Z");
    // 90 days later, in seconds since 1970.
    assert_eq!(effect["expires_at"], 1_794_391_260 + 90 * 24 * 60 * 60);
    app.assert_sound();
    app.clock().advance(TimeDelta::days(1));
    assert_eq!(swept(&app, "given_up").await, 0);

    assert_eq!(retry(&app, json!({})).await, json!({ "invitation": 1 }));
    assert_eq!(retry(&app, json!({})).await, json!({}), "it waits already");
    let effect = effects(&app).await.remove(0);
    assert_eq!((&effect["given_up_at"], effect.get("expires_at")), (&Value::Null, None));
    app.assert_sound();
    // It has its three days again.
    assert_eq!(swept(&app, "postponed").await, 1);
    ses.heal();
    app.clock().advance(TimeDelta::minutes(1));
    assert_eq!(swept(&app, "sent").await, 1);
    assert_eq!((app.mails_to(&email).len(), effects(&app).await.len()), (1, 0));
}

#[tokio::test]
async fn the_operator_sees_what_failed_and_what_was_given_up() {
    let (app, ses) = TestApp::start_with_ses_chaos().await;
    let owner = app.owner().await;
    let listed = async || {
        let outcome = app.operate(json!({ "command": "list-failures" })).await.unwrap();
        outcome["failures"].clone()
    };
    invited(&owner).await;
    assert_eq!(listed().await, json!({ "waiting": [], "given_up": [] }), "not tried yet");
    given_up(&app, &ses).await;
    app.clock().advance(TimeDelta::minutes(5));
    app.owner_of("globex").await.colleague("recruiter", json!({})).await;
    ses.always("SendRawEmail", Fault::Refused("AccountSendingPausedException"));
    app.settle().await;

    let mut found = listed().await;
    let ids = ["waiting", "given_up"].map(|list| found[list][0]["id"].take());
    assert!(ids.iter().all(Value::is_string), "{ids:?}");
    let expected = json!({
        "waiting": [{
            "id": null, "company": "globex", "kind": "customer-invitation", "attempts": 1,
            "created_at": "2026-11-08T10:05:00Z", "next_try_at": "2026-11-08T10:06:00Z",
        }],
        "given_up": [{
            "id": null, "company": "acme", "kind": "invitation", "attempts": 1,
            "created_at": "2026-11-08T10:00:00Z", "given_up_at": "2026-11-08T10:00:00Z",
        }],
    });
    assert_eq!(found, expected);
    ses.heal();
    app.clock().advance(TimeDelta::minutes(1));
    app.sweep().await;
    assert_eq!(listed().await["waiting"], json!([]));
}

#[tokio::test]
async fn deletions_that_are_not_done_are_counted() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let invited = owner.invite(&project, json!({})).await;
    let deletions = async || {
        let outcome = app.operate(json!({ "command": "list-failures" })).await.unwrap();
        outcome["deletions"].clone()
    };
    assert_eq!(deletions().await, json!({ "waiting": 0, "given_up": 0 }), "a mail is none");
    owner.delete(&invited.uri).await.expect(204);
    assert_eq!(deletions().await, json!({ "waiting": 1, "given_up": 0 }), "not tried yet");
    app.settle().await;
    assert_eq!(deletions().await, json!({ "waiting": 0, "given_up": 0 }));
}

#[tokio::test]
async fn the_operator_chooses_by_kind_company_and_time() {
    let (app, ses) = TestApp::start_with_ses_chaos().await;
    let (owner, stranger) = (app.owner().await, app.owner_of("globex").await);
    invited(&owner).await;
    given_up(&app, &ses).await;
    app.clock().advance(TimeDelta::hours(1));
    invited(&owner).await;
    invited(&stranger).await;
    owner.colleague("recruiter", json!({})).await;
    given_up(&app, &ses).await;
    assert_eq!(effects(&app).await.len(), 4);

    for (selection, fields) in [
        (json!({ "kind": "letter" }), vec!["kind"]),
        (json!({ "company": "No" }), vec!["company"]),
        (json!({ "company": "nowhere" }), vec!["company"]),
        (json!({ "kind": "x", "company": "No", "since": "yesterday" }), vec!["company", "kind", "since"]),
    ] {
        let mut command = selection;
        command["command"] = json!("retry-effects");
        let refused: Value =
            serde_json::from_str(&app.operate(command).await.unwrap_err().to_string()).unwrap();
        assert!(refused.as_object().unwrap().keys().eq(&fields), "{refused}");
    }
    for (selection, expected) in [
        (json!({ "kind": "reminder" }), json!({})),
        (json!({ "since": "2026-11-08T11:00:01Z" }), json!({})),
        (json!({ "kind": "customer-invitation" }), json!({ "customer-invitation": 1 })),
        (json!({ "company": "globex" }), json!({ "invitation": 1 })),
        (json!({ "company": "acme", "since": "2026-11-08T11:00:00Z" }), json!({ "invitation": 1 })),
        (json!({ "kind": "invitation" }), json!({ "invitation": 1 })),
    ] {
        assert_eq!(retry(&app, selection.clone()).await, expected, "{selection}");
    }
    assert_eq!(swept(&app, "sent").await, 4);
}

#[tokio::test]
async fn a_malformed_event_is_not_taken_for_the_schedule() {
    let record = json!({ "dynamodb": { "Keys": { "pk": { "S": "EFFECT#1" }, "sk": { "S": "EFFECT" } }, "SequenceNumber": "1" } });
    let is_event = |event: Value| serde_json::from_value::<TableEvent>(event).is_ok();
    assert!(is_event(json!({ "Records": [record] })) && is_event(json!({ "Records": [] })));
    assert!(is_event(json!({ "source": "aws.events", "detail-type": "Scheduled Event", "detail": {} })));
    for event in [
        json!({ "Records": [record, { "dynamodb": { "Keys": {} } }] }),
        json!({ "Records": [{}] }),
        json!({ "Records": "none" }),
        json!({ "records": [] }),
        json!({ "detail-type": "Object Created" }),
        json!({}),
        json!([]),
        Value::Null,
    ] {
        assert!(!is_event(event.clone()), "{event}");
    }
}

#[tokio::test]
async fn a_busy_storage_is_a_warning_that_an_alarm_counts() {
    let (app, dynamodb) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    invited(&owner).await;
    let id = effects(&app).await[0]["id"].as_str().unwrap().to_owned();
    let keys = json!({ "pk": { "S": format!("EFFECT#{id}") }, "sk": { "S": "EFFECT" } });
    let records = json!({ "Records": [{ "dynamodb": { "Keys": keys, "SequenceNumber": "1" } }] });
    let warnings = || {
        let lines = logs::take_lines("outbox");
        assert!(lines.iter().all(|line| line["level"] != "ERROR"), "{lines:?}");
        lines.iter().filter(|line| line["level"] == "WARN" && line["storage_busy"] == 1).count()
    };
    warnings();
    dynamodb.always("PutItem", Fault::Throttled);
    outbox::handle(app.app(), serde_json::from_value(records).unwrap()).await.unwrap();
    assert_eq!(warnings(), 1, "of the partial batch failure");
    app.clock().advance(TimeDelta::minutes(1));
    assert_eq!(swept(&app, "failed").await, 1);
    assert_eq!(warnings(), 1, "of the sweep");
    dynamodb.always("Query", Fault::Throttled);
    let answers = app.events().run_schedules().await;
    assert_eq!(answers["OutboxFunction"].as_ref().unwrap()["more"], true);
    assert_eq!(warnings(), 1, "of the sweep that broke off");
}

#[tokio::test]
async fn an_account_that_goes_while_its_mail_is_made_needs_none() {
    let (app, dynamodb) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let grace = owner.colleague("recruiter", json!({})).await;
    let pause = dynamodb.pause_about("TransactWriteItems", "one_time_key");
    let gone = async {
        pause.reached().await;
        owner.delete(&grace.uri).await.expect(204);
        pause.resume();
    };
    tokio::join!(app.settle(), gone);
    app.settle().await;
    assert_eq!(effects(&app).await.len(), 0);
    assert_eq!(app.mails_to(&grace.email).len(), 1, "that it is deleted");
}
