//! Who learns that an interview was cancelled, and who learns why.

use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, PASSWORD, Staff};
use tests::http::Request;

use super::{CancellationFixture, cancellation};

#[tokio::test]
async fn the_reason_is_for_managers_and_erased_with_the_candidate() {
    let given = CancellationFixture::start().await;
    let CancellationFixture { app, owner, evaluator, candidate, .. } = &given;
    let uri = &candidate.uri;
    for path in [uri, &format!("{uri}data/")] {
        assert_eq!(owner.get(path).await.expect(200).json()["cancellation"], Value::Null);
        assert_eq!(candidate.get(path).await.expect(200).json().get("cancellation"), None, "{path}");
    }
    let told = json!({ "reason": "Budget cut by Kim.", "notify": true });
    given.cancel(told).await.expect(200);
    let expected = json!({ "reason": "Budget cut by Kim.", "at": "2026-11-08T10:00:00Z", "by": owner.uri });
    for path in [uri, &format!("{uri}data/")] {
        assert_eq!(owner.get(path).await.expect(200).json()["cancellation"], expected, "{path}");
    }
    let shown = evaluator.get(uri).await.expect(200).json();
    assert_eq!((&shown["status"], shown.get("cancellation")), (&json!("skipped"), None));
    app.settle().await;
    let events = owner.get(&format!("{uri}events/?page_size=100")).await.expect(200).json();
    let last = events["objects"].as_array().unwrap().last().unwrap();
    assert_eq!(last["types"], json!(["candidate.cancelled", "candidate.skipped"]));
    let changed = last["data"]["changed"].as_array().unwrap();
    assert!(changed.contains(&json!("cancellation")) && changed.contains(&json!("status")), "{last}");
    let feed = owner.get("/companies/acme/events/?page_size=100").await.expect(200).json();
    let mails = app.mails_to(&candidate.email);
    let mails: String =
        mails.iter().flat_map(|mail| [mail.text.clone(), mail.html.clone()]).flatten().collect();
    for text in [events.to_string(), feed.to_string(), mails] {
        assert!(!text.contains("Budget") && !text.is_empty(), "{text}");
    }
    assert!(app.table().text().await.contains("Budget cut"));
    owner.delete(uri).await.expect(204);
    app.settle().await;
    assert!(!app.table().text().await.contains("Budget cut"));
}

/// The subjects of the mails to an address but the invitation.
async fn subjects(app: &TestApp, email: &str) -> Vec<String> {
    app.settle().await;
    let mails = app.mails_to(email);
    let subjects = mails.iter().map(|mail| mail.subject.clone());
    subjects.filter(|subject| !subject.contains("invites you")).collect()
}

#[tokio::test]
async fn one_mail_tells_the_candidate_if_the_company_wants_it() {
    let given = CancellationFixture::start().await;
    let CancellationFixture { app, candidate, .. } = &given;
    given.cancel(json!({ "notify": true })).await.expect(200);
    given.cancel(json!({ "notify": true })).await.expect(200);
    assert_eq!(
        subjects(app, &candidate.email).await,
        ["Your video interview for “Sales” with Acme & Sons has been cancelled"]
    );
    let mail = app.mails_to(&candidate.email).remove(0);
    let text = mail.text.as_deref().unwrap();
    assert!(text.contains("You have done nothing wrong") && text.contains("jobs@acme.example"), "{text}");
    for absent in ["https://", "Deadline", "The position is filled"] {
        assert!(!text.contains(absent), "{absent}: {text}");
    }
}

#[tokio::test]
async fn nobody_is_mailed_who_was_not_to_be() {
    let given = CancellationFixture::start().await;
    let CancellationFixture { app, owner, project, candidate, .. } = &given;
    given.cancel(json!({})).await.expect(200);
    let off = owner.invite(project, json!({ "receive_mails": false })).await;
    let erased = owner.invite(project, json!({})).await;
    owner.send(Request::put(&format!("{}erasure-request/", erased.uri))).await.expect(200);
    let [new, bounced] = [app.next_email(), app.next_email()];
    let never = owner.candidate(project, json!({ "email": new })).await;
    let undeliverable = owner.invite(project, json!({ "email": bounced })).await;
    app.settle().await;
    crate::system::undeliverable::put(app, crate::system::undeliverable::bounced(app, &bounced, "Permanent"))
        .await;
    for uri in [&off.uri, &erased.uri, &never, &undeliverable.uri] {
        owner.send(cancellation(uri, json!({ "notify": true }))).await.expect(200);
    }
    for email in [&candidate.email, &off.email, &erased.email, &new, &bounced] {
        assert_eq!(subjects(app, email).await, [""; 0], "{email}");
    }
}

