//! Mails to staff about interviews that have ended: who gets them, when, and that each candidate is told of once.

use std::sync::Arc;

use aws_sdk_dynamodb::types::AttributeValue;
use chrono::TimeDelta;
use embedded::Mail;
use serde_json::{Value, json};
use shared::clock::Clock;
use tests::app::TestApp;
use tests::caller::{Caller, Invited, Staff};
use tests::chaos::Fault;
use tests::http::Request;

use crate::system::undeliverable::{bounced as bounce, put};

/// The service, its owner, and a running project with a manager and an evaluator.
pub(super) struct StaffedProject {
    pub(super) app: TestApp,
    pub(super) owner: Staff,
    pub(super) project: String,
    pub(super) manager: Staff,
    pub(super) evaluator: Staff,
}

impl StaffedProject {
    pub(super) async fn start() -> Self {
        Self::of(TestApp::start().await).await
    }

    pub(super) async fn of(app: TestApp) -> Self {
        let owner = app.owner().await;
        let [manager, evaluator] = [colleague(&owner, json!({})).await, colleague(&owner, json!({})).await];
        let project = project_of(&owner, "Sales", &manager, &evaluator).await;
        Self { app, owner, project, manager, evaluator }
    }

    /// A candidate who has completed the interview.
    pub(super) async fn interviewed(&self, first_name: &str) -> Invited {
        interviewed_in(&self.owner, &self.project, first_name).await
    }

    /// So many candidates whose platform has reported nothing so far.
    pub(super) async fn expired(&self, count: usize) -> Vec<String> {
        let Self { app, owner, project, .. } = self;
        app.fill(project, count, app.clock().now()).await;
        assert_eq!(app.expire_overdue().await.expired, count);
        let mut uris = Vec::new();
        let mut next = format!("{project}candidates/?page_size=100");
        while !next.is_empty() {
            let page = owner.get(&next).await.expect(200).json();
            let objects = page["objects"].as_array().unwrap().clone();
            uris.extend(objects.iter().map(|one| one["resource_uri"].as_str().unwrap().to_owned()));
            next = page["meta"]["next"].as_str().unwrap_or_default().to_owned();
        }
        uris
    }
}

pub(super) async fn colleague(owner: &Staff, fields: Value) -> Staff {
    let staff = owner.colleague("hiring-manager", fields).await;
    staff.activate().await
}

pub(super) async fn project_of(owner: &Staff, name: &str, manager: &Staff, evaluator: &Staff) -> String {
    let fields = json!({
        "name": name, "allow_hash_login": true, "interview_platform": "external",
        "interview_managers": [manager.uri], "evaluators": [evaluator.uri],
    });
    owner.running_project(fields).await
}

pub(super) async fn interviewed_in(owner: &Staff, project: &str, first_name: &str) -> Invited {
    let invited = owner.invite(project, json!({ "first_name": first_name, "receive_mails": false })).await;
    invited.advance(&invited.uri).await.expect(200);
    owner.app().complete(&invited.uri).await;
    invited
}

/// Has everything done that is due after so many minutes.
pub(super) async fn after(app: &TestApp, minutes: i64) {
    app.settle().await;
    app.clock().advance(TimeDelta::minutes(minutes));
    app.sweep().await;
    app.settle().await;
}

/// The mails to a member of staff about interviews that have ended, oldest first.
pub(super) fn told(app: &TestApp, staff: &Staff) -> Vec<Arc<Mail>> {
    let mails = app.mails_to(&staff.email).into_iter().rev();
    mails.filter(|mail| mail.subject.contains(" ended")).collect()
}

pub(super) fn subjects(app: &TestApp, staff: &Staff) -> Vec<String> {
    told(app, staff).iter().map(|mail| mail.subject.clone()).collect()
}

/// The page that shows a project or a candidate to staff.
async fn page(owner: &Staff, uri: &str) -> String {
    owner.get(uri).await.expect(200).uri("interview_suite_url")
}

pub(super) fn text_of(mail: &Mail) -> &str {
    mail.text.as_deref().unwrap()
}

