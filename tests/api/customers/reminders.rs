//! Reminders of evaluators: who gets them, on which mornings, and when they end.

use std::sync::Arc;
use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use chrono::{DateTime, TimeDelta, Utc};
use embedded::Mail;
use outbox::SweepSummary;
use serde_json::{Value, json};
use shared::clock::Clock;
use tests::app::TestApp;
use tests::assert_refusal;
use tests::caller::{Caller, Staff, Token, last_segment};
use tests::chaos::Fault;
use tests::http::Request;
use tests::{effort, logs};

use super::notifications::{StaffedProject, colleague, interviewed_in, project_of, text_of};
use crate::evaluations::crud::own;
use crate::system::undeliverable::{bounced, put};

/// Moves the clock on to a moment, and runs what is due then.
async fn at(app: &TestApp, moment: &str) {
    let moment: DateTime<Utc> = moment.parse().unwrap();
    app.clock().advance(moment - app.clock().now());
    run(app).await;
}

/// Runs what is due, with the mails that follow.
async fn run(app: &TestApp) {
    app.sweep().await;
    app.settle().await;
}

/// A sweep that has time for one step of each kind of work, with the mails that follow.
async fn step(app: &TestApp) -> SweepSummary {
    let summary = Box::pin(outbox::sweep(app.app(), Duration::ZERO)).await.unwrap();
    app.settle().await;
    summary
}

/// The reminders that a member of staff got, oldest first.
fn reminders(app: &TestApp, staff: &Staff) -> Vec<Arc<Mail>> {
    let mails = app.mails_to(&staff.email).into_iter().rev();
    mails.filter(|mail| mail.subject.contains("waiting for your evaluation")).collect()
}

/// A project of a company in Berlin, from this moment on, whose evaluators are reminded after so many days; with a named token,
/// since sessions end in the meantime.
async fn reminding(app: TestApp, from: &str, days: u32) -> (StaffedProject, Token) {
    let from: DateTime<Utc> = from.parse().unwrap();
    app.clock().advance(from - app.clock().now());
    let given = StaffedProject::of(app).await;
    let (_, token) = given.owner.named_token("Tracking").await;
    token.patch("/companies/acme/", json!({ "timezone": "Europe/Berlin" })).await.expect(200);
    token.patch(&given.project, json!({ "evaluation_days": days })).await.expect(200);
    // The schedule learns of the company, and reminds nobody yet.
    run(&given.app).await;
    (given, token)
}

async fn page(token: &Token, uri: &str) -> String {
    token.get(uri).await.expect(200).uri("interview_suite_url")
}

async fn evaluate(token: &Token, by: &Staff, candidate: &str, completed: bool) {
    let body = json!({ "completed": completed });
    token.send(Request::put(&own(by, candidate)).json(&body)).await.expect(201);
}

/// A calendar by hand: when the schedule runs, and for how many days the candidate has waited in the mail that follows.
type Calendar<'a> = &'a [(&'a str, Option<&'a str>)];

/// Runs the schedule at these moments, and compares each mail word for word.
async fn follow(ended_at: &str, in_words: &str, days: u32, calendar: Calendar<'_>) {
    let (given, token) = reminding(TestApp::start().await, ended_at, days).await;
    let StaffedProject { app, owner, project, manager, evaluator } = &given;
    let candidate = interviewed_in(owner, project, "Ada").await.uri;
    let (film, overview) = (page(&token, &candidate).await, page(&token, project).await);
    let mut expected = Vec::new();
    for (moment, waiting) in calendar {
        at(app, moment).await;
        expected.extend(waiting.map(|waiting| {
            format!(
                "Dear Col League,\n\nA candidate is waiting for your evaluation.\n\n\
                 Sales\n- Ada Lovelace, {in_words}, {waiting}\n  {film}\nOpen the project: {overview}\n\n\
                 You receive this email because you evaluate these interviews, and interview notifications are turned on in your \
                 account. The project sends it on working days until you have evaluated them, at most ten times.\n\n\
                 Kind regards,\nAcme & Sons"
            )
        }));
        let mails = reminders(app, evaluator);
        let texts: Vec<&str> = mails.iter().map(|mail| text_of(mail).trim()).collect();
        assert_eq!(texts, expected, "{moment}");
    }
    let subject = "1 candidate is waiting for your evaluation for “Sales”";
    assert!(reminders(app, evaluator).iter().all(|mail| mail.subject == subject));
    assert_eq!(reminders(app, manager).len(), 0, "managers do not evaluate");
}

