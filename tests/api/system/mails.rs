//! Every kind of mail: what its headers tell the programs that answer for absent people.

use std::time::Duration;

use chrono::TimeDelta;
use export_writer::InvocationLimits;
use serde_json::json;
use shared::domain::webhook::DisabledReason::{Failing, Gone};
use shared::domain::webhook::WebhookMail;
use tests::app::TestApp;
use tests::caller::{Caller, Staff};
use tests::http::Request;
use tests::issuer::{CLIENT, CLIENT_SECRET, SigningAlgorithm, SigningKey, TestIssuer};

use crate::events::webhooks::{mails::note, webhook};
use crate::interviews::reopening::reopening;
use crate::interviews::{begin, project, write};

/// The lines of all mails, by occasion.
const TEMPLATE: &str = include_str!("../../../shared/templates/en.txt");

/// The texts in the subject of each kind of mail, without those that depend on something.
fn kinds() -> Vec<Vec<String>> {
    let lines = TEMPLATE.lines().zip(TEMPLATE.lines().skip(1));
    let subjects = lines.filter(|(arm, _)| arm.ends_with("MailLine::Subject) %}"));
    subjects.map(|(_, subject)| literals(subject)).collect()
}

/// The texts of a line of a template outside of its expressions and conditions.
fn literals(line: &str) -> Vec<String> {
    let (mut found, mut depth) = (Vec::new(), 0);
    for (number, part) in line.split("{%").enumerate() {
        let (tag, text) = if number == 0 { ("", part) } else { part.split_once("%}").unwrap() };
        depth += i32::from(tag.trim().starts_with("if")) - i32::from(tag.trim() == "endif");
        if depth == 0 {
            let texts = text.split("{{").map(|text| text.rsplit("}}").next().unwrap());
            found.extend(texts.filter(|text| !text.trim().is_empty()).map(ToOwned::to_owned));
        }
    }
    found
}

/// The kind of a mail with this subject: the one that has most of it.
fn kind_of(subject: &str, kinds: &[Vec<String>]) -> usize {
    let matches = |texts: &Vec<String>| {
        let mut rest = Some(subject);
        for text in texts {
            rest = rest.and_then(|rest| Some(rest.split_once(text.as_str())?.1));
        }
        rest.map(|_| texts.iter().map(String::len).sum::<usize>())
    };
    let matching = kinds.iter().enumerate().filter_map(|(kind, texts)| Some((matches(texts)?, kind)));
    matching.max().unwrap().1
}

/// Has each mail to candidates and their staff sent. Returns the recipients.
async fn interviews(app: &TestApp, owner: &Staff) -> Vec<String> {
    let manager = owner.colleague("hiring-manager", json!({})).await.activate().await;
    let settings = json!({ "name": "Sales", "max_interview_time": 10, "interview_managers": [manager.uri] });
    let asked = [json!({ "text": "Since when?", "kind": "text" }), json!({ "text": "Why us?" })];
    let (long, questions) = project(owner, settings, &asked).await;
    let late = begin(owner, &long).await;
    write(&late, &questions[0], "2019").await.expect(201);
    app.settle().await;
    app.clock().advance(TimeDelta::minutes(70));
    app.expire_overdue().await;
    app.settle().await;
    // Mails to staff gather what ends within five minutes.
    app.clock().advance(TimeDelta::minutes(5));
    app.sweep().await;
    app.settle().await;
    let more = json!({ "deadline": app.clock().in_days(7) });
    owner.send(reopening(&late.uri, more)).await.expect(200);
    app.settle().await;

    let settings = json!({ "name": "Support", "evaluators": [manager.uri], "evaluation_days": 1 });
    let (short, questions) = project(owner, settings, &asked[..1]).await;
    let done = begin(owner, &short).await;
    write(&done, &questions[0], "2019").await.expect(201);
    done.advance(&done.uri).await.expect(200);
    let waiting = owner.invite(&short, json!({})).await;
    app.settle().await;
    let remind = json!({ "action": "remind", "status": "invited" });
    owner.post(&format!("{short}candidates/bulk/"), remind).await.expect(200);
    owner.set_deadline(&waiting.uri, &app.clock().in_days(5)).await.expect(200);
    app.settle().await;
    waiting.ask(&waiting.uri, "time", "My exam is on the same day.").await.expect(200);
    app.settle().await;
    owner.answer_help(&waiting.uri, "You have until Friday.").await.expect(200);
    app.settle().await;
    owner.set_deadline(&waiting.uri, &app.clock().in_days(0)).await.expect(200);
    app.expire_overdue().await;
    owner.set_deadline(&waiting.uri, &app.clock().in_days(3)).await.expect(200);
    owner.advance(&waiting.uri).await.expect(200);
    app.settle().await;
    app.anonymous().post("/candidate-links/", json!({ "key": waiting.key })).await.expect(202);
    app.settle().await;
    let filled = json!({ "reason": "The position is filled.", "notify": true });
    owner.post(&format!("{}cancel/", waiting.uri), filled).await.expect(200);
    app.settle().await;
    vec![manager.email, late.email, done.email, waiting.email]
}