#[tokio::test]
async fn a_wave_is_one_mail_that_names_ten_by_project() {
    let given = StaffedProject::start().await;
    let StaffedProject { app, owner, manager, evaluator, .. } = &given;
    owner.patch("/companies/acme/", json!({ "timezone": "Europe/Berlin" })).await.expect(200);
    let other = project_of(owner, "R&D <b>Lead</b>", manager, evaluator).await;
    let mut films = [Vec::new(), Vec::new()];
    for number in 0..7 {
        films[0].push(page(owner, &given.interviewed(&format!("Ada {number}")).await.uri).await);
        let grace = interviewed_in(owner, &other, &format!("<i>Grace {number}")).await;
        films[1].push(page(owner, &grace.uri).await);
        // Events that get their numbers together are in the order of their seconds.
        app.settle().await;
    }
    after(app, 4).await;
    assert_eq!(subjects(app, manager), [""; 0], "a wave is gathered");
    after(app, 1).await;
    for staff in [manager, evaluator] {
        assert_eq!(subjects(app, staff), ["14 interviews have ended"]);
    }
    let mail = told(app, manager).remove(0);
    let at = "Sunday 8 November 2026 at 11:00 (Europe/Berlin, UTC+1)";
    let names = |name: &str, films: &[String]| -> String {
        let named = films.iter().take(5).enumerate();
        named.map(|(number, film)| format!("- {name} {number} Lovelace, {at}\n  {film}\n")).collect()
    };
    let [sales, lead] = [page(owner, &given.project).await, page(owner, &other).await];
    assert!(sales.starts_with("https://hr.example/project/acme/"), "{sales}");
    let expected = format!(
        "Dear Col League,\n\n14 video interviews have ended.\n\n\
         Sales\n{}Open the project: {sales}\n\nR&D <b>Lead</b>\n{}Open the project: {lead}\n\nand 4 more\n\n\
         You receive this email because you manage or evaluate these interviews, and interview notifications are turned on in \
         your account.\n\nKind regards,\nAcme & Sons",
        names("Ada", &films[0]),
        names("<i>Grace", &films[1])
    );
    assert_eq!(text_of(&mail).trim(), expected);
    let html = mail.html.as_deref().unwrap();
    assert!(
        html.contains("R&#38;D &#60;b&#62;Lead") && html.contains("&#60;i&#62;Grace 4 Lovelace"),
        "{html}"
    );
    assert!(!html.contains("<i>Grace") && !html.contains("<b>Lead") && html.contains(at), "{html}");
    for link in films.iter().flat_map(|films| &films[..5]).chain([&sales, &lead]) {
        assert_eq!(html.matches(&format!("href=\"{link}\"")).count(), 1, "{link}: {html}");
    }

    // Nothing is left to tell.
    after(app, 120).await;
    assert_eq!((told(app, manager).len(), told(app, evaluator).len()), (1, 1));
}

#[tokio::test]
async fn mails_to_one_person_are_an_hour_apart_over_all_projects() {
    let given = StaffedProject::start().await;
    let StaffedProject { app, owner, manager, evaluator, .. } = &given;
    let other = project_of(owner, "Marketing", manager, manager).await;
    given.interviewed("Ada").await;
    after(app, 5).await;
    interviewed_in(owner, &other, "Grace").await;
    after(app, 30).await;
    let first = "1 interview has ended for “Sales”";
    assert_eq!((subjects(app, manager), subjects(app, evaluator)), (vec![first.into()], vec![first.into()]));
    after(app, 29).await;
    assert_eq!(told(app, manager).len(), 1);
    after(app, 1).await;
    assert_eq!(subjects(app, manager), [first, "1 interview has ended for “Marketing”"]);
    assert_eq!(told(app, evaluator).len(), 1);
}

#[tokio::test]
async fn who_has_lost_what_it_takes_when_the_mail_leaves_gets_none() {
    let given = StaffedProject::start().await;
    let StaffedProject { app, owner, project, manager, evaluator } = &given;
    let mut others = Vec::new();
    for _ in 0..5 {
        others.push(colleague(owner, json!({})).await);
    }
    let invited = owner.colleague("hiring-manager", json!({})).await;
    let [demoted, silent, locked, bounced, gone] = &others[..] else { unreachable!() };
    let all: Vec<&str> = others.iter().map(|one| one.uri.as_str()).chain([invited.uri.as_str()]).collect();
    owner
        .patch(project, json!({ "interview_managers": all, "evaluators": [evaluator.uri] }))
        .await
        .expect(200);
    owner.patch(&evaluator.uri, json!({ "receive_interview_notifications": false })).await.expect(200);
    given.interviewed("Ada").await;
    after(app, 5).await;
    assert_eq!(told(app, evaluator).len(), 0, "the setting was off");
    for one in &others {
        assert_eq!(told(app, one).len(), 1);
    }
    assert!(app.mails_to(&invited.email).iter().all(|mail| !mail.subject.contains("completed")));

    // All of them are to be told once more, an hour after the first mail.
    given.interviewed("Grace").await;
    after(app, 5).await;
    let staff: Vec<&str> = all.iter().copied().filter(|uri| *uri != demoted.uri).collect();
    owner
        .patch(project, json!({ "interview_managers": staff, "reviewers": [demoted.uri] }))
        .await
        .expect(200);
    owner.patch(&silent.uri, json!({ "receive_interview_notifications": false })).await.expect(200);
    app.table().set_customer(&locked.uri, "is_active", AttributeValue::Bool(false)).await;
    assert_eq!(put(app, bounce(app, &bounced.email, "Permanent")).await, "applied");
    owner.delete(&gone.uri).await.expect(204);
    owner.patch(&evaluator.uri, json!({ "receive_interview_notifications": true })).await.expect(200);
    after(app, 60).await;
    for one in &others {
        assert_eq!(told(app, one).len(), 1, "{:?}", subjects(app, one));
    }
    assert_eq!((told(app, evaluator).len(), told(app, manager).len()), (0, 0));
    given.interviewed("Joan").await;
    after(app, 5).await;
    assert_eq!(subjects(app, evaluator), ["1 interview has ended for “Sales”"]);
    assert!(text_of(&told(app, evaluator)[0]).contains("Joan"));
}

