//! Candidates whom the client talks to: no address, no mails, and the link to the interview in the answer.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tests::app::TestApp;
use tests::assert_refusal;
use tests::caller::{Caller, Invited, PASSWORD, Staff};
use tests::http::Request;
use tests::receiver::Receiver;

use crate::candidates::import::{KEY, import};

/// The service, its owner, and a running project with one question, which the service asks.
async fn given(fields: Value) -> (TestApp, Staff, String) {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let mut settings = json!({ "interview_platform": "builtin", "allow_hash_login": true });
    tests::caller::merge(&mut settings, fields);
    let project = owner.running_project(settings).await;
    owner
        .post(&format!("{project}questions/"), json!({ "text": "Why us?", "is_required": false }))
        .await
        .expect(201);
    (app, owner, project)
}

/// An invited candidate without an address, whom the service does not mail.
async fn invite(owner: &Staff, project: &str, fields: Value) -> Invited {
    let mut silent = json!({ "receive_mails": false, "email": "" });
    tests::caller::merge(&mut silent, fields);
    owner.invite(project, silent).await
}

fn link(candidate: &Value) -> &str {
    candidate["interview_url"].as_str().unwrap()
}

#[tokio::test]
async fn nothing_is_mailed_on_the_whole_way() {
    let (app, owner, project) = given(json!({})).await;
    let ada = invite(&owner, &project, json!({})).await;
    assert_eq!(link(&owner.get(&ada.uri).await.expect(200).json()), interview(&ada.key));
    owner.set_deadline(&ada.uri, &app.clock().in_days(8)).await.expect(200);
    let remind = || Request::post(&format!("{}reminder/", ada.uri));
    assert_refusal!(owner.send(remind()).await, @r#"400 {"code":"mails_off","detail":"`receive_mails` of the candidate is false, so the service sends them no mails about the interview."}"#);
    for status in ["confirmed", "interviewing", "interviewed"] {
        assert_eq!(ada.advance(&ada.uri).await.expect(200).json()["status"], status);
    }
    assert_refusal!(owner.send(remind()).await, @r#"400 {"code":"no_reminder","detail":"Only invited or confirmed candidates can be reminded."}"#);

    let grace = invite(&owner, &project, json!({})).await;
    owner.set_deadline(&grace.uri, &app.clock().in_days(0)).await.expect(200);
    app.expire_overdue().await;
    owner.set_deadline(&grace.uri, &app.clock().in_days(7)).await.expect(200);
    let again = owner.advance(&grace.uri).await.expect(200).json();
    assert_eq!(again["status"], "invited");
    assert_ne!(again["activation_key"], grace.key);
    assert_eq!(link(&again), interview(again["activation_key"].as_str().unwrap()));

    // Also if there is an address, be it one that bounced.
    let [email, next] = [app.next_email(), app.next_email()];
    let alan = invite(&owner, &project, json!({ "email": email })).await;
    owner.patch(&alan.uri, json!({ "deadline": app.clock().in_days(9) })).await.expect(200);
    owner.patch(&alan.uri, json!({ "email": next })).await.expect(200);
    assert_eq!(waiting_mails(&app).await, 0);
    app.settle().await;
    app.sweep().await;
    assert!([email, next].iter().all(|address| app.mails_to(address).is_empty()));

    // The same mails would leave otherwise.
    owner.patch(&alan.uri, json!({ "receive_mails": true })).await.expect(200);
    owner.patch(&alan.uri, json!({ "deadline": app.clock().in_days(10) })).await.expect(200);
    assert_eq!(waiting_mails(&app).await, 1);
}

/// The number of mails that are noted but not sent.
async fn waiting_mails(app: &TestApp) -> usize {
    let items = app.table().snapshot().await;
    items.iter().filter(|((_, sk), item)| sk == "EFFECT" && item["task"].get("candidate").is_some()).count()
}

fn interview(key: &str) -> String {
    format!("https://hr.example/interview/acme/{key}")
}

#[tokio::test]
async fn the_link_is_shown_to_managers_and_the_candidate_while_it_leads_somewhere() {
    let (app, owner, project) = given(json!({})).await;
    let evaluator = owner.colleague("hiring-manager", json!({})).await.activate().await;
    let sharee = owner.colleague("recruiter", json!({})).await.activate().await;
    let manager = owner.colleague("recruiter", json!({})).await.activate().await;
    let roles = json!({ "evaluators": [evaluator.uri], "interview_managers": [manager.uri] });
    owner.patch(&project, roles).await.expect(200);
    let uri = owner
        .candidate(&project, json!({ "receive_mails": false, "deadline": app.clock().in_days(7) }))
        .await;
    assert_eq!(link(&owner.get(&uri).await.expect(200).json()), "");
    let ada = Invited::shown_in(&app, &owner.advance(&uri).await.expect(200));
    owner.post(&format!("{uri}shares/"), json!({ "customer": sharee.uri })).await.expect(201);
    let expected = interview(&ada.key);
    for status in ["invited", "confirmed", "interviewing"] {
        let own = ada.get("/whoami/candidate/").await.expect(200).json();
        let listed = manager.get(&format!("{project}candidates/")).await.expect(200).json();
        let read = manager.get(&uri).await.expect(200).json();
        assert_eq!(read["status"], status);
        for shown in [&own, &read, &listed["objects"][0]] {
            assert_eq!(link(shown), expected, "{status}");
            assert_eq!(shown["receive_mails"], false);
        }
        for other in [&evaluator, &sharee] {
            let read = other.get(&uri).await.expect(200).json();
            assert_eq!((read.get("interview_url"), &read["receive_mails"]), (None, &json!(false)));
        }
        ada.advance(&uri).await.expect(200);
    }
    let over = owner.get(&uri).await.expect(200).json();
    assert_eq!((&over["status"], link(&over)), (&json!("interviewed"), ""));

    // Elsewhere the link leads to the beginning of the interview alone.
    let elsewhere =
        owner.running_project(json!({ "allow_hash_login": true, "interview_platform": "external" })).await;
    let grace = invite(&owner, &elsewhere, json!({})).await;
    for (status, expected) in [("confirmed", interview(&grace.key)), ("interviewing", String::new())] {
        let advanced = grace.advance(&grace.uri).await.expect(200).json();
        assert_eq!((&advanced["status"], link(&advanced)), (&json!(status), expected.as_str()));
    }
}

#[tokio::test]
async fn the_link_is_the_one_in_the_mail_and_stands_nowhere_else() {
    let (app, owner, project) = given(json!({})).await;
    let received = Arc::new(Mutex::new(Vec::new()));
    let noted = received.clone();
    let receiver = Receiver::start(move |event| noted.lock().unwrap().push(event.to_string())).await;
    let webhook = json!({ "url": receiver.url, "types": ["candidate.*"] });
    owner.post("/companies/acme/webhooks/", webhook).await.expect(201);
    for allow_hash_login in [true, false] {
        owner.patch(&project, json!({ "allow_hash_login": allow_hash_login })).await.expect(200);
        let ada = owner.invite(&project, json!({ "first_name": "Ada" })).await;
        app.settle().await;
        let url = owner.get(&ada.uri).await.expect(200).json()["interview_url"].as_str().unwrap().to_owned();
        assert!(url.ends_with(&format!("/{}", ada.key)), "{url}");
        let mail = app.mails_to(&ada.email).remove(0);
        assert!(mail.text.as_deref().unwrap().lines().any(|line| line.trim() == url), "{url}");
        for target in [
            "/companies/acme/events/".to_owned(),
            "/companies/acme/search/?q=Ada".to_owned(),
            format!("{}events/", ada.uri),
            format!("{}data/", ada.uri),
        ] {
            let body = owner.get(&target).await.expect(200).body;
            let text = String::from_utf8(body).unwrap();
            assert!(text.contains("candidate"), "{target}");
            assert!(!text.contains(&ada.key) && !text.contains("interview_url"), "{target}");
        }
        // No item has it in the clear, the candidate's neither.
        assert!(!app.items().into_iter().any(|item| item.to_string().contains(&ada.key)));
        let received = received.lock().unwrap().join("");
        assert!(received.contains("candidate.invited") && !received.contains(&ada.key), "{received}");
    }
}

#[tokio::test]
async fn mails_are_turned_on_with_an_address_only_and_that_sends_none() {
    let (app, owner, project) = given(json!({})).await;
    let ada = invite(&owner, &project, json!({})).await;
    let before = app.table().snapshot().await;
    assert_refusal!(owner.patch(&ada.uri, json!({ "receive_mails": true })).await, @r#"400 {"email":["Required if `receive_mails` is true."]}"#);
    assert_refusal!(owner.patch(&ada.uri, json!({ "receive_mails": "no" })).await, @r#"400 {"receive_mails":["Must be a valid boolean."]}"#);
    assert_eq!(app.table().snapshot().await, before);
    let email = app.next_email();
    let on = owner.patch(&ada.uri, json!({ "receive_mails": true, "email": email })).await.expect(200).json();
    assert_eq!((&on["receive_mails"], &on["activation_key"]), (&json!(true), &json!(ada.key)));
    app.settle().await;
    assert_eq!(app.mails_to(&email).len(), 0);
    owner.post(&format!("{}reminder/", ada.uri), json!({})).await.expect(200);
    app.settle().await;
    assert!(app.mails_to(&email).remove(0).text.as_deref().unwrap().contains(link(&on)));
    assert_refusal!(owner.patch(&ada.uri, json!({ "email": "" })).await, @r#"400 {"code":"email_missing","detail":"An invited candidate needs an email address. Replace it instead of removing it."}"#);
    // Off again, it may be emptied; the key that was mailed to it ends.
    let off = owner.patch(&ada.uri, json!({ "receive_mails": false, "email": "" })).await.expect(200).json();
    assert_ne!(off["activation_key"], ada.key);
    assert_eq!(ada.get("/whoami/candidate/").await.expect(401).json()["code"], "key_replaced");
}

#[tokio::test]
async fn mails_that_are_turned_on_with_a_first_address_wait_until_it_is_confirmed() {
    let (app, owner, project) = given(json!({})).await;
    let ada = invite(&owner, &project, json!({ "username": "ada" })).await;
    ada.choose_password().await;
    let email = app.next_email();
    let on = owner.patch(&ada.uri, json!({ "receive_mails": true, "email": email })).await.expect(200).json();
    assert_eq!(
        [&on["email"], &on["email_confirmed"], &on["receive_mails"]],
        [&json!(email), &json!(false), &json!(true)]
    );
    owner.set_deadline(&ada.uri, &app.clock().in_days(8)).await.expect(200);
    app.settle().await;
    // The one that asks for the confirmation.
    assert_eq!(app.mails_to(&email).len(), 1);
    let remind = async || owner.post(&format!("{}reminder/", ada.uri), json!({})).await;
    assert_refusal!(remind().await, @r#"400 {"code":"email_missing","detail":"The candidate has no email address. Set one first."}"#);
    assert_refusal!(owner.patch(&ada.uri, json!({ "email": "" })).await, @r#"400 {"code":"email_missing","detail":"An invited candidate needs an email address. Replace it instead of removing it."}"#);
    let confirmed = json!({ "key": app.mailed_key(&email), "password": PASSWORD });
    app.anonymous().post("/api-email-confirm/", confirmed).await.expect(204);
    remind().await.expect(200);
    app.settle().await;
    assert_eq!(app.mails_to(&email).len(), 2);
}

#[tokio::test]
async fn the_key_that_the_client_has_handed_out_survives_changes_of_the_address() {
    let (app, owner, project) = given(json!({})).await;
    let ada = invite(&owner, &project, json!({})).await;
    for email in [app.next_email(), app.next_email(), String::new()] {
        let changed = owner.patch(&ada.uri, json!({ "email": email })).await.expect(200).json();
        assert_eq!((&changed["email"], &changed["activation_key"]), (&json!(email), &json!(ada.key)));
        ada.get("/whoami/candidate/").await.expect(200);
    }
}

#[tokio::test]
async fn without_a_name_to_log_in_with_the_key_stands_for_the_password() {
    let (app, owner, project) = given(json!({ "allow_hash_login": false })).await;
    let ada = invite(&owner, &project, json!({})).await;
    assert_eq!(link(&owner.get(&ada.uri).await.expect(200).json()), interview(&ada.key));
    assert_refusal!(ada.patch(&ada.uri, json!({ "password": PASSWORD })).await, @r#"400 {"password":["There is no email address or user name to log in with. The key opens the interview."]}"#);
    for status in ["confirmed", "interviewing"] {
        let advanced = ada.advance(&ada.uri).await.expect(200).json();
        assert_eq!((&advanced["status"], link(&advanced)), (&json!(status), interview(&ada.key).as_str()));
    }

    // A user name is one, too.
    let grace = invite(&owner, &project, json!({ "username": "grace" })).await;
    let register = format!("https://hr.example/register/{}", grace.key);
    assert_eq!(link(&owner.get(&grace.uri).await.expect(200).json()), register);
    grace.advance(&grace.uri).await.expect_code(400, "password_missing");
    grace.choose_password().await;
    let confirmed = grace.advance(&grace.uri).await.expect(200).json();
    assert_eq!(link(&confirmed), "https://hr.example/interview/acme/");
    app.anonymous().log_in("acme", "grace", PASSWORD).await.expect(200);
}

#[tokio::test]
async fn mails_that_the_candidate_asks_for_still_go() {
    let (app, owner, project) = given(json!({ "allow_hash_login": false })).await;
    let ada = invite(&owner, &project, json!({ "email": app.next_email() })).await;
    ada.register().await;
    let forgotten = json!({ "company": "acme", "username": ada.email });
    app.anonymous().post("/api-password-reset/", forgotten).await.expect(202);
    app.settle().await;
    let mails = app.mails_to(&ada.email);
    assert_eq!(mails.len(), 1);
    assert!(mails[0].text.as_deref().unwrap().contains("/reset-password/"));
}

#[tokio::test]
async fn one_import_creates_invites_and_returns_the_link() {
    let (app, owner, project) = given(json!({})).await;
    let deadline = app.clock().in_days(7);
    let email = app.next_email();
    let list = json!([
        { "first_name": "Ada", "last_name": "Byron", "receive_mails": false, "deadline": deadline },
        { "first_name": "Grace", "last_name": "Hopper", "email": email, "deadline": deadline },
        { "first_name": "Alan", "last_name": "Turing", "deadline": deadline },
        { "first_name": "Edsger", "receive_mails": false },
    ]);
    let report = import(&owner, &project, Some(KEY), &list).await.expect(200).json();
    let rows = report["objects"].as_array().unwrap();
    let fates: Vec<&Value> = rows.iter().map(|row| &row["status"]).collect();
    assert_eq!(fates, ["invited", "invited", "new", "failed"]);
    for row in &rows[..2] {
        let candidate = owner.get(row["candidate"].as_str().unwrap()).await.expect(200).json();
        assert_eq!(row["interview_url"], candidate["interview_url"]);
        assert_eq!(link(&candidate), interview(candidate["activation_key"].as_str().unwrap()));
    }
    assert!(rows[2..].iter().all(|row| row["interview_url"] == ""));
    app.settle().await;
    assert_eq!(app.mails_to(&email).len(), 1);
    let key = link(&rows[0]).rsplit('/').next().unwrap();
    let holders = app.items().into_iter().filter(|item| item.to_string().contains(key)).count();
    assert_eq!(holders, 0, "the candidate and the answer that is kept for repeats have it sealed");
    let repeated = import(&owner, &project, Some(KEY), &list).await.expect(200);
    assert_eq!(repeated.header("idempotent-replayed"), Some("true"));
    assert_eq!(repeated.json(), report);

    let first = rows[0]["candidate"].as_str().unwrap();
    owner.set_deadline(first, &app.clock().in_days(0)).await.expect(200);
    app.expire_overdue().await;
    let expired = owner.get(first).await.expect(200).json();
    assert_eq!((&expired["status"], link(&expired)), (&json!("expired"), ""));
}
