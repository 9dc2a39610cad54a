//! Usage is what a model says that counts the requests which were made, whatever dies and is taken back in between.

mod batches;
mod model;

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use proptest::test_runner::{Config, contextualize_config};
use proptest_state_machine::{StateMachineTest, prop_state_machine};
use serde_json::{Value, json};
use shared::clock::Clock;
use tests::app::TestApp;
use tests::caller::{Caller, Invited, Staff, Token, last_segment};
use tests::chaos::Chaos;
use tests::effort;
use tests::moment::Moment;
use tests::takes::Interviewee;
use tests::videos::film;
use tokio::runtime::{Builder, Runtime};

use model::{Counts, DELETING, SETTLING, TAKES, UsageModel, UsageStep};

use super::erasure::{drift, erase_again};
use crate::interviews::reopening::reopening;

/// Every month that a history may reach.
const USAGE: &str = "/companies/acme/usage/?from=2026-11&to=2029-10";
/// In no month of a history.
const DEADLINE: &str = "2099-01-01T00:00:00Z";

fn config() -> Config {
    contextualize_config(Config { cases: effort::count(12), max_shrink_iters: 60, ..Config::default() })
}

prop_state_machine! {
    #![proptest_config(config())]
    #[test]
    fn usage_is_what_requests_have_asked_for(sequential 30..31 => UsageTest);
}

/// The service as one history goes on.
struct UsageTest {
    runtime: Runtime,
    state: ServiceState,
}

struct ServiceState {
    app: TestApp,
    chaos: [Chaos; 2],
    owner: Staff,
    token: Token,
    project: String,
    question: String,
    candidates: Vec<String>,
    noted: Option<Moment>,
}

impl StateMachineTest for UsageTest {
    type SystemUnderTest = Self;
    type Reference = UsageModel;

    fn init_test(_: &UsageModel) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let state = runtime.block_on(ServiceState::begin());
        Self { runtime, state }
    }

    fn apply(mut service: Self, model: &UsageModel, step: UsageStep) -> Self {
        let Self { runtime, state } = &mut service;
        runtime.block_on(async {
            state.run(step, model).await;
            assert_eq!(state.app.clock().now(), model.now, "the clock after {step:?}");
            if !model.is_unsettled {
                assert_eq!(state.usage().await, model.months, "after {step:?}");
            }
        });
        service
    }

    fn teardown(service: Self, model: UsageModel) {
        let Self { runtime, state } = &service;
        runtime.block_on(async {
            state.settle().await;
            assert_eq!(state.usage().await, model.months);
            // Everything else of people who were deleted is erased.
            state.app.clock().advance(DELETING);
            state.settle().await;
            assert_eq!(state.usage().await, model.months);
        });
    }
}

impl ServiceState {
    async fn begin() -> Self {
        let (app, chaos) = TestApp::start_with_storage_chaos().await;
        let owner = app.owner().await;
        let (_, token) = owner.named_token("Integration").await;
        let fields = json!({ "allow_hash_login": true, "interview_platform": "builtin" });
        let project = owner.running_project(fields).await;
        let question = json!({ "text": "Why us?", "is_required": false, "takes": TAKES });
        let question =
            owner.post(&format!("{project}questions/"), question).await.expect(201).uri("resource_uri");
        app.settle().await;
        Self { app, chaos, owner, token, project, question, candidates: Vec::new(), noted: None }
    }

