//! Acting for somebody else without their password.

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::assert_refusal;
use tests::caller::{Caller, PASSWORD, Staff, Token};
use tests::http::{Request, Response};

/// Sets whether somebody may act for others, which only the operator decides.
async fn grant(staff: &Staff, may: bool) {
    let table = staff.app().table();
    table.set_customer(&staff.uri, "authenticate_on_behalf", AttributeValue::Bool(may)).await;
}

async fn ask(caller: &impl Caller, username: &str) -> Response {
    caller.post("/api-token-auth/", json!({ "company": "acme", "username": username })).await
}

async fn token(caller: &Staff, username: &str) -> Token {
    let secret = ask(caller, username).await.expect(200).uri("token");
    caller.app().token(&secret)
}

async fn integration(app: &TestApp, account_type: &str) -> Staff {
    let staff = app.staff(account_type).await;
    grant(&staff, true).await;
    staff
}

#[tokio::test]
async fn permitted_users_log_in_on_behalf_of_others() {
    let app = TestApp::start().await;
    let admin = integration(&app, "admin").await;
    let staff = app.staff("hiring-manager").await;
    for name in [&staff.username, &staff.email, &staff.username.to_uppercase()] {
        let response = ask(&admin, name).await.expect(200);
        let secret = response.uri("token");
        assert_eq!(response.json(), json!({ "token": secret }));
        assert!(!app.table().text().await.contains(&secret), "it is not stored");
        let whoami = app.token(&secret).get("/whoami/").await.expect(200).json();
        assert_eq!(whoami["resource"]["resource_uri"], staff.uri);
        assert_eq!(whoami["on_behalf_by"], admin.uri);
        assert_eq!(whoami["token"], json!({ "kind": "token", "expires_at": "2026-11-08T12:00:00Z" }));
        assert_eq!(whoami["permissions"], staff.get("/whoami/").await.expect(200).json()["permissions"]);
    }
    assert_eq!(staff.get("/whoami/").await.expect(200).json()["on_behalf_by"], Value::Null);
    assert_eq!(admin.get("/whoami/").await.expect(200).json()["on_behalf_by"], Value::Null);

    // Oneself is nobody above oneself.
    let own = token(&admin, &admin.username).await.get("/whoami/").await.expect(200).json();
    assert_eq!(
        (&own["resource"]["resource_uri"], &own["on_behalf_by"]),
        (&json!(admin.uri), &json!(admin.uri))
    );

    // The rights are those of the other, and so is what is done.
    let recruiter = app.staff("recruiter").await;
    let acting = token(&admin, &recruiter.username).await;
    let project = acting.post("/companies/acme/projects/", json!({ "name": "Sales" })).await.expect(201);
    assert_eq!(project.json()["interview_managers"], json!([recruiter.uri]));
    let project = project.uri("resource_uri");
    let candidate = json!({ "first_name": "Ada", "last_name": "Byron" });
    let candidate = acting.post(&format!("{project}candidates/"), candidate).await.expect(201).json();
    assert_eq!(candidate["created_by"], recruiter.uri);
    acting.get("/companies/acme/customers/").await.expect(200);
    let invite = json!({
        "first_name": "A", "last_name": "B", "email": "a@b.co", "account_type": "recruiter",
        "preferred_language": "en",
    });
    assert_refusal!(acting.post("/companies/acme/customers/", invite).await, @r#"
        403 {
          "code":"permission_denied",
          "detail":"You do not have the permission `manage_customers` here.",
          "permission":"manage_customers"
        }
    "#);
    acting.send(Request::post("/api-token-invalidate/")).await.expect(204);
    acting.get("/whoami/").await.expect_code(401, "invalid_credential");
    admin.get("/whoami/").await.expect(200);
    recruiter.get("/whoami/").await.expect(200);
}

#[tokio::test]
async fn the_token_may_be_asked_for_by_cookie_and_for_days() {
    let app = TestApp::start().await;
    let admin = integration(&app, "admin").await;
    let staff = app.staff("recruiter").await;
    let browser = admin.browser().await;
    let days = json!({ "company": "acme", "username": staff.username, "extended_expiration_period": 3 });
    let secret = browser.post("/api-token-auth/", days.clone()).await.expect(200).uri("token");
    let whoami = app.token(&secret).get("/whoami/").await.expect(200).json();
    assert_eq!(whoami["token"]["expires_at"], "2026-11-11T10:00:00Z");
    let elsewhere = Request::post("/api-token-auth/")
        .json(&days)
        .header("cookie", &format!("sessionid={}", browser.cookie))
        .header("sec-fetch-site", "cross-site");
    assert_refusal!(app.send(elsewhere).await, @r#"403 {"code":"csrf","detail":"This origin may not use the session cookie. Send a token, or ask the operator to allow the origin."}"#);
}

#[tokio::test]
async fn no_user_acts_on_behalf_of_a_higher_account_type() {
    let app = TestApp::start().await;
    let types = ["hiring-manager", "recruiter", "admin", "owner"];
    for (height, by) in types.iter().enumerate() {
        let caller = integration(&app, by).await;
        for (other, of) in types.iter().enumerate() {
            let target = app.staff(of).await;
            let response = ask(&caller, &target.username).await;
            if other <= height {
                app.token(&response.expect(200).uri("token")).get("/whoami/").await.expect(200);
            } else {
                response.expect_code(403, "permission_denied");
            }
        }
    }
}

#[tokio::test]
async fn only_users_whom_the_operator_permits_act_on_behalf_of_others() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let staff = app.staff("hiring-manager").await;
    let candidate = owner.invite(&owner.running_project(json!({})).await, json!({})).await;
    candidate.choose_password().await;
    let sessions = app.table().sessions().await;
    ask(&owner, &staff.username).await.expect_code(403, "permission_denied");
    ask(&owner, "nobody").await.expect_code(403, "permission_denied");
    ask(&candidate, &staff.username).await.expect_code(403, "permission_denied");
    let own = app.anonymous().log_in("acme", &candidate.email, PASSWORD).await.expect(200).uri("token");
    ask(&app.token(&own), &staff.username).await.expect_code(403, "permission_denied");
    let missing = json!({ "password": ["This field is required."] });
    ask(&app.anonymous(), &staff.username).await.expect_json(400, missing);
    ask(&app.dead_session().await, &staff.username).await.expect_code(401, "invalid_credential");
    assert_eq!(app.table().sessions().await, sessions + 1, "that of the candidate");

    grant(&owner, true).await;
    ask(&owner, &staff.username).await.expect(200);
    for unknown in ["nobody", &candidate.email, "", "x y"] {
        let response = ask(&owner, unknown).await;
        if unknown.is_empty() {
            assert_refusal!(response, @r#"400 {"username":["This field may not be blank."]}"#);
        } else {
            response.expect_code(401, "invalid_credentials");
        }
    }
    let stranger = app.owner_of("globex").await;
    let elsewhere = json!({ "company": "globex", "username": stranger.username });
    assert_refusal!(owner.post("/api-token-auth/", elsewhere).await, @r#"401 {"code":"invalid_credentials","detail":"Unable to log in with the provided credentials."}"#);
    // With a password it is a login like any other.
    let login = json!({ "company": "acme", "username": staff.username, "password": PASSWORD });
    let secret = owner.post("/api-token-auth/", login.clone()).await.expect(200).uri("token");
    let whoami = app.token(&secret).get("/whoami/").await.expect(200).json();
    assert_eq!(whoami["on_behalf_by"], Value::Null);
    let mut wrong = login;
    wrong["password"] = "wrong horse battery".into();
    owner.post("/api-token-auth/", wrong).await.expect_code(401, "invalid_credentials");
    // And a session cookie is only for oneself.
    let request = Request::post("/api-session-auth/").header("sec-fetch-site", "same-origin");
    let request = request.json(&json!({ "company": "acme", "username": staff.username }));
    assert_refusal!(app.send(owner.sign(request)).await, @r#"400 {"password":["This field is required."]}"#);
}

#[tokio::test]
async fn a_token_on_behalf_of_another_user_ends_with_the_permission() {
    let app = TestApp::start().await;
    app.leave_unsound("an owner is deactivated past all counts");
    let owner = app.owner().await;
    let admin = integration(&app, "admin").await;
    let target = app.staff("recruiter").await;
    let alive = async |token: &Token| token.get("/whoami/").await.status == 200;

    let acting = token(&admin, &target.username).await;
    assert!(alive(&acting).await);
    grant(&admin, false).await;
    acting.get("/whoami/").await.expect_code(401, "invalid_credential");
    grant(&admin, true).await;
    assert!(alive(&acting).await, "a grant is looked at with every request");

    // Nor does it outlive either of them.
    let active = async |staff: &Staff, is_active: bool| {
        app.table().set_customer(&staff.uri, "is_active", AttributeValue::Bool(is_active)).await;
    };
    for staff in [&admin, &target] {
        active(staff, false).await;
        acting.get("/whoami/").await.expect_code(401, "invalid_credential");
        active(staff, true).await;
        assert!(alive(&acting).await);
    }
    // A user who rises above the caller is out of reach.
    let peer = app.staff("recruiter").await;
    let risen = token(&admin, &peer.username).await;
    app.table().set_customer(&peer.uri, "account_type", AttributeValue::S("owner".to_owned())).await;
    risen.get("/whoami/").await.expect_code(401, "invalid_credential");

    // Whatever ends all sessions of one of them ends it as well.
    let other = app.staff("recruiter").await;
    let change = json!({ "password": "another horse battery", "current_password": PASSWORD });
    target.patch(&target.uri, change.clone()).await.expect(200);
    acting.get("/whoami/").await.expect_code(401, "invalid_credential");
    let acting = token(&admin, &other.username).await;
    admin.patch(&admin.uri, change).await.expect(200);
    acting.get("/whoami/").await.expect_code(401, "invalid_credential");
    let login = app.anonymous().log_in("acme", &admin.username, "another horse battery").await.expect(200);
    let admin_again = app.token(&login.uri("token"));
    let acting = app.token(&ask(&admin_again, &other.username).await.expect(200).uri("token"));
    assert!(alive(&acting).await);
    owner.delete(&admin.uri).await.expect(204);
    acting.get("/whoami/").await.expect_code(401, "invalid_credential");
    other.get("/whoami/").await.expect(200);
}

#[tokio::test]
async fn acting_on_behalf_does_not_chain() {
    let app = TestApp::start().await;
    let admin = integration(&app, "admin").await;
    let peer = integration(&app, "admin").await;
    let staff = app.staff("recruiter").await;
    let acting = token(&admin, &peer.username).await;
    ask(&acting, &staff.username).await.expect_code(403, "permission_denied");
    token(&peer, &staff.username).await.get("/whoami/").await.expect(200);
}
