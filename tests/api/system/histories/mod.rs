//! Random histories of a project and its candidates over HTTP, compared after every step with a model of the contract.
//!
//! `PROPTEST_CASES` sets how many.

mod model;
mod one;
mod step;

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use proptest::test_runner::{Config, contextualize_config};
use proptest_state_machine::{StateMachineTest, prop_state_machine};
use serde_json::{Value, json};
use shared::clock::Clock;
use shared::domain::candidate::CandidateStatus;
use tests::app::TestApp;
use tests::caller::{Caller, Invited, PASSWORD, Staff, Token};
use tests::clock::ManualClock;
use tests::http::{Request, Response};
use tests::platform::event;
use tokio::runtime::{Builder, Runtime};

use model::Model;
use step::{Answer, Deadline, Means, Report, Step};

fn config() -> Config {
    contextualize_config(Config { cases: 24, max_shrink_iters: 300, ..Config::default() })
}

prop_state_machine! {
    #![proptest_config(config())]
    #[test]
    fn every_history_is_one_that_the_contract_allows(sequential 40..41 => Service);
}

/// The service as one history goes on.
struct Service {
    runtime: Runtime,
    there: There,
}

struct There {
    app: TestApp,
    owner: Staff,
    /// The first of them always manages the project, so that it can be seen by their eyes.
    evaluators: [Staff; 3],
    project: String,
    candidates: Vec<Known>,
    last_event: Value,
}

/// What is known of a candidate from outside.
struct Known {
    uri: String,
    email: String,
    by_key: Option<Invited>,
    by_token: Option<Token>,
}

impl StateMachineTest for Service {
    type SystemUnderTest = Self;
    type Reference = Model;

    fn init_test(model: &Model) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let there = runtime.block_on(There::begin(model));
        Self { runtime, there }
    }

    fn apply(mut service: Self, model: &Model, step: Step) -> Self {
        let Self { runtime, there } = &mut service;
        runtime.block_on(async {
            let answer = there.take(&step).await;
            assert_eq!(answer, model.answer, "the answer to {step:?}");
            there.compare(model).await;
        });
        service
    }

    fn teardown(service: Self, model: Model) {
        service.runtime.block_on(async {
            let table = service.there.app.table();
            let items = table.snapshot().await;
            let mails = items.values().filter(|item| item["task"]["kind"] == "candidate-mail").count();
            assert_eq!(mails, model.mails, "mails to be sent");
        });
    }
}

impl There {
    async fn begin(model: &Model) -> Self {
        let app = TestApp::start_with(&[("SESSION_IDLE_MINUTES", "1440")]).await;
        // No moment of a request is a whole second.
        app.clock().advance(TimeDelta::milliseconds(250));
        let owner = app.owner().await;
        let hire = async || app.staff("hiring-manager").await;
        let evaluators = [hire().await, hire().await, hire().await];
        let fields = json!({
            "interview_managers": [evaluators[0].uri],
            "evaluators": [evaluators[0].uri, evaluators[1].uri],
            "team_evaluation": model.team_evaluation,
            "allow_hash_login": model.allow_hash_login,
            "veto_enabled": true,
            "default_interview_period": model.has_period.then_some(1),
        });
        let project = owner.running_project(fields).await;
        Self { app, owner, evaluators, project, candidates: Vec::new(), last_event: Value::Null }
    }

    async fn take(&mut self, step: &Step) -> Answer {
        let uri = |one: usize| self.candidates[one].uri.as_str();
        match *step {
            Step::Create { has_email } => {
                let email = format!("candidate-{}@mail.example", self.candidates.len());
                let fields = json!({
                    "first_name": "Ada", "last_name": "Byron", "email": if has_email { &email } else { "" },
                });
                let created = self.owner.post(&format!("{}candidates/", self.project), fields).await;
                let uri = created.uri("resource_uri");
                self.candidates.push(Known { uri, email, by_key: None, by_token: None });
                answer(&created)
            }
            Step::Email { one, has_email } => {
                let email = has_email.then_some(&self.candidates[one].email);
                answer(&self.owner.patch(uri(one), json!({ "email": email })).await)
            }
            Step::Deadline { one, deadline: Deadline::In(minutes) } => {
                let at = self.app.clock().now() + TimeDelta::minutes(minutes);
                answer(&self.owner.set_deadline(uri(one), &text(at)).await)
            }
            Step::Deadline { one, deadline: Deadline::None } => {
                answer(&self.owner.patch(uri(one), json!({ "deadline": null })).await)
            }
            Step::Advance { one } => answer(&self.owner.advance(uri(one)).await),
            Step::AdvanceItself { one, by } => {
                let Known { uri, by_key, by_token, .. } = &self.candidates[one];
                answer(&match by {
                    Means::Key => by_key.as_ref().unwrap().advance(uri).await,
                    Means::Token => by_token.as_ref().unwrap().advance(uri).await,
                })
            }
            Step::Password { one, by } => {
                let Known { uri, email, by_key, by_token } = &mut self.candidates[one];
                let password = json!({ "password": PASSWORD });
                let changed = match by {
                    Means::Key => by_key.as_ref().unwrap().patch(uri, password).await,
                    Means::Token => by_token.as_ref().unwrap().patch(uri, password).await,
                };
                if changed.status == 200 {
                    if let Some(stale) = by_token {
                        stale.get("/whoami/").await.expect(401);
                    }
                    let login = self.app.anonymous().log_in("acme", email, PASSWORD).await;
                    // Without an address, there is nothing to log in by.
                    *by_token = (login.status == 200).then(|| self.app.token(&login.uri("token")));
                }
                answer(&changed)
            }
            Step::Skip { one } => answer(&self.owner.skip(uri(one)).await),
            Step::Remind { one } => answer(&self.owner.remind(uri(one)).await),
            Step::Delete { one } => answer(&self.owner.delete(uri(one)).await),
            Step::Wait { minutes } => {
                self.app.clock().advance(TimeDelta::minutes(minutes));
                Answer::Done
            }
            Step::Sweep => {
                let summary = self.app.expire_overdue().await;
                assert_eq!((summary.moved_on, summary.failed, summary.more), (0, 0, false));
                Answer::Swept(summary.expired, summary.aborted)
            }
            Step::Report { one, report, minutes_ago } => {
                let time = text(self.app.clock().now() - TimeDelta::minutes(minutes_ago));
                let mut detail = json!({ "candidate": uri(one) });
                let kind = match report {
                    Report::Completed => "interview.completed",
                    Report::Aborted => "interview.aborted",
                    Report::Evaluated { by, completed } => {
                        detail["customer"] = json!(self.evaluators[by].uri);
                        detail["completed"] = json!(completed);
                        "evaluation.recorded"
                    }
                };
                self.last_event = event(kind, &time, detail);
                Answer::Event(self.app.report(self.last_event.clone()).await.unwrap())
            }
            Step::ReportAgain => Answer::Event(self.app.report(self.last_event.clone()).await.unwrap()),
            Step::Save { one, by, completed } => {
                let by = &self.evaluators[by];
                let target = format!("{}evaluations/{}/", uri(one), by.id());
                let body = json!({ "completed": completed, "comment": "What I think." });
                answer(&by.send(Request::put(&target).json(&body)).await)
            }
            Step::Veto { one, by } => {
                let comment = json!({ "comment": "The certificates are forged." });
                answer(&self.evaluators[by].post(&format!("{}vetos/", uri(one)), comment).await)
            }
            Step::Evaluators { who } => {
                let evaluators = self.evaluators.iter().zip(who).filter(|(_, evaluates)| *evaluates);
                let evaluators: Vec<_> = evaluators.map(|(one, _)| &one.uri).collect();
                answer(&self.owner.patch(&self.project, json!({ "evaluators": evaluators })).await)
            }
            Step::Project { to } => answer(&self.owner.set_status(&self.project, to).await),
        }
    }

