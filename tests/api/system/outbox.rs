//! Mails: each that a change causes is sent, once, whatever fails on the way.

use aws_sdk_dynamodb::types::AttributeValue;
use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::assert_refusals;
use tests::caller::{Caller, Invited, Staff};
use tests::chaos::{Chaos, Fault};
use tests::http::Request;

async fn effects(app: &TestApp) -> Vec<Value> {
    let all = app.table().snapshot().await.into_iter();
    all.filter(|((_, sk), _)| sk == "EFFECT").map(|(_, effect)| effect).collect()
}

async fn one_effect(app: &TestApp) -> Value {
    let mut all = effects(app).await;
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

/// An invited candidate whose invitation is still to be sent.
async fn invited(app: &TestApp) -> (Staff, Invited) {
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let invited = owner.invite(&project, json!({})).await;
    (owner, invited)
}

async fn with_ses_chaos() -> (TestApp, Chaos, Staff, Invited) {
    let (app, chaos) = TestApp::start_with_ses_chaos().await;
    let (owner, invited) = invited(&app).await;
    (app, chaos, owner, invited)
}

/// How often SES took a mail for the candidate.
fn sent(app: &TestApp, candidate: &Invited) -> usize {
    app.mails_to(&candidate.email).len()
}

#[tokio::test]
async fn each_mail_is_sent_once_in_the_language_of_the_project_from_its_alias() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let senders = json!({ "command": "verify-senders", "company": "acme", "senders": ["acme.example"] });
    app.operate(senders).await.unwrap();
    let project = json!({ "name": "Vertrieb", "support_lang": "de", "email_alias": "jobs@acme.example" });
    let project = owner.running_project(project).await;
    let ada = owner.invite(&project, json!({ "first_name": "Ada", "last_name": "<b>Byron</b>" })).await;
    assert_eq!(app.mails_to(&ada.email).len(), 0, "nothing is sent before the change is stored");
    app.settle().await;

    let mails = app.mails_to(&ada.email);
    let [mail] = &mails[..] else { panic!("{mails:?}") };
    assert_eq!(mail.source, "\"Acme & Sons\" <jobs@acme.example>");
    assert_eq!(mail.to, [ada.email.as_str()]);
    assert!(mail.reply_to.is_empty(), "{:?}", mail.reply_to);
    assert_eq!(mail.subject, "Acme & Sons lädt Sie zu einem Video-Interview ein: Vertrieb");
    let (text, html) = (mail.text.as_ref().unwrap(), mail.html.as_ref().unwrap());
    let link = format!("https://hr.example/register/{}", ada.key);
    assert!(text.contains(&link) && text.contains("<b>Byron</b>"), "{text}");
    assert!(html.contains(&link) && html.contains("&#60;b&#62;Byron") && !html.contains("<b>B"), "{html}");
    assert_eq!(effects(&app).await, [] as [Value; 0]);

    assert_eq!(app.settle().await, 0);
    app.clock().advance(TimeDelta::hours(1));
    assert_eq!(app.sweep().await["OutboxFunction"]["sent"], 0);
    assert_eq!(sent(&app, &ada), 1);

    for (step, subject) in [
        (Request::post(&format!("{}reminder/", ada.uri)), "Erinnerung"),
        (
            Request::patch(&format!("{}deadline/", ada.uri))
                .json(&json!({ "deadline": app.clock().in_days(9) })),
            "Geänderte Frist",
        ),
    ] {
        owner.send(step).await.expect(200);
        app.settle().await;
        let newest = app.mails_to(&ada.email).remove(0);
        assert!(newest.subject.starts_with(subject), "{}", newest.subject);
    }
    assert_eq!(sent(&app, &ada), 3);
}

#[tokio::test]
async fn an_alias_that_is_not_the_companys_gets_the_answers_only() {
    let app = TestApp::start().await;
    let senders = json!({ "command": "verify-senders", "company": "globex", "senders": ["globex.example"] });
    app.owner_of("globex").await;
    app.operate(senders).await.unwrap();
    let owner = app.owner().await;
    let project = owner.running_project(json!({ "email_alias": "ceo@globex.example" })).await;
    let ada = owner.invite(&project, json!({})).await;
    app.settle().await;
    let mail = app.mails_to(&ada.email).remove(0);
    assert_eq!(mail.source, "\"Acme & Sons\" <interviews@localhost.example>");
    assert_eq!(mail.reply_to, ["ceo@globex.example"]);
}

