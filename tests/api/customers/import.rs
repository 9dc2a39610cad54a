//! Making the staff those of a list.

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, PASSWORD, Staff};

pub(crate) const CUSTOMERS: &str = "/companies/acme/customers/";
pub(crate) const IMPORT: &str = "/companies/acme/customers/batch-import/";

pub(crate) fn entry(username: &str, email: &str, account_type: &str) -> Value {
    json!({
        "pk_attribute": "username",
        "account_type": account_type,
        "username": username,
        "email": email,
        "first_name": "Im",
        "last_name": "Ported",
    })
}

pub(crate) fn of(staff: &Staff, account_type: &str) -> Value {
    entry(&staff.username, &staff.email, account_type)
}

fn with(mut entry: Value, field: &str, value: Value) -> Value {
    entry[field] = value;
    entry
}

pub(crate) fn counts(answer: &Value) -> [u64; 4] {
    ["created", "activated", "deactivated", "unchanged"].map(|name| answer[name].as_u64().unwrap())
}

#[tokio::test]
async fn absent_people_are_deactivated_new_ones_created_and_known_ones_left_as_they_are() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let [stays, goes] = [app.staff("recruiter").await, app.staff("hiring-manager").await];
    let project = owner.project(json!({ "evaluators": [goes.uri] })).await;
    let email = app.next_email();
    let new = with(entry("fresh", &email, "admin"), "gender", json!("mrs"));
    let new = with(new, "position", json!("Head"));
    // What is said of a known person is not taken over.
    let known = with(of(&stays, "hiring-manager"), "first_name", json!("Other"));
    let known = with(known, "username", json!(stays.username.to_uppercase()));
    let list = json!([of(&owner, "owner"), new, known]);
    let answer = owner.post(IMPORT, list.clone()).await.expect(200).json();
    assert_eq!(counts(&answer), [1, 0, 1, 2], "{answer}");
    let objects = answer["objects"].as_array().unwrap();
    let told: Vec<(&str, &str)> = objects
        .iter()
        .map(|one| (one["username"].as_str().unwrap(), one["status"].as_str().unwrap()))
        .collect();
    let expected = [
        ("owner", "unchanged"),
        ("fresh", "created"),
        (stays.username.as_str(), "unchanged"),
        (goes.username.as_str(), "deactivated"),
    ];
    assert_eq!(told, expected);

    let fresh = objects[1]["customer"].as_str().unwrap();
    let fresh = owner.get(fresh).await.expect(200).json();
    for (name, value) in [
        ("account_type", "admin"),
        ("status", "invited"),
        ("first_name", "Im"),
        ("gender", "mrs"),
        ("position", "Head"),
        ("preferred_language", "en"),
        ("email", &email),
        ("created_by", &owner.uri),
    ] {
        assert_eq!(fresh[name], value, "{name}");
    }
    let unchanged = owner.get(&stays.uri).await.expect(200).json();
    assert_eq!((&unchanged["first_name"], &unchanged["account_type"]), (&json!("Sam"), &json!("recruiter")));
    stays.get("/whoami/").await.expect(200);
    // Who is not on the list is out at once, keeps what it had, and cannot come back by itself.
    goes.get("/whoami/").await.expect_code(401, "invalid_credential");
    app.anonymous().log_in("acme", &goes.username, PASSWORD).await.expect_code(401, "invalid_credentials");
    assert_eq!(owner.get(&goes.uri).await.expect(200).json()["is_active"], false);
    assert_eq!(owner.get(&project).await.expect(200).json()["evaluators"], json!([goes.uri]));
    app.settle().await;
    assert_eq!(app.mails_to(&email).len(), 1);
    app.assert_sound();

    // Again, it changes nothing.
    let before = app.table().snapshot().await;
    let again = owner.post(IMPORT, list).await.expect(200).json();
    assert_eq!(counts(&again), [0, 0, 0, 3]);
    assert_eq!(app.table().snapshot().await, before);
}

#[tokio::test]
async fn people_come_back_by_being_on_the_list() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let returns = app.staff("recruiter").await;
    let invited = owner.colleague("recruiter", json!({})).await;
    app.settle().await;
    let old_key = app.mailed_key(&invited.email);
    let all = json!([
        of(&owner, "owner"),
        of(&returns, "recruiter"),
        entry(&invited.email, &invited.email, "recruiter"),
    ]);
    let gone = owner.post(IMPORT, json!([all[0]])).await.expect(200).json();
    assert_eq!(counts(&gone), [0, 0, 2, 1]);
    let activate = async |key: &str| {
        app.anonymous().post("/api-activate/", json!({ "activation_key": key, "password": PASSWORD })).await
    };
    activate(&old_key).await.expect_fields(&["activation_key"]);
    let back = owner.post(IMPORT, all).await.expect(200).json();
    assert_eq!(counts(&back), [0, 2, 0, 1]);
    app.assert_sound();
    // Old sessions stay dead; the password is still good.
    returns.get("/whoami/").await.expect_code(401, "invalid_credential");
    returns.new_token().await.get("/whoami/").await.expect(200);
    // Who had no password yet is invited again.
    activate(&old_key).await.expect_fields(&["activation_key"]);
    app.settle().await;
    activate(&app.mailed_key(&invited.email)).await.expect(200);
}

