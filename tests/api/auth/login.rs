//! Logging in: by which names, for how long, and what a failed attempt may tell.

use aws_sdk_dynamodb::types::AttributeValue;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tests::app::{FULL_COST, TestApp};
use tests::caller::{Caller, PASSWORD, last_segment};
use tests::http::{Request, send_each};
use tests::{assert_refusal, assert_refusals};

#[tokio::test]
async fn username_and_email_identify_one_user_ignoring_case() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    for name in ["owner", "OWNER", " Owner ", &owner.email, &owner.email.to_uppercase()] {
        let response = app.anonymous().log_in("acme", name, PASSWORD).await.expect(200);
        let token = response.uri("token");
        assert_eq!(response.json(), json!({ "token": token }), "nothing else is told");
        let whoami = app.token(&token).get("/whoami/").await.expect(200).json();
        assert_eq!(whoami["resource"]["resource_uri"], owner.uri, "{name}");
    }
}

#[tokio::test]
async fn whoami_returns_the_caller_their_permissions_and_the_expiry() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let expected = json!({
        "company": "https://hr.example/api/v3/companies/acme/",
        "kind": "customer",
        "resource": {
            "id": last_segment(&owner.uri),
            "resource_uri": owner.uri,
            "company": "https://hr.example/api/v3/companies/acme/",
            "preferred_language": "en",
            "account_type": "owner",
            "user": owner.uri,
            "username": "owner",
            "first_name": "Sam",
            "last_name": "Staff",
            "email": owner.email,
            "email_confirmed": true,
            "email_status": "deliverable",
            "phone": "",
            "status": "confirmed",
            "confirmationdate": "2026-11-08T10:00:00Z",
            "invitationdate": null,
            "gender": "",
            "created_by": null,
            "receive_interview_notifications": true,
            "photo": "",
            "position": "",
            "role": "",
            "activation_key": "",
            "projects": format!("{}projects/", owner.uri),
            "seen_welcome": false,
            "is_active": true,
        },
        "permissions": [
            "read_company", "change_company", "manage_labels", "manage_videos", "read_video", "manage_tokens",
            "manage_sign_in", "export_company", "manage_customers", "reinvite_customers", "import_customers", "list_projects", "see_all_projects",
            "read_events", "read_usage", "read_webhooks", "manage_webhooks", "manage_privacy", "search", "create_project", "read_project",
            "read_questions", "read_agreement", "change_project", "read_candidate", "read_history", "export_candidate",
            "request_erasure", "withdraw_erasure", "change_candidate", "advance_candidate",
        ],
        "token": { "kind": "token", "expires_at": "2026-11-08T12:00:00Z" },
        "on_behalf_by": null,
    });
    owner.get("/whoami/").await.expect_json(200, expected);

    let hiring_manager = app.staff("hiring-manager").await.get("/whoami/").await.expect(200).json();
    assert_eq!(
        hiring_manager["permissions"],
        json!(["read_company", "read_video", "list_projects", "search"])
    );
}

#[tokio::test]
async fn a_failed_login_does_not_reveal_the_reason() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    // A candidate who has set no password.
    owner.candidate(&owner.project(json!({})).await, json!({ "username": "ada", "email": "a@b.co" })).await;
    let inactive = app.staff("recruiter").await;
    app.table().set_customer(&inactive.uri, "is_active", AttributeValue::Bool(false)).await;

    let mut bodies = Vec::new();
    for (company, username, password) in [
        ("acme", "owner", "wrong horse battery"),
        ("acme", "owner", "x"),
        ("acme", "nobody", PASSWORD),
        ("acme", "ada", PASSWORD),
        ("acme", "a@b.co", PASSWORD),
        ("acme", "owner@globex.example", PASSWORD),
        ("globex", "owner", PASSWORD),
        ("No Company", "owner", PASSWORD),
        ("acme", inactive.username.as_str(), PASSWORD),
        ("acme", inactive.email.as_str(), PASSWORD),
        ("ACME", "owner", PASSWORD),
    ] {
        let response = app.anonymous().log_in(company, username, password).await;
        let response = response.expect_code(401, "invalid_credentials");
        assert_eq!(response.header("www-authenticate"), Some("Token"));
        assert_eq!(response.json()["detail"], "Unable to log in with the provided credentials.");
        assert_eq!(response.log().dynamodb_calls, 4, "{company} {username}: nor does the work it takes");
        bodies.push(response.body);
    }
    bodies.dedup();
    assert_eq!(bodies.len(), 1, "all bodies are the same, byte by byte");
}

