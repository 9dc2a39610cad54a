//! Requests of candidates for help: who may ask, who is told, and how it is answered.

mod ends;
mod mails;
mod parallel;

use std::sync::Arc;

use chrono::TimeDelta;
use embedded::Mail;
use serde_json::{Value, json};
use shared::domain::candidate::HelpKind;
use tests::app::TestApp;
use tests::assert_refusals;
use tests::caller::{Caller, Invited, Staff};
use tests::http::{Request, send_each};

const WORDS: &str = "CANARY-4711: my exam is on the same day.\nCould I have until Friday?";
const CONTACT: &str = "jobs@acme.example";

/// A project with two managers and an evaluator, and a candidate who is invited to it.
struct HelpFixture {
    app: TestApp,
    owner: Staff,
    project: String,
    managers: [Staff; 2],
    evaluator: Staff,
    candidate: Invited,
}

impl HelpFixture {
    async fn start() -> Self {
        let app = TestApp::start().await;
        let owner = app.owner().await;
        owner.patch("/companies/acme/", json!({ "default_project_lang": "en" })).await.expect(200);
        let colleague = async || {
            let colleague = owner.colleague("hiring-manager", json!({})).await;
            colleague.activate().await
        };
        let [first, second, evaluator] = [colleague().await, colleague().await, colleague().await];
        let fields = json!({
            "name": "Sales", "allow_hash_login": true, "interview_platform": "external",
            "interview_managers": [first.uri, second.uri], "evaluators": [evaluator.uri],
        });
        let project = owner.running_project(fields).await;
        // Its creator manages it, too.
        let managers = json!({ "interview_managers": [first.uri, second.uri] });
        owner.patch(&project, managers).await.expect(200);
        let candidate = owner.invite(&project, json!({})).await;
        app.settle().await;
        Self { app, owner, project, managers: [first, second], evaluator, candidate }
    }

    async fn ask(&self) {
        self.candidate.ask(&self.candidate.uri, "time", WORDS).await.expect(200);
    }

    /// The request as managers see it.
    async fn request(&self) -> Value {
        self.owner.get(&self.candidate.uri).await.expect(200).json()["help_request"].clone()
    }

    /// The candidates of the project who wait for an answer.
    async fn waiting(&self) -> Vec<String> {
        let list = self.owner.get(&format!("{}help-requests/", self.project)).await.expect(200).json();
        let objects = list["objects"].as_array().unwrap();
        assert_eq!(list["meta"]["total_count"], objects.len());
        objects.iter().map(|one| one["candidate"].as_str().unwrap().to_owned()).collect()
    }

    /// The types of the candidate's events since the invitation.
    async fn events(&self) -> Vec<Value> {
        let events = self.owner.get(&format!("{}events/", self.candidate.uri)).await.expect(200).json();
        let types = events["objects"].as_array().unwrap().iter().map(|event| event["types"].clone());
        types.skip_while(|types| types[0] != "candidate.invited").skip(1).collect()
    }

    /// The mails with the words of candidates to an address, oldest first.
    fn told(&self, address: &str) -> Vec<Arc<Mail>> {
        // Other tests share the mailbox, and the addresses of owners.
        let project = self.project.trim_end_matches('/').rsplit('/').next().unwrap();
        let mails = self.app.mails_to(address).into_iter().rev();
        let told = mails.filter(|mail| mail.subject.starts_with("Your answer is needed"));
        told.filter(|mail| text_of(mail).contains(project)).collect()
    }

    async fn after(&self, minutes: i64) {
        self.app.settle().await;
        self.app.clock().advance(TimeDelta::minutes(minutes));
        self.app.sweep().await;
        self.app.settle().await;
    }

    async fn expired(&self) {
        let now = self.app.clock().in_days(0);
        self.owner.set_deadline(&self.candidate.uri, &now).await.expect(200);
        self.app.expire_overdue().await;
        self.app.settle().await;
    }
}

fn text_of(mail: &Mail) -> &str {
    mail.text.as_deref().unwrap()
}