#[tokio::test]
async fn candidates_who_are_gone_or_go_on_are_left_out() {
    let given = StaffedProject::start().await;
    let StaffedProject { app, owner, manager, evaluator, .. } = &given;
    let [deleted, erased, kept] = [
        given.interviewed("Deleted").await,
        given.interviewed("Erased").await,
        given.interviewed("Kept").await,
    ];
    let builtin = project_of(owner, "Marketing", manager, evaluator).await;
    owner.patch(&builtin, json!({ "interview_platform": "builtin" })).await.expect(200);
    let question = json!({ "text": "Why us?", "is_required": false });
    owner.post(&format!("{builtin}questions/"), question).await.expect(201);
    let reopened = owner.invite(&builtin, json!({ "first_name": "Reopened" })).await;
    let cancelled = owner.invite(&builtin, json!({ "first_name": "Cancelled" })).await;
    for one in [&reopened, &cancelled] {
        for _ in 0..3 {
            one.advance(&one.uri).await.expect(200);
        }
    }
    app.settle().await;
    owner.delete(&deleted.uri).await.expect(204);
    owner.send(Request::put(&format!("{}erasure-request/", erased.uri))).await.expect(200);
    let reason = json!({ "reason": "No sound." });
    for one in [&reopened, &cancelled] {
        owner.post(&format!("{}interview/reopen/", one.uri), reason.clone()).await.expect(200);
    }
    owner.cancel(&cancelled.uri).await.expect(200);
    after(app, 5).await;
    assert_eq!(subjects(app, manager), ["1 interview has ended for “Sales”"]);
    let mail = told(app, manager).remove(0);
    assert!(text_of(&mail).contains("Kept"), "{}", text_of(&mail));

    // It is told of once it is complete again; and a mail with nothing to tell does not leave.
    reopened.advance(&reopened.uri).await.expect(200);
    owner.delete(&kept.uri).await.expect(204);
    after(app, 60).await;
    assert_eq!(subjects(app, evaluator)[1..], ["1 interview has ended for “Marketing”"]);
    let last = given.interviewed("Last").await;
    after(app, 5).await;
    owner.delete(&last.uri).await.expect(204);
    after(app, 60).await;
    assert_eq!(told(app, evaluator).len(), 2);
}

#[tokio::test]
async fn every_way_to_complete_an_interview_is_told_and_no_other_end() {
    let given = StaffedProject::start().await;
    let StaffedProject { app, owner, manager, evaluator, .. } = &given;
    let builtin = project_of(owner, "Marketing", manager, evaluator).await;
    owner.patch(&builtin, json!({ "interview_platform": "builtin" })).await.expect(200);
    let question = json!({ "text": "Why us?", "is_required": false });
    owner.post(&format!("{builtin}questions/"), question).await.expect(201);
    let invite = async |name: &str| owner.invite(&builtin, json!({ "first_name": name })).await;
    let [own, closed, skipped] = [invite("Own").await, invite("Closed").await, invite("Skipped").await];
    for _ in 0..3 {
        own.advance(&own.uri).await.expect(200);
    }
    for _ in 0..2 {
        closed.advance(&closed.uri).await.expect(200);
    }
    owner.skip(&skipped.uri).await.expect(200);
    let aborted = owner.invite(&given.project, json!({ "first_name": "Aborted" })).await;
    for _ in 0..2 {
        aborted.advance(&aborted.uri).await.expect(200);
    }
    app.abort(&aborted.uri).await;
    given.interviewed("Reported").await;
    after(app, 5).await;
    let text = |mail: &Mail| text_of(mail).to_owned();
    let mail = text(&told(app, manager)[0]);
    for (name, is_told) in
        [("Own", true), ("Reported", true), ("Closed", false), ("Skipped", false), ("Aborted", false)]
    {
        assert_eq!(mail.contains(name), is_told, "{name}: {mail}");
    }
    after(app, 8 * 24 * 60).await;
    after(app, 5).await;
    assert!(text(&told(app, manager)[1]).contains("Closed"), "{:?}", subjects(app, manager));
    assert_eq!(told(app, manager).len(), 2);
}