#[tokio::test]
async fn records_that_come_twice_send_nothing_twice() {
    let app = TestApp::start().await;
    let (_, ada) = invited(&app).await;
    let id = one_effect(&app).await["id"].as_str().unwrap().to_owned();
    let record = json!({
        "eventName": "INSERT",
        "dynamodb": {
            "Keys": { "pk": { "S": format!("EFFECT#{id}") }, "sk": { "S": "EFFECT" } },
            "SequenceNumber": "111",
        },
    });
    for records in [json!([record, record]), json!([record])] {
        let event = serde_json::from_value(json!({ "Records": records })).unwrap();
        let answer = outbox::handle(app.app(), event).await.unwrap();
        assert_eq!(serde_json::to_value(answer).unwrap(), json!({ "batchItemFailures": [] }));
    }
    app.settle().await;
    assert_eq!(sent(&app, &ada), 1);
}

#[tokio::test]
async fn the_schedule_sends_mails_that_the_stream_missed() {
    let app = TestApp::start().await;
    let (_, ada) = invited(&app).await;
    assert_eq!(app.sweep().await["OutboxFunction"]["sent"], 0, "the stream has its chance first");
    app.clock().advance(TimeDelta::minutes(1));
    let [one, other] = [app.clone(), app.clone()].map(|app| async move {
        app.events().run_schedules().await["OutboxFunction"].as_ref().unwrap().clone()
    });
    let (one, other) = tokio::join!(one, other);
    assert_eq!(one["sent"].as_u64().unwrap() + other["sent"].as_u64().unwrap(), 1);
    assert_eq!(sent(&app, &ada), 1);
}

#[tokio::test]
async fn a_mail_that_ses_cannot_take_now_is_tried_again_later_each_time() {
    let (app, ses, _, ada) = with_ses_chaos().await;
    ses.always("SendRawEmail", Fault::Refused("InternalFailure"));
    app.settle().await;
    let mut waited = TimeDelta::zero();
    for attempts in 1..8 {
        assert_eq!(one_effect(&app).await["attempts"], attempts);
        let delay = TimeDelta::minutes(1 << attempts);
        app.clock().advance(delay - TimeDelta::seconds(1));
        assert_eq!(app.sweep().await["OutboxFunction"]["postponed"], 0, "not before its time");
        app.clock().advance(TimeDelta::seconds(1));
        waited += delay;
        let summary = app.sweep().await;
        let key = if attempts == 7 { "given_up" } else { "postponed" };
        assert_eq!(summary["OutboxFunction"][key], 1, "try {attempts}: {summary:?}");
    }
    assert_eq!((ses.requests("SendRawEmail"), waited), (8, TimeDelta::minutes(254)));

    ses.heal();
    app.clock().advance(TimeDelta::days(1));
    app.sweep().await;
    assert_eq!(sent(&app, &ada), 0, "what was given up is left to the operator");
    assert_eq!(one_effect(&app).await["work"]["due_at"], Value::Null);
}

#[tokio::test]
async fn a_mail_is_sent_as_soon_as_ses_takes_mails_again() {
    let (app, ses, _, ada) = with_ses_chaos().await;
    ses.next("SendRawEmail", Fault::Unreachable);
    app.settle().await;
    assert_eq!(sent(&app, &ada), 0);
    app.clock().advance(TimeDelta::minutes(2));
    assert_eq!(app.sweep().await["OutboxFunction"]["sent"], 1);
    assert_eq!(sent(&app, &ada), 1);
    assert!(effects(&app).await.is_empty());
}

