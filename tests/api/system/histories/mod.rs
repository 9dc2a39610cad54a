//! Random histories of a project and its candidates over HTTP, compared after every step with a model of the contract. At the end,
//! the company moves to another deployment, and its export there must be the same.
//!
//! `PROPTEST_CASES` sets how many.

mod candidate;
mod model;
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
use tests::effort;
use tests::http::{Request, Response};
use tests::platform::event;
use tokio::runtime::{Builder, Runtime};

use crate::admin::import::assert_moves;
use model::ProjectModel;
use step::{DeadlineChange, HistoryStep, KeyOrToken, PlatformReport, StepAnswer};

fn config() -> Config {
    contextualize_config(Config { cases: effort::count(24), max_shrink_iters: 300, ..Config::default() })
}

prop_state_machine! {
    #![proptest_config(config())]
    #[test]
    fn every_history_is_one_that_the_contract_allows(sequential 40..41 => HistoryTest);
}

/// The service as one history goes on.
struct HistoryTest {
    runtime: Runtime,
    state: ServiceState,
}

struct ServiceState {
    app: TestApp,
    owner: Staff,
    /// The first one also manages the project, so that a manager's view is compared as well.
    evaluators: [Staff; 3],
    project: String,
    candidates: Vec<KnownCandidate>,
    last_event: Value,
}

/// A candidate as a client knows them.
struct KnownCandidate {
    uri: String,
    email: String,
    by_key: Option<Invited>,
    by_token: Option<Token>,
}

impl StateMachineTest for HistoryTest {
    type SystemUnderTest = Self;
    type Reference = ProjectModel;

    fn init_test(model: &ProjectModel) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let state = runtime.block_on(ServiceState::begin(model));
        Self { runtime, state }
    }

    fn apply(mut service: Self, model: &ProjectModel, step: HistoryStep) -> Self {
        let Self { runtime, state } = &mut service;
        runtime.block_on(async {
            let answer = state.run(&step).await;
            assert_eq!(answer, model.answer, "the answer to {step:?}");
            state.compare(model).await;
        });
        service
    }

    fn teardown(service: Self, model: ProjectModel) {
        service.runtime.block_on(async {
            let table = service.state.app.table();
            let items = table.snapshot().await;
            let mails = items.values().filter(|item| item["task"]["kind"] == "candidate-mail").count();
            assert_eq!(mails, model.mails, "mails to be sent");
            assert_moves(&service.state.app).await;
        });
    }
}

