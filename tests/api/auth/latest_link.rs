//! The link that candidates have sent again with a key that opens nothing.

use chrono::TimeDelta;
use serde_json::json;
use tests::app::TestApp;
use tests::caller::{Caller, Invited, Staff};
use tests::http::Response;

const LINKS: &str = "/candidate-links/";

async fn given(allow_hash_login: bool) -> (TestApp, Staff, String) {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project =
        owner.running_project(json!({ "name": "Sales", "allow_hash_login": allow_hash_login })).await;
    (app, owner, project)
}

/// A candidate whose first key a newer invitation has replaced.
async fn replaced(app: &TestApp, owner: &Staff, project: &str) -> Invited {
    let first = owner.invite(project, json!({})).await;
    owner.set_deadline(&first.uri, &app.clock().in_days(0)).await.expect(200);
    app.expire_overdue().await;
    owner.set_deadline(&first.uri, &app.clock().in_days(3)).await.expect(200);
    owner.advance(&first.uri).await.expect(200);
    app.settle().await;
    first
}

async fn ask(app: &TestApp, key: &str) -> Response {
    let asked = app.anonymous().post(LINKS, json!({ "key": key })).await.expect(202);
    app.settle().await;
    asked
}

/// The mails with a link that somebody has asked for, to this address.
fn sent(app: &TestApp, email: &str) -> Vec<String> {
    let mails = app.mails_to(email);
    let links = mails.iter().filter(|mail| mail.subject.starts_with("Your link to the video interview"));
    links.map(|mail| mail.text.clone().unwrap()).collect()
}

#[tokio::test]
async fn a_key_that_was_replaced_gets_the_latest_link_at_the_address_on_file() {
    let (app, owner, project) = given(true).await;
    let candidate = replaced(&app, &owner, &project).await;
    let newest =
        owner.get(&candidate.uri).await.expect(200).json()["interview_url"].as_str().unwrap().to_owned();
    ask(&app, &candidate.key).await;
    let mails = sent(&app, &candidate.email);
    assert_eq!(mails.len(), 1);
    assert!(mails[0].contains(&newest), "{}", mails[0]);

    // The key that it was moved away from may be in other hands: the mail goes to the present address.
    let moved =
        owner.patch(&candidate.uri, json!({ "email": "another@mail.example" })).await.expect(200).json();
    app.settle().await;
    app.clock().advance(TimeDelta::minutes(5));
    ask(&app, &candidate.key).await;
    assert_eq!(sent(&app, &candidate.email).len(), 1);
    let mails = sent(&app, "another@mail.example");
    assert!(mails[0].contains(moved["interview_url"].as_str().unwrap()), "{}", mails[0]);
}

#[tokio::test]
async fn who_has_a_password_gets_the_login() {
    let (app, owner, project) = given(false).await;
    let registered = owner.invite(&project, json!({})).await;
    registered.choose_password().await;
    registered.advance(&registered.uri).await.expect(200);
    ask(&app, &registered.key).await;
    let mails = sent(&app, &registered.email);
    assert!(mails[0].contains("https://hr.example/interview/acme/\n"), "{}", mails[0]);
}

#[tokio::test]
async fn no_mail_goes_where_nobody_may_go_on_or_be_mailed() {
    let (app, owner, project) = given(true).await;
    let live = owner.invite(&project, json!({})).await;
    let withdrawn = replaced(&app, &owner, &project).await;
    owner.skip(&withdrawn.uri).await.expect(200);
    let off = replaced(&app, &owner, &project).await;
    owner.patch(&off.uri, json!({ "receive_mails": false })).await.expect(200);
    let erased = replaced(&app, &owner, &project).await;
    owner.send(tests::http::Request::put(&format!("{}erasure-request/", erased.uri))).await.expect(200);
    let deleted = replaced(&app, &owner, &project).await;
    owner.delete(&deleted.uri).await.expect(204);
    let over = owner.invite(&project, json!({})).await;
    owner.set_deadline(&over.uri, &app.clock().in_days(0)).await.expect(200);
    let done = owner.invite(&project, json!({})).await;
    done.advance(&done.uri).await.expect(200);
    app.complete(&done.uri).await;
    app.settle().await;
    for candidate in [live, withdrawn, off, erased, deleted, over, done] {
        ask(&app, &candidate.key).await;
        assert_eq!(sent(&app, &candidate.email), [""; 0], "{}", candidate.uri);
    }
}

#[tokio::test]
async fn known_and_unknown_keys_are_answered_alike_after_the_same_work() {
    let (app, owner, project) = given(true).await;
    let known = replaced(&app, &owner, &project).await;
    let letters = known.key.as_bytes();
    let place = letters.len() - 12;
    let other = if letters[place] == b'A' { "B" } else { "A" };
    let guessed = format!("{}{other}{}", &known.key[..place], &known.key[place + 1..]);
    let mut seen = Vec::new();
    for key in [&known.key, &guessed] {
        let answer = app.anonymous().post(LINKS, json!({ "key": key })).await.expect(202);
        let log = answer.log();
        seen.push((
            answer.body.clone(),
            log.dynamodb_calls,
            log.read_units.to_bits(),
            log.write_units.to_bits(),
        ));
        assert_eq!((&*log.caller, &*log.company), ("", ""));
    }
    assert_eq!(seen[0], seen[1]);
    app.settle().await;
    assert_eq!(sent(&app, &known.email).len(), 1);
    for key in ["ivk_nothing", "no key at all"] {
        assert_eq!(ask(&app, key).await.body, seen[0].0);
    }
    let missing = json!({ "key": ["This field is required."] });
    app.anonymous().post(LINKS, json!({})).await.expect_json(400, missing);
}

#[tokio::test]
async fn five_mails_an_hour_go_to_one_candidate() {
    let (app, owner, project) = given(true).await;
    let candidate = replaced(&app, &owner, &project).await;
    for _ in 0..2 {
        // Twice within five minutes is one mail.
        ask(&app, &candidate.key).await;
    }
    assert_eq!(sent(&app, &candidate.email).len(), 1);
    for _ in 0..9 {
        app.clock().advance(TimeDelta::minutes(5));
        ask(&app, &candidate.key).await;
    }
    assert_eq!(sent(&app, &candidate.email).len(), 5);
    app.clock().advance(TimeDelta::minutes(15));
    ask(&app, &candidate.key).await;
    assert_eq!(sent(&app, &candidate.email).len(), 6);
}