#[tokio::test]
async fn being_throttled_is_no_failed_try_for_three_days() {
    let (app, ses, _, _) = with_ses_chaos().await;
    ses.always("SendRawEmail", Fault::Refused("Throttling"));
    app.settle().await;
    for _ in 0..12 {
        app.clock().advance(TimeDelta::minutes(1));
        assert_eq!(app.events().run_schedules().await["OutboxFunction"].as_ref().unwrap()["postponed"], 1);
    }
    assert_eq!(one_effect(&app).await["attempts"], 1);
    app.clock().advance(TimeDelta::days(3));
    assert_eq!(app.sweep().await["OutboxFunction"]["given_up"], 1);
}

#[tokio::test]
async fn a_mail_that_ses_will_never_take_is_given_up_at_once() {
    let (app, ses, _, ada) = with_ses_chaos().await;
    ses.next("SendRawEmail", Fault::Refused("InvalidParameterValue"));
    app.settle().await;
    let effect = one_effect(&app).await;
    assert_eq!((&effect["attempts"], &effect["work"]["due_at"]), (&json!(1), &Value::Null));
    app.clock().advance(TimeDelta::days(1));
    app.sweep().await;
    assert_eq!((ses.requests("SendRawEmail"), sent(&app, &ada)), (1, 0));
}

#[tokio::test]
async fn the_schedule_sends_a_mail_whose_worker_died() {
    let (app, dynamodb) = TestApp::start_with_chaos().await;
    let (_, ada) = invited(&app).await;
    // Taken on and sent, and then the table is out of reach.
    dynamodb.always("DeleteItem", Fault::Unreachable);
    app.settle().await;
    assert_eq!(
        (sent(&app, &ada), effects(&app).await.len()),
        (1, 1),
        "SES took it, which could not be noted"
    );
    dynamodb.heal();
    app.clock().advance(TimeDelta::minutes(2) - TimeDelta::seconds(1));
    assert_eq!(app.sweep().await["OutboxFunction"]["sent"], 0, "whoever has it may still be at it");
    app.clock().advance(TimeDelta::seconds(1));
    assert_eq!(app.sweep().await["OutboxFunction"]["sent"], 1);
    assert_eq!(sent(&app, &ada), 2, "the one way to a second mail");
    assert!(effects(&app).await.is_empty());
}

#[tokio::test]
async fn records_that_could_not_be_looked_at_are_asked_for_again() {
    let (app, dynamodb) = TestApp::start_with_chaos().await;
    let (owner, ada) = invited(&app).await;
    let project = owner.running_project(json!({})).await;
    let bob = owner.invite(&project, json!({})).await;
    let mut records = Vec::new();
    for effect in effects(&app).await {
        let id = effect["id"].as_str().unwrap();
        let keys = json!({ "pk": { "S": format!("EFFECT#{id}") }, "sk": { "S": "EFFECT" } });
        let number = format!("{}", records.len());
        records.push(json!({ "dynamodb": { "Keys": keys, "SequenceNumber": number } }));
    }
    let event = |records: &[Value]| serde_json::from_value(json!({ "Records": records })).unwrap();
    dynamodb.always("BatchGetItem", Fault::Throttled);
    let answer = outbox::handle(app.app(), event(&records)).await.unwrap();
    let failures = json!([{ "itemIdentifier": "0" }, { "itemIdentifier": "1" }]);
    assert_eq!(serde_json::to_value(answer).unwrap(), json!({ "batchItemFailures": failures }));
    dynamodb.heal();
    outbox::handle(app.app(), event(&records)).await.unwrap();
    assert_eq!((sent(&app, &ada), sent(&app, &bob)), (1, 1));
}

#[tokio::test]
async fn pointless_mails_are_not_sent() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let outcome = async |change: fn(&str) -> Request| {
        let candidate = owner.invite(&project, json!({})).await;
        assert!(owner.send(change(&candidate.uri)).await.status.is_success());
        app.settle().await;
        assert!(effects(&app).await.is_empty());
        sent(&app, &candidate)
    };
    assert_eq!(outcome(|uri| Request::patch(&format!("{uri}status/skip/"))).await, 0);
    assert_eq!(outcome(Request::delete).await, 0);
    assert_eq!(outcome(|uri| Request::patch(uri).json(&json!({ "phone": "1" }))).await, 1);

    // A reminder, when the deadline passes before it could be sent.
    let late = owner.invite(&project, json!({})).await;
    app.settle().await;
    owner.send(Request::post(&format!("{}reminder/", late.uri))).await.expect(200);
    app.clock().advance(TimeDelta::days(8));
    app.sweep().await;
    app.settle().await;
    assert_eq!(sent(&app, &late), 1, "the invitation only");
    assert!(effects(&app).await.is_empty());
}

