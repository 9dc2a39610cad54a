//! Bounces and complaints by SES: who gets no more mails, who sees that, and what ends it.

use embedded::Mail;
use serde_json::{Value, json};
use shared::event::RecordOutcome;
use tests::app::TestApp;
use tests::assert_refusal;
use tests::caller::{Caller, PASSWORD, Staff, last_segment};
use tests::http::Request;
use tests::logs;
use tests::platform;

/// The notification of SES about the newest mail to an address.
fn told(app: &TestApp, address: &str, detail: Value) -> Value {
    let mails = app.mails_to(address);
    let mail: &Mail = mails.first().unwrap_or_else(|| panic!("no mail to {address}"));
    let mut tags = json!({ "ses:configuration-set": [mail.configuration_set] });
    for (name, value) in &mail.tags {
        tags[name] = json!([value]);
    }
    let mut detail = detail;
    detail["mail"] = json!({ "messageId": mail.id, "destination": mail.to, "tags": tags });
    let mut event = platform::event("of mails", "2026-11-08T10:00:00Z", detail);
    event["source"] = json!("aws.ses");
    event
}

pub(crate) fn bounced(app: &TestApp, address: &str, kind: &str) -> Value {
    let recipients = json!([{ "emailAddress": address, "action": "failed", "status": "5.1.1" }]);
    let bounce = json!({ "bounceType": kind, "bounceSubType": "General", "bouncedRecipients": recipients });
    told(app, address, json!({ "eventType": "Bounce", "bounce": bounce }))
}

pub(crate) fn complained(app: &TestApp, address: &str) -> Value {
    let complaint = json!({ "complainedRecipients": [{ "emailAddress": address }] });
    told(app, address, json!({ "eventType": "Complaint", "complaint": complaint }))
}

/// The outcome of an event on the bus.
pub(crate) async fn put(app: &TestApp, event: Value) -> String {
    let answers = app.put_event(event).await;
    answers["PlatformEventsFunction"].as_str().unwrap().to_owned()
}

async fn status(owner: &Staff, uri: &str) -> Value {
    owner.get(uri).await.expect(200).json()["email_status"].clone()
}

#[tokio::test]
async fn a_suppressed_address_gets_no_mails_until_it_is_replaced() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let ada = owner.invite(&project, json!({})).await;
    app.settle().await;
    assert_eq!(status(&owner, &ada.uri).await, "deliverable");

    let event = bounced(&app, &ada.email, "Permanent");
    assert_eq!(put(&app, event.clone()).await, "applied");
    assert_eq!(put(&app, event.clone()).await, "ignored", "it comes again");
    assert_eq!(status(&owner, &ada.uri).await, "bounced");
    let remind = || Request::post(&format!("{}reminder/", ada.uri));
    assert_refusal!(owner.send(remind()).await, @r#"400 {"code":"undeliverable","detail":"Mails to this address bounced or were reported as spam. Set another email address first."}"#);
    app.settle().await;
    assert_eq!(app.mails_to(&ada.email).len(), 1);
    ada.get(&ada.uri).await.expect(200);

    let email = app.next_email();
    let changed = owner.patch(&ada.uri, json!({ "email": email })).await.expect(200).json();
    assert_eq!(changed["email_status"], "deliverable");
    assert_eq!(put(&app, event).await, "ignored", "it is of another address");
    owner.send(remind()).await.expect(200);
    app.settle().await;
    assert_eq!(app.mails_to(&email).len(), 2, "the invitation and the reminder");
    let back = json!({ "email": ada.email });
    assert_refusal!(owner.patch(&ada.uri, back).await, @r#"400 {"code":"undeliverable","detail":"Mails to this address bounced or were reported as spam. Set another email address first."}"#);
}

#[tokio::test]
async fn a_reinvitation_is_refused_for_a_suppressed_address() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let ada = owner.invite(&project, json!({})).await;
    app.settle().await;
    owner.set_deadline(&ada.uri, &app.clock().in_days(0)).await.expect(200);
    app.expire_overdue().await;
    assert_eq!(put(&app, complained(&app, &ada.email)).await, "applied");
    owner.set_deadline(&ada.uri, &app.clock().in_days(7)).await.expect(200);
    let before = app.table().snapshot().await;
    assert_refusal!(owner.advance(&ada.uri).await, @r#"400 {"code":"undeliverable","detail":"Mails to this address bounced or were reported as spam. Set another email address first."}"#);
    assert_eq!(app.table().snapshot().await, before);
    owner.patch(&ada.uri, json!({ "email": app.next_email() })).await.expect(200);
    assert_eq!(owner.advance(&ada.uri).await.expect(200).json()["status"], "invited");
}

#[tokio::test]
async fn staff_get_no_more_mails_either() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let grace = owner.colleague("recruiter", json!({})).await;
    app.settle().await;
    assert_eq!(put(&app, complained(&app, &grace.email)).await, "applied");
    assert_eq!(put(&app, bounced(&app, &grace.email, "Permanent")).await, "ignored", "it is known worse");
    assert_eq!(status(&owner, &grace.uri).await, "complained");
    let key = app.mailed_key(&grace.email);
    let again = Request::patch(&format!("{}reinvite/", grace.uri));
    assert_refusal!(owner.send(again).await, @r#"400 {"code":"undeliverable","detail":"Mails to this address bounced or were reported as spam. Set another email address first."}"#);
    let forgotten = json!({ "company": "acme", "username": grace.email });
    app.anonymous().post("/api-password-reset/", forgotten).await.expect(202);
    app.settle().await;
    assert_eq!(app.mails_to(&grace.email).len(), 1);
    let choice = json!({ "activation_key": key, "password": PASSWORD });
    app.anonymous().post("/api-activate/", choice).await.expect(200);
}

#[tokio::test]
async fn password_resets_skip_suppressed_addresses() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let ada = owner.invite(&project, json!({})).await;
    ada.register().await;
    app.settle().await;
    let forgotten = json!({ "company": "acme", "username": ada.email });
    app.anonymous().post("/api-password-reset/", forgotten.clone()).await.expect(202);
    app.settle().await;
    assert_eq!(app.mails_to(&ada.email).len(), 2);
    assert_eq!(put(&app, bounced(&app, &ada.email, "Permanent")).await, "applied");
    app.clock().advance(chrono::TimeDelta::hours(1));
    app.anonymous().post("/api-password-reset/", forgotten).await.expect(202);
    app.settle().await;
    assert_eq!(app.mails_to(&ada.email).len(), 2);
}