#[tokio::test]
async fn of_candidates_with_one_email_each_logs_in_by_their_own_password() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let email = app.next_email();
    let mut candidates = Vec::new();
    for n in 0..6 {
        let candidate =
            owner.invite(&owner.running_project(json!({})).await, json!({ "email": email })).await;
        let password = format!("password number {n}");
        candidate.patch(&candidate.uri, json!({ "password": password })).await.expect(200);
        candidates.push((candidate, password));
    }
    // So that the newest mail to the address is the invitation of the customer.
    app.settle().await;
    let staff = owner.colleague("recruiter", json!({ "email": email })).await.activate().await;
    candidates.reverse();
    for (candidate, password) in &candidates {
        let token = app.anonymous().log_in("acme", &email, password).await.expect(200).uri("token");
        let whoami = app.token(&token).get("/whoami/").await.expect(200).json();
        assert_eq!(whoami["resource"]["resource_uri"], candidate.uri, "{password}");
    }
    let token = app.anonymous().log_in("acme", &email, PASSWORD).await.expect(200).uri("token");
    let whoami = app.token(&token).get("/whoami/").await.expect(200).json();
    assert_eq!(whoami["resource"]["resource_uri"], staff.uri);
}

#[tokio::test]
async fn missing_fields_are_reported_all_at_once() {
    let app = TestApp::start().await;
    let required = json!(["This field is required."]);
    for path in ["/api-token-auth/", "/api-session-auth/"] {
        let request = Request::post(path).header("sec-fetch-site", "none");
        let expected = json!({ "username": required, "password": required, "company": required });
        app.send(request.clone().json(&json!({}))).await.expect_json(400, expected);
        let response =
            app.send(request.json(&json!({ "username": "", "password": null, "company": 7 }))).await;
        assert_refusal!(response, @r#"
            400 {
              "company":["Not a valid string."],
              "password":["This field may not be null."],
              "username":["This field may not be blank."]
            }
            "#);
    }
}

#[tokio::test]
async fn malformed_json_is_described() {
    let app = TestApp::start().await;
    let request = Request::post("/api-token-auth/").body("application/json", "{\"username\": ");
    let response = app.send(request).await.expect(400);
    let body = response.json();
    let detail = body["detail"].as_str().unwrap();
    assert!(detail.starts_with("JSON parse error - EOF while parsing a value at line 1"), "{response}");
    assert_eq!(body["code"], "parse_error");
    assert_eq!(body.as_object().unwrap().len(), 2, "{response}");
}

#[tokio::test]
async fn the_extended_period_is_a_number_of_days_up_to_30() {
    let app = TestApp::start().await;
    app.owner().await;
    let log_in = async |period: Value| {
        let login = json!({
            "company": "acme", "username": "owner", "password": PASSWORD, "extended_expiration_period": period,
        });
        app.anonymous().post("/api-token-auth/", login).await
    };
    for (period, expires_at) in [
        (json!(1), "2026-11-09T10:00:00Z"),
        (json!(30), "2026-12-08T10:00:00Z"),
        (Value::Null, "2026-11-08T12:00:00Z"),
    ] {
        let token = app.token(&log_in(period).await.expect(200).uri("token"));
        let whoami = token.get("/whoami/").await.expect(200).json();
        assert_eq!(whoami["token"], json!({ "kind": "token", "expires_at": expires_at }));
    }
    let periods = [json!(0), json!(31), json!(-1), json!("x"), json!("7"), json!(1.5), json!(true)];
    assert_refusals!(send_each(periods, log_in).await, @r#"
        3 x 400 {"extended_expiration_period":["Ensure this value is from 1 to 30."]}
        4 x 400 {"extended_expiration_period":["A valid integer is required."]}
        "#);
}

#[tokio::test]
async fn every_way_of_sending_a_credential_is_the_same_user() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let browser = owner.browser().await;
    let basic = STANDARD.encode(format!("token:{}", owner.secret()));
    for (name, value) in [
        ("authorization", format!("Token {}", owner.secret())),
        ("authorization", format!("token {}", owner.secret())),
        ("authorization", format!("Basic {basic}")),
        ("cookie", format!("sessionid={}", browser.cookie)),
        ("cookie", format!("a=1;sessionid=;  sessionid={0}; sessionid={0}; b=2", browser.cookie)),
        // Cookies of other services at the same domain come along.
        ("cookie", format!("sessionid=0mv3k2; sessionid={}; sessionid=\"x\"", browser.cookie)),
    ] {
        let whoami = app.send(Request::get("/whoami/").header(name, &value)).await.expect(200).json();
        assert_eq!(whoami["resource"]["resource_uri"], owner.uri, "{name}");
    }
}

#[tokio::test]
async fn malformed_credentials_are_refused() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let (token, cookie) = (owner.secret(), owner.browser().await.cookie);
    let other = owner.browser().await.cookie;
    let without = app.anonymous().get("/whoami/").await;
    assert_refusal!(without, @r#"401 {"code":"not_authenticated","detail":"Authentication credentials were not provided."}"#);
    assert_eq!(without.header("www-authenticate"), Some("Token"));
    let foreign = Request::get("/whoami/").header("cookie", "sessionid=0mv3k2");
    app.send(foreign).await.expect_code(401, "not_authenticated");

    for value in [format!("Bearer {token}"), token.to_owned()] {
        let unknown = app.send(Request::get("/whoami/").header("authorization", &value)).await;
        assert_refusal!(unknown, @r#"401 {"code":"invalid_credential","detail":"The `Authorization` header has no known scheme. Use \"Token <value>\"."}"#);
    }

    let password = STANDARD.encode(format!("owner:{PASSWORD}"));
    let altered = format!("{}{}", &token[..token.len() - 1], if token.ends_with('A') { 'B' } else { 'A' });
    for (name, value) in [
        ("authorization", "Token".to_owned()),
        ("authorization", "Token x".to_owned()),
        ("authorization", format!("Bearer {token}")),
        ("authorization", format!("Token {altered}")),
        ("authorization", format!("Token {token}x")),
        ("authorization", format!("Token {cookie}")),
        ("authorization", format!("Basic {password}")),
        ("cookie", format!("sessionid={token}")),
        ("cookie", format!("sessionid={cookie}; sessionid={other}")),
        ("cookie", format!("sessionid=ivs_old; sessionid={cookie}")),
    ] {
        let response = app.send(Request::get("/whoami/").header(name, &value)).await;
        let response = response.expect_code(401, "invalid_credential");
        assert_eq!(response.header("www-authenticate"), Some("Token"), "{name}: {value}");
    }
}

#[tokio::test]
async fn secrets_are_stored_as_hashes_only() {
    let app = TestApp::start_with(&FULL_COST).await;
    let owner = app.owner().await;
    let browser = owner.browser().await;
    let stored = app.table().text().await;
    assert!(stored.contains("$argon2id$v=19$m=19456,t=2,p=1$"));
    for secret in [owner.secret(), &browser.cookie, PASSWORD] {
        assert!(!stored.contains(secret), "a secret is stored in the clear");
    }
}

#[tokio::test]
async fn names_of_one_company_mean_nothing_in_another() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let stranger = app.owner_of("globex").await;
    let whoami = stranger.get("/whoami/").await.expect(200).json();
    assert_eq!(whoami["company"], "https://hr.example/api/v3/companies/globex/");
    assert_ne!(stranger.uri, owner.uri);
}
