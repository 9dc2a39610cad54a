//! The operator's commands.

use serde_json::{Value, json};
use shared::Error;
use tests::app::{TestApp, person};
use tests::caller::{Caller, PASSWORD};
use tests::logs;

use crate::admin::accounts::about;

pub(crate) fn create_company(company: &str, owner: Value) -> Value {
    json!({ "command": "create-company", "company": company, "name": "Initech", "owner": owner })
}

pub(crate) fn create_customer(company: &str, account_type: &str, customer: Value) -> Value {
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
pub(crate) async fn refused(app: &TestApp, command: Value) -> Value {
    let before = app.table().snapshot().await;
    let error = app.operate(command).await.unwrap_err();
    assert!(matches!(error, Error::Fields(_)), "{error}");
    assert_eq!(app.table().snapshot().await, before, "nothing of it is done");
    serde_json::from_str(&error.to_string()).unwrap()
}

pub(crate) async fn assert_refused(app: &TestApp, command: Value, fields: &[&str]) {
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
    assert_eq!(outcome["company"], "initech");
    let token = app.anonymous().log_in("initech", "boss", PASSWORD).await.expect(200).uri("token");
    let whoami = app.token(&token).get("/whoami/").await.expect(200).json();
    assert_eq!(whoami["resource"]["resource_uri"], outcome["customer"]);
    assert_eq!(whoami["resource"]["account_type"], "owner");
    assert_eq!(app.token(&token).get("/companies/initech/").await.expect(200).json()["name"], "Initech");
}

#[tokio::test]
async fn a_company_exists_once() {
    let app = TestApp::start().await;
    app.owner().await;
    let again = create_company("acme", person("usurper", "usurper@acme.example"));
    assert_refused(&app, again, &["company"]).await;
    app.anonymous().log_in("acme", "usurper", PASSWORD).await.expect(401);
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
        ("new", &owner.email.to_uppercase(), &["email"]),
        ("owner", &owner.email, &["email", "username"]),
        ("ada", "new@acme.example", &["username"]),
        // A name is nobody else's address, nor an address somebody else's name.
        (&owner.email.to_uppercase(), "new@acme.example", &["username"]),
        ("new", "boss@acme.example", &["email"]),
        ("new", "candidate@acme.example", &["email"]),
    ] {
        let command = create_customer("acme", "admin", person(username, email));
        assert_refused(&app, command, fields).await;
    }
    // A candidate's address is no obstacle, and another company has names of its own.
    app.operate(create_customer("acme", "admin", person("new", "ada@acme.example"))).await.unwrap();
    app.operate(create_company("globex", person("owner", &owner.email))).await.unwrap();
}

#[tokio::test]
async fn users_without_a_username_log_in_by_email() {
    let app = TestApp::start().await;
    app.owner().await;
    let mut customer = person("", "new@acme.example");
    customer.as_object_mut().unwrap().remove("username");
    app.operate(create_customer("acme", "recruiter", customer)).await.unwrap();
    let token = app.anonymous().log_in("acme", "New@acme.example", PASSWORD).await.expect(200).uri("token");
    let whoami = app.token(&token).get("/whoami/").await.expect(200).json();
    assert_eq!(whoami["resource"]["username"], "new@acme.example");
}

#[tokio::test]
async fn a_customer_needs_a_company() {
    let app = TestApp::start().await;
    let nobody = create_customer("nobody", "admin", person("new", "new@nobody.example"));
    let errors = refused(&app, nobody).await;
    assert_eq!(errors, json!({ "company": ["There is no such company."] }));
}

#[tokio::test]
async fn a_company_sends_only_from_its_own_verified_senders() {
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
}

#[tokio::test]
async fn companies_are_listed_by_their_identifiers() {
    let app = TestApp::start().await;
    let list = async || app.operate(json!({ "command": "list-companies" })).await;
    assert_eq!(*list().await.unwrap(), json!({ "companies": [], "imports": [] }));
    for company in ["initech", "acme", "globex"] {
        app.owner_of(company).await.project(json!({})).await;
    }
    let listed = |company: &str| json!({ "company": company, "name": "Acme & Sons" });
    let expected =
        json!({ "companies": [listed("acme"), listed("globex"), listed("initech")], "imports": [] });
    assert_eq!(*list().await.unwrap(), expected);
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
        json!({ "command": "reseal" }),
        json!({ "command": "free-address", "company": "acme", "address": owner.email }),
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
                assert_eq!(line["customer"], done["customer"]);
                if let Some(link) = done["activation_link"].as_str() {
                    let key = link.rsplit('/').next().unwrap();
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