#[tokio::test]
async fn in_the_week_when_clocks_go_forward_mornings_stay_at_eight() {
    // Thursday, half an hour before midnight in Berlin. On Sunday 28 March, two o'clock is three o'clock.
    let ended = "Thursday 25 March 2027 at 23:30 (Europe/Berlin, UTC+1)";
    let calendar: Calendar<'_> = &[
        ("2027-03-26T06:59:00Z", None),
        ("2027-03-26T07:00:00Z", Some("waiting for 1 day")),
        ("2027-03-26T15:00:00Z", None),
        ("2027-03-27T07:00:00Z", None),
        ("2027-03-28T06:00:00Z", None),
        ("2027-03-29T05:59:00Z", None),
        ("2027-03-29T06:00:00Z", Some("waiting for 4 days")),
        ("2027-03-29T22:30:00Z", None),
        ("2027-03-30T06:00:00Z", Some("waiting for 5 days")),
    ];
    follow("2027-03-25T22:30:00Z", ended, 1, calendar).await;
}

#[tokio::test]
async fn in_the_week_when_clocks_go_back_mornings_stay_at_eight() {
    // Friday, half past midnight in Berlin, which is still Thursday in UTC. On Sunday 31 October, three o'clock is two o'clock.
    let ended = "Friday 29 October 2027 at 00:30 (Europe/Berlin, UTC+2)";
    let calendar: Calendar<'_> = &[
        ("2027-10-29T06:00:00Z", None),
        ("2027-10-30T06:00:00Z", None),
        ("2027-10-31T07:00:00Z", None),
        ("2027-11-01T06:00:00Z", None),
        ("2027-11-01T06:59:00Z", None),
        ("2027-11-01T07:00:00Z", Some("waiting for 3 days")),
        // A morning that was missed comes later that day.
        ("2027-11-02T21:00:00Z", Some("waiting for 4 days")),
        ("2027-11-03T07:00:00Z", Some("waiting for 5 days")),
        // A day that was missed is not made up for.
        ("2027-11-05T07:00:00Z", Some("waiting for 7 days")),
    ];
    follow("2027-10-28T22:30:00Z", ended, 2, calendar).await;
}

#[tokio::test]
async fn public_holidays_are_working_days_and_a_tenth_mail_is_the_last() {
    // Thursday. Christmas Day 2026 is a Friday, the first of January is the next one.
    let ended = "Thursday 17 December 2026 at 11:00 (Europe/Berlin, UTC+1)";
    let mornings = [18, 21, 22, 23, 24, 25, 28, 29, 30, 31].map(|day| {
        let days = day - 17;
        let waiting =
            if days == 1 { "waiting for 1 day".to_owned() } else { format!("waiting for {days} days") };
        (format!("2026-12-{day}T07:00:00Z"), Some(waiting))
    });
    let silent = ["2027-01-01T07:00:00Z", "2027-01-04T07:00:00Z"].map(|moment| (moment.to_owned(), None));
    let calendar: Vec<(String, Option<String>)> = mornings.into_iter().chain(silent).collect();
    let calendar: Vec<(&str, Option<&str>)> =
        calendar.iter().map(|(moment, waiting)| (moment.as_str(), waiting.as_deref())).collect();
    follow("2026-12-17T10:00:00Z", ended, 1, &calendar).await;
}

#[tokio::test]
async fn a_digest_names_ten_by_project_the_longest_waiting_first() {
    // Monday.
    let (given, token) = reminding(TestApp::start().await, "2026-11-09T09:00:00Z", 1).await;
    let StaffedProject { app, owner, project, manager, evaluator } = &given;
    let other = project_of(owner, "R&D", manager, evaluator).await;
    owner.patch(&other, json!({ "evaluation_days": 2 })).await.expect(200);
    interviewed_in(owner, &other, "Grace").await;
    for number in 0..12 {
        app.clock().advance(TimeDelta::minutes(1));
        interviewed_in(owner, project, &format!("Ada {number}")).await;
    }
    // Another project has no reminders.
    let silent = project_of(owner, "Silent", manager, evaluator).await;
    interviewed_in(owner, &silent, "Joan").await;
    at(app, "2026-11-10T07:00:00Z").await;
    let [mail] = &reminders(app, evaluator)[..] else { panic!() };
    assert_eq!(mail.subject, "12 candidates are waiting for your evaluation for “Sales”");
    let names = |mail: &Mail| -> Vec<String> {
        let lines = text_of(mail).lines().filter_map(|line| line.strip_prefix("- "));
        lines.map(|line| line.split(" Lovelace").next().unwrap().to_owned()).collect()
    };
    assert_eq!(names(mail), (0..10).map(|number| format!("Ada {number}")).collect::<Vec<_>>());
    assert!(text_of(mail).contains("\nand 2 more\n"), "{}", text_of(mail));
    at(app, "2026-11-11T07:00:00Z").await;
    let mail = reminders(app, evaluator).pop().unwrap();
    assert_eq!(mail.subject, "13 candidates are waiting for your evaluation");
    assert_eq!(names(&mail)[..2], ["Grace", "Ada 0"]);
    assert!(text_of(&mail).contains(&page(&token, &other).await));
    assert!(!text_of(&mail).contains("Joan"));
}

