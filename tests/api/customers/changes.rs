//! Changing, deleting and reinviting staff: who may do so to whom, and what comes of it.

use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, PASSWORD};
use tests::http::Request;
use tests::{assert_refusal, assert_refusals};
use tokio::task::JoinSet;

use crate::customers::crud::{ACCOUNT_TYPES, CUSTOMERS, MANAGED, NOBODY, creation, tasks, uris, with};

#[tokio::test]
async fn each_account_type_manages_those_below_it() {
    let app = TestApp::start().await;
    for (by, managed) in MANAGED {
        let staff = app.staff(by).await;
        for of in ACCOUNT_TYPES {
            let is_managed = managed.contains(&of);
            let own = with(creation(&app.next_email()), json!({ "account_type": of }));
            staff.post(CUSTOMERS, own).await.expect(if is_managed { 201 } else { 403 });
            let other = app.staff(of).await;
            let before = app.table().snapshot().await;
            let changes = [
                json!({ "last_name": "Changed" }),
                json!({ "email": app.next_email() }),
                json!({ "account_type": "hiring-manager", "phone": "1" }),
            ];
            for change in changes {
                let response = staff.patch(&other.uri, change).await;
                response.expect(if is_managed { 200 } else { 403 });
            }
            staff.get(&other.uri).await.expect(200);
            if !is_managed {
                staff.delete(&other.uri).await.expect_code(403, "permission_denied");
                assert_eq!(app.table().snapshot().await, before, "{by} of {of}");
                other.get("/whoami/").await.expect(200);
                continue;
            }
            staff.delete(&other.uri).await.expect(204);
            other.get("/whoami/").await.expect_code(401, "invalid_credential");
            staff.get(&other.uri).await.expect_code(404, "not_found");
        }
    }
}

#[tokio::test]
async fn customers_cannot_assign_account_types_that_they_do_not_manage() {
    let app = TestApp::start().await;
    for (by, managed) in MANAGED {
        let staff = app.staff(by).await;
        for to in ACCOUNT_TYPES {
            // Nobody changes their own.
            let expected = if to == by { 200 } else { 403 };
            staff.patch(&staff.uri, json!({ "account_type": to })).await.expect(expected);
            for from in managed {
                let other = app.owner().await.colleague(from, json!({})).await;
                let expected = if managed.contains(&to) { 200 } else { 403 };
                staff.patch(&other.uri, json!({ "account_type": to })).await.expect(expected);
                let now = staff.get(&other.uri).await.expect(200).json()["account_type"].clone();
                assert_eq!(now, if expected == 200 { json!(to) } else { json!(from) });
            }
        }
    }
}