#[tokio::test]
async fn a_mail_goes_to_the_address_that_the_candidate_has_when_it_is_sent() {
    let app = TestApp::start().await;
    let (owner, ada) = invited(&app).await;
    let corrected = app.next_email();
    app.clock().advance(TimeDelta::seconds(1));
    owner.patch(&ada.uri, json!({ "email": corrected })).await.expect(200);
    app.settle().await;
    assert_eq!((sent(&app, &ada), app.mails_to(&corrected).len()), (0, 1));
}

#[tokio::test]
async fn nothing_that_a_client_sends_gets_into_the_headers() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let mut refusals = Vec::new();
    for (field, value) in [
        ("email_alias", "jobs@acme.example\r\nBcc: all@other.example"),
        ("email_alias", "a@b.example, c@d.example"),
    ] {
        let mut body = json!({ "name": "Sales" });
        body[field] = value.into();
        refusals.push(owner.post("/companies/acme/projects/", body).await);
    }
    assert_refusals!(refusals, @r#"
        400 {"email_alias":["Control characters are not allowed."]}
        400 {"email_alias":["Enter a valid email address."]}
        "#);
    let odd = "a, b <c@d.example>: \"e\"";
    let project = owner.running_project(json!({ "name": odd })).await;
    for email in ["a@b.co\nBcc: c@d.co", "a@b.co,c@d.co", "<a@b.co>", "a@b.co "] {
        let body = json!({ "first_name": "Ada", "last_name": "Byron", "email": email });
        let response = owner.post(&format!("{project}candidates/"), body).await;
        assert!(email.ends_with(' ') || response.status == 400, "{response}");
    }
    // Line breaks in a name become spaces, so that none gets into a subject.
    let broken = owner.running_project(json!({ "name": "Sales\r\nBcc: all@other.example" })).await;
    for (project, name) in [(project, odd), (broken, "Sales Bcc: all@other.example")] {
        assert_eq!(owner.get(&project).await.expect(200).json()["name"], name);
        let ada = owner.invite(&project, json!({ "first_name": "Bcc: x", "last_name": "@\"<>" })).await;
        app.settle().await;
        let mail = app.mails_to(&ada.email).remove(0);
        assert_eq!((mail.to.len(), mail.cc.len(), mail.bcc.len()), (1, 0, 0));
        assert!(!mail.subject.contains(['\r', '\n']), "{}", mail.subject);
        assert!(mail.subject.contains(name), "{}", mail.subject);
        let raw = mail.raw.as_deref().unwrap();
        let (head, _) = raw.split_once("\r\n\r\n").unwrap();
        assert!(!head.lines().any(|line| line.to_ascii_lowercase().starts_with("bcc")), "{head}");
    }
}

#[tokio::test]
async fn an_effect_that_cannot_be_read_holds_up_no_other() {
    let app = TestApp::start().await;
    app.leave_unsound("one of its effects cannot be read");
    let (owner, ada) = invited(&app).await;
    let id = one_effect(&app).await["id"].as_str().unwrap().to_owned();
    let broken = (format!("EFFECT#{id}"), "EFFECT".to_owned());
    app.table().set(&broken, "attempts", AttributeValue::S("many".to_owned())).await;
    let project = owner.running_project(json!({})).await;
    let bob = owner.invite(&project, json!({})).await;
    app.clock().advance(TimeDelta::minutes(1));
    assert_eq!(app.sweep().await["OutboxFunction"]["sent"], 1);
    assert_eq!((sent(&app, &ada), sent(&app, &bob)), (0, 1));
}