#[tokio::test]
async fn only_open_evaluations_of_running_projects_are_reminded_of() {
    let (given, token) = reminding(TestApp::start().await, "2026-11-09T09:00:00Z", 1).await;
    let StaffedProject { app, owner, project, evaluator, .. } = &given;
    let second = colleague(owner, json!({})).await;
    let evaluators = json!({ "evaluators": [evaluator.uri, second.uri], "veto_enabled": true });
    token.patch(project, evaluators).await.expect(200);
    let mut uris = Vec::new();
    for name in ["Drafted", "Partial", "Done", "Vetoed", "Held", "Leaving", "Waiting", "Deleted"] {
        uris.push(interviewed_in(owner, project, name).await.uri);
    }
    let [drafted, partial, done, vetoed, held, leaving, _, deleted] = &uris[..] else { panic!() };
    evaluate(&token, evaluator, drafted, false).await;
    evaluate(&token, &second, partial, true).await;
    for by in [evaluator, &second] {
        evaluate(&token, by, done, true).await;
    }
    second
        .post(&format!("{vetoed}vetos/"), json!({ "comment": "The certificates are forged." }))
        .await
        .expect(201);
    let hold = Request::put(&format!("{held}hold/")).json(&json!({ "reason": "They object." }));
    owner.send(hold).await.expect(200);
    owner.send(Request::put(&format!("{leaving}erasure-request/"))).await.expect(200);
    owner.delete(deleted).await.expect(204);
    let names = |staff: &Staff| -> Vec<String> {
        let mails = reminders(app, staff);
        let lines = mails.last().map(|mail| text_of(mail).to_owned()).unwrap_or_default();
        let lines = lines.lines().filter_map(|line| line.strip_prefix("- "));
        lines.map(|line| line.split(' ').next().unwrap().to_owned()).collect()
    };
    at(app, "2026-11-10T07:00:00Z").await;
    assert_eq!(names(evaluator), ["Drafted", "Partial", "Waiting"]);
    assert_eq!(names(&second), ["Drafted", "Waiting"]);

    // One evaluation is enough from now on.
    token.patch(project, json!({ "team_evaluation": 1 })).await.expect(200);
    at(app, "2026-11-11T07:00:00Z").await;
    assert_eq!(names(evaluator), ["Drafted", "Waiting"]);
    // Neither those who evaluate no more are reminded, nor anybody while the project does not want it.
    token.patch(project, json!({ "evaluators": [evaluator.uri] })).await.expect(200);
    token.patch(project, json!({ "evaluation_days": null })).await.expect(200);
    at(app, "2026-11-12T07:00:00Z").await;
    token.patch(project, json!({ "evaluation_days": 1 })).await.expect(200);
    at(app, "2026-11-13T07:00:00Z").await;
    assert_eq!((reminders(app, evaluator).len(), reminders(app, &second).len()), (3, 2));
}