#[tokio::test]
async fn what_a_given_up_mail_was_about_goes_into_the_next() {
    let (app, ses) = TestApp::start_with_ses_chaos().await;
    let given = StaffedProject::of(app).await;
    let StaffedProject { app, manager, evaluator, .. } = &given;
    given.interviewed("Ada").await;
    app.settle().await;
    app.clock().advance(TimeDelta::minutes(5));
    app.sweep().await;
    ses.next_about(
        "SendRawEmail",
        &manager.email.replace('@', "%40"),
        Fault::Refused("InvalidParameterValue"),
    );
    app.settle().await;
    assert_eq!((told(app, manager).len(), told(app, evaluator).len()), (0, 1));
    for _ in 0..2 {
        after(app, 90).await;
        given.owner.get(&given.project).await.expect(200);
    }
    assert_eq!(told(app, manager).len(), 0, "it causes no mail by itself");
    let effects = app.table().snapshot().await.into_iter().filter(|((_, sk), _)| sk == "EFFECT").count();
    assert_eq!(effects, 0);
    given.interviewed("Grace").await;
    after(app, 5).await;
    assert_eq!(subjects(app, manager), ["2 interviews have ended for “Sales”"]);
    assert_eq!(subjects(app, evaluator)[1..], ["1 interview has ended for “Sales”"]);
    let mail = told(app, manager).remove(0);
    assert!(text_of(&mail).contains("Ada") && text_of(&mail).contains("Grace"));
}

#[tokio::test]
async fn each_is_written_to_in_their_language_with_the_page_of_the_project() {
    let app = TestApp::start_with(&[("SUITE_URL", "https://suite.example/app")]).await;
    let given = StaffedProject::of(app).await;
    let StaffedProject { app, owner, project, .. } = &given;
    let name = "株式会社 “Müller” & Söhne";
    owner.patch(project, json!({ "name": name })).await.expect(200);
    let mut staff = Vec::new();
    for language in ["en", "de", "fr", "es", "it", "nl"] {
        staff.push((language, colleague(owner, json!({ "preferred_language": language })).await));
    }
    let managers: Vec<&str> = staff.iter().map(|(_, one)| one.uri.as_str()).collect();
    owner.patch(project, json!({ "interview_managers": managers })).await.expect(200);
    let candidate = given.interviewed("Žofie").await;
    after(app, 5).await;
    let [link, film] = [page(owner, project).await, page(owner, &candidate.uri).await];
    assert!(link.starts_with("https://suite.example/app/") && film.starts_with(&link), "{film}");
    for ((language, person), subject) in staff.iter().zip([
        format!("1 interview has ended for “{name}”"),
        format!("1 beendetes Interview für „{name}“"),
        format!("1 entretien terminé pour «\u{a0}{name}\u{a0}»"),
        format!("1 entrevista finalizada para «{name}»"),
        format!("1 colloquio concluso per «{name}»"),
        format!("1 beëindigd interview voor “{name}”"),
    ]) {
        let mail = app.mails_to(&person.email).remove(0);
        assert_eq!(mail.subject, subject);
        let html = mail.html.as_deref().unwrap();
        assert!(html.contains(&format!("<html lang=\"{language}\">")) && html.contains(&link), "{html}");
        assert!(
            text_of(&mail).contains(&format!(" {link}\n")) && text_of(&mail).contains("- Žofie Lovelace, "),
            "{language}"
        );
        assert!(text_of(&mail).contains(&format!("\n  {film}\n")), "{language}");
    }
}

#[tokio::test]
async fn a_mail_that_can_name_nobody_any_more_leads_to_the_project() {
    let given = StaffedProject::start().await;
    let StaffedProject { app, owner, project, manager, .. } = &given;
    let ada = given.interviewed("Ada").await;
    after(app, 5).await;
    // Fifty are kept by name, and the others are counted.
    let mut others = given.expired(51).await;
    others.retain(|uri| *uri != ada.uri);
    let (last, named) = others.split_last().unwrap();
    for candidate in named {
        app.complete(candidate).await;
    }
    app.settle().await;
    app.complete(last).await;
    after(app, 5).await;
    for candidate in named {
        owner.delete(candidate).await.expect(204);
    }
    after(app, 60).await;
    assert_eq!(subjects(app, manager)[1..], ["1 interview has ended for “Sales”"]);
    let mail = told(app, manager).remove(1);
    let link = page(owner, project).await;
    assert!(text_of(&mail).contains(&format!("\nSales\nOpen the project: {link}\n")), "{}", text_of(&mail));
    let html = mail.html.as_deref().unwrap();
    assert!(html.contains(&format!("href=\"{link}\"")) && !html.contains("<ul>"), "{html}");
}