#[tokio::test]
async fn the_key_may_be_the_email() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let stays = app.staff("recruiter").await;
    let by_email = |entry: Value| with(entry, "pk_attribute", json!("email"));
    let list = json!([
        by_email(entry("another name", &owner.email.to_uppercase(), "owner")).clone(),
        by_email(of(&stays, "recruiter")),
    ]);
    owner.post(IMPORT, list).await.expect_fields(&["[0].username"]);
    let list = json!([
        by_email(entry("another-name", &owner.email.to_uppercase(), "owner")),
        by_email(of(&stays, "recruiter")),
    ]);
    let before = app.table().snapshot().await;
    let answer = owner.post(IMPORT, list).await.expect(200).json();
    assert_eq!(counts(&answer), [0, 0, 0, 2]);
    assert_eq!(app.table().snapshot().await, before);
}

#[tokio::test]
async fn a_list_that_is_refused_changes_nothing() {
    let app = TestApp::start().await;
    app.leave_unsound("an owner is deactivated past all counts");
    let owner = app.owner().await;
    let second = app.staff("owner").await;
    let [recruiter, other] = [app.staff("recruiter").await, app.staff("recruiter").await];
    let inactive_owner = app.staff("owner").await;
    let inactive = AttributeValue::Bool(false);
    app.table().set_customer(&inactive_owner.uri, "is_active", inactive).await;
    owner.candidate(&owner.project(json!({})).await, json!({ "username": "ada" })).await;
    let me = of(&owner, "owner");
    let base = vec![me.clone(), of(&second, "owner"), of(&recruiter, "recruiter")];
    let plus = |entry: Value| {
        let mut list = base.clone();
        list.push(entry);
        json!(list)
    };
    let fresh = || entry("fresh", "fresh@acme.example", "recruiter");
    let before = app.table().snapshot().await;

    for (why, list, fields) in [
        ("empty", json!([]), vec!["non_field_errors"]),
        ("no list", json!({}), vec!["non_field_errors"]),
        ("no list", json!("x"), vec!["non_field_errors"]),
        ("no objects", json!([1, me]), vec!["[0]"]),
        ("a user name twice", plus(of(&recruiter, "recruiter")), vec!["[3].username"]),
        ("in another case", plus(entry("OWNER", "x@acme.example", "owner")), vec!["[3].username"]),
        ("unknown account type", plus(entry("fresh", "f@acme.example", "boss")), vec!["[3].account_type"]),
        ("unknown key", plus(with(fresh(), "pk_attribute", json!("id"))), vec!["[3].pk_attribute"]),
        ("mixed keys", plus(with(fresh(), "pk_attribute", json!("email"))), vec!["[3].pk_attribute"]),
        (
            "caller absent",
            json!([of(&second, "owner"), of(&recruiter, "recruiter")]),
            vec!["non_field_errors"],
        ),
        ("an owner absent", json!([me, of(&recruiter, "recruiter")]), vec!["non_field_errors"]),
        ("an owner to create", plus(entry("fresh", "f@acme.example", "owner")), vec!["[3].account_type"]),
        ("an owner to activate", plus(of(&inactive_owner, "owner")), vec!["[3].account_type"]),
        ("somebody's email", plus(entry("fresh", &recruiter.email, "recruiter")), vec!["[3].email"]),
        (
            "email of somebody who goes",
            plus(entry("fresh", &other.email.to_uppercase(), "recruiter")),
            vec!["[3].email"],
        ),
        (
            "email as a name",
            plus(entry(&recruiter.email, "f@acme.example", "recruiter")),
            vec!["[3].username"],
        ),
        ("a candidate's name", plus(entry("ADA", "f@acme.example", "recruiter")), vec!["[3].username"]),
        (
            "an address twice",
            json!([me, base[1], fresh(), entry("fresh2", "FRESH@acme.example", "recruiter")]),
            vec!["[3].email"],
        ),
        (
            "everything at once",
            plus(json!({ "pk_attribute": "username", "gender": 1 })),
            vec![
                "[3].account_type",
                "[3].username",
                "[3].email",
                "[3].first_name",
                "[3].last_name",
                "[3].gender",
            ],
        ),
        ("nothing", plus(json!({})), {
            let required = ["account_type", "username", "email", "first_name", "last_name", "pk_attribute"];
            required.map(|field| format!("[3].{field}").leak() as &str).to_vec()
        }),
    ] {
        let refused = owner.post(IMPORT, list).await;
        assert_eq!(refused.status.as_u16(), 400, "{why}: {refused}");
        refused.expect_fields(&fields);
        assert_eq!(app.table().snapshot().await, before, "{why}");
    }
    let long: Vec<Value> = (0..1001).map(|n| entry(&format!("u{n}"), "x", "admin")).collect();
    owner.post(IMPORT, json!(long)).await.expect_fields(&["non_field_errors"]);

    // An admin may keep whom it does not manage, and no more.
    let admin = app.staff("admin").await;
    let peer = app.staff("admin").await;
    let whole =
        [base.clone(), vec![of(&admin, "admin"), of(&peer, "admin"), of(&other, "recruiter")]].concat();
    app.settle().await;
    let before = app.table().snapshot().await;
    for left_out in [0, 1, 3, 4] {
        let mut list = whole.clone();
        list.remove(left_out);
        admin.post(IMPORT, json!(list)).await.expect_fields(&["non_field_errors"]);
    }
    for above in ["owner", "admin"] {
        let list = [whole.clone(), vec![entry("fresh", "f@acme.example", above)]].concat();
        admin.post(IMPORT, json!(list)).await.expect_fields(&["[6].account_type"]);
    }
    for account_type in ["recruiter", "hiring-manager"] {
        let staff = app.staff(account_type).await;
        let before = app.table().snapshot().await;
        staff.post(IMPORT, json!(whole)).await.expect_code(403, "permission_denied");
        assert_eq!(app.table().snapshot().await, before);
        owner.delete(&staff.uri).await.expect(204);
    }
    app.settle().await;
    let now = app.table().snapshot().await;
    let changed: Vec<_> = before.keys().filter(|key| now.get(*key) != before.get(*key)).collect();
    let counts_others = |sk: &str| ["TALLY", "SEQUENCE"].contains(&sk);
    assert!(changed.iter().all(|(_, sk)| counts_others(sk)), "{changed:?}");
    let answer = admin.post(IMPORT, json!(whole)).await.expect(200).json();
    assert_eq!(counts(&answer), [0, 0, 0, 6]);
}

