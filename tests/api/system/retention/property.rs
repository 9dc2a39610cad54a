//! Compares the erasures of a run with those of a reference that knows everything, and with the list of due candidates.

use chrono::TimeDelta;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner, contextualize_config};
use serde_json::{Value, json};
use tests::caller::Caller;
use tests::effort;
use tests::http::Request;
use tokio::runtime::Builder;

use super::GivenCompany;

const PROJECTS: usize = 3;
/// The day on which projects are closed, and on which rules are set.
const CLOSE: i64 = 32;
const RULES: i64 = 36;

/// The life of a candidate, by days.
#[derive(Debug, Clone)]
struct CandidateLife {
    project: usize,
    created: i64,
    /// Invited so many days later, with a deadline after more days.
    invited: Option<(i64, i64)>,
    /// Withdrawn on the day of the invitation.
    is_skipped: bool,
    /// Given a deadline in the far future once they have expired.
    has_more_time: bool,
    /// On hold until this day, or without an end.
    hold: Option<Option<i64>>,
}

#[derive(Debug, Clone, Copy)]
struct Rule {
    days: Option<i64>,
    counts_from_close: bool,
}

#[derive(Debug, Clone)]
struct Scenario {
    lives: Vec<CandidateLife>,
    is_closed: [bool; PROJECTS],
    company: Rule,
    own: [Option<Rule>; PROJECTS],
    /// The day of the run.
    run: i64,
}

impl Rule {
    fn body(self) -> Value {
        json!({ "days": self.days, "from": if self.counts_from_close { "project_closed" } else { "last_activity" } })
    }
}

impl Scenario {
    /// The day from which the rule erases a candidate, in a project that is closed or not; `None` if they are kept.
    fn due_day(&self, life: &CandidateLife, is_closed: bool) -> Option<i64> {
        let rule = self.own[life.project].unwrap_or(self.company);
        let days = rule.days.filter(|_| !rule.counts_from_close || is_closed)?;
        let invited = life.invited.map(|(after, _)| life.created + after);
        let deadline = life.invited.map(|(after, days)| life.created + after + days);
        // Expired candidates expired on this day, whatever deadline they have since.
        let deadline = deadline.filter(|_| !life.is_skipped).map(|deadline| deadline.max(CLOSE));
        let last = life.created.max(invited.unwrap_or(0)).max(deadline.unwrap_or(0));
        let start = if rule.counts_from_close { last.max(CLOSE) } else { last };
        // A first rule erases nobody before.
        Some((start + days).max(RULES + 7))
    }

    /// Whether the run erases a candidate, in a project that is closed or not.
    fn erases(&self, life: &CandidateLife, is_closed: bool) -> bool {
        let is_held = life.hold.is_some_and(|until| until.is_none_or(|until| self.run < until));
        self.due_day(life, is_closed).is_some_and(|day| day <= self.run) && !is_held
    }
}

fn rules() -> impl Strategy<Value = Rule> {
    let days = proptest::option::weighted(0.85, 7..30_i64);
    (days, any::<bool>()).prop_map(|(days, counts_from_close)| Rule { days, counts_from_close })
}

fn lives() -> impl Strategy<Value = CandidateLife> {
    let invited = proptest::option::of((0..5_i64, 1..12_i64));
    let hold = proptest::option::weighted(0.25, proptest::option::of(37..70_i64));
    (0..PROJECTS, 0..25_i64, invited, any::<[bool; 2]>(), hold).prop_map(
        |(project, created, invited, [is_skipped, has_more_time], hold)| CandidateLife {
            project,
            created,
            invited,
            is_skipped: is_skipped && invited.is_some(),
            has_more_time,
            hold,
        },
    )
}

fn scenarios() -> impl Strategy<Value = Scenario> {
    let lives = proptest::collection::vec(lives(), 1..9);
    let own = || proptest::option::weighted(0.4, rules());
    let days_around = proptest::option::weighted(0.7, (any::<prop::sample::Index>(), -1..=0_i64));
    (lives, any::<[bool; PROJECTS]>(), rules(), [own(), own(), own()], 38..60_i64, days_around).prop_map(
        |(mut lives, is_closed, company, own, run, days_around)| {
            lives.sort_by_key(|life| life.created);
            let mut scenario = Scenario { lives, is_closed, company, own, run };
            let lives = scenario.lives.iter();
            let due: Vec<i64> =
                lives.filter_map(|life| scenario.due_day(life, is_closed[life.project])).collect();
            // On the day on which somebody is due, or the day before: other days hardly ever show a rule that is a day off.
            if let Some((index, around)) = days_around.filter(|_| !due.is_empty()) {
                scenario.run = index.get(&due) + around;
            }
            scenario
        },
    )
}

