//! The operator's commands.

use admin::Outcome;
use aws_sdk_dynamodb::types::AttributeValue;
use chrono::TimeDelta;
use serde_json::{Value, json};
use shared::Error;
use shared::http::wire::Uri;
use tests::app::{TestApp, person};
use tests::caller::{Caller, PASSWORD};
use tests::logs;

fn create_company(company: &str, owner: Value) -> Value {
    json!({ "command": "create-company", "company": company, "name": "Initech", "owner": owner })
}

fn create_customer(company: &str, account_type: &str, customer: Value) -> Value {
    json!({
        "command": "create-customer", "company": company, "account_type": account_type, "customer": customer,
    })
}

fn verify_senders(company: &str, senders: &[&str]) -> Value {
    json!({ "command": "verify-senders", "company": company, "senders": senders })
}

fn with(mut person: Value, field: &str, value: &str) -> Value {
    person[field] = value.into();
    person
}

/// The messages by field with which a command is refused.
async fn refused(app: &TestApp, command: Value) -> Value {
    let before = app.table().snapshot().await;
    let error = app.operate(command).await.unwrap_err();
    assert!(matches!(error, Error::Fields(_)), "{error}");
    assert_eq!(app.table().snapshot().await, before, "nothing of it is done");
    serde_json::from_str(&error.to_string()).unwrap()
}

async fn assert_refused(app: &TestApp, command: Value, fields: &[&str]) {
    let errors = refused(app, command).await;
    let mut expected = fields.to_vec();
    expected.sort_unstable();
    assert!(errors.as_object().unwrap().keys().eq(&expected), "expected {expected:?}: {errors}");
}

#[tokio::test]
async fn a_company_begins_with_an_owner_who_can_log_in() {
    let app = TestApp::start().await;
    let owner = person("boss", "boss@initech.example");
    let outcome = app.operate(create_company("initech", owner)).await.unwrap();
    assert_eq!(outcome.company.as_deref(), Some("initech"));
    let token = app.anonymous().log_in("initech", "boss", PASSWORD).await.expect(200).uri("token");
    let whoami = app.token(&token).get("/whoami/").await.expect(200).json();
    assert_eq!(whoami["resource"]["resource_uri"], outcome.customer.unwrap().as_str());
    assert_eq!(whoami["resource"]["account_type"], "owner");
    assert_eq!(app.token(&token).get("/companies/initech/").await.expect(200).json()["name"], "Initech");
    app.table().assert_sound().await;
}

#[tokio::test]
async fn a_company_exists_once() {
    let app = TestApp::start().await;
    app.owner().await;
    let again = create_company("acme", person("usurper", "usurper@acme.example"));
    assert_refused(&app, again, &["company"]).await;
    app.anonymous().log_in("acme", "usurper", PASSWORD).await.expect(401);
    app.table().assert_sound().await;
}

#[tokio::test]
async fn a_company_is_named_by_a_slug() {
    let app = TestApp::start().await;
    for slug in ["", "a", "Acme", "ac me", "ac_me", "ac#me", "ac/me", "äcme", &"a".repeat(64)] {
        let command = create_company(slug, person("boss", "boss@initech.example"));
        assert_refused(&app, command, &["company"]).await;
    }
    for slug in ["ab", "a-1", &"a".repeat(63)] {
        app.operate(create_company(slug, person("boss", "boss@initech.example"))).await.unwrap();
    }
}

#[tokio::test]
async fn everything_wrong_is_reported_at_once() {
    let app = TestApp::start().await;
    let nobody = json!({
        "first_name": "", "last_name": "\u{7}", "username": "with space", "email": "nobody", "password": "short",
    });
    let mut command = create_company("No Company", nobody.clone());
    command["name"] = " ".into();
    let person = ["first_name", "last_name", "username", "email", "password"];
    assert_refused(&app, command, &[&person[..], &["company", "name"]].concat()).await;
    app.owner().await;
    assert_refused(&app, create_customer("acme", "admin", nobody), &person).await;
}

#[tokio::test]
async fn a_password_has_8_to_128_characters() {
    let app = TestApp::start().await;
    app.owner().await;
    let of = |password: &str| with(person("new", "new@acme.example"), "password", password);
    for weak in ["", "1234567", &"x".repeat(129)] {
        assert_refused(&app, create_customer("acme", "admin", of(weak)), &["password"]).await;
    }
    app.operate(create_customer("acme", "admin", of(&"ü".repeat(128)))).await.unwrap();
    app.anonymous().log_in("acme", "new", &"ü".repeat(128)).await.expect(200);
}

