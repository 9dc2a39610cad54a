//! Attributes that no other planted company has.

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};
use shared::auth::SystemAccess;
use shared::domain::answers::Answers;
use shared::domain::candidate::CandidateStatus;
use shared::domain::id::TakeRef;
use shared::domain::media::video::Video;
use tests::app::TestApp;
use tests::caller::{Caller, Staff, Token, last_segment};
use tests::files::put as put_file;
use tests::http::Request;
use tests::takes::Interviewee;
use tests::videos::film;

use crate::companies::legal::publish;
use crate::interviews::{begin, project, write};
use crate::system::undeliverable::{bounced, put};
use crate::videos::crud::{announced, uploaded};

/// Gives the company of `owner` what it still lacks to have a value of every attribute.
// Nothing may be delivered afterwards that would end the conversions.
pub(super) async fn plant_rest(app: &TestApp, owner: &Staff) {
    let (_, token) = owner.named_token("Integration").await;
    candidates(app, owner, &token).await;
    evaluation(owner).await;
    projects(owner).await;
    of_token(owner, &token).await;
    on_behalf(app, owner).await;
    let settings = json!({ "default_interview_period": 14, "timezone": "Europe/Berlin" });
    owner.patch("/companies/acme/", settings).await.expect(200);
    let senders = json!({ "command": "verify-senders", "company": "acme", "senders": ["acme.example"] });
    app.operate(senders).await.unwrap();
    // One is converted, and of each kind one fails.
    let welcome = uploaded(owner, &film()).await;
    uploaded(owner, b"no film").await;
    Interviewee::asked_by(owner.clone(), json!({})).await.record(&[b"no film"]).await;
    app.settle().await;
    recording(owner, &welcome).await;
    conversions(app, owner).await;
}

/// Candidates who have opened the interview and consented themselves, or by a token and no longer, who asked to be erased, whose
/// interview a token has cancelled, and whose address bounced.
async fn candidates(app: &TestApp, owner: &Staff, token: &Token) {
    let project = owner.running_project(json!({ "allow_hash_login": true })).await;
    let consent: u32 =
        last_segment(&publish(owner, "consent", false).await).trim_start_matches("consent-").parse().unwrap();
    let consent = json!({ "version": consent, "language": "en" });
    let [ada, grace] = [owner.invite(&project, json!({})).await, owner.invite(&project, json!({})).await];
    let target = |uri: &str| Request::put(&format!("{uri}consents/consent/")).json(&consent);
    ada.send(target(&ada.uri)).await.expect(200);
    token.send(target(&grace.uri)).await.expect(200);
    token.delete(&format!("{}consents/consent/", grace.uri)).await.expect(204);
    ada.get("/whoami/candidate/?opened=true").await.expect(200);
    ada.send(Request::put(&format!("{}erasure-request/", ada.uri))).await.expect(200);
    token.cancel(&owner.invite(&project, json!({})).await.uri).await.expect(200);
    owner.candidate(&project, json!({ "receive_mails": false })).await;
    let colleague = owner.colleague("recruiter", json!({})).await;
    app.settle().await;
    for address in [&grace.email, &colleague.email] {
        assert_eq!(put(app, bounced(app, address, "Permanent")).await, "applied");
    }
}

/// An evaluation of a question, not of a criterion, with comments on another question and on a criterion.
async fn evaluation(owner: &Staff) {
    let fields = json!({ "allow_hash_login": true, "evaluators": [owner.uri] });
    let project = owner.running_project(fields).await;
    let mut asked = Vec::new();
    for (list, fields) in [
        ("questions", json!({ "text": "Why us?" })),
        ("questions", json!({ "text": "Since when?" })),
        ("criteria", json!({ "name": "Listening" })),
    ] {
        asked.push(owner.post(&format!("{project}{list}/"), fields).await.expect(201).uri("resource_uri"));
    }
    let candidate = owner.candidate_at(&project, CandidateStatus::Interviewed).await;
    let ratings = json!([
        { "question": asked[0], "value": 3 },
        { "question": asked[1], "value": null, "comment": "Too short to tell." },
        { "criterion": asked[2], "value": null, "comment": "Ask again." },
    ]);
    let evaluation = Request::put(&format!("{candidate}evaluations/{}/", owner.id()));
    owner.send(evaluation.json(&json!({ "ratings": ratings }))).await.expect(201);
}

