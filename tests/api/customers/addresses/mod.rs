//! Another address for staff who have activated their account: who confirms it, what counts until then, and how it is undone.

mod changed;
mod restored;

use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, PASSWORD, Staff};
use tests::http::{Request, send_each};
use tests::{assert_refusal, assert_refusals};

use crate::auth::address_change::{AddressChange, CONFIRM, HOLDER, RESTORE, assert_bad_key};
use crate::customers::crud::{CUSTOMERS, creation, with};

/// The owner, and a recruiter whose address the owner has changed to the other one.
struct Change {
    app: TestApp,
    owner: Staff,
    staff: Staff,
    former: String,
    new: String,
}

impl Change {
    async fn asked() -> Self {
        let app = TestApp::start().await;
        let owner = app.owner().await;
        let staff = app.staff("recruiter").await;
        let (former, new) = (staff.email.clone(), app.next_email());
        let change = Self { app, owner, staff, former, new };
        change.change(json!({ "email": change.new })).await.expect(200);
        change.app.settle().await;
        change
    }

    fn key_to(&self, address: &str) -> String {
        self.app.mailed_key(address)
    }
}

impl AddressChange for Change {
    fn app(&self) -> &TestApp {
        &self.app
    }

    fn owner(&self) -> &Staff {
        &self.owner
    }

    fn uri(&self) -> &str {
        &self.staff.uri
    }
}