#[tokio::test]
async fn names_of_staff_are_unique_in_the_company() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    owner.candidate(&project, json!({ "username": "Ada", "email": "ada@acme.example" })).await;
    owner.candidate(&project, json!({ "username": "candidate@acme.example" })).await;
    let boss = person("Boss@acme.example", "secretary@acme.example");
    app.operate(create_customer("acme", "admin", boss)).await.unwrap();
    for (username, email, fields) in [
        ("OWNER", "new@acme.example", &["username"][..]),
        ("new", "Owner@ACME.example", &["email"]),
        ("owner", "owner@acme.example", &["email", "username"]),
        ("ada", "new@acme.example", &["username"]),
        // A name is nobody else's address, nor an address somebody else's name.
        ("Owner@acme.example", "new@acme.example", &["username"]),
        ("new", "boss@acme.example", &["email"]),
        ("new", "candidate@acme.example", &["email"]),
    ] {
        let command = create_customer("acme", "admin", person(username, email));
        assert_refused(&app, command, fields).await;
    }
    // A candidate's address is no obstacle, and another company has names of its own.
    app.operate(create_customer("acme", "admin", person("new", "ada@acme.example"))).await.unwrap();
    app.operate(create_company("globex", person("owner", "owner@acme.example"))).await.unwrap();
    app.table().assert_sound().await;
}

#[tokio::test]
async fn whoever_has_no_username_logs_in_by_email() {
    let app = TestApp::start().await;
    app.owner().await;
    let mut customer = person("", "new@acme.example");
    customer.as_object_mut().unwrap().remove("username");
    app.operate(create_customer("acme", "recruiter", customer)).await.unwrap();
    let token = app.anonymous().log_in("acme", "New@acme.example", PASSWORD).await.expect(200).uri("token");
    let whoami = app.token(&token).get("/whoami/").await.expect(200).json();
    assert_eq!(whoami["resource"]["username"], "new@acme.example");
    app.table().assert_sound().await;
}

#[tokio::test]
async fn a_customer_needs_a_company() {
    let app = TestApp::start().await;
    let nobody = create_customer("nobody", "admin", person("new", "new@nobody.example"));
    let errors = refused(&app, nobody).await;
    assert_eq!(errors, json!({ "company": ["There is no such company."] }));
}

#[tokio::test]
async fn a_company_writes_from_what_is_verified_for_it_alone() {
    let app = TestApp::start().await;
    app.owner().await;
    app.owner_of("globex").await;
    let senders = ["Acme.example", "Jobs@Careers.example", "acme.EXAMPLE"];
    let outcome = app.operate(verify_senders("acme", &senders)).await.unwrap();
    assert_eq!(serde_json::to_value(&outcome).unwrap(), json!({ "company": "acme" }));
    let stored = app.table().snapshot().await;
    let of = |company: &str| &stored[&(format!("COMPANY#{company}"), "COMPANY".to_owned())];
    assert_eq!(of("acme")["verified_senders"], json!(["acme.example", "Jobs@careers.example"]));
    assert_eq!(of("acme")["name"], "Acme & Sons");
    assert_eq!(of("globex")["verified_senders"], json!([]));
    app.operate(verify_senders("acme", &senders)).await.unwrap();
    assert_eq!(app.table().snapshot().await, stored, "a repeated command changes nothing");

    for (company, senders, expected) in [
        ("acme", &["acme"][..], json!({ "senders": ["\"acme\" is neither a domain nor an email address."] })),
        ("acme", &["b.example"; 21], json!({ "senders": ["Ensure this list has no more than 20 items."] })),
        ("initech", &["b.example"], json!({ "company": ["There is no such company."] })),
        (
            "No",
            &["Acme <jobs@acme.example>"],
            json!({
                "company": ["Use 2 to 63 characters of a-z, 0-9 and -."],
                "senders": ["\"Acme <jobs@acme.example>\" is neither a domain nor an email address."],
            }),
        ),
    ] {
        assert_eq!(refused(&app, verify_senders(company, senders)).await, expected);
    }

    app.operate(verify_senders("acme", &[])).await.unwrap();
    let stored = app.table().snapshot().await;
    assert_eq!(stored[&("COMPANY#acme".to_owned(), "COMPANY".to_owned())]["verified_senders"], json!([]));
    app.table().assert_sound().await;
}

fn about(command: &str, username: &str) -> Value {
    json!({ "command": command, "company": "acme", "username": username })
}

fn without_password(username: &str) -> Value {
    let mut person = person(username, &format!("{username}@initech.example"));
    person.as_object_mut().unwrap().remove("password");
    person
}

/// The key in the link of an outcome.
fn key_in(outcome: &Outcome) -> String {
    let link = outcome.activation_link.as_ref().unwrap().as_str();
    link.strip_prefix("https://hr.example/activate/").unwrap().to_owned()
}