#[tokio::test]
async fn a_company_without_an_owner_who_can_log_in_is_refused() {
    let app = TestApp::start().await;
    app.leave_unsound("the owner is deactivated past all counts");
    let owner = app.owner().await;
    let admin = app.staff("admin").await;
    let inactive = AttributeValue::Bool(false);
    app.table().set_customer(&owner.uri, "is_active", inactive).await;
    let before = app.table().snapshot().await;
    admin.post(IMPORT, json!([of(&admin, "admin")])).await.expect_code(400, "last_owner");
    assert_eq!(app.table().snapshot().await, before);
}

#[tokio::test]
async fn hundreds_are_imported_together_and_the_counts_are_right() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let one = |n: usize| entry(&format!("user-{n}"), &format!("user-{n}@acme.example"), "hiring-manager");
    let list = |range: std::ops::Range<usize>| {
        let mut list = vec![of(&owner, "owner")];
        list.extend(range.map(one));
        json!(list)
    };
    let answer = owner.post(IMPORT, list(0..200)).await.expect(200).json();
    assert_eq!(counts(&answer), [200, 0, 0, 1]);
    let answer = owner.post(IMPORT, list(150..220)).await.expect(200).json();
    assert_eq!(counts(&answer), [20, 0, 150, 51]);
    let answer = owner.post(IMPORT, list(100..220)).await.expect(200).json();
    assert_eq!(counts(&answer), [0, 50, 0, 71]);
    assert_eq!(owner.get(CUSTOMERS).await.expect(200).json()["meta"]["total_count"], 221);
}

#[tokio::test]
async fn messages_quote_only_the_beginning_of_a_value() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let wrong = json!({ "pk_attribute": "username", "account_type": "\"".repeat(1_450) });
    let refused = owner.post(IMPORT, json!(vec![wrong; 1_000])).await.expect(400).json();
    let message = refused["[999].account_type"][0].as_str().unwrap();
    assert!(message.starts_with("\"\"\"") && message.ends_with('…'), "{message}");
    assert_eq!(message.chars().count(), 301);
}
