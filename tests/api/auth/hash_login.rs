//! Projects in which candidates take part without a password, by the key of their invitation alone.

use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, Invited, Staff};

/// The service, its owner, and a candidate invited to a project without passwords.
async fn given() -> (TestApp, Staff, Invited) {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({ "allow_hash_login": true })).await;
    let invited = owner.invite(&project, json!({})).await;
    (app, owner, invited)
}

/// The two names under which a key is shown.
fn keys(candidate: &Value) -> [&Value; 2] {
    [&candidate["activation_key"], &candidate["interview_key"]]
}

#[tokio::test]
async fn the_key_goes_on_to_the_end_of_the_interview() {
    let (app, owner, by_key) = given().await;
    let key = json!(by_key.key);
    let invited = owner.get(&by_key.uri).await.expect(200).json();
    assert_eq!(keys(&invited), [&key, &json!("")]);
    let confirmed = by_key.advance(&by_key.uri).await.expect(200).json();
    assert_eq!((&confirmed["status"], keys(&confirmed)), (&json!("confirmed"), [&json!(""), &key]));
    let seen_by_manager = owner.get(&by_key.uri).await.expect(200).json();
    assert_eq!(keys(&seen_by_manager), [&json!(""), &key]);
    by_key.get("/whoami/candidate/").await.expect(200);
    let interviewing = by_key.advance(&by_key.uri).await.expect(200).json();
    assert_eq!((&interviewing["status"], keys(&interviewing)), (&json!("interviewing"), [&json!(""), &key]));
    by_key.get("/whoami/candidate/").await.expect(200);
    app.complete(&by_key.uri).await;
    let ended = by_key.get("/whoami/candidate/").await.expect(401).json();
    assert_eq!(ended["code"], "interview_completed");
    let interviewed = owner.get(&by_key.uri).await.expect(200).json();
    assert_eq!((&interviewed["status"], keys(&interviewed)), (&json!("interviewed"), [&json!(""); 2]));
}

#[tokio::test]
async fn the_key_ends_with_an_interview_that_is_broken_off_or_swept_and_another_takes_its_place() {
    let (app, owner, first) = given().await;
    let project = owner.get(&first.uri).await.expect(200).uri("project");
    let second = owner.invite(&project, json!({})).await;
    for (candidate, is_swept) in [(first, false), (second, true)] {
        candidate.advance(&candidate.uri).await.expect(200);
        candidate.advance(&candidate.uri).await.expect(200);
        if is_swept {
            owner.set_deadline(&candidate.uri, &app.clock().in_days(0)).await.expect(200);
            app.expire_overdue().await;
            owner.set_deadline(&candidate.uri, &app.clock().in_days(1)).await.expect(200);
        } else {
            app.abort(&candidate.uri).await;
        }
        let aborted = owner.get(&candidate.uri).await.expect(200).json();
        assert_eq!((&aborted["status"], keys(&aborted)), (&json!("aborted"), [&json!(""); 2]));
        candidate.get("/whoami/").await.expect_code(401, "invalid_credential");

        let confirmed = owner.advance(&candidate.uri).await.expect(200);
        assert_eq!(confirmed.json()["status"], "confirmed");
        candidate.get("/whoami/").await.expect_code(401, "invalid_credential");
        let mut again = candidate.clone();
        again.key = confirmed.uri("interview_key");
        assert_ne!(again.key, candidate.key);
        again.advance(&again.uri).await.expect(200);
    }
}

#[tokio::test]
async fn candidates_who_choose_a_password_all_the_same_continue_with_it() {
    let (_, owner, before_confirming) = given().await;
    let project = owner.get(&before_confirming.uri).await.expect(200).uri("project");
    let token = before_confirming.register().await;
    let confirmed = before_confirming.advance(&before_confirming.uri).await.expect(200).json();
    assert_eq!(keys(&confirmed), [&json!(""); 2]);
    before_confirming.get("/whoami/").await.expect_code(401, "invalid_credential");
    token.advance(&before_confirming.uri).await.expect(200);

    let later = owner.invite(&project, json!({})).await;
    later.advance(&later.uri).await.expect(200);
    let token = later.register().await;
    later.get("/whoami/").await.expect_code(401, "invalid_credential");
    let interviewing = token.advance(&later.uri).await.expect(200).json();
    assert_eq!((&interviewing["status"], keys(&interviewing)), (&json!("interviewing"), [&json!(""); 2]));
}

#[tokio::test]
async fn confirmed_candidates_without_a_password_continue_when_the_project_requires_one() {
    let (_, owner, by_key) = given().await;
    let project = owner.get(&by_key.uri).await.expect(200).uri("project");
    by_key.advance(&by_key.uri).await.expect(200);
    owner.patch(&project, json!({ "allow_hash_login": false })).await.expect(200);
    by_key.advance(&by_key.uri).await.expect(200);
}

#[tokio::test]
async fn skipping_ends_the_interview_key_too() {
    let (_, owner, by_key) = given().await;
    by_key.advance(&by_key.uri).await.expect(200);
    owner.skip(&by_key.uri).await.expect(200);
    by_key.get("/whoami/").await.expect_code(401, "invalid_credential");
}