/// Has each mail about accounts sent. Returns the recipients.
async fn accounts(app: &TestApp, owner: &Staff) -> Vec<String> {
    let [pending, settled, leaving] =
        [app.staff("recruiter").await, app.staff("recruiter").await, app.staff("recruiter").await];
    let forgotten = json!({ "company": owner.company, "username": leaving.username });
    app.anonymous().post("/api-password-reset/", forgotten).await.expect(202);
    let new = app.next_email();
    owner.patch(&pending.uri, json!({ "email": new })).await.expect(200);
    let at_once = json!({ "email": app.next_email(), "confirm": true });
    owner.patch(&settled.uri, at_once).await.expect(200);
    app.settle().await;
    let restoration = json!({ "key": app.mailed_key(&pending.email) });
    app.anonymous().post("/api-email-restore/", restoration).await.expect(204);
    owner.delete(&leaving.uri).await.expect(204);
    app.settle().await;
    vec![new, pending.email, settled.email, leaving.email]
}

/// Has each mail to owners and about the provider of the company sent. Returns the recipient of the latter.
async fn service(app: &TestApp, owner: &Staff) -> String {
    let uri = webhook(owner, json!({ "types": ["candidate.created"] })).await;
    for (mail, reason) in [
        (WebhookMail::Failing, None),
        (WebhookMail::Disabled, Some(Failing)),
        (WebhookMail::Disabled, Some(Gone)),
    ] {
        owner.patch(&uri, json!({ "is_enabled": true })).await.expect(200);
        note(app, &uri, mail, reason).await;
        app.settle().await;
    }
    for limits in [
        InvocationLimits::SCHEDULED,
        InvocationLimits { archive: Duration::ZERO, ..InvocationLimits::SCHEDULED },
    ] {
        owner.post(&format!("/companies/{}/exports/", owner.company), json!({})).await.expect(202);
        app.settle().await;
        app.write_exports(limits).await.unwrap();
        app.settle().await;
    }
    let issuer = TestIssuer::start(&[&SigningKey::new("first", SigningAlgorithm::Es256)]).await;
    let provider = json!({
        "issuer": issuer.url, "client_id": CLIENT, "client_secret": CLIENT_SECRET, "domains": ["acme.example"],
        "required": true, "break_glass": [owner.uri],
    });
    let settings = format!("/companies/{}/sign-in/", owner.company);
    owner.again().await.send(Request::put(&settings).json(&provider)).await.expect(200);
    let invited = owner.colleague("recruiter", json!({})).await;
    app.settle().await;
    invited.email
}

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_of_mail_tells_that_a_program_has_sent_it() {
    let app = TestApp::start().await;
    app.owner().await;
    // With an address that no other test has.
    let owner = app.staff("owner").await;
    let mut recipients = interviews(&app, &owner).await;
    recipients.extend(accounts(&app, &owner).await);
    recipients.push(service(&app, &owner).await);
    recipients.push(owner.email.clone());
    // The schedule plans the next working morning, which is Monday's.
    app.sweep().await;
    app.clock().advance(TimeDelta::days(1));
    app.sweep().await;
    app.settle().await;

    let kinds = kinds();
    let mut unsent: Vec<_> = (0..kinds.len()).collect();
    for mail in recipients.iter().flat_map(|address| app.mails_to(address)) {
        for (header, value) in
            [("Auto-Submitted", "auto-generated"), ("X-Auto-Response-Suppress", "OOF, AutoReply")]
        {
            assert_eq!(mail.header(header), Some(value), "{header} of {:?}", mail.subject);
        }
        let kind = kind_of(&mail.subject, &kinds);
        unsent.retain(|unsent| *unsent != kind);
    }
    let unsent: Vec<_> = unsent.into_iter().map(|kind| &kinds[kind]).collect();
    assert!(unsent.is_empty() && kinds.len() >= 20, "not sent: {unsent:?}");
}