#[tokio::test]
async fn a_request_is_shown_to_managers_and_the_candidate_until_the_next_one_and_to_nobody_else() {
    let given = HelpFixture::start().await;
    let HelpFixture { app, owner, project, managers, evaluator, candidate } = &given;
    let uri = &candidate.uri;
    assert_eq!(given.request().await, Value::Null);
    let mut expected = json!({
        "kind": "time", "text": WORDS, "asked_at": "2026-11-08T10:00:00Z", "answered_at": null, "answer": "",
    });
    candidate.ask(uri, "time", WORDS).await.expect_json(200, expected.clone());
    for manager in [owner, &managers[0]] {
        assert_eq!(manager.get(uri).await.expect(200).json()["help_request"], expected);
        let list = manager.get(&format!("{project}help-requests/")).await.expect(200).json();
        let mut entry = expected.clone();
        let page = owner.get(uri).await.expect(200).uri("interview_suite_url");
        tests::caller::merge(
            &mut entry,
            json!({
                "id": tests::caller::last_segment(uri), "candidate": uri, "first_name": "Ada",
                "last_name": "Lovelace", "interview_suite_url": page,
            }),
        );
        assert_eq!(list["objects"], json!([entry]));
    }
    for own in [uri.as_str(), "/whoami/candidate/"] {
        assert_eq!(candidate.get(own).await.expect(200).json()["help_request"], expected);
    }
    // Evaluators and sharees see nothing of it, wherever they look.
    let sharee = app.staff("recruiter").await;
    owner.post(&format!("{uri}shares/"), json!({ "customer": sharee.uri })).await.expect(201);
    for reader in [evaluator, &sharee] {
        let seen = reader.get(uri).await.expect(200);
        let seen = seen.json();
        assert!(seen.get("help_request").is_none() && !seen.to_string().contains("CANARY"), "{seen}");
    }
    for path in ["candidates/", "candidates/?page_size=1"] {
        let list = evaluator.get(&format!("{project}{path}")).await.expect(200).json().to_string();
        assert!(!list.contains("CANARY") && !list.contains("help_request"), "{list}");
    }
    evaluator.get(&format!("{project}help-requests/")).await.expect(403);

    // In other words, it replaces the former one.
    app.clock().advance(TimeDelta::minutes(1));
    candidate.ask(uri, "adjustment", "In writing?").await.expect(200);
    app.clock().advance(TimeDelta::minutes(1));
    expected = json!({
        "kind": "adjustment", "text": "In writing?", "asked_at": "2026-11-08T10:01:00Z",
        "answered_at": "2026-11-08T10:02:00Z", "answer": "Yes.\nFrom now on.",
    });
    let answered = owner.answer_help(uri, "Yes.\nFrom now on.").await.expect(200).json();
    assert_eq!(answered["help_request"], expected);
    assert_eq!(candidate.get("/whoami/candidate/").await.expect(200).json()["help_request"], expected);
    assert_eq!(given.waiting().await, [""; 0]);
    assert_eq!(
        given.events().await,
        [
            json!(["candidate.asked"]),
            json!(["candidate.shared"]),
            json!(["candidate.asked"]),
            json!(["candidate.answered"])
        ]
    );
    // No event tells what was asked.
    let events = owner.get(&format!("{uri}events/")).await.expect(200).json().to_string();
    assert!(!events.contains("CANARY") && !events.contains("writing") && !events.contains("adjustment"));
    app.settle().await;
    let feed = owner.get("/companies/acme/events/?page_size=100").await.expect(200).json().to_string();
    assert!(feed.contains("candidate.asked") && !feed.contains("CANARY") && !feed.contains("adjustment"));
}

#[tokio::test]
async fn a_request_that_is_taken_back_leaves_no_event_and_no_mail() {
    let given = HelpFixture::start().await;
    let HelpFixture { app, candidate, managers, .. } = &given;
    let request = format!("{}help-request/", candidate.uri);
    candidate.delete(&request).await.expect(404);
    given.ask().await;
    candidate.delete(&request).await.expect(204);
    candidate.delete(&request).await.expect(404);
    assert_eq!((given.request().await, given.waiting().await), (Value::Null, Vec::new()));
    app.settle().await;
    assert_eq!(given.told(&managers[0].email).len(), 0);
    assert_eq!(given.events().await, [json!(["candidate.asked"]), json!([])]);
    // Once it is answered, it stays.
    given.ask().await;
    given.owner.answer_help(&candidate.uri, "Until Friday.").await.expect(200);
    candidate.delete(&request).await.expect(404);
    app.settle().await;
}