#[tokio::test]
async fn a_report_about_an_account_deleted_meanwhile_does_not_fail() {
    let (app, dynamodb) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let ada = owner.invite(&project, json!({})).await;
    let grace = owner.colleague("recruiter", json!({})).await;
    app.settle().await;
    for (uri, email) in [(&ada.uri, &ada.email), (&grace.uri, &grace.email)] {
        let event = bounced(&app, email, "Permanent");
        let pause = dynamodb.pause("TransactWriteItems");
        let gone = async {
            pause.reached().await;
            owner.delete(uri).await.expect(204);
            pause.resume();
        };
        let (outcome, ()) = tokio::join!(put(&app, event), gone);
        assert_eq!(outcome, "ignored", "{uri}");
    }
}

#[tokio::test]
async fn transient_bounces_and_unknown_recipients_change_nothing() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let ada = owner.invite(&project, json!({})).await;
    app.settle().await;
    let event = bounced(&app, &ada.email, "Permanent");
    assert_eq!(put(&app, bounced(&app, &ada.email, "Transient")).await, "ignored");
    let mut untagged = event.clone();
    untagged["detail"]["mail"]["tags"].as_object_mut().unwrap().remove("recipient");
    assert_eq!(put(&app, untagged).await, "ignored");
    let mut odd = event.clone();
    odd["detail"]["mail"]["tags"]["recipient"] = json!(["acme_nobody"]);
    app.report(odd).await.unwrap_err();
    let mut empty = event.clone();
    empty["detail"] = json!({});
    app.report(empty).await.unwrap_err();
    // Mails of others in the same AWS account.
    let mut foreign = event.clone();
    foreign["detail"]["mail"]["tags"]["ses:configuration-set"] = json!(["newsletter"]);
    app.events().put_event(foreign).await.unwrap_err();
    assert_eq!(status(&owner, &ada.uri).await, "deliverable");

    owner.delete(&ada.uri).await.expect(204);
    assert_eq!(put(&app, event).await, "ignored");
}

#[tokio::test]
async fn addresses_are_reported_in_every_form_that_a_header_has() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    for form in [
        "Kim Lee <{}>",
        "<{}>",
        " {} ",
        "\"Lee, Kim <kim@other.example>\" <{}>",
        "{} (Kim Lee)",
        "=?utf-8?q?K=C3=ADm?= <{}>",
        "kim@other.example, Kim\t<{}>",
    ] {
        let (bounce, complaint) =
            (owner.invite(&project, json!({})).await, owner.invite(&project, json!({})).await);
        app.settle().await;
        let reported = |email: &str| json!(form.replace("{}", &email.to_uppercase()));
        let mut event = bounced(&app, &bounce.email, "Permanent");
        event["detail"]["bounce"]["bouncedRecipients"][0]["emailAddress"] = reported(&bounce.email);
        assert_eq!(put(&app, event).await, "applied", "{form}");
        assert_eq!(status(&owner, &bounce.uri).await, "bounced", "{form}");
        let mut event = complained(&app, &complaint.email);
        event["detail"]["complaint"]["complainedRecipients"][0]["emailAddress"] = reported(&complaint.email);
        assert_eq!(put(&app, event).await, "applied", "{form}");
        assert_eq!(status(&owner, &complaint.uri).await, "complained", "{form}");
    }
    // Only a name that looks like the address.
    let ada = owner.invite(&project, json!({})).await;
    app.settle().await;
    let mut event = bounced(&app, &ada.email, "Permanent");
    event["detail"]["bounce"]["bouncedRecipients"][0]["emailAddress"] =
        json!(format!("\"{0} <{0}>\" <kim@other.example>", ada.email));
    assert_eq!(put(&app, event).await, "ignored");
    assert_eq!(status(&owner, &ada.uri).await, "deliverable");
}

