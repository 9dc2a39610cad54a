//! Waves of interviews that end at about the same time: the feed is read on wherever a run has stopped, and each candidate is told
//! of once.

use std::collections::BTreeSet;
use std::time::Duration;

use chrono::TimeDelta;
use serde_json::json;
use shared::clock::Clock;
use tests::app::TestApp;
use tests::caller::Caller;
use tests::effort;
use tests::platform::event;

use super::notifications::{
    StaffedProject, after, colleague, interviewed_in, project_of, subjects, text_of, told,
};

/// A run of the outbox's schedule that works for `time`.
async fn run(app: &TestApp, time: Duration) {
    Box::pin(outbox::sweep(app.app(), time)).await.unwrap();
}

/// Has all mails leave about what has ended: minute by minute while waves are read, and then at longer intervals, in which
/// nothing is due but the second mail to a person.
async fn after_an_hour(app: &TestApp) {
    for minutes in [1; 12].into_iter().chain([10; 7]) {
        after(app, minutes).await;
    }
}

#[tokio::test]
async fn two_hundred_in_ten_minutes_are_two_mails_that_count_each_once() {
    let given = StaffedProject::start().await;
    let StaffedProject { app, owner, project, manager, evaluator } = &given;
    let third = colleague(owner, json!({})).await;
    let evaluators = json!({ "evaluators": [evaluator.uri, third.uri] });
    owner.patch(project, evaluators).await.expect(200);
    let count = effort::count(200) as usize;
    let candidates = given.expired(count).await;
    for of_a_minute in candidates.chunks(count.div_ceil(10)) {
        for candidate in of_a_minute {
            app.complete(candidate).await;
        }
        after(app, 1).await;
    }
    after_an_hour(app).await;
    for staff in [manager, evaluator, &third] {
        let mails = told(app, staff);
        assert_eq!(mails.len(), 2, "{:?}", subjects(app, staff));
        let mut counted = 0;
        let mut named = BTreeSet::new();
        for mail in &mails {
            counted += mail.subject.split(' ').next().unwrap().parse::<usize>().unwrap();
            let names = text_of(mail).lines().filter(|line| line.starts_with("- Ada"));
            let names: Vec<_> = names.map(|line| line.split(',').next().unwrap().to_owned()).collect();
            assert_eq!(names.len(), 10);
            named.extend(names);
        }
        assert_eq!((counted, named.len()), (count, 20), "{:?}", subjects(app, staff));
    }
}

#[tokio::test]
async fn reports_records_and_runs_that_come_twice_tell_once() {
    let given = StaffedProject::start().await;
    let StaffedProject { app, manager, evaluator, .. } = &given;
    let candidates = given.expired(3).await;
    let now = app.clock().now().format("%Y-%m-%dT%H:%M:%SZ").to_string();
    let report = event("interview.completed", &now, json!({ "candidate": candidates[0] }));
    for _ in 0..2 {
        app.report(report.clone()).await.unwrap();
        app.settle().await;
    }
    // Another report of the same interview.
    app.report(event("interview.completed", &now, json!({ "candidate": candidates[0] }))).await.unwrap();
    for candidate in &candidates[1..] {
        app.complete(candidate).await;
    }
    app.settle().await;
    app.clock().advance(TimeDelta::minutes(5));
    let runs = (0..3).map(|_| async { app.events().run_schedules().await });
    futures_util::future::join_all(runs).await;
    app.settle().await;
    after(app, 120).await;
    for staff in [manager, evaluator] {
        assert_eq!(subjects(app, staff), ["3 interviews have ended for “Sales”"]);
    }
}

