//! The page of staff: they log in, watch what candidates have answered, and judge it.

mod accounts;
mod entrance;
mod extremes;
mod fits;
mod hard_days;
mod helping;
mod in_sight;
mod judging;
mod provider;
mod results;
mod watching;

use serde_json::{Value, json};
use tests::caller::{Caller, PASSWORD, Staff, last_segment, merge};
use tests::http::Request;

use crate::devtools::Page;
use crate::visit::Visit;

/// A complete interview in writing, and those who evaluate it.
pub(crate) struct Judged {
    pub(crate) visit: Visit,
    /// The address of the project in the API.
    pub(crate) project: String,
    pub(crate) evaluators: Vec<Staff>,
}

impl Judged {
    /// Two written answers, a criterion, and so many evaluators.
    pub(crate) async fn by(count: usize, fields: Value) -> Self {
        Self::about(&[("Why us?", "Because."), ("Why you?", "I can.")], count, fields).await
    }

    /// Questions with their written answers, a criterion, and so many evaluators.
    pub(crate) async fn about(answered: &[(&str, &str)], count: usize, fields: Value) -> Self {
        let mut project = json!({ "name": "Data engineer", "maximum_score": 5 });
        merge(&mut project, fields);
        let questions: Vec<_> =
            answered.iter().map(|(text, _)| json!({ "text": text, "kind": "text" })).collect();
        let visit = Visit::invited(project, &questions).await;
        let candidate = &visit.candidate;
        let (project, _) = candidate.uri.split_once("candidates/").unwrap();
        let project = project.to_owned();
        let named = json!({ "name": "Clarity", "description": "Speaks clearly." });
        visit.owner.post(&format!("{project}criteria/"), named).await.expect(201);
        for _ in ["confirmed", "interviewing"] {
            candidate.advance(&candidate.uri).await.expect(200);
        }
        let listed = visit.owner.get(&format!("{project}questions/?page_size=100")).await.expect(200).json();
        for (question, (_, text)) in listed["objects"].as_array().unwrap().iter().zip(answered) {
            let question = last_segment(question["resource_uri"].as_str().unwrap());
            let answer = format!("{}answers/{question}/", candidate.uri);
            candidate.send(Request::put(&answer).json(&json!({ "text": text }))).await.expect(201);
        }
        candidate.advance(&candidate.uri).await.expect(200);
        let mut evaluators = Vec::new();
        for _ in 0..count {
            evaluators.push(evaluator(&visit, &project).await);
        }
        Self { visit, project, evaluators }
    }

    /// The page that shows the candidate.
    pub(crate) async fn address(&self) -> String {
        let candidate = self.visit.owner.get(&self.visit.candidate.uri).await.expect(200).json();
        candidate["interview_suite_url"].as_str().unwrap().to_owned()
    }

    /// A page on which an evaluator has logged in and sees the first question.
    pub(crate) async fn opened_by(&self, evaluator: usize) -> Page {
        let mut page = Page::open().await;
        page.go(&self.address().await).await;
        page.sign_in(&self.evaluators[evaluator]).await;
        page.on("result").await;
        page
    }

    /// The address of an evaluation in the API.
    pub(crate) fn evaluation(&self, evaluator: usize) -> String {
        format!("{}evaluations/{}/", self.visit.candidate.uri, self.evaluators[evaluator].id())
    }

    /// The stored evaluation, as its author sees it.
    pub(crate) async fn saved(&self, evaluator: usize) -> Value {
        self.evaluators[evaluator].get(&self.evaluation(evaluator)).await.expect(200).json()
    }
}

/// Another evaluator of a project.
pub(crate) async fn evaluator(visit: &Visit, project: &str) -> Staff {
    let evaluator = visit.owner.colleague("hiring-manager", json!({})).await.activate().await;
    give_role(visit, project, &evaluator, "evaluator").await;
    evaluator
}

/// Gives somebody a role in a project.
pub(crate) async fn give_role(visit: &Visit, project: &str, staff: &Staff, role: &str) -> Value {
    let role = json!({ "customer": staff.uri, "role": role });
    visit.owner.post(&format!("{project}roles/"), role).await.expect(201).json()
}

/// The field with this label, which is in sight.
fn field(label: &str) -> String {
    format!(
        "[...document.querySelectorAll('label')].find(one => one.textContent === {} && one.control.checkVisibility())?.control",
        json!(label)
    )
}

impl Page {
    /// Signs in with the form.
    pub(crate) async fn sign_in(&mut self, staff: &Staff) {
        self.sign_in_as(&staff.username, PASSWORD).await;
    }

    /// Tries to log in.
    pub(crate) async fn sign_in_as(&mut self, username: &str, password: &str) {
        self.on("signIn").await;
        self.fill("username", username).await;
        self.fill("password", password).await;
        self.press("Log in").await;
    }

    /// Types into the field with this label, in place of what it has.
    pub(crate) async fn write_into(&mut self, label: &str, text: &str) {
        let field = field(label);
        self.until(&field).await;
        self.evaluate(&format!(
            "{{ const one = {field}; one.focus(); one.value = {}; one.dispatchEvent(new Event('input', {{ bubbles: true }})); }}",
            json!(text)
        ))
        .await;
    }

    /// The value of the field with this label.
    pub(crate) async fn read_from(&mut self, label: &str) -> Value {
        let field = field(label);
        self.until(&field).await;
        self.evaluate(&format!("{field}.value")).await
    }

    /// Waits until a person reads this.
    pub(crate) async fn tells(&mut self, text: &str) {
        self.until(&format!("document.body?.innerText.includes({})", json!(text))).await;
    }

    /// Loads the page anew, at its first place. `reload` stays in a page whose address names a place in it.
    pub(crate) async fn load_anew(&mut self) {
        let address = self.evaluate("location.href.split('#')[0]").await;
        self.go(address.as_str().unwrap()).await;
    }

    /// Goes to a place of the interview: a question, or the evaluation after the last one.
    pub(crate) async fn turn_page(&mut self, place: usize, heading: &str) {
        self.evaluate(&format!("location.hash = '{place}'")).await;
        self.until(&format!("document.querySelector('.place > h2')?.textContent === {}", json!(heading)))
            .await;
    }
}