#[tokio::test]
async fn reports_that_are_no_complaint_change_nothing() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let ada = owner.invite(&project, json!({})).await;
    app.settle().await;
    let report = |kind: Value| {
        let mut event = complained(&app, &ada.email);
        event["detail"]["complaint"]["complaintFeedbackType"] = kind;
        event
    };
    for kind in ["not-spam", "Not-Spam", "auth-failure"] {
        assert_eq!(put(&app, report(json!(kind))).await, "ignored", "{kind}");
    }
    assert_eq!(status(&owner, &ada.uri).await, "deliverable");
    assert_eq!(put(&app, report(json!("abuse"))).await, "applied");
    assert_eq!(status(&owner, &ada.uri).await, "complained");
    assert_eq!(put(&app, report(json!("not-spam"))).await, "ignored", "only the operator frees an address");
    for kind in [json!("fraud"), json!("virus"), json!("other"), Value::Null] {
        let candidate = owner.invite(&project, json!({})).await;
        app.settle().await;
        let mut event = complained(&app, &candidate.email);
        event["detail"]["complaint"]["complaintFeedbackType"] = kind.clone();
        assert_eq!(put(&app, event).await, "applied", "{kind}");
    }
}

#[tokio::test]
async fn reports_without_values_are_ignored() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let ada = owner.invite(&project, json!({})).await;
    app.settle().await;
    let (bounce, complaint) = (bounced(&app, &ada.email, "Permanent"), complained(&app, &ada.email));
    for (event, path) in [
        (&bounce, "/detail/bounce/bouncedRecipients"),
        (&bounce, "/detail/bounce/bouncedRecipients/0/emailAddress"),
        (&bounce, "/detail/bounce/bounceType"),
        (&bounce, "/detail/bounce"),
        (&bounce, "/detail/mail/tags"),
        (&bounce, "/detail/mail/tags/recipient"),
        (&complaint, "/detail/complaint/complainedRecipients"),
        (&complaint, "/detail/complaint/complainedRecipients/0/emailAddress"),
        (&complaint, "/detail/complaint"),
    ] {
        let mut event = event.clone();
        *event.pointer_mut(path).unwrap() = Value::Null;
        assert_eq!(app.report(event).await.unwrap(), RecordOutcome::Ignored, "{path}");
    }
    assert_eq!(status(&owner, &ada.uri).await, "deliverable");
    let mut event = bounce;
    event["detail"]["bounce"]["bounceSubType"] = Value::Null;
    event["detail"]["bounce"]["bouncedRecipients"][0]["status"] = Value::Null;
    assert_eq!(put(&app, event).await, "applied");
}

#[tokio::test]
async fn the_log_tells_why_a_mail_bounced_without_the_address() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let ada = owner.invite(&project, json!({})).await;
    app.settle().await;
    logs::take_lines("platform-events");
    for (kind, status, logged) in
        [("Transient", "4.2.2", json!("4.2.2")), ("Permanent", "<ada@mail.example>", Value::Null)]
    {
        let mut event = bounced(&app, &ada.email, kind);
        event["detail"]["bounce"]["bouncedRecipients"][0]["status"] = json!(status);
        put(&app, event).await;
        let lines = logs::take_lines("platform-events");
        let line = &lines[0];
        assert!(line["recipient"].as_str().unwrap().ends_with(last_segment(&ada.uri)), "{line}");
        assert_eq!((&line["bounce_type"], &line["bounce_sub_type"]), (&json!(kind), &json!("General")));
        assert_eq!((&line["smtp_status"], &line["is_complaint"]), (&logged, &json!(false)));
    }
    put(&app, complained(&app, &ada.email)).await;
    assert_eq!(logs::take_lines("platform-events")[0]["is_complaint"], true);
}

#[tokio::test]
async fn candidates_without_an_address_have_an_empty_email_status() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let uri = owner.candidate(&project, json!({})).await;
    assert_eq!(status(&owner, &uri).await, "");
    let shown = owner.patch(&uri, json!({ "email_status": "bounced" })).await.expect(200).json();
    assert_eq!(shown["email_status"], "", "it is not the client's to say");
}
