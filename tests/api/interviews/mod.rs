//! Interviews that this service conducts.

mod cancellation;
mod captions;
mod completion;
mod conversion;
mod data;
mod drafts;
mod ended_by_time;
mod erasure;
pub(crate) mod guests;
mod killed;
mod overlap;
mod parts;
mod queue;
mod races;
pub(crate) mod reopening;
mod settings;
mod takes;
mod texts;
mod time;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, Invited, Staff, last_segment};
use tests::files;
use tests::http::{Request, Response};

/// A running project with these settings and questions, in which candidates need no password, and the addresses of the
/// questions.
pub(crate) async fn project(
    owner: &Staff,
    mut settings: Value,
    questions: &[Value],
) -> (String, Vec<String>) {
    settings["allow_hash_login"] = json!(true);
    let project = owner.running_project(settings).await;
    let mut asked = Vec::new();
    for question in questions {
        let created = owner.post(&format!("{project}questions/"), question.clone()).await.expect(201);
        asked.push(created.uri("resource_uri"));
    }
    (project, asked)
}

/// A candidate who is in the interview, with a deadline in a week.
pub(crate) async fn begin(owner: &Staff, project: &str) -> Invited {
    let invited = owner.invite(project, json!({})).await;
    for _ in 0..2 {
        invited.advance(&invited.uri).await.expect(200);
    }
    invited
}

/// The URL of a candidate's answer to a question.
fn answer(candidate: &Invited, question: &str) -> String {
    format!("{}answers/{}/", candidate.uri, last_segment(question))
}

pub(crate) async fn write(candidate: &Invited, question: &str, text: &str) -> Response {
    let put = Request::put(&answer(candidate, question)).json(&json!({ "text": text }));
    candidate.send(put).await
}

/// Begins a take of a question and gives its address.
async fn begin_take(candidate: &Invited, question: &str) -> String {
    let takes = format!("{}takes/", answer(candidate, question));
    candidate.post(&takes, json!({})).await.expect(201).uri("resource_uri")
}

/// Sends a part of a take.
async fn send_part(candidate: &Invited, take: &str, number: u32) {
    let bytes = format!("part {number}").into_bytes();
    let sha256 = STANDARD.encode(digest(&SHA256, &bytes));
    let part = json!({ "number": number, "size": bytes.len(), "sha256": sha256 });
    let signed =
        candidate.post(&format!("{take}parts/"), json!({ "parts": [part] })).await.expect(200).json();
    let stored = files::put(&signed["parts"][0], bytes).await;
    assert!(stored.status.is_success(), "{stored:?}");
}

/// Records a take of one part and finishes it.
async fn record(candidate: &Invited, question: &str) -> String {
    let take = begin_take(candidate, question).await;
    send_part(candidate, &take, 1).await;
    candidate.patch(&take, json!({ "parts": 1 })).await.expect(200);
    take
}

/// The state of the interview as `caller` sees it.
pub(crate) async fn interview(caller: &impl Caller, candidate: &str) -> Value {
    caller.get(&format!("{candidate}interview/")).await.expect(200).json()
}

async fn status(app: &TestApp, candidate: &str) -> Value {
    app.owner().await.get(candidate).await.expect(200).json()["status"].clone()
}
