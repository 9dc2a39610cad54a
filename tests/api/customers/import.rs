//! Making the staff those of a list.

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, PASSWORD, Staff};
use tests::{assert_refusal, assert_refusals};

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
    // Fields of a known person are ignored.
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
    // People who are not on the list are out at once, keep what they had, and cannot come back by themselves.
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
    assert_refusal!(activate(&old_key).await, @r#"400 {"activation_key":["This key is invalid or has expired."]}"#);
    let back = owner.post(IMPORT, all).await.expect(200).json();
    assert_eq!(counts(&back), [0, 2, 0, 1]);
    app.assert_sound();
    // Old sessions stay dead; the password is still good.
    returns.get("/whoami/").await.expect_code(401, "invalid_credential");
    returns.new_token().await.get("/whoami/").await.expect(200);
    // People without a password are invited again.
    assert_refusal!(activate(&old_key).await, @r#"400 {"activation_key":["This key is invalid or has expired."]}"#);
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
    assert_refusal!(owner.post(IMPORT, list).await, @r#"400 {"[0].username":["A username may not contain spaces."]}"#);
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

    let mut refusals = Vec::new();
    for (why, list) in [
        ("empty", json!([])),
        ("no list", json!({})),
        ("no list", json!("x")),
        ("no objects", json!([1, me])),
        ("a user name twice", plus(of(&recruiter, "recruiter"))),
        ("in another case", plus(entry("OWNER", "x@acme.example", "owner"))),
        ("unknown account type", plus(entry("fresh", "f@acme.example", "boss"))),
        ("unknown key", plus(with(fresh(), "pk_attribute", json!("id")))),
        ("mixed keys", plus(with(fresh(), "pk_attribute", json!("email")))),
        ("caller absent", json!([of(&second, "owner"), of(&recruiter, "recruiter")])),
        ("an owner absent", json!([me, of(&recruiter, "recruiter")])),
        ("an owner to create", plus(entry("fresh", "f@acme.example", "owner"))),
        ("an owner to activate", plus(of(&inactive_owner, "owner"))),
        ("somebody's email", plus(entry("fresh", &recruiter.email, "recruiter"))),
        ("email of somebody who goes", plus(entry("fresh", &other.email.to_uppercase(), "recruiter"))),
        ("email as a name", plus(entry(&recruiter.email, "f@acme.example", "recruiter"))),
        ("a candidate's name", plus(entry("ADA", "f@acme.example", "recruiter"))),
        (
            "an address twice",
            json!([me, base[1], fresh(), entry("fresh2", "FRESH@acme.example", "recruiter")]),
        ),
        ("everything at once", plus(json!({ "pk_attribute": "username", "gender": 1 }))),
        ("nothing", plus(json!({}))),
    ] {
        refusals.push(owner.post(IMPORT, list).await);
        assert_eq!(app.table().snapshot().await, before, "{why}");
    }
    assert_refusals!(refusals, @r#"
        400 {"non_field_errors":["This list may not be empty."]}
        2 x 400 {"non_field_errors":["Invalid data. Expected a list."]}
        400 {"[0]":["Invalid data. Expected an object."]}
        2 x 400 {"[3].username":["This entry appears twice."]}
        400 {"[3].account_type":["\"boss\" is not a valid choice. Use one of: hiring-manager, recruiter, admin, owner."]}
        400 {"[3].pk_attribute":["\"id\" is not a valid choice. Use one of: username, email."]}
        400 {"[3].pk_attribute":["This must be the same in all entries."]}
        400 {"non_field_errors":["The list must include your own account."]}
        400 {"non_field_errors":["The list must include \"owner-1\", whom you may not deactivate."]}
        400 {"[3].account_type":["You may not create customers of this account type."]}
        400 {"[3].account_type":["You may not activate customers of this account type."]}
        3 x 400 {"[3].email":["This value already belongs to another user."]}
        2 x 400 {"[3].username":["This value already belongs to another user."]}
        400 {
          "[3].account_type":["This field is required."],
          "[3].email":["This field is required."],
          "[3].first_name":["This field is required."],
          "[3].gender":["Not a valid string."],
          "[3].last_name":["This field is required."],
          "[3].username":["This field is required."]
        }
        400 {
          "[3].account_type":["This field is required."],
          "[3].email":["This field is required."],
          "[3].first_name":["This field is required."],
          "[3].last_name":["This field is required."],
          "[3].pk_attribute":["This field is required."],
          "[3].username":["This field is required."]
        }
        "#);
    let long: Vec<Value> = (0..1001).map(|n| entry(&format!("u{n}"), "x", "admin")).collect();
    assert_refusal!(owner.post(IMPORT, json!(long)).await, @r#"400 {"non_field_errors":["Ensure this list has no more than 1000 items."]}"#);

    // An admin may keep whom it does not manage, and no more.
    let admin = app.staff("admin").await;
    let peer = app.staff("admin").await;
    let whole =
        [base.clone(), vec![of(&admin, "admin"), of(&peer, "admin"), of(&other, "recruiter")]].concat();
    app.settle().await;
    let before = app.table().snapshot().await;
    let mut refusals = Vec::new();
    for left_out in [0, 1, 3, 4] {
        let mut list = whole.clone();
        list.remove(left_out);
        refusals.push(admin.post(IMPORT, json!(list)).await);
    }
    assert_refusals!(refusals, @r#"
        400 {"non_field_errors":["The list must include \"owner\", whom you may not deactivate."]}
        400 {"non_field_errors":["The list must include \"owner-1\", whom you may not deactivate."]}
        400 {"non_field_errors":["The list must include your own account."]}
        400 {"non_field_errors":["The list must include \"admin-6\", whom you may not deactivate."]}
        "#);
    for above in ["owner", "admin"] {
        let list = [whole.clone(), vec![entry("fresh", "f@acme.example", above)]].concat();
        assert_refusal!(admin.post(IMPORT, json!(list)).await, @r#"400 {"[6].account_type":["You may not create customers of this account type."]}"#);
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
    assert_refusal!(admin.post(IMPORT, json!([of(&admin, "admin")])).await, @r#"400 {"code":"last_owner","detail":"This is the company's last owner who can log in. Add another owner first."}"#);
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