#[tokio::test]
async fn the_former_address_counts_until_the_new_one_is_confirmed() {
    let change = Change::asked().await;
    let Change { app, staff, former, new, .. } = &change;
    assert_eq!(change.shown().await, (new.clone(), false));
    staff.get("/whoami/").await.expect(200);
    assert_eq!([change.log_in(former).await, change.log_in(new).await], [200, 401]);
    assert_eq!(change.resets(former, former).await, 1);
    assert_eq!((change.resets(new, former).await, app.mails_to(new).len()), (0, 1));
    // Both addresses are taken.
    let owner = &change.owner;
    for taken in [former, new] {
        let other = creation(taken);
        assert_refusal!(owner.post(CUSTOMERS, other).await, @r#"400 {"email":["A customer with this email already exists."]}"#);
        let other = with(creation(&app.next_email()), json!({ "username": taken }));
        assert_refusal!(owner.post(CUSTOMERS, other).await, @r#"400 {"username":["This username is already in use."]}"#);
    }

    let key = change.key_to(new);
    assert!(!app.table().text().await.contains(&key), "it is not stored");
    let told = json!({
        "kind": "customer", "username": staff.username, "email": new,
        "company": "https://hr.example/api/v3/companies/acme/",
    });
    app.anonymous().post(HOLDER, json!({ "key": key })).await.expect_json(200, told);
    let confirmed = change.confirm(&format!(" {key}\n")).await.expect(204);
    assert!(confirmed.body.is_empty(), "{confirmed}");
    assert_eq!(change.shown().await, (new.clone(), true));
    assert_eq!([change.log_in(former).await, change.log_in(new).await], [401, 200]);
    staff.get("/whoami/").await.expect(200);
    app.settle().await;
    assert_eq!(change.resets(former, former).await, 0);
    assert_eq!(change.resets(new, new).await, 1);
    // A key confirms once.
    assert_bad_key(&change.confirm(&key).await);
}

#[tokio::test]
async fn the_key_alone_proves_nothing() {
    let change = Change::asked().await;
    let Change { app, owner, staff, new, .. } = &change;
    let key = change.key_to(new);
    let acts = app.staff("owner").await;
    app.operate(json!({ "command": "grant-on-behalf", "company": "acme", "username": acts.username }))
        .await
        .unwrap();
    let login = json!({ "company": "acme", "username": staff.username });
    let behalf = acts.post("/api-token-auth/", login).await.expect(200).uri("token");
    let (_, named) = owner.named_token("CI").await;
    let body = json!({ "key": key });
    let anonymous = app.anonymous();
    let browser = staff.browser().await;
    // A page of another site makes the browser of the customer send it.
    let forged = Request::post(CONFIRM).header("cookie", &format!("sessionid={}", browser.cookie));
    let forged = forged.header("sec-fetch-site", "cross-site");
    let refused = [
        anonymous.post(CONFIRM, body.clone()).await,
        owner.post(CONFIRM, body.clone()).await,
        named.post(CONFIRM, body.clone()).await,
        app.token(&behalf).post(CONFIRM, body.clone()).await,
        anonymous.post(CONFIRM, json!({ "key": key, "password": "" })).await,
        anonymous.post(CONFIRM, json!({ "password": PASSWORD })).await,
        app.dead_session().await.post(CONFIRM, body.clone()).await,
        app.send(forged.json(&body)).await,
    ];
    assert_refusals!(refused, @r#"
        4 x 400 {"password":["Send the password of the account, or log in to it."]}
        400 {"password":["This field may not be blank."]}
        400 {"key":["This field is required."]}
        401 {"code":"invalid_credential","detail":"The credential is invalid or has expired."}
        403 {"code":"csrf","detail":"This origin may not use the session cookie. Send a token, or ask the operator to allow the origin."}
        "#);
    assert_eq!(change.shown().await, (new.clone(), false));
    assert_refusal!(anonymous.post(CONFIRM, json!({ "key": key, "password": "wrong horse battery" })).await, @r#"400 {"password":["This is not the password of the account."]}"#);
    // A session of the account is as good as its password.
    browser.post(CONFIRM, body).await.expect(204);
    assert_eq!(change.shown().await, (new.clone(), true));
}

#[tokio::test]
async fn wrong_passwords_are_counted_as_those_of_logins() {
    let change = Change::asked().await;
    let key = change.key_to(&change.new);
    let wrong = json!({ "key": key, "password": "wrong horse battery" });
    for _ in 0..10 {
        change.app.anonymous().post(CONFIRM, wrong.clone()).await.expect(400);
    }
    change.confirm(&key).await.expect_code(429, "throttled");
    change.app.anonymous().log_in("acme", &change.staff.username, PASSWORD).await.expect(429);
    // A key that is not good does not reach the password.
    for _ in 0..3 {
        assert_bad_key(&change.confirm("ivo_nothing").await);
    }
    change.app.clock().advance(TimeDelta::minutes(15));
    change.confirm(&key).await.expect(204);
}

#[tokio::test]
async fn a_key_is_good_for_seven_days_and_until_the_next_one() {
    let change = Change::asked().await;
    let Change { app, owner, new, .. } = &change;
    let first = change.key_to(new);
    app.clock().advance(TimeDelta::days(7));
    let owner = owner.new_token().await;
    assert_bad_key(&change.confirm(&first).await);
    app.anonymous().post(HOLDER, json!({ "key": first })).await.expect(400);
    app.clock().advance(TimeDelta::seconds(-1));
    let reinvite = format!("{}reinvite/", change.staff.uri);
    let answer = owner.send(Request::patch(&reinvite)).await.expect(200).json();
    assert_eq!((&answer["email"], &answer["email_confirmed"]), (&json!(new), &json!(false)));
    assert_bad_key(&change.confirm(&first).await);
    app.settle().await;
    let second = change.key_to(new);
    assert_ne!(first, second);
    for _ in 0..3 {
        owner.send(Request::patch(&reinvite)).await.expect(200);
        app.settle().await;
    }
    owner.send(Request::patch(&reinvite)).await.expect(200);
    app.settle().await;
    owner.send(Request::patch(&reinvite)).await.expect_code(429, "throttled");
    assert_bad_key(&change.confirm(&second).await);
    change.confirm(&change.key_to(new)).await.expect(204);
    assert_refusal!(owner.send(Request::patch(&reinvite)).await, @r#"400 {"code":"not_invited","detail":"This customer has activated the account and has no new email address to confirm."}"#);
}

#[tokio::test]
async fn keys_open_only_what_they_are_for() {
    let change = Change::asked().await;
    let Change { app, owner, former, new, .. } = &change;
    let (confirmation, restoration) = (change.key_to(new), change.key_to(former));
    assert_eq!(change.resets(former, former).await, 1);
    let reset = change.key_to(former);
    let invited = owner.colleague("recruiter", json!({})).await;
    app.settle().await;
    let invitation = app.mailed_key(&invited.email);
    let before = app.table().snapshot().await;
    for key in ["", "x", "ivo_", &restoration, &reset, &invitation, owner.secret(), &confirmation[4..]] {
        assert_bad_key(&change.confirm(key).await);
    }
    for key in ["", "x", "ivo_", &confirmation, &reset, &invitation, owner.secret(), &restoration[4..]] {
        assert_bad_key(&change.restore(key).await);
    }
    for key in [&confirmation, &restoration] {
        let choice = json!({ "key": key, "activation_key": key, "password": PASSWORD });
        app.anonymous().post("/api-password-reset/confirm/", choice.clone()).await.expect(400);
        app.anonymous().post("/api-activate/", choice).await.expect(400);
    }
    assert_eq!(app.table().snapshot().await, before);
}

#[tokio::test]
async fn keys_of_another_company_stay_with_their_account() {
    let change = Change::asked().await;
    let Change { app, new, .. } = &change;
    let stranger = app.owner_of("globex").await;
    let key = change.key_to(new);
    stranger.post(CONFIRM, json!({ "key": key })).await.expect(400);
    // The claim in a key is not trusted: only its hash opens anything.
    let other = stranger.colleague("recruiter", json!({})).await.activate().await;
    let forged = format!("{}{}", &key[..key.len() - 4], &key[..4]);
    assert_bad_key(&change.confirm(&forged).await);
    other.get("/whoami/").await.expect(200);
    change.restore(&change.key_to(&change.former)).await.expect(204);
    assert_eq!(change.shown().await, (change.former.clone(), true));
}

#[tokio::test]
async fn accounts_that_are_gone_or_deactivated_confirm_nothing() {
    let change = Change::asked().await;
    let Change { app, owner, staff, former, new } = &change;
    let list = |staff: &[&Staff]| -> Value {
        let entry = |one: &&Staff| {
            json!({
                "pk_attribute": "username", "account_type": "recruiter", "username": one.username,
                "email": app.next_email(), "first_name": "Sam", "last_name": "Staff",
            })
        };
        staff.iter().map(entry).collect()
    };
    let import = async |entries: Value| {
        owner.post("/companies/acme/customers/batch-import/", entries).await.expect(200);
    };
    import(list(&[owner])).await;
    assert_bad_key(&change.confirm(&change.key_to(new)).await);
    owner.send(Request::patch(&format!("{}reinvite/", staff.uri))).await.expect_code(400, "not_invited");
    // The list does not change addresses.
    import(list(&[owner, staff])).await;
    assert_eq!(change.shown().await, (new.clone(), false));
    assert_bad_key(&change.confirm(&change.key_to(new)).await);
    owner.send(Request::patch(&format!("{}reinvite/", staff.uri))).await.expect(200);
    app.settle().await;
    let (confirmation, restoration) = (change.key_to(new), change.key_to(former));
    import(list(&[owner])).await;
    // An attacker who has moved the address must not keep it by deactivating the account.
    change.restore(&restoration).await.expect(204);
    assert_eq!(change.shown().await, (former.clone(), true));
    assert_bad_key(&change.confirm(&confirmation).await);
    import(list(&[owner, staff])).await;
    change.change(json!({ "email": new })).await.expect(200);
    app.settle().await;
    let (confirmation, restoration) = (change.key_to(new), change.key_to(former));
    owner.delete(&staff.uri).await.expect(204);
    assert_bad_key(&change.confirm(&confirmation).await);
    assert_bad_key(&change.restore(&restoration).await);
    app.settle().await;
    let text = app.table().text().await;
    assert!(!text.contains(new.as_str()) && !text.contains(former.as_str()), "no address is left");
    for address in [former, new] {
        owner.post(CUSTOMERS, creation(address)).await.expect(201);
    }
}

#[tokio::test]
async fn bodies_without_a_key_are_refused() {
    let app = TestApp::start().await;
    app.owner().await;
    let anyone = app.anonymous();
    let bodies = [json!({}), json!({ "key": 1 }), json!({ "key": "", "password": 1 })];
    assert_refusals!(send_each(bodies.clone(), |body| anyone.post(RESTORE, body)).await, @r#"
        400 {"key":["This field is required."]}
        400 {"key":["Not a valid string."]}
        400 {"password":["There is no such field."]}
        "#);
    assert_refusals!(send_each(bodies, |body| anyone.post(CONFIRM, body)).await, @r#"
        400 {"key":["This field is required."]}
        400 {"key":["Not a valid string."]}
        400 {"password":["Not a valid string."]}
        "#);
}
