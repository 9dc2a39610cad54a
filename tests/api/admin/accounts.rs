//! The operator's commands on accounts: links, owners, grants, sessions.

use aws_sdk_dynamodb::types::AttributeValue;
use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::app::{TestApp, person};
use tests::assert_refusal;
use tests::caller::{Caller, PASSWORD};

use crate::admin::commands::{assert_refused, create_company, create_customer};

pub(crate) fn about(command: &str, username: &str) -> Value {
    json!({ "command": command, "company": "acme", "username": username })
}

fn without_password(username: &str) -> Value {
    let mut person = person(username, &format!("{username}@initech.example"));
    person.as_object_mut().unwrap().remove("password");
    person
}

/// The key in the link of an outcome.
fn key_in(outcome: &Value) -> String {
    let link = outcome["activation_link"].as_str().unwrap();
    link.strip_prefix("https://hr.example/activate/").unwrap().to_owned()
}

#[tokio::test]
async fn an_owner_without_a_password_is_given_a_link_to_choose_one() {
    let app = TestApp::start().await;
    let outcome = app.operate(create_company("initech", without_password("boss"))).await.unwrap();
    let key = key_in(&outcome);
    assert!(!format!("{outcome:?}").contains(&key), "{outcome:?}");
    assert!(!app.table().text().await.contains(&key));
    app.settle().await;
    assert_eq!(app.mails_to("boss@initech.example").len(), 0, "the operator hands the link over");

    app.anonymous().log_in("initech", "boss", PASSWORD).await.expect(401);
    let choice = json!({ "activation_key": key, "password": PASSWORD });
    let activated = app.anonymous().post("/api-activate/", choice.clone()).await.expect(200).json();
    assert_eq!((&activated["status"], &activated["account_type"]), (&json!("confirmed"), &json!("owner")));
    app.anonymous().log_in("initech", "boss", PASSWORD).await.expect(200);
    assert_refusal!(app.anonymous().post("/api-activate/", choice).await, @r#"400 {"activation_key":["This key is invalid or has expired."]}"#);
}

#[tokio::test]
async fn a_link_is_good_for_two_weeks() {
    let app = TestApp::start().await;
    let command = create_company("initech", without_password("boss"));
    let key = key_in(&app.operate(command.clone()).await.unwrap());
    let activate = async |key: &str| {
        let choice = json!({ "activation_key": key, "password": PASSWORD });
        app.anonymous().post("/api-activate/", choice).await
    };
    app.clock().advance(TimeDelta::days(14));
    assert_refusal!(activate(&key).await, @r#"400 {"activation_key":["This key is invalid or has expired."]}"#);
    activate(&key_in(&app.operate(command).await.unwrap())).await.expect(200);
}

#[tokio::test]
async fn a_repeated_creation_creates_nothing() {
    let app = TestApp::start().await;
    let company = create_company("initech", without_password("boss"));
    let customer = create_customer("initech", "recruiter", without_password("worker"));
    for command in [company.clone(), customer.clone()] {
        let first = app.operate(command.clone()).await.unwrap();
        // The outcome may have been lost, so there is another link, and the first one is dead.
        let mut again = command.clone();
        let of = if command == company { "owner" } else { "customer" };
        let email = again[of]["email"].as_str().unwrap().to_uppercase();
        again[of]["email"] = email.into();
        let second = app.operate(again).await.unwrap();
        assert_eq!(second["customer"], first["customer"]);
        let choice = |outcome: &Value| json!({ "activation_key": key_in(outcome), "password": PASSWORD });
        let activate = async |outcome: &Value| app.anonymous().post("/api-activate/", choice(outcome)).await;
        assert_refusal!(activate(&first).await, @r#"400 {"activation_key":["This key is invalid or has expired."]}"#);
        activate(&second).await.expect(200);
        app.assert_sound();

        // An account with a password keeps it.
        let before = app.table().snapshot().await;
        let mut with_password = command.clone();
        with_password[of]["password"] = "another good password".into();
        for repeated in [command, with_password] {
            let third = app.operate(repeated).await.unwrap();
            assert_eq!((&third["customer"], &third["activation_link"]), (&first["customer"], &Value::Null));
            assert_eq!(app.table().snapshot().await, before);
        }
    }
    // The same company for somebody else, or the same user as something else, is another command.
    assert_refused(&app, create_company("initech", without_password("usurper")), &["company"]).await;
    let mut elsewhere = without_password("boss");
    elsewhere["email"] = "boss@elsewhere.example".into();
    let refused = create_company("initech", elsewhere);
    assert_refused(&app, refused, &["company", "username"]).await;
    let promoted = create_customer("initech", "admin", without_password("worker"));
    assert_refused(&app, promoted, &["username", "email"]).await;
}

#[tokio::test]
async fn a_staff_user_is_made_an_owner() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let recruiter = app.staff("recruiter").await;
    recruiter.get("/companies/acme/tokens/").await.expect(403);
    let made = app.operate(about("make-owner", &recruiter.username.to_uppercase())).await.unwrap();
    assert_eq!(made["customer"], recruiter.uri);
    recruiter.get("/companies/acme/tokens/").await.expect(200);
    app.assert_sound();
    let before = app.table().snapshot().await;
    app.operate(about("make-owner", &recruiter.username)).await.unwrap();
    assert_eq!(app.table().snapshot().await, before);
    // Owners are not for each other to delete.
    recruiter.delete(&owner.uri).await.expect(403);

    let invited = json!({
        "first_name": "Grace", "last_name": "Hopper", "email": "grace@acme.example",
        "account_type": "recruiter", "preferred_language": "en",
    });
    owner.post("/companies/acme/customers/", invited).await.expect(201);
    app.operate(about("make-owner", "grace@acme.example")).await.unwrap();

    let idle = app.staff("admin").await;
    app.table().set_customer(&idle.uri, "is_active", AttributeValue::Bool(false)).await;
    assert_refused(&app, about("make-owner", &idle.username), &["username"]).await;
    for command in ["make-owner", "revoke-owner", "grant-on-behalf", "revoke-on-behalf", "end-sessions"] {
        assert_refused(&app, about(command, "nobody"), &["username"]).await;
        let mut elsewhere = about(command, "owner");
        for company in ["nowhere", "No"] {
            elsewhere["company"] = company.into();
            assert_refused(&app, elsewhere.clone(), &["company"]).await;
        }
    }
}

#[tokio::test]
async fn an_owner_who_has_left_is_made_an_admin_and_deleted() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let alone = app.operate(about("revoke-owner", "owner")).await.unwrap_err();
    assert!(alone.to_string().contains("last_owner"), "{alone}");
    let successor = app.staff("recruiter").await;
    app.operate(about("make-owner", &successor.username)).await.unwrap();
    for _ in 0..2 {
        let left = app.operate(about("revoke-owner", "owner")).await.unwrap();
        assert_eq!(left["customer"], owner.uri);
    }
    owner.get("/companies/acme/tokens/").await.expect(403);
    successor.delete(&owner.uri).await.expect(204);

    let reader = app.staff("hiring-manager").await;
    let before = app.table().snapshot().await;
    app.operate(about("revoke-owner", &reader.username)).await.unwrap();
    assert_eq!(app.table().snapshot().await, before, "who is no owner stays what they are");
}

#[tokio::test]
async fn acting_for_others_is_granted_and_revoked() {
    let app = TestApp::start().await;
    app.owner().await;
    let (admin, recruiter) = (app.staff("admin").await, app.staff("recruiter").await);
    let login = json!({ "company": "acme", "username": recruiter.username });
    admin.post("/api-token-auth/", login.clone()).await.expect(403);
    for _ in 0..2 {
        app.operate(about("grant-on-behalf", &admin.username)).await.unwrap();
    }
    let token = admin.post("/api-token-auth/", login.clone()).await.expect(200).uri("token");
    let whoami = app.token(&token).get("/whoami/").await.expect(200).json();
    assert_eq!(
        (&whoami["resource"]["resource_uri"], &whoami["on_behalf_by"]),
        (&json!(recruiter.uri), &json!(admin.uri))
    );
    for _ in 0..2 {
        app.operate(about("revoke-on-behalf", &admin.username)).await.unwrap();
    }
    assert_refusal!(app.token(&token).get("/whoami/").await, @r#"401 {"code":"invalid_credential","detail":"The credential is invalid or has expired."}"#);
    admin.post("/api-token-auth/", login).await.expect(403);
    admin.get("/whoami/").await.expect(200);
}

#[tokio::test]
async fn all_sessions_of_a_login_name_end() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let (admin, other) = (app.staff("admin").await, app.staff("admin").await);
    let browser = admin.browser().await;
    for name in [&admin.username, &admin.email] {
        let token = admin.new_token().await;
        let outcome = app.operate(about("end-sessions", name)).await.unwrap();
        assert_eq!(outcome["ended"], json!([admin.uri]));
        token.get("/whoami/").await.expect_code(401, "invalid_credential");
    }
    admin.get("/whoami/").await.expect(401);
    browser.get("/whoami/").await.expect(401);
    other.get("/whoami/").await.expect(200);
    admin.new_token().await.get("/whoami/").await.expect(200);

    // More candidates than a login looks at have one address.
    let project = owner.running_project(json!({})).await;
    let mut candidates = Vec::new();
    for _ in 0..18 {
        candidates.push(owner.invite(&project, json!({ "email": "ada@mail.example" })).await);
    }
    let first = candidates[0].clone();
    first.choose_password().await;
    let token = app.anonymous().log_in("acme", "ada@mail.example", PASSWORD).await;
    assert_eq!(token.status, 401, "too many candidates for a login to find the oldest");
    owner.patch(&first.uri, json!({ "username": "ada" })).await.expect(200);
    let token = app.anonymous().log_in("acme", "ada", PASSWORD).await.expect(200).uri("token");
    let outcome = app.operate(about("end-sessions", "ADA@mail.example")).await.unwrap();
    assert_eq!(outcome["ended"].as_array().unwrap().len(), 18);
    app.token(&token).get("/whoami/").await.expect_code(401, "invalid_credential");
    let token = app.anonymous().log_in("acme", "ada", PASSWORD).await.expect(200).uri("token");
    let outcome = app.operate(about("end-sessions", "ada")).await.unwrap();
    assert_eq!(outcome["ended"], json!([first.uri]));
    app.token(&token).get("/whoami/").await.expect(401);
    // A key is no session.
    first.get(&first.uri).await.expect(200);
}