#[tokio::test]
async fn everyone_changes_their_own_profile_and_nothing_else_of_themselves() {
    let app = TestApp::start().await;
    let profile = json!({
        "first_name": "New",
        "last_name": "Name",
        "phone": "123",
        "gender": "mr",
        "position": "Boss",
        "preferred_language": "it",
        "receive_interview_notifications": false,
        "seen_welcome": true,
    });
    for account_type in ACCOUNT_TYPES {
        let staff = app.staff(account_type).await;
        let changed = staff.patch(&staff.uri, profile.clone()).await.expect(200).json();
        for (name, value) in profile.as_object().unwrap() {
            assert_eq!(changed[name], *value, "{name}");
        }
        staff.get(&staff.uri).await.expect_json(200, changed);
        let before = app.table().snapshot().await;
        for others in [json!({ "email": app.next_email() }), json!({ "role": "Boss of bosses" })] {
            staff.patch(&staff.uri, others).await.expect_code(403, "permission_denied");
        }
        let wrong = json!({ "first_name": "", "preferred_language": "xx", "seen_welcome": 1 });
        assert_refusal!(staff.patch(&staff.uri, wrong).await, @r#"
            400 {
              "first_name":["This field may not be blank."],
              "preferred_language":["\"xx\" is not a valid choice. Use one of: en, de, fr, es, it, nl."],
              "seen_welcome":["Must be a valid boolean."]
            }
            "#);
        assert_eq!(app.table().snapshot().await, before);
    }
}

#[tokio::test]
async fn the_role_is_changed_by_those_who_manage_the_customer() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let [recruiter, admin] = [app.staff("recruiter").await, app.staff("admin").await];
    for (changer, changed, status) in
        [(&owner, &recruiter, 200), (&admin, &recruiter, 200), (&recruiter, &admin, 403)]
    {
        let role = json!({ "role": format!("as {} says", changer.username) });
        let response = changer.patch(&changed.uri, role.clone()).await.expect(status);
        if status == 200 {
            assert_eq!(response.json()["role"], role["role"]);
        }
    }
    owner.patch(&recruiter.uri, json!({ "role": "x".repeat(100) })).await.expect(200);
    assert_refusal!(owner.patch(&recruiter.uri, json!({ "role": "x".repeat(101) })).await, @r#"400 {"role":["Ensure this field has no more than 100 characters."]}"#);
    assert_refusal!(owner.patch(&recruiter.uri, json!({ "role": ["evaluator"] })).await, @r#"400 {"role":["Not a valid string."]}"#);
    for none in [json!(""), Value::Null] {
        owner.patch(&recruiter.uri, json!({ "role": "some" })).await.expect(200);
        let cleared = owner.patch(&recruiter.uri, json!({ "role": none })).await.expect(200).json();
        assert_eq!(cleared["role"], "");
    }
}

#[tokio::test]
async fn a_username_cannot_be_changed() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let staff = app.staff("recruiter").await;
    let before = app.table().snapshot().await;
    let mut refusals = Vec::new();
    for changer in [&owner, &staff] {
        for username in ["other", "recruiter-2", "with space"] {
            let change = json!({ "username": username, "phone": "1" });
            refusals.push(changer.patch(&staff.uri, change).await);
        }
        changer.patch(&staff.uri, json!({ "username": staff.username })).await.expect(200);
    }
    assert_refusals!(refusals, @r#"
        4 x 400 {"username":["A username cannot be changed."]}
        2 x 400 {"username":["A username may not contain spaces."]}
        "#);
    assert_eq!(app.table().snapshot().await, before);
}

#[tokio::test]
async fn sending_back_a_customer_changes_nothing() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let staff = app.staff("hiring-manager").await;
    let invited = owner.colleague("admin", json!({ "username": "Someone", "gender": "mr" })).await;
    let before = app.table().snapshot().await;
    for (changer, uri) in
        [(&owner, &owner.uri), (&owner, &staff.uri), (&staff, &staff.uri), (&owner, &invited.uri)]
    {
        let read = changer.get(uri).await.expect(200).json();
        changer.patch(uri, read.clone()).await.expect_json(200, read);
    }
    assert_eq!(app.table().snapshot().await, before);
}

#[tokio::test]
async fn people_change_their_own_password_and_are_asked_for_the_present_one() {
    const NEW: &str = "a new password of mine";
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let staff = app.staff("recruiter").await;
    let before = app.table().snapshot().await;
    let change = json!({ "password": NEW, "current_password": PASSWORD });
    assert_refusal!(owner.patch(&staff.uri, change.clone()).await, @r#"400 {"password":["Only the customer may change this password."]}"#);
    assert_refusal!(staff.patch(&staff.uri, json!({ "password": NEW })).await, @r#"400 {"current_password":["This field is required."]}"#);
    let short = json!({ "password": "short", "current_password": PASSWORD });
    assert_refusal!(staff.patch(&staff.uri, short).await, @r#"400 {"password":["Ensure this field has at least 8 characters."]}"#);
    assert_eq!(app.table().snapshot().await, before);
    let wrong = json!({ "password": NEW, "current_password": "wrong horse battery" });
    assert_refusal!(staff.patch(&staff.uri, wrong).await, @r#"400 {"current_password":["This is not your current password."]}"#);

    let (token, browser) = (staff.new_token().await, staff.browser().await);
    staff.patch(&staff.uri, change).await.expect(200);
    assert_refusal!(staff.get("/whoami/").await, @r#"401 {"code":"invalid_credential","detail":"The credential is invalid or has expired."}"#);
    token.get("/whoami/").await.expect_code(401, "invalid_credential");
    browser.get("/whoami/").await.expect_code(401, "invalid_credential");
    app.anonymous().log_in("acme", &staff.username, PASSWORD).await.expect(401);
    app.anonymous().log_in("acme", &staff.username, NEW).await.expect(200);
}

#[tokio::test]
async fn a_deleted_customer_is_gone_at_once_and_everywhere() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let leaves = owner.colleague("recruiter", json!({ "username": "leaver", "first_name": "Lea" })).await;
    let leaves = leaves.activate().await;
    let (token, browser) = (leaves.new_token().await, leaves.browser().await);
    let own = leaves.project(json!({ "evaluators": [leaves.uri] })).await;
    let other = owner.project(json!({ "reviewers": [leaves.uri], "evaluators": [owner.uri] })).await;
    let candidate = owner.candidate(&other, json!({})).await;
    owner.post(&format!("{candidate}shares/"), json!({ "customer": leaves.uri })).await.expect(201);
    app.settle().await;

    owner.delete(&leaves.uri).await.expect(204);
    for response in [leaves.get("/whoami/").await, token.get("/whoami/").await, browser.get("/whoami/").await]
    {
        response.expect_code(401, "invalid_credential");
    }
    for name in [&leaves.username, &leaves.email] {
        app.anonymous().log_in("acme", name, PASSWORD).await.expect_code(401, "invalid_credentials");
    }
    assert_refusal!(owner.get(&leaves.uri).await, @r#"404 {"code":"not_found","detail":"Not found."}"#);
    owner.delete(&leaves.uri).await.expect_code(404, "not_found");
    assert_eq!(uris(&owner, "").await, [owner.uri.as_str()]);
    assert_eq!(uris(&owner, "?username=leaver").await, Vec::<String>::new());
    let project = owner.get(&own).await.expect(200).json();
    assert_eq!((&project["interview_managers"], &project["evaluators"]), (&json!([]), &json!([])));
    let project = owner.get(&other).await.expect(200).json();
    assert_eq!((&project["reviewers"], &project["evaluators"]), (&json!([]), &json!([owner.uri])));
    assert_eq!(owner.get(&candidate).await.expect(200).json()["shares"], json!([]));
    app.assert_sound();

    let tasks = tasks(&app).await;
    assert_eq!(tasks.len(), 2, "{tasks:?}");
    let told = tasks.iter().find(|task| task["kind"] == "customer-deleted").unwrap();
    let by = json!({ "name": "Sam Staff", "email": owner.email });
    assert_eq!((&told["by"], &told["was"]["email"]), (&by, &json!(leaves.email)));
    let erased = json!({ "kind": "customer", "customer": leaves.id() });
    // The customer and the two names.
    let counts = json!({ "items": 3, "evaluations": 0, "history_entries": 0, "files": 0, "bytes": 0 });
    let erased = json!({ "kind": "erased", "erased": erased, "reason": "deleted", "counts": counts });
    assert!(tasks.contains(&erased), "{tasks:?}");
    app.settle().await;
    let mails = app.mails_to(&leaves.email);
    assert!(mails[0].text.as_ref().unwrap().contains("Sam Staff"), "{:?}", mails[0]);

    // The names are free again.
    owner.colleague("admin", json!({ "username": "leaver", "email": leaves.email })).await;
}

#[tokio::test]
async fn customers_cannot_delete_themselves() {
    let app = TestApp::start().await;
    for account_type in ["owner", "admin", "recruiter"] {
        let staff = app.staff(account_type).await;
        let before = app.table().snapshot().await;
        assert_refusal!(staff.delete(&staff.uri).await, @r#"400 {"code":"own_account","detail":"You cannot delete your own account. Ask a colleague to do it."}"#);
        assert_eq!(app.table().snapshot().await, before);
    }
    let hiring = app.staff("hiring-manager").await;
    assert_refusal!(hiring.delete(&hiring.uri).await, @r#"
        403 {
          "code":"permission_denied",
          "detail":"You do not have the permission `manage_customers` here.",
          "permission":"manage_customers"
        }
    "#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_who_delete_one_customer_one_succeeds_and_one_mail_is_sent() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let staff = app.staff("recruiter").await;
    let project = staff.project(json!({})).await;
    let mut clients = JoinSet::new();
    for _ in 0..8 {
        let (owner, uri) = (owner.clone(), staff.uri.clone());
        clients.spawn(async move { owner.delete(&uri).await.status.as_u16() });
    }
    let statuses = clients.join_all().await;
    assert_eq!(statuses.iter().filter(|status| **status == 204).count(), 1, "{statuses:?}");
    assert!(statuses.iter().all(|status| [204, 404, 409].contains(status)), "{statuses:?}");
    let mut kinds: Vec<_> = tasks(&app).await.into_iter().map(|task| task["kind"].clone()).collect();
    kinds.sort_by_key(Value::to_string);
    assert_eq!(kinds, ["customer-deleted", "erased"]);
    assert_eq!(owner.get(&project).await.expect(200).json()["interview_managers"], json!([]));
}

#[tokio::test]
async fn inviting_again_ends_the_older_key_and_sends_another() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let invited = owner.colleague("recruiter", json!({})).await;
    app.settle().await;
    let first = app.mailed_key(&invited.email);
    app.clock().advance(chrono::TimeDelta::days(1));
    let reinvite = format!("{}reinvite/", invited.uri);
    let owner = app.token(&owner.new_token().await.secret);
    let answer = owner.send(Request::patch(&reinvite)).await.expect(200).json();
    assert_eq!((&answer["status"], &answer["resource_uri"]), (&json!("invited"), &json!(invited.uri)));
    assert_eq!(answer["invitationdate"], "2026-11-09T10:00:00Z");
    let activate = async |key: &str| {
        app.anonymous().post("/api-activate/", json!({ "activation_key": key, "password": PASSWORD })).await
    };
    assert_refusal!(activate(&first).await, @r#"400 {"activation_key":["This key is invalid or has expired."]}"#);
    app.settle().await;
    assert_eq!(app.mails_to(&invited.email).len(), 2);
    let second = app.mailed_key(&invited.email);
    assert_ne!(first, second);
    assert_refusal!(activate(&first).await, @r#"400 {"activation_key":["This key is invalid or has expired."]}"#);
    activate(&second).await.expect(200);
    assert_refusal!(owner.send(Request::patch(&reinvite)).await, @r#"400 {"code":"not_invited","detail":"This customer has activated the account and has no new email address to confirm."}"#);
}

#[tokio::test]
async fn owners_and_admins_reinvite_only_invited_customers() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let invited = owner.colleague("hiring-manager", json!({})).await;
    let reinvite = format!("{}reinvite/", invited.uri);
    for (account_type, status) in [("admin", 200), ("recruiter", 403), ("hiring-manager", 403)] {
        let staff = app.staff(account_type).await;
        staff.send(Request::patch(&reinvite)).await.expect(status);
        let confirmed = format!("{}reinvite/", staff.uri);
        assert_refusal!(owner.send(Request::patch(&confirmed)).await, @r#"400 {"code":"not_invited","detail":"This customer has activated the account and has no new email address to confirm."}"#);
    }
    for unknown in [format!("{CUSTOMERS}{NOBODY}/reinvite/"), format!("{CUSTOMERS}x/reinvite/")] {
        owner.send(Request::patch(&unknown)).await.expect_code(404, "not_found");
    }
    let stranger = app.owner_of("globex").await;
    stranger.send(Request::patch(&reinvite)).await.expect_code(404, "not_found");
    let response = owner.post(&reinvite, json!({})).await;
    assert_refusal!(response, @r#"405 {"code":"method_not_allowed","detail":"Method not allowed. The `Allow` header lists the methods of this path."}"#);
    assert_eq!(response.header("allow"), Some("PATCH"));
}
