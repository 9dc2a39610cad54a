//! Managers answer what candidates ask for, and evaluators see nothing of it.

use serde_json::{Value, json};
use tests::caller::{Caller, Staff};

use super::{evaluator, field, give_role};
use crate::devtools::Page;
use crate::visit::Visit;

const CANARY: &str = "CANARY-4711";

/// A candidate who asks for something, and a manager of the project.
struct Asking {
    visit: Visit,
    project: String,
    manager: Staff,
}

impl Asking {
    async fn for_help(kind: &str) -> Self {
        let visit = Visit::invited(json!({ "name": "Data engineer" }), &[json!({ "kind": "text" })]).await;
        let candidate = &visit.candidate;
        let (project, _) = candidate.uri.split_once("candidates/").unwrap();
        let project = project.to_owned();
        candidate.ask(&candidate.uri, kind, &format!("{CANARY}: please\nhelp.")).await.expect(200);
        let manager = visit.owner.colleague("hiring-manager", json!({})).await.activate().await;
        give_role(&visit, &project, &manager, "interview_manager").await;
        Self { visit, project, manager }
    }

    async fn candidate(&self) -> Value {
        self.visit.owner.get(&self.visit.candidate.uri).await.expect(200).json()
    }

    /// The page of the candidate, opened by a member of the staff.
    async fn opened_by(&self, staff: &Staff) -> Page {
        let mut page = Page::open().await;
        page.resize(390, 844).await;
        page.go(self.candidate().await["interview_suite_url"].as_str().unwrap()).await;
        page.sign_in(staff).await;
        page.on("result").await;
        page
    }
}

