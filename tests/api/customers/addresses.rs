//! Another address for staff who have activated their account: who confirms it, what counts until then, and how it is undone.

use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, PASSWORD, Staff};
use tests::http::{Request, Response, send_each};
use tests::{assert_refusal, assert_refusals};
use tokio::task::JoinSet;

use crate::customers::crud::{CUSTOMERS, creation, with};
use crate::system::undeliverable::{bounced, put};

const CONFIRM: &str = "/api-email-confirm/";
const RESTORE: &str = "/api-email-restore/";
const HOLDER: &str = "/whoami/key/";

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

    async fn change(&self, fields: Value) -> Response {
        self.owner.patch(&self.staff.uri, fields).await
    }

    fn key_to(&self, address: &str) -> String {
        self.app.mailed_key(address)
    }

    async fn confirm(&self, key: &str) -> Response {
        self.app.anonymous().post(CONFIRM, json!({ "key": key, "password": PASSWORD })).await
    }

    async fn restore(&self, key: &str) -> Response {
        self.app.anonymous().post(RESTORE, json!({ "key": key })).await
    }

    /// The status of a login by `name`.
    async fn log_in(&self, name: &str) -> u16 {
        self.app.anonymous().log_in("acme", name, PASSWORD).await.status.as_u16()
    }

    /// How many mails an address gets for a forgotten password of `name`.
    async fn resets(&self, name: &str, address: &str) -> usize {
        self.app.clock().advance(TimeDelta::minutes(6));
        let before = self.app.mails_to(address).len();
        let forgotten = json!({ "company": "acme", "username": name });
        self.app.anonymous().post("/api-password-reset/", forgotten).await.expect(202);
        self.app.settle().await;
        self.app.mails_to(address).len() - before
    }

    /// The address that clients see, and whether it is confirmed.
    async fn shown(&self) -> (String, bool) {
        // The owner's session may have ended in the meantime.
        let shown = self.owner.new_token().await.get(&self.staff.uri).await.expect(200);
        (shown.uri("email"), shown.json()["email_confirmed"] == true)
    }
}

const BAD: &str = r#"400 {"key":["This key is invalid or has expired."]}"#;