/// Kills the run that reads the wave and hands over the mails after each of its writes in turn.
#[tokio::test]
async fn a_run_that_is_killed_at_any_write_loses_nothing_and_tells_nothing_twice() {
    for writes in effort::numbers(3) {
        let (app, chaos) = TestApp::start_with_chaos().await;
        let given = StaffedProject::of(app).await;
        let StaffedProject { app, manager, evaluator, .. } = &given;
        for name in ["Ada", "Grace"] {
            given.interviewed(name).await;
        }
        app.settle().await;
        app.clock().advance(TimeDelta::minutes(5));
        chaos.cut_after_writes(writes);
        let _ = app.events().run_schedules().await;
        let was_spared = chaos.left() > Some(0);
        chaos.heal();
        // The stream may bring the completions again, and another one.
        given.interviewed("Joan").await;
        after_an_hour(app).await;
        for staff in [manager, evaluator] {
            let mails = told(app, staff);
            let all: String = mails.iter().map(|mail| text_of(mail)).collect();
            let counted: usize = mails.iter().map(|mail| mail.subject[..1].parse::<usize>().unwrap()).sum();
            for name in ["Ada", "Grace", "Joan"] {
                assert_eq!(all.matches(name).count(), 1, "{writes} writes: {all}");
            }
            assert_eq!((counted, mails.len() <= 2), (3, true), "{writes} writes: {:?}", subjects(app, staff));
        }
        if was_spared {
            assert!(writes >= 5, "two notices, the wave and two mails are writes: {writes}");
            break;
        }
    }
}

#[tokio::test]
async fn a_mail_does_not_wait_until_the_waves_of_all_companies_are_read() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let given = StaffedProject::of(app).await;
    let StaffedProject { app, manager, .. } = &given;
    given.interviewed("Ada").await;
    app.settle().await;
    app.clock().advance(TimeDelta::minutes(1));
    let other = app.owner_of("globex").await;
    let [others, evaluator] = [colleague(&other, json!({})).await, colleague(&other, json!({})).await];
    let project = project_of(&other, "Sales", &others, &evaluator).await;
    interviewed_in(&other, &project, "Grace").await;
    app.settle().await;
    app.clock().advance(TimeDelta::minutes(5));
    let pause = chaos.pause_about("Query", "COMPANY#globex#EVENTS");
    let mailed = async {
        pause.reached().await;
        app.settle().await;
        assert_eq!(subjects(app, manager), ["1 interview has ended for “Sales”"]);
        pause.resume();
    };
    tokio::join!(run(app, Duration::from_secs(40)), mailed);
    app.settle().await;
    assert_eq!(told(app, &others).len(), 1);
}

#[tokio::test]
async fn a_long_wave_is_read_on_although_more_interviews_end_meanwhile() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let given = StaffedProject::of(app).await;
    let StaffedProject { app, manager, evaluator, .. } = &given;
    let candidates = given.expired(102).await;
    let (last, first) = candidates.split_last().unwrap();
    for candidate in first {
        app.complete(candidate).await;
    }
    app.settle().await;
    app.clock().advance(TimeDelta::minutes(5));
    let reached = async || {
        let items = app.table().contents().await;
        let wave = items.iter().find(|((_, sk), _)| sk == "WAVE").map(|(_, wave)| &wave["after"]);
        wave.and_then(|after| after.as_n().ok()).map(|number| number.parse::<u64>().unwrap())
    };
    let began = reached().await.unwrap();
    // The run has read a hundred of them, and has no time for more.
    let pause = chaos.pause_about("PutItem", "WAVE");
    let completed = async {
        pause.reached().await;
        app.complete(last).await;
        app.settle().await;
        pause.resume();
    };
    tokio::join!(run(app, Duration::ZERO), completed);
    assert!(reached().await.unwrap() >= began + 100);
    for _ in 0..2 {
        after(app, 60).await;
    }
    for staff in [manager, evaluator] {
        let counted = subjects(app, staff)
            .into_iter()
            .map(|subject| subject.split(' ').next().unwrap().parse::<usize>().unwrap());
        assert_eq!(counted.sum::<usize>(), 102, "{:?}", subjects(app, staff));
    }
    assert_eq!(reached().await, None);
}