#[tokio::test]
async fn whoever_takes_no_such_mails_gets_none_also_if_that_changes_before_it_leaves() {
    let (given, token) = reminding(TestApp::start().await, "2026-11-09T09:00:00Z", 1).await;
    let StaffedProject { app, owner, project, evaluator, .. } = &given;
    let [off, inactive, undeliverable] = [
        colleague(owner, json!({})).await,
        colleague(owner, json!({})).await,
        colleague(owner, json!({})).await,
    ];
    let unconfirmed = owner.colleague("hiring-manager", json!({})).await;
    let all =
        json!({ "evaluators": [evaluator.uri, off.uri, inactive.uri, undeliverable.uri, unconfirmed.uri] });
    token.patch(project, all).await.expect(200);
    let candidate = interviewed_in(owner, project, "Ada").await.uri;
    owner.patch(&off.uri, json!({ "receive_interview_notifications": false })).await.expect(200);
    app.table().set_customer(&inactive.uri, "is_active", AttributeValue::Bool(false)).await;
    put(app, bounced(app, &undeliverable.email, "Permanent")).await;
    at(app, "2026-11-10T07:00:00Z").await;
    for none in [&off, &inactive, &undeliverable] {
        assert_eq!(reminders(app, none).len(), 0);
    }
    assert!(app.mails_to(&unconfirmed.email).iter().all(|mail| !mail.subject.contains("waiting")));
    assert_eq!(reminders(app, evaluator).len(), 1);

    // The mail is on its way when its reader evaluates.
    let morning: DateTime<Utc> = "2026-11-11T07:00:00Z".parse().unwrap();
    app.clock().advance(morning - app.clock().now());
    app.sweep().await;
    let items = app.table().snapshot().await;
    assert!(
        items.values().any(|item| item.to_string().contains("-evaluation-reminder\"")),
        "it is handed over"
    );
    evaluate(&token, evaluator, &candidate, true).await;
    app.settle().await;
    assert_eq!(reminders(app, evaluator).len(), 1);
}