    /// Makes sure that everything which clients see is as in the model.
    async fn compare(&mut self, model: &Model) {
        // By turns, to spare a request: what both see of the project differs only in the flags.
        let looks_on = model.steps % 2;
        let project = [&self.owner, &self.evaluators[0]][looks_on].get(&self.project);
        let list = format!("{}candidates/?page_size=100", self.project);
        let results = format!("{}results/?page_size=100", self.project);
        let (list, shown, results) = tokio::join!(self.owner.get(&list), project, self.owner.get(&results));
        let [list, shown, results] = [list, shown, results].map(|response| response.expect(200).json());
        assert_eq!(results["meta"]["total_count"], model.results());
        assert_eq!(results["objects"].as_array().unwrap().len(), model.results());
        let there = model.there();
        assert_eq!(list["meta"]["total_count"], there.clone().count());
        for (shown, (number, one)) in list["objects"].as_array().unwrap().iter().zip(there.clone()) {
            let known = &mut self.candidates[number];
            let date = |minute: Option<i64>| minute.map_or(Value::Null, |minute| text(moment(minute)).into());
            for (field, expected) in [
                ("resource_uri", json!(known.uri)),
                ("status", json!(one.status.as_str())),
                ("deadline", date(one.deadline)),
                ("invitationdate", date(one.invited_at)),
                ("confirmationdate", date(one.confirmed_at)),
                ("interviewdate", date(one.interviewed_at)),
                ("evaluation_status", json!(model.evaluation_status(one))),
            ] {
                assert_eq!(shown[field], expected, "{field} of candidate {number}");
            }
            let names = ["activation_key", "interview_key"];
            let shown_as: Vec<_> = names.into_iter().filter(|name| shown[name] != "").collect();
            let expected = one.has_key.then_some(names[usize::from(one.status != CandidateStatus::Invited)]);
            assert_eq!(shown_as, Vec::from_iter(expected), "keys of candidate {number}");
            if let Some(key) = shown_as.first().and_then(|name| shown[name].as_str()) {
                known.by_key = Some(Invited::new(&self.app, &known.uri, key, &known.email));
            }
        }

        assert_eq!(shown["status"], model.project);
        assert_eq!(shown["candidates_count"], there.clone().count());
        assert_eq!(shown["evaluated_candidates_count"], model.evaluated());
        let counted: BTreeSet<_> =
            CandidateStatus::ALL.into_iter().filter(|s| *s != CandidateStatus::New).collect();
        for status in counted {
            let count = there.clone().filter(|(_, one)| one.status == status).count();
            assert_eq!(shown[format!("{}_candidates_count", status.as_str())], count, "{status:?}");
        }
        let flags = ["can_evaluate", "can_see_results", "can_archive"];
        let seen = flags.map(|flag| shown[flag].as_bool().unwrap());
        assert_eq!(seen, model.flags()[looks_on], "{flags:?}");
    }
}

fn answer(response: &Response) -> Answer {
    match response.status.as_u16() {
        200 | 201 | 204 => Answer::Done,
        401 => Answer::Unauthenticated,
        429 => Answer::Throttled,
        400 => Answer::Refused(response.uri("code")),
        _ => panic!("{response}"),
    }
}

/// The moment so many minutes after the beginning.
fn moment(minute: i64) -> DateTime<Utc> {
    ManualClock::START.parse::<DateTime<Utc>>().unwrap() + TimeDelta::minutes(minute)
}

fn text(moment: DateTime<Utc>) -> String {
    moment.format("%Y-%m-%dT%H:%M:%SZ").to_string()
}
