//! Former addresses: their holders are told of a change, and restore them.

use chrono::TimeDelta;
use serde_json::json;
use tests::assert_refusal;
use tests::caller::{Caller, PASSWORD};
use tokio::task::JoinSet;

use super::Change;
use crate::auth::address_change::{AddressChange as _, CONFIRM, HOLDER, RESTORE, assert_bad_key};
use crate::customers::crud::{CUSTOMERS, creation};

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
    // An attacker who reads the new address takes the account, and has a further key mailed.
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
