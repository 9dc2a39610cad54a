//! The remains of a person after a deletion, wherever they are: exactly those that the service names, and each ends on its day.

use std::net::Ipv4Addr;

use axum::Router;
use axum::http::StatusCode;
use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, Staff};
use tests::chaos::{Chaos, Fault};
use tests::files::{docx, put};
use tests::http::Request;
use tests::logs::Recording;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::planted::{ADDRESS, CANARY, found, plant};
use crate::events::webhooks::webhook;
use crate::system::idempotency::is_replay;
use crate::system::undeliverable;

/// Starts a receiver of webhooks that refuses everything with the word, and returns its address.
async fn start_refusing(server: &mut JoinSet<()>) -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = Router::new().fallback(async || (StatusCode::INTERNAL_SERVER_ERROR, CANARY));
    server.spawn(async { axum::serve(listener, router).await.unwrap() });
    format!("http://{address}/")
}

/// The creation of a second candidacy of the person, which may be sent again.
fn creation(project: &str) -> Request {
    let twin = json!({ "first_name": CANARY, "last_name": CANARY, "email": format!("twin.{ADDRESS}") });
    Request::post(&format!("{project}candidates/")).header("idempotency-key", "twin").json(&twin)
}

/// Creates that candidacy, invites it to an address that bounces, and announces and sends a file that nobody takes in yet.
async fn create_twin(app: &TestApp, owner: &Staff, project: &str) -> String {
    let twin = owner.send(creation(project)).await.expect(201).uri("resource_uri");
    owner.set_deadline(&twin, &app.clock().in_days(7)).await.expect(200);
    owner.advance(&twin).await.expect(200);
    app.settle().await;
    let bounce = undeliverable::bounced(app, &format!("twin.{ADDRESS}"), "Permanent");
    assert_eq!(undeliverable::put(app, bounce).await, "applied");
    let file = docx(CANARY);
    let kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
    let announced = json!({ "field": "cv", "content_type": kind, "size": file.len() });
    let announced = owner.post(&format!("{twin}uploads/"), announced).await.expect(201).json();
    assert_eq!(put(&announced, file).await.status, 200);
    twin
}

/// Has the reset of a password given up for the person's address.
async fn give_up_reset(app: &TestApp, ses: &Chaos) {
    ses.always("SendRawEmail", Fault::Refused("InvalidParameterValue"));
    let forgotten = json!({ "company": "acme", "username": ADDRESS });
    app.anonymous().post("/api-password-reset/", forgotten).await.expect(202);
    app.settle().await;
    ses.heal();
}

/// The kinds of what is found, in the order of their keys.
fn kinds(app: &TestApp) -> Vec<String> {
    let kind = |key: String| key.split(['#', '/']).next().unwrap_or_default().to_owned();
    let mut kinds: Vec<String> = found(&app.moment()).into_iter().map(kind).collect();
    kinds.dedup();
    kinds
}

async fn pass(app: &TestApp, time: TimeDelta) {
    app.clock().advance(time);
    app.delete_expired().await;
}