#[tokio::test]
async fn days_are_bounded_copied_and_shown_and_a_setting_reminds_nobody_at_once() {
    let given = StaffedProject::start().await;
    let StaffedProject { app, owner, project, evaluator, .. } = &given;
    for wrong in [json!(0), json!(31), json!("3"), json!(1.5)] {
        let refused = owner.patch(project, json!({ "evaluation_days": wrong })).await;
        refused.expect(400);
    }
    assert_refusal!(owner.patch(project, json!({ "evaluation_days": 31 })).await, @r#"400 {"evaluation_days":["Ensure this value is from 1 to 30."]}"#);
    assert_eq!(owner.get(project).await.expect(200).json()["evaluation_days"], Value::Null);
    let (_, token) = owner.named_token("Tracking").await;
    interviewed_in(owner, project, "Ada").await;
    // Two weeks later, at noon of a Monday.
    at(app, "2026-11-23T12:00:00Z").await;
    token.patch(project, json!({ "evaluation_days": 3 })).await.expect(200);
    let copy = token
        .post(
            "/companies/acme/projects/",
            json!({ "name": "Copy", "copy_of": project, "interview_managers": [evaluator.uri] }),
        )
        .await;
    assert_eq!(copy.expect(201).json()["evaluation_days"], 3);
    for moment in ["2026-11-23T12:01:00Z", "2026-11-23T18:00:00Z"] {
        at(app, moment).await;
    }
    assert_eq!(reminders(app, evaluator).len(), 0);
    at(app, "2026-11-24T08:00:00Z").await;
    assert_eq!(reminders(app, evaluator).len(), 1);
}

#[tokio::test]
async fn two_hundred_candidates_and_three_evaluators_are_three_mails_a_day() {
    let (given, token) = reminding(TestApp::start().await, "2026-11-09T09:00:00Z", 1).await;
    let StaffedProject { app, owner, project, evaluator, .. } = &given;
    let [second, third] = [colleague(owner, json!({})).await, colleague(owner, json!({})).await];
    let evaluators = json!({ "evaluators": [evaluator.uri, second.uri, third.uri] });
    token.patch(project, evaluators).await.expect(200);
    let count = effort::count(200) as usize;
    for candidate in given.expired(count).await {
        app.complete(&candidate).await;
    }
    app.settle().await;
    for (day, mails) in [(10, 1), (11, 2)] {
        for hour in ["07:00", "08:00", "16:00"] {
            at(app, &format!("2026-11-{day}T{hour}:00Z")).await;
        }
        for staff in [evaluator, &second, &third] {
            let found = reminders(app, staff);
            assert_eq!(found.len(), mails);
            let subject = format!("{count} candidates are waiting for your evaluation for “Sales”");
            assert_eq!(found.last().unwrap().subject, subject);
        }
    }
}

/// Kills the run that reminds after each of its writes in turn.
#[tokio::test]
async fn a_run_that_is_killed_at_any_write_reminds_each_evaluator_once() {
    for writes in effort::numbers(2) {
        let (app, chaos) = TestApp::start_with_chaos().await;
        let (given, token) = reminding(app, "2026-11-09T09:00:00Z", 1).await;
        let StaffedProject { app, owner, project, evaluator, .. } = &given;
        let second = colleague(owner, json!({})).await;
        token.patch(project, json!({ "evaluators": [evaluator.uri, second.uri] })).await.expect(200);
        interviewed_in(owner, project, "Ada").await;
        app.settle().await;
        // All that is told of the end of the interview has left before.
        at(app, "2026-11-09T12:00:00Z").await;
        let morning: DateTime<Utc> = "2026-11-10T07:00:00Z".parse().unwrap();
        app.clock().advance(morning - app.clock().now());
        chaos.cut_after_writes(writes);
        let _ = app.events().run_schedules().await;
        let was_spared = chaos.left() > Some(0);
        chaos.heal();
        for minutes in [1, 3, 10, 60] {
            app.clock().advance(TimeDelta::minutes(minutes));
            run(app).await;
        }
        for staff in [evaluator, &second] {
            assert_eq!(reminders(app, staff).len(), 1, "{writes} writes");
        }
        if was_spared {
            assert!(writes >= 3, "two notices and the next morning are writes: {writes}");
            break;
        }
    }
}

#[tokio::test]
async fn a_step_without_time_is_gone_on_with_behind_other_companies() {
    let (given, token) = reminding(TestApp::start().await, "2026-11-09T09:00:00Z", 1).await;
    let StaffedProject { app, owner, project, manager, evaluator } = &given;
    interviewed_in(owner, project, "Ada").await;
    let second = colleague(owner, json!({})).await;
    let later = project_of(owner, "R&D", manager, &second).await;
    token.patch(&later, json!({ "evaluation_days": 1 })).await.expect(200);
    interviewed_in(owner, &later, "Grace").await;
    let other = app.owner_of("globex").await;
    let other_evaluator = colleague(&other, json!({})).await;
    let others = project_of(&other, "Sales", &other_evaluator, &other_evaluator).await;
    other.patch("/companies/globex/", json!({ "timezone": "Europe/Berlin" })).await.expect(200);
    other.patch(&others, json!({ "evaluation_days": 1 })).await.expect(200);
    interviewed_in(&other, &others, "Joan").await;
    run(app).await;

    let morning: DateTime<Utc> = "2026-11-10T07:00:30Z".parse().unwrap();
    app.clock().advance(morning - app.clock().now());
    let everybody = [evaluator, &second, &other_evaluator];
    for mails in [1, 2, 3, 3] {
        step(app).await;
        assert_eq!(everybody.map(|staff| reminders(app, staff).len()).iter().sum::<usize>(), mails);
        if mails == 2 {
            assert_eq!(
                reminders(app, &other_evaluator).len(),
                1,
                "another company does not wait for the rest"
            );
        }
        app.clock().advance(TimeDelta::minutes(1));
    }
    // The next morning begins with the first project.
    at(app, "2026-11-11T07:00:00Z").await;
    assert_eq!(everybody.map(|staff| reminders(app, staff).len()), [2; 3]);
}

#[tokio::test]
async fn mails_that_a_step_has_no_time_for_leave_with_the_next_ones() {
    let (given, token) = reminding(TestApp::start().await, "2026-11-09T09:00:00Z", 1).await;
    let StaffedProject { app, owner, project, manager, evaluator } = &given;
    // More evaluators than two steps hand over mails to, and more candidates than one step reads.
    let mut evaluators = vec![evaluator.clone()];
    for _ in 1..20 {
        evaluators.push(colleague(owner, json!({})).await);
    }
    let uris: Vec<&str> = evaluators.iter().map(|staff| staff.uri.as_str()).collect();
    token.patch(project, json!({ "evaluators": uris })).await.expect(200);
    for candidate in given.expired(101).await {
        app.complete(&candidate).await;
    }
    let last = colleague(owner, json!({})).await;
    let later = project_of(owner, "R&D", manager, &last).await;
    token.patch(&later, json!({ "evaluation_days": 1 })).await.expect(200);
    interviewed_in(owner, &later, "Grace").await;
    evaluators.push(last);
    run(app).await;

    let morning: DateTime<Utc> = "2026-11-10T07:00:30Z".parse().unwrap();
    app.clock().advance(morning - app.clock().now());
    for mails in [8, 16, 20, 20, 21, 21] {
        step(app).await;
        assert_eq!(evaluators.iter().map(|staff| reminders(app, staff).len()).sum::<usize>(), mails);
        app.clock().advance(TimeDelta::minutes(1));
    }
    for staff in &evaluators[..20] {
        let [mail] = &reminders(app, staff)[..] else { panic!("one mail") };
        assert_eq!(mail.subject, "100 candidates are waiting for your evaluation for “Sales”");
    }
    at(app, "2026-11-11T07:00:00Z").await;
    assert!(evaluators.iter().all(|staff| reminders(app, staff).len() == 2));
}

#[tokio::test]
async fn a_round_that_does_not_end_on_its_day_is_a_delay_and_then_an_error_in_the_log() {
    let (given, token) = reminding(TestApp::start().await, "2026-11-09T09:00:00Z", 1).await;
    let StaffedProject { app, owner, project, manager, evaluator } = &given;
    interviewed_in(owner, project, "Ada").await;
    let [second, third] = [colleague(owner, json!({})).await, colleague(owner, json!({})).await];
    for (name, staff) in [("R&D", &second), ("Support", &third)] {
        let later = project_of(owner, name, manager, staff).await;
        token.patch(&later, json!({ "evaluation_days": 1 })).await.expect(200);
        interviewed_in(owner, &later, "Grace").await;
    }
    run(app).await;
    let mails = || [evaluator, &second, &third].map(|staff| reminders(app, staff).len());
    let step_at = async |moment: &str| {
        let moment: DateTime<Utc> = moment.parse().unwrap();
        app.clock().advance(moment - app.clock().now());
        step(app).await
    };
    let errors = || -> Vec<Value> {
        let lines = logs::take_lines("outbox").into_iter();
        lines.filter(|line| line["level"] == "ERROR").collect()
    };
    assert_eq!(step_at("2026-11-10T07:00:30Z").await.reminder_delay_seconds, 30);
    assert_eq!(step_at("2026-11-10T11:00:00Z").await.reminder_delay_seconds, 4 * 3600);
    assert_eq!((mails(), errors().len()), ([1, 1, 0], 0));
    // Midnight in Berlin.
    assert_eq!(step_at("2026-11-10T23:00:00Z").await.reminder_delay_seconds, 0);
    let told = errors();
    let [error] = &told[..] else { panic!("{told:?}") };
    assert_eq!(
        (&error["message"], &error["company"], &error["day"]),
        (&json!("evaluators were not reminded"), &json!("acme"), &json!("2026-11-10"))
    );
    assert_eq!(mails(), [1, 1, 0]);
    at(app, "2026-11-11T07:00:00Z").await;
    assert_eq!((mails(), errors().len()), ([2, 2, 1], 0));
}

#[tokio::test]
async fn closed_projects_and_those_without_evaluators_are_not_even_read() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let (given, token) = reminding(app, "2026-11-09T09:00:00Z", 1).await;
    let StaffedProject { app, owner, project, manager, evaluator } = &given;
    interviewed_in(owner, project, "Ada").await;
    let [closed, unstaffed] = [
        project_of(owner, "Closed", manager, evaluator).await,
        project_of(owner, "Unstaffed", manager, evaluator).await,
    ];
    for one in [&closed, &unstaffed] {
        token.patch(one, json!({ "evaluation_days": 1 })).await.expect(200);
    }
    let judged = interviewed_in(owner, &closed, "Joan").await.uri;
    interviewed_in(owner, &unstaffed, "Alan").await;
    token.patch(&unstaffed, json!({ "evaluators": [] })).await.expect(200);
    // It was closed when everybody had evaluated, and an evaluator has come since.
    evaluate(&token, evaluator, &judged, true).await;
    owner.set_status(&closed, "60-closed").await.expect(200);
    let second = colleague(owner, json!({})).await;
    token.patch(&closed, json!({ "evaluators": [evaluator.uri, second.uri] })).await.expect(200);
    let morning: DateTime<Utc> = "2026-11-10T07:00:00Z".parse().unwrap();
    app.clock().advance(morning - app.clock().now());
    for one in [&closed, &unstaffed] {
        let candidates = format!("PROJECT#{}#CANDIDATES#interviewed", last_segment(one));
        chaos.next_about("Query", &candidates, Fault::Refused("AccessDeniedException"));
    }
    Box::pin(outbox::sweep(app.app(), Duration::from_secs(40))).await.unwrap();
    app.settle().await;
    assert_eq!(reminders(app, &second).len(), 0);
    let [mail] = &reminders(app, evaluator)[..] else { panic!() };
    assert_eq!(mail.subject, "1 candidate is waiting for your evaluation for “Sales”");
}