/// Moves the clock to a day.
struct Calendar<'a>(&'a GivenCompany, i64);

impl Calendar<'_> {
    fn go_to(&mut self, day: i64) {
        self.0.app.clock().advance(TimeDelta::days(day - self.1));
        self.1 = day;
    }
}

async fn try_scenario(scenario: &Scenario) {
    let given = GivenCompany::start().await;
    let mut projects = Vec::new();
    for _ in 0..PROJECTS {
        projects.push(given.owner.running_project(json!({})).await);
    }
    let put = async |uri: String, body: Value| {
        given.token.send(Request::put(&uri).json(&body)).await.expect(200);
    };
    let mut calendar = Calendar(&given, 0);
    let mut uris = vec![String::new(); scenario.lives.len()];
    for day in 0..CLOSE {
        calendar.go_to(day);
        for (life, uri) in scenario.lives.iter().zip(&mut uris) {
            if life.created == day {
                *uri = given.candidate_in(&projects[life.project]).await;
                let email = given.app.next_email();
                given.token.patch(uri, json!({ "email": email })).await.expect(200);
                if let Some(until) = life.hold {
                    let until = until.map(|until| given.app.clock().in_days(until - day));
                    put(format!("{uri}hold/"), json!({ "reason": "Lawsuit", "until": until })).await;
                }
            }
            let Some((_, days)) = life.invited.filter(|(after, _)| life.created + after == day) else {
                continue;
            };
            given.token.set_deadline(uri, &given.app.clock().in_days(days)).await.expect(200);
            given.token.advance(uri).await.expect(200);
            if life.is_skipped {
                given.token.skip(uri).await.expect(200);
            }
        }
    }
    calendar.go_to(CLOSE);
    given.app.expire_overdue().await;
    for (_, uri) in scenario.lives.iter().zip(&uris).filter(|(life, _)| life.has_more_time) {
        if given.token.get(uri).await.expect(200).json()["status"] == "expired" {
            given.token.set_deadline(uri, &given.app.clock().in_days(500)).await.expect(200);
        }
    }
    let mut is_closed = [false; PROJECTS];
    for (index, project) in projects.iter().enumerate().filter(|(index, _)| scenario.is_closed[*index]) {
        // Refused while interviews are open.
        let closed = given.token.patch(&format!("{project}status/"), json!({ "status": "60-closed" })).await;
        is_closed[index] = closed.status.as_u16() == 200;
    }
    calendar.go_to(RULES);
    given.set_retention(scenario.company.body()).await;
    for (project, own) in projects.iter().zip(&scenario.own) {
        if let Some(own) = own {
            put(format!("{project}retention/"), own.body()).await;
        }
    }
    calendar.go_to(scenario.run);

    let expected: Vec<bool> =
        scenario.lives.iter().map(|life| !scenario.erases(life, is_closed[life.project])).collect();
    let list = given.token.get(&format!("{}due/?page_size=100", given.retention())).await.expect(200).json();
    let rows = list["objects"].as_array().unwrap();
    let due = |uri: &String| rows.iter().any(|row| row["candidate"] == *uri && row["is_held"] == false);
    let announced: Vec<bool> = uris.iter().map(|uri| !due(uri)).collect();
    let summary = given.app.erase_due().await;
    assert_eq!(summary.runs, 1);
    assert_eq!(given.existing(&uris).await, expected, "erased");
    assert_eq!(announced, expected, "announced");
    assert_eq!(summary.erased, expected.iter().filter(|exists| !**exists).count());
    assert_eq!(given.last_run().await["erased"], summary.erased);
}

#[test]
fn a_run_erases_whom_the_rules_say_and_the_list_has_announced() {
    let config =
        contextualize_config(Config { cases: effort::count(32), max_shrink_iters: 100, ..Config::default() });
    let result = TestRunner::new(config).run(&scenarios(), |scenario| {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(try_scenario(&scenario));
        Ok(())
    });
    result.unwrap_or_else(|failed| panic!("{failed}"));
}