#[tokio::test]
async fn bodies_limits_and_states_are_refused() {
    let given = HelpFixture::start().await;
    let HelpFixture { app, owner, candidate, .. } = &given;
    let uri = &candidate.uri;
    // Sessions end within these hours.
    let (_, token) = owner.named_token("Answers").await;
    let before = app.table().snapshot().await;
    let request = |body: Value| Request::put(&format!("{uri}help-request/")).json(&body);
    let bodies = [
        json!({}),
        json!({ "kind": "money", "text": " \n\u{200b}" }),
        json!({ "kind": null, "text": null }),
        json!({ "kind": "time", "text": "x".repeat(1001) }),
        json!({ "kind": 7, "text": ["Help"], "txt": "Help" }),
    ];
    assert_refusals!(send_each(bodies, |body| candidate.send(request(body))).await, @r#"
    400 {"kind":["This field is required."],"text":["This field is required."]}
    400 {"kind":["\"money\" is not a valid choice. Use one of: time, adjustment, technical, decline."],"text":["This field may not be blank."]}
    400 {"kind":["This field may not be null."],"text":["This field may not be null."]}
    400 {"text":["Ensure this field has no more than 1000 characters."]}
    400 {
      "kind":["Not a valid string."],
      "text":["Not a valid string."],
      "txt":["There is no such field. Did you mean text?"]
    }
    "#);
    let nothing = owner.answer_help(uri, "Yes.").await;
    nothing.expect_code(400, "nothing_to_answer");
    assert_eq!(app.table().snapshot().await, before);

    for kind in HelpKind::ALL.into_iter().take(3) {
        candidate.ask(uri, kind.as_str(), &"x".repeat(1000)).await.expect(200);
        app.clock().advance(TimeDelta::hours(1));
    }
    let many = candidate.ask(uri, "time", "Once more").await.expect_code(429, "throttled");
    assert_eq!(many.header("retry-after"), Some("75600"));
    // The last one stands.
    let shown = token.get(uri).await.expect(200).json();
    assert_eq!(shown["help_request"]["kind"], "technical");
    app.clock().advance(TimeDelta::hours(21));
    candidate.ask(uri, "decline", "Once more").await.expect(200);
    let answered = token.answer_help(uri, &"x".repeat(1000)).await.expect(200);
    assert_eq!(answered.json()["help_request"]["answer"], "x".repeat(1000));
    token.answer_help(uri, "And another word.").await.expect_code(400, "nothing_to_answer");
    assert_refusals!(
        send_each([json!({}), json!({ "text": "x".repeat(1001) })], |body| token
            .send(Request::post(&format!("{uri}help-request/answer/")).json(&body)))
        .await,
        @r#"
    400 {"text":["This field is required."]}
    400 {"text":["Ensure this field has no more than 1000 characters."]}
    "#
    );
    // Nobody else asks in a candidate's name.
    token.ask(uri, "time", "For Ada").await.expect_code(403, "permission_denied");
    app.settle().await;
}

#[tokio::test]
async fn keys_that_have_ended_still_ask_unless_they_were_replaced_or_the_candidate_is_withdrawn() {
    let given = HelpFixture::start().await;
    let HelpFixture { app, owner, project, candidate: expired, .. } = &given;
    given.expired().await;
    let completed = owner.invite(project, json!({})).await;
    completed.advance(&completed.uri).await.expect(200);
    app.complete(&completed.uri).await;
    let with_password = owner.running_project(json!({})).await;
    let registered = owner.invite(&with_password, json!({})).await;
    registered.choose_password().await;
    registered.advance(&registered.uri).await.expect(200);
    for (candidate, code) in
        [(expired, "deadline_passed"), (&completed, "interview_completed"), (&registered, "key_registered")]
    {
        candidate.ask(&candidate.uri, "time", WORDS).await.expect(200);
        // The key opens nothing all the same, and tells its holder what they have asked.
        let told = candidate.get("/whoami/candidate/").await.expect(401).json();
        assert_eq!(told["code"], code);
        assert_eq!(
            (&told["help_request"]["text"], &told["help_request"]["answered_at"]),
            (&json!(WORDS), &Value::Null)
        );
        candidate.get(&candidate.uri).await.expect_code(401, "invalid_credential");
        candidate.patch(&candidate.uri, json!({ "phone": "1" })).await.expect_code(401, "invalid_credential");
        candidate.delete(&format!("{}help-request/", candidate.uri)).await.expect(204);
        assert_eq!(candidate.get("/whoami/candidate/").await.json()["help_request"], Value::Null);
        // It asks for its own candidate alone.
        let other = if candidate.uri == expired.uri { &completed.uri } else { &expired.uri };
        candidate.ask(other, "time", WORDS).await.expect(404);
    }
    let withdrawn = owner.invite(project, json!({})).await;
    withdrawn.ask(&withdrawn.uri, "decline", "I have another job.").await.expect(200);
    owner.answer_help(&withdrawn.uri, "All the best!").await.expect(200);
    owner.skip(&withdrawn.uri).await.expect(200);
    for refused in [
        withdrawn.ask(&withdrawn.uri, "time", "After all").await,
        withdrawn.delete(&format!("{}help-request/", withdrawn.uri)).await,
    ] {
        refused.expect_code(400, "withdrawn");
    }
    let told = withdrawn.get("/whoami/candidate/").await.expect(401).json();
    assert_eq!(told["help_request"]["answer"], "All the best!");

    let moved = owner.invite(project, json!({})).await;
    moved.ask(&moved.uri, "time", WORDS).await.expect(200);
    owner.patch(&moved.uri, json!({ "email": "another@mail.example" })).await.expect(200);
    moved.ask(&moved.uri, "time", "Who is asking?").await.expect_code(401, "invalid_credential");
    // Whoever reads the former mailbox learns nothing of it.
    let told = moved.get("/whoami/candidate/").await.expect(401).json();
    assert_eq!(told["help_request"], Value::Null);
    app.settle().await;
}

#[tokio::test]
async fn a_key_that_another_one_has_replaced_asks_nothing_and_shows_no_words_after_the_end_either() {
    let given = HelpFixture::start().await;
    let HelpFixture { app, owner, candidate: former, .. } = &given;
    let uri = &former.uri;
    given.expired().await;
    owner.set_deadline(uri, &app.clock().in_days(2)).await.expect(200);
    owner.advance(uri).await.expect(200);
    let shown = owner.get(uri).await.expect(200).json();
    let key = ["activation_key", "interview_key"].into_iter().filter_map(|name| shown[name].as_str());
    let latest = Invited::new(app, uri, key.into_iter().find(|key| !key.is_empty()).unwrap(), "");
    latest.ask(uri, "time", WORDS).await.expect(200);
    given.expired().await;
    // The end of the interview is all that it tells.
    let told = former.get("/whoami/candidate/").await.expect(401).json();
    assert_eq!((&told["code"], &told["help_request"]), (&json!("deadline_passed"), &Value::Null));
    former.ask(uri, "time", "Who is asking?").await.expect_code(401, "invalid_credential");
    former.delete(&format!("{uri}help-request/")).await.expect_code(401, "invalid_credential");
    let told = latest.get("/whoami/candidate/").await.expect(401).json();
    assert_eq!(told["help_request"]["text"], WORDS);
    latest.ask(uri, "time", "One more day?").await.expect(200);
    app.settle().await;
}

#[tokio::test]
async fn a_request_that_is_sent_again_counts_once_and_is_told_once() {
    let given = HelpFixture::start().await;
    let HelpFixture { app, managers, candidate, .. } = &given;
    for _ in 0..5 {
        given.ask().await;
    }
    app.settle().await;
    assert_eq!(given.events().await, [json!(["candidate.asked"])]);
    assert_eq!(given.told(&managers[0].email).len(), 1);
    for words in ["Until Saturday?", "Until Sunday?"] {
        candidate.ask(&candidate.uri, "time", words).await.expect(200);
    }
    candidate.ask(&candidate.uri, "time", "Until Monday?").await.expect_code(429, "throttled");
    app.settle().await;
}
