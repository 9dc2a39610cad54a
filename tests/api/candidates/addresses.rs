//! Another address for candidates with a password: the rules of staff, and what only candidates have.

use chrono::TimeDelta;
use serde_json::json;
use tests::app::TestApp;
use tests::assert_refusals;
use tests::caller::{Caller, Invited, PASSWORD, Staff, Token};
use tests::http::Request;

use crate::auth::address_change::{AddressChange, CONFIRM, HOLDER, assert_bad_key};
use crate::system::undeliverable::{bounced, put};

/// A candidate with a password in a project, and their manager.
struct Registered {
    app: TestApp,
    owner: Staff,
    project: String,
    candidate: Invited,
    session: Token,
    former: String,
    new: String,
}

impl Registered {
    async fn start() -> Self {
        let app = TestApp::start().await;
        let owner = app.owner().await;
        let project = owner.running_project(json!({ "name": "Data engineer" })).await;
        let candidate = owner.invite(&project, json!({})).await;
        let session = candidate.register().await;
        app.settle().await;
        let (former, new) = (candidate.email.clone(), app.next_email());
        Self { app, owner, project, candidate, session, former, new }
    }

    /// One whose address a manager has changed to the other one.
    async fn asked() -> Self {
        let given = Self::start().await;
        given.change(json!({ "email": given.new })).await.expect(200);
        given.app.settle().await;
        given
    }

    /// The numbers of candidates that clients find by this address, in each of the ways.
    async fn found_by(&self, email: &str) -> [u64; 3] {
        let owner = self.owner.new_token().await;
        let count =
            async |path: String| owner.get(&path).await.expect(200).json()["meta"]["total_count"].clone();
        let search = format!("/companies/acme/search/?q={email}");
        let found = owner.get(&search).await.expect(200).json().as_array().unwrap().len();
        [
            count(format!("/companies/acme/candidates/?email={email}")).await.as_u64().unwrap(),
            count(format!("{}candidates/?email={email}", self.project)).await.as_u64().unwrap(),
            found as u64,
        ]
    }
}

impl AddressChange for Registered {
    fn app(&self) -> &TestApp {
        &self.app
    }

    fn owner(&self) -> &Staff {
        &self.owner
    }

    fn uri(&self) -> &str {
        &self.candidate.uri
    }
}