async fn set(page: &mut Page, label: &str, value: &str) {
    let field = field(label);
    page.until(&field).await;
    page.evaluate(&format!("(found => found.value = {})({field})", json!(value))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_manager_finds_the_request_in_the_project_and_answers_in_words() {
    let asking = Asking::for_help("technical").await;
    let mut page = Page::open().await;
    page.resize(320, 480).await;
    let project = asking.visit.owner.get(&asking.project).await.expect(200).json();
    page.go(project["interview_suite_url"].as_str().unwrap()).await;
    page.sign_in(&asking.manager).await;
    page.on("project").await;
    let text = page.text().await;
    assert!(text.contains("Waiting for your answer (1)") && text.contains("Technical help"), "{text}");
    page.evaluate("document.querySelector('main a.entry').click()").await;
    page.on("result").await;
    let text = page.text().await;
    assert!(text.contains("Ada Lovelace asks for help") && text.contains(CANARY), "{text}");
    assert_eq!(page.evaluate("document.documentElement.scrollWidth <= innerWidth").await, true);
    set(&mut page, "Your answer", "Use another browser.").await;
    page.press("Send the answer").await;
    page.until("document.querySelector('.help').textContent.includes('Answered on')").await;
    assert_eq!(asking.candidate().await["help_request"]["answer"], "Use another browser.");
    assert_eq!(page.evaluate("document.querySelector('.help form')").await, Value::Null);
    // The list of the project no longer has it.
    page.go(project["interview_suite_url"].as_str().unwrap()).await;
    page.on("project").await;
    assert!(!page.text().await.contains("Waiting for your answer"));
}

#[tokio::test(flavor = "multi_thread")]
async fn more_time_another_way_and_the_end_are_given_on_the_page() {
    let asking = Asking::for_help("time").await;
    let mut page = asking.opened_by(&asking.manager).await;
    // The part that was asked for is open, the rest is a click away.
    assert_eq!(
        page.evaluate("[...document.querySelectorAll('.help details')].map(one => one.open)").await,
        json!([true, false, false])
    );
    set(&mut page, "New deadline", "2026-12-24T18:00").await;
    page.press("Set the deadline").await;
    page.until("document.querySelector('.help').textContent.includes('Answered on')").await;
    let candidate = asking.candidate().await;
    assert!(candidate["deadline"].as_str().unwrap().starts_with("2026-12-2"), "{candidate}");
    // Words may still follow.
    set(&mut page, "Your answer", "Until Christmas Eve.").await;
    page.press("Send the answer").await;
    page.until("!document.querySelector('.help form')").await;
    assert_eq!(asking.candidate().await["help_request"]["answer"], "Until Christmas Eve.");

    let asking = Asking::for_help("adjustment").await;
    let mut page = asking.opened_by(&asking.manager).await;
    set(&mut page, "Time to prepare and to answer", "1.5").await;
    set(&mut page, "Further attempts for each question", "2").await;
    page.evaluate("[...document.querySelectorAll('.help label')].find(one => one.textContent === 'May answer in writing').click()").await;
    page.press("Allow this").await;
    page.until("document.querySelector('.help').textContent.includes('Answered on')").await;
    let given = asking.candidate().await["adjustments"].clone();
    assert_eq!(given, json!({ "time_factor": 1.5, "extra_takes": 2, "may_write": true }));

    let asking = Asking::for_help("decline").await;
    let mut page = asking.opened_by(&asking.manager).await;
    page.evaluate("window.confirm = () => true").await;
    set(&mut page, "Why?", "Asked for by the candidate.").await;
    page.press("Cancel the interview…").await;
    page.until("document.querySelector('.help').textContent.includes('Answered on')").await;
    assert_eq!(asking.candidate().await["status"], "skipped");
}

#[tokio::test(flavor = "multi_thread")]
async fn more_time_leads_on_a_candidate_whose_deadline_has_passed() {
    let asking = Asking::for_help("technical").await;
    let Asking { visit, manager, .. } = &asking;
    let now = visit.app.clock().in_days(0);
    visit.owner.set_deadline(&visit.candidate.uri, &now).await.expect(200);
    visit.app.expire_overdue().await;
    visit.candidate.ask(&visit.candidate.uri, "time", "I was ill.").await.expect(200);
    let mut page = asking.opened_by(manager).await;
    set(&mut page, "New deadline", "2026-12-24T18:00").await;
    page.press("Set the deadline and let them go on").await;
    page.until("document.querySelector('.help').textContent.includes('Answered on')").await;
    assert_eq!(asking.candidate().await["status"], "invited");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_candidate_who_was_not_led_on_with_the_new_deadline_is_after_a_reload() {
    let asking = Asking::for_help("technical").await;
    let Asking { visit, manager, .. } = &asking;
    let now = visit.app.clock().in_days(0);
    visit.owner.set_deadline(&visit.candidate.uri, &now).await.expect(200);
    visit.app.expire_overdue().await;
    visit.candidate.ask(&visit.candidate.uri, "time", "I was ill.").await.expect(200);
    let mut page = asking.opened_by(manager).await;
    let lost = "{ const { fetch } = window; window.fetch = (address, ...rest) =>
        String(address).includes('/advance/') ? Promise.reject(new TypeError('lost')) : fetch(address, ...rest); }";
    page.evaluate(lost).await;
    set(&mut page, "New deadline", "2026-12-24T18:00").await;
    page.press("Set the deadline and let them go on").await;
    page.until("document.querySelector('[role=alert]:not(:empty)')").await;
    let candidate = asking.candidate().await;
    assert_eq!(candidate["status"], "expired");
    assert!(candidate["help_request"]["answered_at"].is_string(), "{candidate}");

    page.go(candidate["interview_suite_url"].as_str().unwrap()).await;
    page.on("result").await;
    let again = field("New deadline");
    page.until(&again).await;
    assert_eq!(page.evaluate(&format!("{again}.value")).await, "2026-12-24T18:00");
    page.press("Set the deadline and let them go on").await;
    page.until("![...document.querySelectorAll('.help button')].some(one => one.textContent === 'Set the deadline and let them go on')").await;
    assert_eq!(asking.candidate().await["status"], "invited");
}

#[tokio::test(flavor = "multi_thread")]
async fn evaluators_see_nothing_of_a_request() {
    let asking = Asking::for_help("adjustment").await;
    let judge = evaluator(&asking.visit, &asking.project).await;
    let mut page = asking.opened_by(&judge).await;
    assert_eq!(page.evaluate("document.querySelector('.help').hidden").await, true);
    let text = page.text().await;
    assert!(!text.contains(CANARY) && !text.contains("asks for help"), "{text}");
    // Nothing that the page has loaded holds it either.
    let loaded = "Promise.all(performance.getEntriesByType('resource').filter(({ initiatorType }) => initiatorType === 'fetch')
        .map(({ name }) => fetch(name).then(answer => answer.text()))).then(texts => texts.join('\\n'))";
    let loaded = page.evaluate(loaded).await.to_string();
    assert!(
        loaded.contains("Lovelace") && !loaded.contains(CANARY) && !loaded.contains("help_request"),
        "{loaded}"
    );
}