#[tokio::test]
async fn a_session_tells_why_it_has_ended_but_only_one_that_was_good_until_then() {
    let given = CancellationFixture::start().await;
    let CancellationFixture { app, owner, project, candidate, .. } = &given;
    let session = candidate.register().await;
    let moved = super::begin(owner, project).await;
    let former = moved.register().await;
    let elsewhere = json!({ "email": "another@mail.example", "confirm": true });
    owner.patch(&moved.uri, elsewhere).await.expect(200);
    former.get("/whoami/candidate/").await.expect_code(401, "invalid_credential");
    for uri in [&candidate.uri, &moved.uri] {
        owner.cancel(uri).await.expect(200);
    }
    let ended = session.get("/whoami/candidate/").await.expect(401);
    let told = ended.json();
    assert_eq!(
        [&told["code"], &told["resource_uri"], &told["contact"]["email"]],
        ["withdrawn", &candidate.uri, "jobs@acme.example"]
    );
    assert_eq!(ended.log().dynamodb_calls, 1);
    for path in ["/whoami/", &candidate.uri, &format!("{}interview/", candidate.uri)] {
        let refused = session.get(path).await.expect_code(401, "invalid_credential");
        assert_eq!(refused.json().as_object().unwrap().len(), 2, "{path}");
    }
    // Another person may hold it.
    let refused = former.get("/whoami/candidate/").await.expect_code(401, "invalid_credential");
    assert_eq!(refused.json().as_object().unwrap().len(), 2);
    app.clock().advance(chrono::TimeDelta::hours(3));
    session.get("/whoami/candidate/").await.expect_code(401, "invalid_credential");
}

#[tokio::test]
async fn a_login_with_the_right_password_tells_it_too() {
    let given = CancellationFixture::start().await;
    let CancellationFixture { app, owner, candidate, .. } = &given;
    candidate.register().await;
    owner.cancel(&candidate.uri).await.expect(200);
    let login =
        |password: &str| json!({ "company": "acme", "username": candidate.email, "password": password });
    let anonymous = app.anonymous();
    for path in ["/api-token-auth/", "/api-session-auth/"] {
        // More often than a password may be wrong.
        for _ in 0..12 {
            let refused = anonymous.post(path, login(PASSWORD)).await.expect(401);
            assert_eq!(refused.header("set-cookie"), None);
            let told = refused.json();
            assert_eq!(
                [&told["code"], &told["resource_uri"], &told["company"]["name"], &told["contact"]["email"]],
                ["withdrawn", &candidate.uri, "Acme & Sons", "jobs@acme.example"],
                "{path}"
            );
        }
        let wrong = anonymous.post(path, login("wrong horse battery")).await;
        assert_eq!(wrong.expect_code(401, "invalid_credentials").json().as_object().unwrap().len(), 2);
    }

    // The same person in a project that goes on logs in there.
    let project = owner.running_project(json!({})).await;
    let again = owner.invite(&project, json!({ "email": candidate.email })).await;
    let session = again.register().await;
    assert_eq!(session.get("/whoami/candidate/").await.expect(200).json()["resource_uri"], again.uri);
    // The latest is asked first, but who may go on comes before it.
    let later = owner.invite(&project, json!({ "email": candidate.email })).await;
    later.register().await;
    owner.cancel(&later.uri).await.expect(200);
    let session = again.log_in().await;
    assert_eq!(session.get("/whoami/candidate/").await.expect(200).json()["resource_uri"], again.uri);
}

#[tokio::test]
async fn a_hold_and_a_request_for_erasure_stay_as_they_are() {
    let given = CancellationFixture::start().await;
    let CancellationFixture { owner, candidate, .. } = &given;
    let uri = &candidate.uri;
    let manager: &Staff = owner;
    let hold = json!({ "reason": "A lawsuit.", "until": null });
    manager.send(Request::put(&format!("{uri}hold/")).json(&hold)).await.expect(200);
    manager.send(Request::put(&format!("{uri}erasure-request/"))).await.expect(200);
    let before = manager.get(uri).await.expect(200).json();
    let shown = given.cancel(json!({ "notify": true })).await.expect(200).json();
    for field in ["is_on_hold", "erasure_due_at"] {
        assert!(shown[field] == before[field] && shown[field] != Value::Null, "{field}: {shown}");
    }
    manager.get(&format!("{uri}hold/")).await.expect_json(200, hold);
    manager.delete(uri).await.expect_code(400, "on_hold");
}
