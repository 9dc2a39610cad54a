//! Erasures by the schedule: candidates whose request is due, and those whom their company or project keeps no longer.

mod crashes;
mod property;
mod races;
mod requests;
mod runs;
mod walk;

use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, Staff, Token};
use tests::http::Request;

const RETENTION: &str = "/companies/acme/retention/";

/// A company whose candidates are to be erased, with a credential that outlives months.
struct GivenCompany {
    app: TestApp,
    owner: Staff,
    token: Token,
    /// A running project.
    project: String,
}

impl GivenCompany {
    async fn start() -> Self {
        Self::on(TestApp::start().await).await
    }

    async fn on(app: TestApp) -> Self {
        let owner = app.owner().await;
        Self::of(owner).await
    }

    async fn of(owner: Staff) -> Self {
        let (_, token) = owner.named_token("ATS").await;
        let project = owner.running_project(json!({ "allow_hash_login": true })).await;
        Self { app: owner.app().clone(), owner, token, project }
    }

    fn retention(&self) -> String {
        format!("/companies/{}/retention/", self.owner.company)
    }

    /// Sets the policy of the company.
    async fn set_retention(&self, policy: Value) -> Value {
        self.token.send(Request::put(&self.retention()).json(&policy)).await.expect(200).json()
    }

    /// Creates a candidate and gives its address.
    async fn candidate(&self) -> String {
        self.candidate_in(&self.project).await
    }

    async fn candidate_in(&self, project: &str) -> String {
        let ada = json!({ "first_name": "Ada", "last_name": "Byron" });
        self.token.post(&format!("{project}candidates/"), ada).await.expect(201).uri("resource_uri")
    }

    async fn candidates(&self, count: usize) -> Vec<String> {
        let mut candidates = Vec::with_capacity(count);
        for _ in 0..count {
            candidates.push(self.candidate().await);
        }
        candidates
    }

    async fn exists(&self, candidate: &str) -> bool {
        match self.token.get(candidate).await.status.as_u16() {
            200 => true,
            404 => false,
            other => panic!("{other}"),
        }
    }

    /// Which of these candidates exist.
    async fn existing(&self, candidates: &[String]) -> Vec<bool> {
        let mut existing = Vec::with_capacity(candidates.len());
        for candidate in candidates {
            existing.push(self.exists(candidate).await);
        }
        existing
    }

    /// Puts a candidate on hold.
    async fn hold(&self, candidate: &str, until: Value) {
        let hold = json!({ "reason": "Lawsuit", "until": until });
        self.token.send(Request::put(&format!("{candidate}hold/")).json(&hold)).await.expect(200);
    }

    /// The report of the last run, without its end.
    async fn last_run(&self) -> Value {
        let mut run = self.token.get(&self.retention()).await.expect(200).json()["last_run"].clone();
        run.as_object_mut().map(|run| run.remove("at"));
        run
    }

    /// The events of these types, as they are numbered now.
    async fn events(&self, kind: &str) -> Vec<Value> {
        self.app.settle().await;
        let path = format!("/companies/{}/events/?page_size=100&type={kind}", self.owner.company);
        let page = self.token.get(&path).await.expect(200).json();
        assert_eq!(page["meta"]["more"], false);
        page["objects"].as_array().unwrap().clone()
    }
}

fn counts(looked_at: u64, erased: u64, held: u64, soon: u64, waiting: u64) -> Value {
    json!({ "looked_at": looked_at, "erased": erased, "held": held, "soon": soon, "waiting": waiting })
}