#[tokio::test]
async fn nothing_remains_of_a_person_but_what_ends_by_itself() {
    let recording = Recording::start();
    let (app, ses) = TestApp::start_with_ses_chaos().await;
    let mut server = JoinSet::new();
    let url = start_refusing(&mut server).await;
    let planted = plant(&app).await;
    let (owner, candidate) = (&planted.owner, &planted.candidate);
    webhook(owner, json!({ "url": url })).await;
    give_up_reset(&app, &ses).await;
    let twin = create_twin(&app, owner, &planted.project).await;
    owner.get(&format!("/companies/acme/search/?q={CANARY}")).await.expect(200);
    let before = kinds(&app);
    let consents = app.moment().texts().filter(|(_, text)| text.contains("\"consents\"")).count();
    assert!(consents >= 2, "the candidate and their history have it");
    for kind in ["COMPANY", "EFFECT", "LOGIN", "SEARCH", "WEBHOOK", "media", "uploads"] {
        assert!(before.iter().any(|found| found == kind), "{kind} is not among {before:?}");
    }

    for uri in [candidate, &twin] {
        owner.delete(uri).await.expect(204);
        app.settle().await;
    }
    let consented = |(_, text): &(String, String)| text.contains("\"consents\"");
    assert_eq!(app.moment().texts().find(consented), None, "neither the candidate nor their history has it");
    // The name that was given up, and the answers of a receiver.
    assert_eq!(kinds(&app), ["EFFECT", "WEBHOOK"]);
    assert!(found(&app.moment()).iter().all(|key| key.ends_with("EFFECT") || key.contains("ATTEMPT#")));
    // The answer to a request, which only the same request opens.
    let again = owner.send(creation(&planted.project)).await;
    assert!(is_replay(&again) && again.json()["first_name"] == CANARY, "{again}");
    // Mails that were sent are the recipient's; nothing more is sent.
    app.clock().advance(TimeDelta::minutes(10));
    app.sweep().await;
    assert_eq!(app.mails_to(ADDRESS).len(), 0);
    assert_eq!(app.mails_to(&format!("twin.{ADDRESS}")).len(), 1);

    pass(&app, TimeDelta::days(1)).await;
    let key = |(pk, _): &(String, String)| pk.starts_with("IDEMPOTENCY#");
    assert!(!app.table().snapshot().await.keys().any(key));
    assert_eq!(kinds(&app), ["WEBHOOK"]);
    pass(&app, TimeDelta::days(6)).await;
    assert_eq!(kinds(&app), [] as [String; 0]);

    let log = recording.text().to_lowercase();
    assert!(log.lines().count() > 20, "{log}");
    let line = log.lines().find(|line| line.contains(CANARY));
    assert_eq!(line, None, "the log tells of the person");
}

#[tokio::test]
async fn no_log_line_tells_of_the_words_of_a_search_entry_with_a_strange_key() {
    let recording = Recording::start();
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    owner.candidate(&project, json!({ "first_name": CANARY })).await;
    let entries = app.table().snapshot().await;
    let mut strange: Vec<Value> = Vec::new();
    for ((pk, _), entry) in entries.iter().filter(|((pk, _), _)| pk.starts_with("SEARCH#")) {
        let sk = format!("NAME#{CANARY}-of-no-candidate x");
        let mut entry = entry.clone();
        (entry["pk"], entry["sk"], entry["search_sk"]) = (json!(pk), json!(sk), json!(sk));
        strange.push(entry);
    }
    app.leave_unsound("entries with strange keys");
    app.table().load(&strange).await;
    owner.get(&format!("/companies/acme/search/?q={CANARY}")).await.expect(200);
    app.operate(json!({ "command": "reindex-search", "company": "acme" })).await.unwrap();
    let log = recording.text();
    assert!(log.contains("an item is left out") && log.contains("an entry cannot be read"), "{log}");
    let line = log.lines().find(|line| line.to_lowercase().contains(CANARY));
    assert_eq!(line, None, "the log tells of the person");
}

#[tokio::test]
async fn a_photo_of_a_deleted_customer_goes_with_whatever_else_is_below_it() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let leaver = owner.colleague("recruiter", json!({})).await;
    let place = format!("media/acme/customers/{}/", tests::caller::last_segment(&leaver.uri));
    let (s3, bucket) = (app.app().aws().s3(), app.app().config().bucket.clone().unwrap());
    for name in ["left-behind", "deeper/left-behind"] {
        let key = format!("{place}{name}");
        s3.put_object()
            .bucket(&bucket)
            .key(key)
            .body(CANARY.as_bytes().to_vec().into())
            .send()
            .await
            .unwrap();
    }
    owner.delete(&leaver.uri).await.expect(204);
    app.settle().await;
    assert_eq!(app.object_keys(), [] as [String; 0]);
}