#[tokio::test]
async fn the_former_address_counts_until_the_candidate_confirms_the_new_one() {
    let given = Registered::asked().await;
    let Registered { app, session, former, new, .. } = &given;
    assert_eq!(given.shown().await, (new.clone(), false));
    session.get("/whoami/candidate/").await.expect(200);
    assert_eq!([given.log_in(former).await, given.log_in(new).await], [200, 401]);
    assert_eq!((given.resets(former, former).await, given.resets(new, new).await), (1, 0));
    assert_eq!((given.found_by(new).await, given.found_by(former).await), ([1, 1, 1], [1, 1, 0]));
    // Sent back as it was read, it changes nothing.
    let before = app.table().snapshot().await;
    given.change(json!({ "email": new, "email_confirmed": false })).await.expect(200);
    assert_eq!(app.table().snapshot().await, before);

    let mail = app.mails_to(new)[0].clone();
    assert_eq!(mail.subject, "Confirm this email address for your account with Acme & Sons");
    assert!(mail.text.as_deref().unwrap().contains("your account Data engineer"), "{mail:?}");
    let key = app.mailed_key(new);
    let holder = app.anonymous().post(HOLDER, json!({ "key": key })).await.expect(200).json();
    assert_eq!([&holder["kind"], &holder["username"], &holder["email"]], ["candidate", new, new]);
    let anyone = app.anonymous();
    let refused = [
        anyone.post(CONFIRM, json!({ "key": key })).await,
        anyone.post(CONFIRM, json!({ "key": key, "password": "another one" })).await,
        given.owner.post(CONFIRM, json!({ "key": key })).await,
    ];
    assert_refusals!(refused, @r#"
        2 x 400 {"password":["Send the password of the account, or log in to it."]}
        400 {"password":["This is not the password of the account."]}
        "#);
    given.confirm(&key).await.expect(204);
    assert_bad_key(&given.confirm(&key).await);
    assert_eq!(given.shown().await, (new.clone(), true));
    assert_eq!([given.log_in(former).await, given.log_in(new).await], [401, 200]);
    assert_eq!((given.found_by(new).await, given.found_by(former).await), ([1, 1, 1], [0, 0, 0]));
    assert_eq!((given.resets(former, former).await, given.resets(new, new).await), (0, 1));
}

#[tokio::test]
async fn a_session_of_the_candidate_confirms_as_well() {
    let given = Registered::asked().await;
    let key = given.app.mailed_key(&given.new);
    given.session.post(CONFIRM, json!({ "key": key })).await.expect(204);
    assert_eq!(given.shown().await, (given.new.clone(), true));
    given.session.get("/whoami/candidate/").await.expect(200);
}

#[tokio::test]
async fn the_former_address_is_told_and_restores_itself() {
    let given = Registered::asked().await;
    let Registered { app, owner, session, former, new, .. } = &given;
    let mail = app.mails_to(former).first().unwrap().clone();
    assert_eq!(mail.subject, "Another email address has been entered for your account with Acme & Sons");
    let text = mail.text.as_deref().unwrap();
    assert!(text.contains("(UTC)") && !text.contains("((") && !text.contains("))"), "{text}");
    assert!(!text.contains(new.as_str()), "{text}");
    let early = app.mailed_key(former);
    let holder = app.anonymous().post(HOLDER, json!({ "key": early })).await.expect(200).json();
    assert_eq!(
        [&holder["username"], &holder["email"]],
        [former, former],
        "the new address is nobody's business there"
    );
    given.confirm(&app.mailed_key(new)).await.expect(204);
    app.settle().await;
    // The reader of the new address takes the account, and has a further key mailed.
    assert_eq!(given.resets(new, new).await, 1);
    let choice = json!({ "key": app.mailed_key(new), "password": "a password of theirs" });
    app.anonymous().post("/api-password-reset/confirm/", choice).await.expect(204);
    let theirs = app.anonymous().log_in("acme", new, "a password of theirs").await.expect(200).uri("token");
    assert_eq!(given.resets(new, new).await, 1);
    let further = app.mailed_key(new);

    let mails = app.mails_to(&owner.email).len();
    given.restore(&early).await.expect(204);
    assert_eq!(given.shown().await, (former.clone(), true));
    for ended in [session, &app.token(&theirs)] {
        ended.get("/whoami/candidate/").await.expect_code(401, "invalid_credential");
    }
    for name in [former, new] {
        app.anonymous().log_in("acme", name, "a password of theirs").await.expect(401);
    }
    let choice = json!({ "key": further, "password": "another of theirs" });
    app.anonymous().post("/api-password-reset/confirm/", choice).await.expect(400);
    app.settle().await;
    let told = app.mails_to(&owner.email);
    assert_eq!(told.len(), mails + 1);
    assert_eq!(told[0].subject, "Acme & Sons: a change of an email address has been undone");
    // The person gets in again by the address that is theirs.
    let choice = json!({ "key": app.mailed_key(former), "password": PASSWORD });
    app.anonymous().post("/api-password-reset/confirm/", choice).await.expect(204);
    assert_eq!([given.log_in(former).await, given.log_in(new).await], [200, 401]);
}

#[tokio::test]
async fn a_manager_in_person_corrects_an_address_at_once_and_no_token_does() {
    let given = Registered::asked().await;
    let Registered { app, owner, project, candidate, session, former, new, .. } = &given;
    let (_, token) = owner.named_token("CI").await;
    let limited = json!({ "name": "ATS", "account_type": "recruiter", "projects": [project] });
    let (_, limited) = owner.named_token_with(limited).await;
    for one in [&token, &limited] {
        // The day of its first use is stored.
        one.get(&candidate.uri).await.expect(200);
    }
    let confirmed = json!({ "email": app.next_email(), "confirm": true });
    let before = app.table().snapshot().await;
    let refused = [
        token.patch(&candidate.uri, confirmed.clone()).await,
        limited.patch(&candidate.uri, confirmed).await,
        limited.patch(&candidate.uri, json!({ "confirm": true })).await,
        given.change(json!({ "confirm": "yes" })).await,
    ];
    assert_refusals!(refused, @r#"
        3 x 403 {"code":"permission_denied","detail":"Only a manager who has logged in themselves may send `confirm`. Without it, candidates with a password confirm a new address, and theirs cannot be removed."}
        400 {"confirm":["Must be a valid boolean."]}
        "#);
    assert_eq!(app.table().snapshot().await, before);
    // The pending one, without naming it again.
    let confirmation = app.mailed_key(new);
    given.change(json!({ "confirm": true })).await.expect(200);
    assert_eq!(given.shown().await, (new.clone(), true));
    session.get("/whoami/candidate/").await.expect_code(401, "invalid_credential");
    assert_bad_key(&given.confirm(&confirmation).await);
    // The password was chosen with a key that the wrong person may have had: the candidate is invited again.
    assert_eq!([given.log_in(former).await, given.log_in(new).await], [401, 401]);
    app.settle().await;
    assert_eq!(
        app.mails_to(former)[0].subject,
        "The email address of your account with Acme & Sons has been changed"
    );
    given.restore(&app.mailed_key(former)).await.expect(204);
    assert_eq!(given.shown().await, (former.clone(), true));
}

#[tokio::test]
async fn no_setting_keeps_the_former_address_from_learning_of_a_change() {
    let given = Registered::start().await;
    let Registered { app, owner, candidate, former, .. } = &given;
    given.change(json!({ "receive_mails": false })).await.expect(200);
    owner.send(Request::put(&format!("{}erasure-request/", candidate.uri))).await.expect(200);
    let mails = app.mails_to(former).len();
    // Removed, and another one set as if there had been none.
    given.change(json!({ "email": "", "confirm": true })).await.expect(200);
    assert_eq!(given.shown().await, (String::new(), true));
    assert_eq!(given.log_in(former).await, 401);
    given.change(json!({ "email": given.new, "confirm": true })).await.expect(200);
    app.settle().await;
    assert_eq!(app.mails_to(former).len(), mails + 1);
    given.restore(&app.mailed_key(former)).await.expect(204);
    assert_eq!(given.shown().await, (former.clone(), true));
}

#[tokio::test]
async fn an_address_is_removed_by_a_manager_in_person_alone() {
    let given = Registered::start().await;
    let Registered { app, owner, candidate, former, new, .. } = &given;
    let (_, token) = owner.named_token("CI").await;
    token.patch(&candidate.uri, json!({ "receive_mails": false })).await.expect(200);
    let mut refused = Vec::new();
    // Removed while another one waits, too.
    for pending in [false, true] {
        if pending {
            token.patch(&candidate.uri, json!({ "email": new })).await.expect(200);
            app.settle().await;
        }
        let before = app.table().snapshot().await;
        refused.extend([
            token.patch(&candidate.uri, json!({ "email": "" })).await,
            token.patch(&candidate.uri, json!({ "email": null })).await,
            token.patch(&candidate.uri, json!({ "email": "", "confirm": true })).await,
            given.change(json!({ "email": "" })).await,
        ]);
        assert_eq!(app.table().snapshot().await, before);
    }
    assert_refusals!(refused, @r#"8 x 403 {"code":"permission_denied","detail":"Only a manager who has logged in themselves may send `confirm`. Without it, candidates with a password confirm a new address, and theirs cannot be removed."}"#);
    assert_eq!([given.log_in(former).await, given.log_in(new).await], [200, 401]);
    given.change(json!({ "email": "", "confirm": true })).await.expect(200);
    assert_eq!(given.shown().await, (String::new(), true));
    app.settle().await;
    given.restore(&app.mailed_key(former)).await.expect(204);
    assert_eq!(given.shown().await, (former.clone(), true));
}

#[tokio::test]
async fn candidates_without_a_password_get_another_address_at_once() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({ "allow_hash_login": true })).await;
    let candidate = owner.invite(&project, json!({})).await;
    app.settle().await;
    let new = app.next_email();
    let shown = owner.patch(&candidate.uri, json!({ "email": new })).await.expect(200).json();
    assert_eq!((&shown["email"], &shown["email_confirmed"]), (&json!(new), &json!(true)));
    app.settle().await;
    assert_eq!((app.mails_to(&candidate.email).len(), app.mails_to(&new).len()), (1, 1));
    let ended = candidate.get("/whoami/candidate/").await.expect(401).json();
    assert_eq!(ended["code"], "key_replaced");
}

#[tokio::test]
async fn what_is_stored_of_addresses_is_shown_to_staff_and_goes_with_the_candidate() {
    let given = Registered::asked().await;
    let Registered { app, owner, candidate, session, former, new, .. } = &given;
    let path = format!("{}data/", candidate.uri);
    let data = owner.get(&path).await.expect(200).json();
    let profile = &data["candidate"];
    assert_eq!((&profile["email"], &profile["email_confirmed"]), (&json!(new), &json!(false)));
    assert_eq!(data["former_emails"], json!([former]));
    assert!(session.get(&path).await.expect(200).json().get("former_emails").is_none());
    put(app, bounced(app, new, "Permanent")).await;
    assert_eq!(owner.get(&candidate.uri).await.expect(200).json()["email_status"], "bounced");
    // The one that counts goes on.
    assert_eq!(given.resets(former, former).await, 1);
    let owner = owner.new_token().await;
    let keys = [app.mailed_key(new), app.mailed_key(former)];
    owner.delete(&candidate.uri).await.expect(204);
    assert_bad_key(&given.confirm(&keys[0]).await);
    assert_bad_key(&given.restore(&keys[1]).await);
    app.settle().await;
    let text = app.table().text().await;
    assert!(!text.contains(new.as_str()) && !text.contains(former.as_str()), "no address is left");
}

#[tokio::test]
async fn going_back_needs_no_confirmation_and_changes_are_limited() {
    let given = Registered::asked().await;
    let Registered { app, session, former, new, .. } = &given;
    let key = app.mailed_key(new);
    given.change(json!({ "email": former })).await.expect(200);
    assert_eq!(given.shown().await, (former.clone(), true));
    assert_bad_key(&given.confirm(&key).await);
    session.get("/whoami/candidate/").await.expect(200);
    app.settle().await;
    for _ in 0..8 {
        app.clock().advance(TimeDelta::hours(1));
        given.change(json!({ "email": app.next_email() })).await.expect(200);
    }
    given.change(json!({ "email": app.next_email() })).await.expect_code(429, "throttled");
    // Managers help all the same.
    given.change(json!({ "email": app.next_email(), "confirm": true })).await.expect(200);
}