#[track_caller]
fn assert_bad_key(response: &Response) {
    assert_eq!(format!("{} {}", response.status.as_u16(), response.json()), BAD);
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
async fn the_former_address_is_told_and_keeps_the_account() {
    let change = Change::asked().await;
    let Change { app, owner, staff, former, new } = &change;
    let mail = app.mails_to(former)[0].clone();
    assert_eq!(mail.subject, "Another email address has been entered for your account with Acme & Sons");
    let text = mail.text.as_deref().unwrap();
    assert!(text.contains("Sam Staff") && text.contains("Sunday 8 November 2026 at 10:00"), "{text}");
    assert!(!text.contains(new.as_str()), "{text}");
    let confirmation = change.key_to(new);
    let restoration = change.key_to(former);
    assert!(!app.table().text().await.contains(&restoration), "it is not stored");
    let told = app.anonymous().post(HOLDER, json!({ "key": restoration })).await.expect(200);
    assert_eq!(told.uri("email"), *former);

    let mails = app.mails_to(&owner.email).len();
    let restored = change.restore(&restoration).await.expect(204);
    assert!(restored.body.is_empty(), "{restored}");
    assert_eq!(change.shown().await, (former.clone(), true));
    staff.get("/whoami/").await.expect_code(401, "invalid_credential");
    assert_bad_key(&change.confirm(&confirmation).await);
    assert_bad_key(&change.restore(&restoration).await);
    // The new address has never counted, so it cannot have chosen a password.
    assert_eq!([change.log_in(former).await, change.log_in(new).await], [200, 401]);
    app.settle().await;
    let told = app.mails_to(&owner.email);
    assert_eq!(told.len(), mails + 1);
    assert_eq!(told[0].subject, "Acme & Sons: a change of an email address has been undone");
    owner.post(CUSTOMERS, creation(new)).await.expect(201);
}

#[tokio::test]
async fn an_address_that_has_counted_is_undone_with_all_that_it_opened() {
    let change = Change::asked().await;
    let Change { app, owner, staff, former, new } = &change;
    let early = change.key_to(former);
    change.confirm(&change.key_to(new)).await.expect(204);
    app.settle().await;
    let mail = app.mails_to(former)[0].clone();
    assert_eq!(mail.subject, "The email address of your account with Acme & Sons has been changed");
    let late = change.key_to(former);
    assert_ne!(early, late);
    // Whoever reads the new address takes the account, and has a further key mailed.
    assert_eq!(change.resets(new, new).await, 1);
    let choice = json!({ "key": change.key_to(new), "password": "a password of theirs" });
    app.anonymous().post("/api-password-reset/confirm/", choice).await.expect(204);
    let theirs = app.anonymous().log_in("acme", new, "a password of theirs").await.expect(200).uri("token");
    assert_eq!(change.resets(new, new).await, 1);
    let further = change.key_to(new);
    // The former address is nobody else's in the meantime.
    assert_refusal!(owner.post(CUSTOMERS, creation(former)).await, @r#"400 {"email":["A customer with this email already exists."]}"#);

    let mails = app.mails_to(former).len();
    change.restore(&early).await.expect(204);
    assert_eq!(change.shown().await, (former.clone(), true));
    app.token(&theirs).get("/whoami/").await.expect_code(401, "invalid_credential");
    for name in [former, new, &staff.username] {
        app.anonymous().log_in("acme", name, "a password of theirs").await.expect(401);
    }
    let choice = json!({ "key": further, "password": "another of theirs" });
    app.anonymous().post("/api-password-reset/confirm/", choice).await.expect(400);
    assert_bad_key(&change.restore(&late).await);
    // The person gets in again by the address that is theirs.
    app.settle().await;
    assert_eq!(app.mails_to(former).len(), mails + 1);
    let choice = json!({ "key": change.key_to(former), "password": PASSWORD });
    app.anonymous().post("/api-password-reset/confirm/", choice).await.expect(204);
    assert_eq!([change.log_in(former).await, change.log_in(new).await], [200, 401]);
    owner.post(CUSTOMERS, creation(new)).await.expect(201);
}

#[tokio::test]
async fn a_former_address_can_be_put_back_for_72_hours_from_each_change() {
    let change = Change::asked().await;
    let Change { app, former, new, .. } = &change;
    let early = change.key_to(former);
    app.clock().advance(TimeDelta::hours(72));
    assert_bad_key(&change.restore(&early).await);
    change.confirm(&change.key_to(new)).await.expect(204);
    app.settle().await;
    let late = change.key_to(former);
    app.clock().advance(TimeDelta::hours(72));
    for key in [&early, &late] {
        assert_bad_key(&change.restore(key).await);
    }
    app.clock().advance(TimeDelta::seconds(-1));
    change.restore(&late).await.expect(204);
    assert_eq!(change.shown().await, (former.clone(), true));
}

#[tokio::test]
async fn two_changes_do_not_shake_off_the_first_address() {
    let change = Change::asked().await;
    let Change { app, owner, staff, former, new } = &change;
    change.confirm(&change.key_to(new)).await.expect(204);
    app.settle().await;
    let restoration = change.key_to(former);
    app.clock().advance(TimeDelta::minutes(1));
    let third = app.next_email();
    change.change(json!({ "email": third })).await.expect(200);
    app.settle().await;
    change.confirm(&change.key_to(&third)).await.expect(204);
    app.settle().await;
    let of_second = change.key_to(new);
    change.restore(&restoration).await.expect(204);
    assert_eq!(change.shown().await, (former.clone(), true));
    // Nobody at a later address can undo that.
    assert_bad_key(&change.restore(&of_second).await);
    for address in [new, &third] {
        owner.post(CUSTOMERS, creation(address)).await.expect(201);
    }
    staff.get("/whoami/").await.expect(401);
}

#[tokio::test]
async fn another_change_replaces_one_that_is_not_confirmed() {
    let change = Change::asked().await;
    let Change { app, owner, former, new, .. } = &change;
    let first = change.key_to(new);
    let third = app.next_email();
    change.change(json!({ "email": third })).await.expect(200);
    assert_bad_key(&change.confirm(&first).await);
    owner.post(CUSTOMERS, creation(new)).await.expect(201);
    app.settle().await;
    change.confirm(&change.key_to(&third)).await.expect(204);
    assert_eq!(change.shown().await, (third.clone(), true));
    change.restore(&change.key_to(former)).await.expect(204);
    assert_eq!(change.shown().await, (former.clone(), true));
}

#[tokio::test]
async fn going_back_to_the_address_that_counts_needs_no_confirmation() {
    let change = Change::asked().await;
    let Change { app, owner, staff, former, new } = &change;
    let key = change.key_to(new);
    let mails = [former, new].map(|address| app.mails_to(address).len());
    change.change(json!({ "email": former })).await.expect(200);
    assert_eq!(change.shown().await, (former.clone(), true));
    app.settle().await;
    assert_eq!([former, new].map(|address| app.mails_to(address).len()), mails);
    assert_bad_key(&change.confirm(&key).await);
    staff.get("/whoami/").await.expect(200);
    owner.post(CUSTOMERS, creation(new)).await.expect(201);
}

#[tokio::test]
async fn an_owner_settles_an_address_at_once_and_nobody_else() {
    let change = Change::asked().await;
    let Change { app, owner, staff, former, new } = &change;
    let admin = app.staff("admin").await;
    let (_, named) = owner.named_token("CI").await;
    let settled = json!({ "email": app.next_email(), "confirm": true });
    let before = app.table().snapshot().await;
    let refused = [
        admin.patch(&staff.uri, settled.clone()).await,
        named.patch(&staff.uri, settled.clone()).await,
        admin.patch(&staff.uri, json!({ "confirm": true })).await,
        owner.patch(&staff.uri, json!({ "confirm": "yes" })).await,
    ];
    assert_refusals!(refused, @r#"
        3 x 403 {"code":"permission_denied","detail":"Only an owner who has logged in themselves may send `confirm`. Without it, the customer confirms the address."}
        400 {"confirm":["Must be a valid boolean."]}
        "#);
    assert_eq!(app.table().snapshot().await, before);
    // The pending one, without naming it again.
    let confirmation = change.key_to(new);
    change.change(json!({ "confirm": true })).await.expect(200);
    assert_eq!(change.shown().await, (new.clone(), true));
    staff.get("/whoami/").await.expect_code(401, "invalid_credential");
    assert_bad_key(&change.confirm(&confirmation).await);
    assert_eq!([change.log_in(former).await, change.log_in(new).await], [401, 200]);
    app.settle().await;
    assert_eq!(
        app.mails_to(former)[0].subject,
        "The email address of your account with Acme & Sons has been changed"
    );
    change.restore(&change.key_to(former)).await.expect(204);
    assert_eq!(change.shown().await, (former.clone(), true));
    // Nothing to settle.
    let before = app.table().snapshot().await;
    change.change(json!({ "confirm": true })).await.expect(200);
    admin.patch(&staff.uri, json!({ "email": former, "confirm": true })).await.expect(200);
    assert_eq!(app.table().snapshot().await, before);
}

#[tokio::test]
async fn whoever_changes_an_address_sees_every_project_of_the_account() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let recruiter = app.staff("recruiter").await;
    let own = recruiter.project(json!({})).await;
    let other = owner.running_project(json!({ "allow_hash_login": true })).await;
    let invited = owner.colleague("hiring-manager", json!({})).await;
    let confirmed = app.staff("hiring-manager").await;
    let candidate = owner.candidate(&other, json!({})).await;
    for uri in [&invited.uri, &confirmed.uri] {
        let role =
            |project: &str| (format!("{project}roles/"), json!({ "customer": uri, "role": "evaluator" }));
        let change = async || recruiter.patch(uri, json!({ "email": app.next_email() })).await;
        let (path, body) = role(&own);
        recruiter.post(&path, body).await.expect(201);
        change().await.expect(200);
        let (path, body) = role(&other);
        let role = owner.post(&path, body).await.expect(201).uri("resource_uri");
        assert_refusal!(change().await, @r#"403 {"code":"permission_denied","detail":"To change the email address, you must see every project in which this customer has a role or a share. Ask an admin."}"#);
        owner.delete(&role).await.expect(204);
        change().await.expect(200);
        let share = owner.post(&format!("{candidate}shares/"), json!({ "customer": uri })).await.expect(201);
        change().await.expect_code(403, "permission_denied");
        // Other fields stay as they are.
        recruiter.patch(uri, json!({ "position": "Chief" })).await.expect(200);
        owner.delete(&share.uri("resource_uri")).await.expect(204);
        change().await.expect(200);
    }
}

#[tokio::test]
async fn nobody_changes_their_own_address() {
    let app = TestApp::start().await;
    for account_type in ["owner", "admin", "recruiter", "hiring-manager"] {
        let staff = app.staff(account_type).await;
        for change in
            [json!({ "email": app.next_email() }), json!({ "email": app.next_email(), "confirm": true })]
        {
            staff.patch(&staff.uri, change).await.expect_code(403, "permission_denied");
        }
    }
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
    // Whoever has moved the address must not keep it by deactivating the account.
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
async fn an_import_by_email_finds_staff_by_either_address() {
    let change = Change::asked().await;
    let Change { app, owner, staff, former, new } = &change;
    let entry = |email: &str, username: &str| {
        json!({
            "pk_attribute": "email", "account_type": "recruiter", "username": username, "email": email,
            "first_name": "Sam", "last_name": "Staff",
        })
    };
    for address in [former, new] {
        let list = json!([entry(&owner.email, &owner.username), entry(address, &staff.username)]);
        let answer = owner.post("/companies/acme/customers/batch-import/", list).await.expect(200).json();
        assert_eq!((&answer["unchanged"], &answer["deactivated"]), (&json!(2), &json!(0)));
    }
    let list =
        json!([entry(&owner.email, &owner.username), entry(former, &staff.username), entry(new, "another")]);
    assert_refusal!(owner.post("/companies/acme/customers/batch-import/", list).await, @r#"400 {"[2].email":["This value already belongs to another user."]}"#);
    assert_eq!(app.mails_to(new).len(), 1);
}

#[tokio::test]
async fn an_account_gets_so_many_addresses_in_72_hours() {
    let change = Change::asked().await;
    let Change { app, owner, .. } = &change;
    change.confirm(&change.key_to(&change.new)).await.expect(204);
    app.settle().await;
    for _ in 0..3 {
        app.clock().advance(TimeDelta::hours(1));
        let next = app.next_email();
        change.change(json!({ "email": next, "confirm": true })).await.expect(200);
        change.change(json!({ "email": app.next_email() })).await.expect(200);
    }
    change.change(json!({ "email": app.next_email(), "confirm": true })).await.expect(200);
    let response = change.change(json!({ "email": app.next_email() })).await;
    let wait: i64 = response.expect_code(429, "throttled").header("retry-after").unwrap().parse().unwrap();
    assert_eq!(wait, 69 * 3600, "until the first change is 72 hours old");
    // Owners help all the same, but not without end.
    for _ in 9..20 {
        change.change(json!({ "email": app.next_email(), "confirm": true })).await.expect(200);
    }
    let settled = json!({ "email": app.next_email(), "confirm": true });
    change.change(settled).await.expect_code(429, "throttled");
    app.clock().advance(TimeDelta::hours(72));
    let owner = owner.new_token().await;
    owner.patch(&change.staff.uri, json!({ "email": app.next_email() })).await.expect(200);
}

#[tokio::test]
async fn an_account_that_was_never_confirmed_is_invited_at_the_new_address() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let invited = owner.colleague("recruiter", json!({ "username": "typo" })).await;
    app.settle().await;
    let wrong = app.mailed_key(&invited.email);
    let right = app.next_email();
    let answer = owner.patch(&invited.uri, json!({ "email": right })).await.expect(200).json();
    assert_eq!((&answer["email"], &answer["email_confirmed"]), (&json!(right), &json!(false)));
    app.settle().await;
    assert_eq!(app.mails_to(&invited.email).len(), 1, "nobody there is told");
    let choice = |key: &str| json!({ "activation_key": key, "password": PASSWORD });
    app.anonymous().post("/api-activate/", choice(&wrong)).await.expect(400);
    let answer =
        app.anonymous().post("/api-activate/", choice(&app.mailed_key(&right))).await.expect(200).json();
    assert_eq!((&answer["email"], &answer["email_confirmed"]), (&json!(right), &json!(true)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_a_confirmation_and_a_restoration_at_once_one_has_the_last_word() {
    let change = Change::asked().await;
    let (confirmation, restoration) = (change.key_to(&change.new), change.key_to(&change.former));
    let mut clients = JoinSet::new();
    for _ in 0..4 {
        let (app, key) = (change.app.clone(), confirmation.clone());
        clients.spawn(async move {
            let body = json!({ "key": key, "password": PASSWORD });
            ("confirm", app.anonymous().post(CONFIRM, body).await.status.as_u16())
        });
        let (app, key) = (change.app.clone(), restoration.clone());
        clients.spawn(async move {
            ("restore", app.anonymous().post(RESTORE, json!({ "key": key })).await.status.as_u16())
        });
    }
    let answers = clients.join_all().await;
    let done = |what: &str| answers.iter().filter(|(kind, status)| *kind == what && *status == 204).count();
    assert!(answers.iter().all(|(_, status)| [204, 400, 409].contains(status)), "{answers:?}");
    assert!(done("confirm") <= 1 && done("restore") == 1, "{answers:?}");
    assert_eq!(change.shown().await, (change.former.clone(), true));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_accounts_that_want_one_address_at_once_one_gets_it() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let wanted = app.next_email();
    let mut clients = JoinSet::new();
    for _ in 0..6 {
        let (owner, staff, wanted) = (owner.clone(), app.staff("recruiter").await, wanted.clone());
        clients
            .spawn(async move { owner.patch(&staff.uri, json!({ "email": wanted })).await.status.as_u16() });
    }
    let statuses = clients.join_all().await;
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
    assert!(statuses.iter().all(|status| [200, 400, 409].contains(status)), "{statuses:?}");
}

#[tokio::test]
async fn the_feed_tells_what_became_of_an_address_without_it() {
    let change = Change::asked().await;
    let Change { app, owner, staff, former, new } = &change;
    change.confirm(&change.key_to(new)).await.expect(204);
    app.settle().await;
    change.restore(&change.key_to(former)).await.expect(204);
    app.settle().await;
    let feed = owner.get("/companies/acme/events/?page_size=100").await.expect(200).json();
    let events = feed["objects"].as_array().unwrap().iter();
    let events = events.filter(|event| event["data"]["resource_uri"] == json!(staff.uri));
    let told: Vec<_> = events
        .map(|event| json!([event["type"], event["data"]["changed"], event["data"]["previous"]]))
        .collect();
    let expected = [
        json!(["customer.updated", ["email", "email_confirmed"], { "email_confirmed": true }]),
        json!(["customer.updated", ["email_confirmed"], { "email_confirmed": false }]),
        json!(["customer.updated", ["email", "password"], {}]),
    ];
    assert_eq!(told[1..], expected);
    let text = feed.to_string();
    assert!(!text.contains(new.as_str()) && !text.contains(former.as_str()), "{text}");
}

#[tokio::test]
async fn a_new_address_that_bounces_is_shown_and_gets_no_more_mails() {
    let change = Change::asked().await;
    let Change { app, owner, staff, former, new } = &change;
    put(app, bounced(app, new, "Permanent")).await;
    assert_eq!(owner.get(&staff.uri).await.expect(200).json()["email_status"], "bounced");
    owner.send(Request::patch(&format!("{}reinvite/", staff.uri))).await.expect_code(400, "undeliverable");
    // The one that counts goes on.
    assert_eq!(change.resets(former, former).await, 1);
    change.change(json!({ "email": former })).await.expect(200);
    assert_eq!(owner.get(&staff.uri).await.expect(200).json()["email_status"], "deliverable");
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