#[tokio::test]
async fn companies_are_listed_by_their_identifiers() {
    let app = TestApp::start().await;
    let list =
        async || serde_json::to_value(app.operate(json!({ "command": "list-companies" })).await.unwrap());
    assert_eq!(list().await.unwrap(), json!({ "companies": [] }));
    for company in ["initech", "acme", "globex"] {
        app.owner_of(company).await.project(json!({})).await;
    }
    let listed = |company: &str| json!({ "company": company, "name": "Acme & Sons" });
    let expected = json!({ "companies": [listed("acme"), listed("globex"), listed("initech")] });
    assert_eq!(list().await.unwrap(), expected);
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
    app.table().assert_sound().await;

    app.anonymous().log_in("initech", "boss", PASSWORD).await.expect(401);
    let choice = json!({ "activation_key": key, "password": PASSWORD });
    let activated = app.anonymous().post("/api-activate/", choice.clone()).await.expect(200).json();
    assert_eq!((&activated["status"], &activated["account_type"]), (&json!("confirmed"), &json!("owner")));
    app.anonymous().log_in("initech", "boss", PASSWORD).await.expect(200);
    app.anonymous().post("/api-activate/", choice).await.expect_fields(&["activation_key"]);
    app.table().assert_sound().await;
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
    activate(&key).await.expect_fields(&["activation_key"]);
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
        assert_eq!(second.customer, first.customer);
        let choice = |outcome: &Outcome| json!({ "activation_key": key_in(outcome), "password": PASSWORD });
        let activate = async |outcome| app.anonymous().post("/api-activate/", choice(outcome)).await;
        activate(&first).await.expect_fields(&["activation_key"]);
        activate(&second).await.expect(200);
        app.table().assert_sound().await;

        // Whoever has chosen a password keeps it.
        let before = app.table().snapshot().await;
        let mut with_password = command.clone();
        with_password[of]["password"] = "another good password".into();
        for repeated in [command, with_password] {
            let third = app.operate(repeated).await.unwrap();
            assert_eq!((third.customer, third.activation_link.is_some()), (first.customer.clone(), false));
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
    assert_eq!(made.customer.as_ref().map(Uri::as_str), Some(&*recruiter.uri));
    recruiter.get("/companies/acme/tokens/").await.expect(200);
    app.table().assert_sound().await;
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
    app.table().assert_sound().await;

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
        assert_eq!(left.customer.as_ref().map(Uri::as_str), Some(&*owner.uri));
        app.table().assert_sound().await;
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
    app.token(&token).get("/whoami/").await.expect_code(401, "invalid_credential");
    admin.post("/api-token-auth/", login).await.expect(403);
    admin.get("/whoami/").await.expect(200);
    app.table().assert_sound().await;
}

#[tokio::test]
async fn the_sessions_of_everybody_with_a_name_end() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let (admin, other) = (app.staff("admin").await, app.staff("admin").await);
    let browser = admin.browser().await;
    for name in [&admin.username, &admin.email] {
        let token = admin.new_token().await;
        let outcome = app.operate(about("end-sessions", name)).await.unwrap();
        assert_eq!(outcome.ended.unwrap().iter().map(Uri::as_str).collect::<Vec<_>>(), [&*admin.uri]);
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
    assert_eq!(outcome.ended.unwrap().len(), 18);
    app.token(&token).get("/whoami/").await.expect_code(401, "invalid_credential");
    let token = app.anonymous().log_in("acme", "ada", PASSWORD).await.expect(200).uri("token");
    let outcome = app.operate(about("end-sessions", "ada")).await.unwrap();
    assert_eq!(outcome.ended.unwrap().iter().map(Uri::as_str).collect::<Vec<_>>(), [&*first.uri]);
    app.token(&token).get("/whoami/").await.expect(401);
    // A key is no session.
    first.get(&first.uri).await.expect(200);
    app.table().assert_sound().await;
}

#[tokio::test]
async fn each_command_leaves_one_line_in_the_log_without_secrets() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    logs::take_lines("operator");
    let mut secret = create_customer("acme", "admin", person("new", "new@acme.example"));
    secret["customer"]["password"] = "a secret of mine".into();
    let mut invited = create_customer("acme", "admin", person("guest", "guest@acme.example"));
    invited["customer"].as_object_mut().unwrap().remove("password");
    let commands = [
        secret,
        invited,
        about("make-owner", "new"),
        about("grant-on-behalf", "new"),
        about("end-sessions", "owner"),
        verify_senders("acme", &["acme.example"]),
        json!({ "command": "recount", "company": "acme" }),
        json!({ "command": "reindex-search", "company": "acme" }),
        json!({ "command": "list-companies" }),
        json!({ "command": "erase-again", "since": "2026-11-08T10:00:00Z" }),
        about("make-owner", "nobody"),
    ];
    for command in commands {
        let outcome = app.operate(command.clone()).await;
        let lines = logs::take_lines("operator");
        let [line] = &lines[..] else { panic!("{} lines of {command}", lines.len()) };
        assert_eq!(line["command"], command["command"]);
        assert_eq!(line["company"], command["company"]);
        match &outcome {
            Ok(done) => {
                assert_eq!((&line["level"], &line["message"]), (&json!("INFO"), &json!("done")));
                assert_eq!(line["customer"], json!(done.customer));
                if let Some(link) = &done.activation_link {
                    let key = link.as_str().rsplit('/').next().unwrap();
                    assert!(!line.to_string().contains(key), "{line}");
                }
            }
            Err(_) => assert_eq!((&line["level"], &line["message"]), (&json!("WARN"), &json!("refused"))),
        }
        assert!(!line.to_string().contains("a secret of mine"), "{line}");
        if command["command"] == "end-sessions" {
            assert_eq!(line["sessions_ended"], owner.uri);
        }
    }
}