    async fn run(&mut self, step: UsageStep, model: &UsageModel) {
        match step {
            UsageStep::Invite => {
                let person = json!({ "first_name": "Ada", "last_name": "Byron", "receive_mails": false, "deadline": DEADLINE });
                let created =
                    self.token.post(&format!("{}candidates/", self.project), person).await.expect(201);
                self.candidates.push(created.uri("resource_uri"));
                self.token.advance(self.candidates.last().unwrap()).await.expect(200);
            }
            UsageStep::InviteAgain(candidate) => {
                let uri = &self.candidates[candidate];
                self.token.set_deadline(uri, DEADLINE).await.expect(200);
                self.token.advance(uri).await.expect(200);
            }
            UsageStep::Expire(candidate) => {
                self.token
                    .set_deadline(&self.candidates[candidate], &self.app.clock().in_days(0))
                    .await
                    .expect(200);
                self.app.expire_overdue().await;
            }
            UsageStep::Begin(candidate) => {
                let invited = self.candidate(candidate).await;
                for _ in ["confirmed", "interviewing"] {
                    invited.advance(&invited.uri).await.expect(200);
                }
            }
            UsageStep::Record(candidate) => {
                let (owner, candidate) = (self.owner.clone(), self.candidate(candidate).await);
                let answer = format!("{}answers/{}/", candidate.uri, last_segment(&self.question));
                Interviewee { owner, candidate, answer }.record(&[&film()]).await;
                self.settle().await;
            }
            UsageStep::Complete(candidate) => {
                let interviewing = self.candidate(candidate).await;
                interviewing.advance(&interviewing.uri).await.expect(200);
            }
            UsageStep::Reopen(candidate) => {
                self.token.send(reopening(&self.candidates[candidate], json!({}))).await.expect(200);
            }
            UsageStep::Delete(candidate) => {
                self.token.delete(&self.candidates[candidate]).await.expect(204);
            }
            UsageStep::Settle => self.settle().await,
            UsageStep::Kill(writes) => self.kill(writes).await,
            UsageStep::Wait(hours) => {
                if hours > 1 {
                    self.settle().await;
                }
                self.app.clock().advance(TimeDelta::hours(hours));
            }
            UsageStep::ToEndOfMonth => {
                self.settle().await;
                self.app.clock().advance(model.now - self.app.clock().now());
            }
            UsageStep::Note => self.noted = Some(self.app.moment()),
            UsageStep::Restore => self.restore().await,
        }
    }

    /// A candidate with the key that they have now.
    async fn candidate(&self, number: usize) -> Invited {
        let uri = &self.candidates[number];
        let shown = self.token.get(uri).await.expect(200).json();
        let keys = ["activation_key", "interview_key"].map(|name| shown[name].as_str().unwrap());
        Invited::new(&self.app, uri, keys.into_iter().find(|key| !key.is_empty()).unwrap(), "")
    }

    async fn settle(&self) {
        self.app.settle().await;
        self.app.clock().advance(SETTLING);
        self.app.sweep().await;
        self.app.settle().await;
    }

    async fn kill(&self, writes: usize) {
        self.chaos.iter().for_each(|chaos| chaos.cut_after_writes(writes));
        // A function that dies may answer nothing.
        while self.app.events().deliver_stream().await.is_ok_and(|taken| taken > 0) {}
        self.chaos.iter().for_each(Chaos::heal);
    }

    async fn restore(&self) {
        let moment = self.noted.as_ref().unwrap();
        // The program that restores a deployed stack does the same: pending work is done first.
        self.app.clock().advance(DELETING);
        self.settle().await;
        self.app.operate(json!({ "command": "advance-sequence", "company": "acme" })).await.unwrap();
        self.app.take_back_to(moment).await;
        drift(&self.app).await;
        let since = (moment.at - TimeDelta::minutes(15)).to_rfc3339();
        assert_eq!(erase_again(&self.app, &since).await["kept"], json!([]));
        self.settle().await;
    }

    /// What the API shows of each month in which something was used.
    async fn usage(&self) -> BTreeMap<String, Counts> {
        let now = self.app.clock().now();
        let usage = self.token.get(USAGE).await.expect(200).json();
        let mut months = BTreeMap::new();
        for shown in usage["objects"].as_array().unwrap() {
            let counts =
                ["candidates_invited", "interviews_completed", "answers_converted", "seconds_converted"];
            let counts = counts.map(|name| shown[name].as_u64().unwrap());
            let month = shown["month"].as_str().unwrap().to_owned();
            assert_eq!(shown["is_final"], Value::from(is_final(&month, now)), "{month} at {now}");
            if counts != Counts::default() {
                months.insert(month, counts);
            }
        }
        months
    }
}

/// Whether three days have passed since the end of a month.
fn is_final(month: &str, now: DateTime<Utc>) -> bool {
    (now - TimeDelta::days(3)).format("%Y-%m").to_string().as_str() > month
}