/// A project that is closed, with a rule of its own.
async fn projects(owner: &Staff) {
    let project = owner.running_project(json!({})).await;
    let rule = json!({ "days": 400, "from": "project_closed" });
    owner.send(Request::put(&format!("{project}retention/")).json(&rule)).await.expect(200);
    owner.set_status(&project, "60-closed").await.expect(200);
}

/// Makes a guest link by a named token, and a token of one project.
async fn of_token(owner: &Staff, token: &Token) {
    let asked = json!({ "text": "Since when?", "kind": "text" });
    let (project, questions) = project(owner, json!({}), &[asked]).await;
    let candidate = begin(owner, &project).await;
    write(&candidate, &questions[0], "2019").await.expect(201);
    candidate.advance(&candidate.uri).await.expect(200);
    let guest = json!({ "recipient": "Head of sales" });
    token.post(&format!("{}guest-links/", candidate.uri), guest).await.expect(201);
    announced(token, 9).await;
    let hook = json!({ "url": "https://hooks.example.com/in" });
    let webhook = token.post("/companies/acme/webhooks/", hook).await.expect(201).uri("resource_uri");
    owner.patch(&webhook, json!({ "is_enabled": false })).await.expect(200);
    let limited = json!({ "name": "Report", "account_type": "hiring-manager", "projects": [project] });
    owner.named_token_with(limited).await;
}

/// Resources that a user has made on behalf of a colleague.
async fn on_behalf(app: &TestApp, owner: &Staff) {
    let colleague = owner.colleague("recruiter", json!({})).await.activate().await;
    app.table().set_customer(&owner.uri, "authenticate_on_behalf", AttributeValue::Bool(true)).await;
    let login = json!({ "company": "acme", "username": colleague.username });
    let acting = owner.post("/api-token-auth/", login).await.expect(200).uri("token");
    announced(&app.token(&acting), 9).await;
}

/// A candidate who is recording an answer, in a project and about a question with all settings.
async fn recording(owner: &Staff, film: &str) {
    let fields = json!({
        "allow_hash_login": true, "interview_platform": "builtin", "max_interview_time": 30, "default_interview_period": 7,
        "support_lang": "de", "reviewers": [owner.uri],
    });
    let project = owner.running_project(fields).await;
    let question = json!({ "text": "Why us?", "preparation_seconds": 30, "video": film });
    let question = owner.post(&format!("{project}questions/"), question).await.expect(201);
    let candidate = owner.invite(&project, json!({})).await;
    for _ in ["confirmed", "interviewing"] {
        candidate.advance(&candidate.uri).await.expect(200);
    }
    let answer = format!("{}answers/{}/", candidate.uri, last_segment(&question.uri("resource_uri")));
    candidate.post(&format!("{answer}takes/"), json!({})).await.expect(201);
}

/// Conversions of a recorded answer and of a welcome film that have begun and not ended.
async fn conversions(app: &TestApp, owner: &Staff) {
    let answer = Interviewee::asked_by(owner.clone(), json!({})).await;
    let take = answer.record(&[&film()]).await;
    let video = announced(owner, film().len()).await;
    assert_eq!(put_file(&video, film()).await.status, 200);
    // The events get their numbers, and nothing is converted.
    while app.events().deliver_stream().await.unwrap() > 0 {}
    let system = SystemAccess::of(app.app());
    let company = "acme".parse().unwrap();
    let id = |uri: &Value| last_segment(uri.as_str().unwrap()).parse().unwrap();
    let before = system.store.video(&company, id(&video["resource_uri"])).await.unwrap().unwrap();
    let begun = before.conversion.begun("event", system.now).unwrap();
    system.store.begin_conversion(&before, Video::clone(&before).with_conversion(begun)).await.unwrap();
    let (project, _) = answer.candidate.uri.split_once("candidates/").unwrap();
    let [project, candidate, question] = [project, &answer.candidate.uri, &answer.answer].map(last_segment);
    let (project, candidate) = (project.parse().unwrap(), candidate.parse().unwrap());
    let before = system.store.answers(&company, project, candidate).await.unwrap().unwrap();
    let place = TakeRef { question: question.parse().unwrap(), number: take.try_into().unwrap() };
    let begun = before.take(place).unwrap().begin_conversion("event", system.now).unwrap();
    let after = Answers::clone(&before).with_take(place, |take| *take = begun);
    system.commit(system.store.update_answers(&before, &after, system.now)).await.unwrap();
    while app.events().deliver_stream().await.unwrap() > 0 {}
}