impl ServiceState {
    async fn begin(model: &ProjectModel) -> Self {
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

    async fn run(&mut self, step: &HistoryStep) -> StepAnswer {
        let uri = |candidate: usize| self.candidates[candidate].uri.as_str();
        match *step {
            HistoryStep::Create { has_email } => {
                let email = format!("candidate-{}@mail.example", self.candidates.len());
                let fields = json!({
                    "first_name": "Ada", "last_name": "Byron", "email": if has_email { &email } else { "" },
                });
                let created = self.owner.post(&format!("{}candidates/", self.project), fields).await;
                let uri = created.uri("resource_uri");
                self.candidates.push(KnownCandidate { uri, email, by_key: None, by_token: None });
                answer(&created)
            }
            HistoryStep::Email { candidate, has_email } => {
                let email = has_email.then_some(&self.candidates[candidate].email);
                // The address of a candidate with a password is removed only with `confirm`.
                let fields = json!({ "email": email, "confirm": !has_email });
                answer(&self.owner.patch(uri(candidate), fields).await)
            }
            HistoryStep::Deadline { candidate, deadline: DeadlineChange::In(minutes) } => {
                let at = self.app.clock().now() + TimeDelta::minutes(minutes);
                answer(&self.owner.set_deadline(uri(candidate), &text(at)).await)
            }
            HistoryStep::Deadline { candidate, deadline: DeadlineChange::None } => {
                answer(&self.owner.patch(uri(candidate), json!({ "deadline": null })).await)
            }
            HistoryStep::Advance { candidate } => answer(&self.owner.advance(uri(candidate)).await),
            HistoryStep::AdvanceItself { candidate, by } => {
                let KnownCandidate { uri, by_key, by_token, .. } = &self.candidates[candidate];
                answer(&match by {
                    KeyOrToken::Key => by_key.as_ref().unwrap().advance(uri).await,
                    KeyOrToken::Token => by_token.as_ref().unwrap().advance(uri).await,
                })
            }
            HistoryStep::Password { candidate, by } => {
                let KnownCandidate { uri, email, by_key, by_token } = &mut self.candidates[candidate];
                let password = json!({ "password": PASSWORD });
                let changed = match by {
                    KeyOrToken::Key => by_key.as_ref().unwrap().patch(uri, password).await,
                    KeyOrToken::Token => by_token.as_ref().unwrap().patch(uri, password).await,
                };
                if changed.status == 200 {
                    if let Some(stale) = by_token {
                        stale.get("/whoami/").await.expect(401);
                    }
                    let login = self.app.anonymous().log_in("acme", email, PASSWORD).await;
                    // Logins need an email address.
                    *by_token = (login.status == 200).then(|| self.app.token(&login.uri("token")));
                }
                answer(&changed)
            }
            HistoryStep::Skip { candidate } => answer(&self.owner.skip(uri(candidate)).await),
            HistoryStep::Cancel { candidate, notify } => {
                let filled = json!({ "reason": "The position is filled.", "notify": notify });
                answer(&self.owner.post(&format!("{}cancel/", uri(candidate)), filled).await)
            }
            HistoryStep::Remind { candidate } => answer(&self.owner.remind(uri(candidate)).await),
            HistoryStep::Delete { candidate } => answer(&self.owner.delete(uri(candidate)).await),
            HistoryStep::Hold { candidate, minutes } => {
                let until = minutes.map(|minutes| text(self.app.clock().now() + TimeDelta::minutes(minutes)));
                let hold = json!({ "reason": "A lawsuit.", "until": until });
                let put = Request::put(&format!("{}hold/", uri(candidate))).json(&hold);
                answer(&self.owner.send(put).await)
            }
            HistoryStep::Release { candidate } => {
                answer(&self.owner.delete(&format!("{}hold/", uri(candidate))).await)
            }
            HistoryStep::RequestErasure { candidate } => {
                let put = Request::put(&format!("{}erasure-request/", uri(candidate)));
                answer(&self.evaluators[0].send(put).await)
            }
            HistoryStep::WithdrawErasure { candidate } => {
                answer(&self.owner.delete(&format!("{}erasure-request/", uri(candidate))).await)
            }
            HistoryStep::Wait { minutes } => {
                self.app.clock().advance(TimeDelta::minutes(minutes));
                StepAnswer::Done
            }
            HistoryStep::Sweep => {
                let summary = self.app.expire_overdue().await;
                assert_eq!((summary.moved_on, summary.failed, summary.more), (0, 0, false));
                StepAnswer::Swept(summary.expired, summary.aborted)
            }
            HistoryStep::Report { candidate, report, minutes_ago } => {
                let time = text(self.app.clock().now() - TimeDelta::minutes(minutes_ago));
                let mut detail = json!({ "candidate": uri(candidate) });
                let kind = match report {
                    PlatformReport::Completed => "interview.completed",
                    PlatformReport::Aborted => "interview.aborted",
                    PlatformReport::Evaluated { by, completed } => {
                        detail["customer"] = json!(self.evaluators[by].uri);
                        detail["completed"] = json!(completed);
                        "evaluation.recorded"
                    }
                };
                self.last_event = event(kind, &time, detail);
                StepAnswer::Event(self.app.report(self.last_event.clone()).await.unwrap())
            }
            HistoryStep::ReportAgain => {
                StepAnswer::Event(self.app.report(self.last_event.clone()).await.unwrap())
            }
            HistoryStep::Save { candidate, by, completed } => {
                let by = &self.evaluators[by];
                let target = format!("{}evaluations/{}/", uri(candidate), by.id());
                let body = json!({ "completed": completed, "comment": "What I think." });
                answer(&by.send(Request::put(&target).json(&body)).await)
            }
            HistoryStep::Veto { candidate, by } => {
                let comment = json!({ "comment": "The certificates are forged." });
                answer(&self.evaluators[by].post(&format!("{}vetos/", uri(candidate)), comment).await)
            }
            HistoryStep::Evaluators { who } => {
                let evaluators = self.evaluators.iter().zip(who).filter(|(_, evaluates)| *evaluates);
                let evaluators: Vec<_> = evaluators.map(|(evaluator, _)| &evaluator.uri).collect();
                answer(&self.owner.patch(&self.project, json!({ "evaluators": evaluators })).await)
            }
            HistoryStep::Project { to } => answer(&self.owner.set_status(&self.project, to).await),
        }
    }

    /// Compares everything that clients see with the model.
    async fn compare(&mut self, model: &ProjectModel) {
        // The two viewers take turns to save a request: only the flags of the project differ between them.
        let viewer = model.steps % 2;
        let project = [&self.owner, &self.evaluators[0]][viewer].get(&self.project);
        let list = format!("{}candidates/?page_size=100", self.project);
        let results = format!("{}results/?page_size=100", self.project);
        let (list, shown, results) = tokio::join!(self.owner.get(&list), project, self.owner.get(&results));
        let [list, shown, results] = [list, shown, results].map(|response| response.expect(200).json());
        assert_eq!(results["meta"]["total_count"], model.results());
        assert_eq!(results["objects"].as_array().unwrap().len(), model.results());
        let candidates = model.candidates();
        assert_eq!(list["meta"]["total_count"], candidates.clone().count());
        for (shown, (number, candidate)) in list["objects"].as_array().unwrap().iter().zip(candidates.clone())
        {
            let known = &mut self.candidates[number];
            let date = |minute: Option<i64>| minute.map_or(Value::Null, |minute| text(moment(minute)).into());
            for (field, expected) in [
                ("resource_uri", json!(known.uri)),
                ("status", json!(candidate.status.as_str())),
                ("deadline", date(candidate.deadline)),
                ("invitationdate", date(candidate.invited_at)),
                ("confirmationdate", date(candidate.confirmed_at)),
                ("interviewdate", date(candidate.interviewed_at)),
                ("evaluation_status", json!(model.evaluation_status(candidate))),
                ("is_on_hold", json!(candidate.is_on_hold(model.now))),
                ("erasure_due_at", date(candidate.erasure_due_at)),
            ] {
                assert_eq!(shown[field], expected, "{field} of candidate {number}");
            }
            let names = ["activation_key", "interview_key"];
            let shown_as: Vec<_> = names.into_iter().filter(|name| shown[name] != "").collect();
            let expected =
                candidate.has_key.then_some(names[usize::from(candidate.status != CandidateStatus::Invited)]);
            assert_eq!(shown_as, Vec::from_iter(expected), "keys of candidate {number}");
            if let Some(key) = shown_as.first().and_then(|name| shown[name].as_str()) {
                known.by_key = Some(Invited::new(&self.app, &known.uri, key, &known.email));
            }
        }

        assert_eq!(shown["status"], model.project);
        assert_eq!(shown["candidates_count"], candidates.clone().count());
        assert_eq!(shown["evaluated_candidates_count"], model.evaluated());
        let counted: BTreeSet<_> =
            CandidateStatus::ALL.into_iter().filter(|s| *s != CandidateStatus::New).collect();
        for status in counted {
            let count = candidates.clone().filter(|(_, candidate)| candidate.status == status).count();
            assert_eq!(shown[format!("{}_candidates_count", status.as_str())], count, "{status:?}");
        }
        let flags = ["can_evaluate", "can_see_results", "can_archive"];
        let seen = flags.map(|flag| shown[flag].as_bool().unwrap());
        assert_eq!(seen, model.flags()[viewer], "{flags:?}");
    }
}

fn answer(response: &Response) -> StepAnswer {
    match response.status.as_u16() {
        200 | 201 | 204 => StepAnswer::Done,
        401 => StepAnswer::Unauthenticated,
        404 => StepAnswer::NotFound,
        429 => StepAnswer::Throttled,
        400 => StepAnswer::Refused(response.uri("code")),
        _ => panic!("{response}"),
    }
}

/// The time `minute` minutes after the start.
fn moment(minute: i64) -> DateTime<Utc> {
    ManualClock::START.parse::<DateTime<Utc>>().unwrap() + TimeDelta::minutes(minute)
}

fn text(moment: DateTime<Utc>) -> String {
    moment.format("%Y-%m-%dT%H:%M:%SZ").to_string()
}
