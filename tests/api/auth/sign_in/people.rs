//! Who gets in.

use aws_sdk_dynamodb::types::AttributeValue;
use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::caller::{Caller, PASSWORD};
use tests::http::Request;

use super::{Acme, HOME, SIGN_IN, assert_refused, session_in};

#[tokio::test]
async fn staff_sign_in_by_their_address_first_and_by_their_subject_from_then_on() {
    let given = Acme::new().await;
    let ada = given.colleague("recruiter", &given.ada).await;
    let ended = given.sign_in(json!({ "email": given.ada.to_ascii_uppercase() })).await.expect(302);
    assert_eq!(ended.header("location"), Some(HOME));
    let whoami = given.whoami(&ended).await;
    assert_eq!(whoami["resource"]["resource_uri"], ada.uri, "{whoami}");
    // The provider has given the address to somebody else, and Ada another one.
    let renamed =
        given.sign_in(json!({ "email": "countess@elsewhere.example", "email_verified": false })).await;
    assert_eq!(given.whoami(&renamed.expect(302)).await["resource"]["resource_uri"], ada.uri);
    let successor = given.sign_in(json!({ "sub": "successor-at-provider" })).await;
    assert_refused(&successor, "sign_in_refused", Some("acme"));
    let link = given.owner.get(&format!("{}sign-in/", ada.uri)).await.expect(200).json();
    assert_eq!((&link["subject"], &link["issuer"]), (&json!("ada-at-provider"), &json!(given.issuer.url)));
}

#[tokio::test]
async fn only_an_address_that_is_verified_and_listed_and_of_one_account_links() {
    let given = Acme::new().await;
    given.colleague("recruiter", &given.ada).await;
    let grace = given.address("elsewhere.example");
    given.colleague("recruiter", &grace).await;
    let (name, domain) = given.ada.split_once('@').unwrap();
    for changes in [
        json!({ "email_verified": false }),
        json!({ "email_verified": null }),
        json!({ "email_verified": "true" }),
        json!({ "email": null }),
        json!({ "email": grace }),
        json!({ "email": format!("{name}@sub.{domain}") }),
        json!({ "email": format!("{name}@{domain}.evil.test") }),
        json!({ "email": "nobody@acme.example" }),
        json!({ "email": format!("{}, {}", given.ada, given.owner.email) }),
        json!({ "sub": null }),
        json!({ "sub": "" }),
        json!({ "sub": 7 }),
    ] {
        assert_refused(&given.sign_in(changes.clone()).await, "sign_in_refused", Some("acme"));
        given.app.clock().advance(TimeDelta::minutes(2));
    }
    given.assert_works().await;
}

#[tokio::test]
async fn a_provider_of_one_company_alone_may_be_trusted_with_addresses() {
    let given = Acme::new().await;
    given.colleague("recruiter", &given.ada).await;
    given.set(json!({ "trusts_addresses": true })).await.expect(200);
    given.sign_in(json!({ "email_verified": null })).await.expect(302);
    let other = given.sign_in(json!({ "sub": "other", "email": "owner@other.example" })).await;
    assert_refused(&other, "sign_in_refused", Some("acme"));
}

#[tokio::test]
async fn nobody_gets_an_account_and_a_leaver_gets_in_no_more() {
    let given = Acme::new().await;
    let ada = given.colleague("recruiter", &given.ada).await;
    given.assert_works().await;
    let set_active = async |is_active| {
        given.app.table().set_customer(&ada.uri, "is_active", AttributeValue::Bool(is_active)).await;
    };
    set_active(false).await;
    assert_refused(&given.sign_in(json!({})).await, "sign_in_refused", Some("acme"));
    set_active(true).await;
    given.assert_works().await;
    given.owner.delete(&ada.uri).await.expect(204);
    given.app.settle().await;
    assert_refused(&given.sign_in(json!({})).await, "sign_in_refused", Some("acme"));
    let staff = given.owner.get("/companies/acme/customers/").await.expect(200).json();
    assert_eq!(staff["meta"]["total_count"], 1, "{staff}");
}

#[tokio::test]
async fn an_address_that_its_account_has_yet_to_confirm_opens_nothing() {
    let given = Acme::new().await;
    let ada = given.colleague("recruiter", &given.address("old.example")).await;
    given.owner.patch(&ada.uri, json!({ "email": given.ada })).await.expect(200);
    assert_refused(&given.sign_in(json!({})).await, "sign_in_refused", Some("acme"));
}

#[tokio::test]
async fn an_invitation_is_accepted_by_signing_in() {
    let given = Acme::new().await;
    let ada = given.owner.colleague("recruiter", json!({ "email": given.ada })).await;
    given.app.settle().await;
    let key = given.app.mailed_key(&given.ada);
    given.assert_works().await;
    let shown = given.owner.get(&ada.uri).await.json();
    assert_eq!(shown["status"], "confirmed", "{shown}");
    // The key in the mail opens nothing any more.
    let choice = json!({ "activation_key": key, "password": PASSWORD });
    given.app.anonymous().post("/api-activate/", choice).await.expect(400);
}

#[tokio::test]
async fn owners_set_subjects_for_a_provider_that_verifies_no_addresses() {
    let given = Acme::new().await;
    let ada = given.colleague("recruiter", &given.address("elsewhere.example")).await;
    let grace = given.colleague("admin", &given.address("elsewhere.example")).await;
    let [of_ada, of_grace] = [&ada, &grace].map(|person| format!("{}sign-in/", person.uri));
    given.owner.get(&of_ada).await.expect(404);
    let put = async |uri: &str, subject: &str| {
        given.owner.send(Request::put(uri).json(&json!({ "subject": subject }))).await
    };
    let set = put(&of_ada, "ada-at-provider").await.expect(200);
    given.owner.get(&of_ada).await.expect_json(200, set.json());
    put(&of_grace, "ada-at-provider").await.expect_code(400, "subject_taken");
    let ended = given.sign_in(json!({ "email": null, "email_verified": null })).await.expect(302);
    assert_eq!(given.whoami(&ended).await["resource"]["resource_uri"], ada.uri);
    // Sessions of the former identity end with it; those of the same one go on.
    let session = Request::get("/whoami/").header("cookie", &session_in(&ended).unwrap());
    put(&of_ada, "ada-at-provider").await.expect(200);
    given.app.send(session.clone()).await.expect(200);
    put(&of_ada, "other-at-provider").await.expect(200);
    given.app.send(session).await.expect(401);
    assert_refused(&given.sign_in(json!({})).await, "sign_in_refused", Some("acme"));
    given.app.clock().advance(TimeDelta::hours(1));
    put(&of_ada, "ada-at-provider").await.expect_code(403, "login_too_old");
}

#[tokio::test]
async fn who_may_change_an_address_may_unlink_its_account() {
    let given = Acme::new().await;
    let ada = given.colleague("recruiter", &given.ada).await;
    let admin = given.colleague("admin", &given.address("acme.example")).await;
    let recruiter = given.colleague("recruiter", &given.address("acme.example")).await;
    given.sign_in(json!({})).await.expect(302);
    given.sign_in(json!({ "sub": "owner", "email": given.owner.email })).await.expect(302);
    let [of_ada, of_owner] = [&ada, &given.owner].map(|person| format!("{}sign-in/", person.uri));
    recruiter.delete(&of_ada).await.expect_code(403, "permission_denied");
    admin.delete(&of_owner).await.expect_code(403, "permission_denied");
    admin.send(Request::put(&of_ada).json(&json!({ "subject": "evil" }))).await.expect(403);
    admin.get(&of_ada).await.expect(200);
    admin.delete(&of_ada).await.expect(204);
    admin.delete(&of_ada).await.expect(404);
    // Another subject may take the account over now.
    given.sign_in(json!({ "sub": "successor" })).await.expect(302);
    given.owner.new_token().await.delete(&of_owner).await.expect(204);
}

#[tokio::test]
async fn a_session_ends_after_twelve_hours_however_it_is_used() {
    let given = Acme::new().await;
    given.colleague("recruiter", &given.ada).await;
    let ended = given.sign_in(json!({})).await.expect(302);
    let whoami = Request::get("/whoami/").header("cookie", &session_in(&ended).unwrap());
    let begun = given.whoami(&ended).await["token"].clone();
    assert_eq!(begun["kind"], "cookie");
    for _ in 0..11 {
        given.app.clock().advance(TimeDelta::hours(1));
        given.app.send(whoami.clone()).await.expect(200);
    }
    let last = given.app.send(whoami.clone()).await.json()["token"]["expires_at"].clone();
    given.app.clock().advance(TimeDelta::hours(1) - TimeDelta::seconds(1));
    given.app.send(whoami.clone()).await.expect(200);
    given.app.clock().advance(TimeDelta::seconds(1));
    given.app.send(whoami).await.expect(401);
    assert_ne!(last, Value::Null);
}

#[tokio::test]
async fn the_login_tells_everyone_where_staff_sign_in() {
    let given = Acme::new().await;
    let login = async || given.app.send(Request::get("/companies/acme/login/")).await.expect(200).json();
    assert_eq!(login().await["sign_in_url"], format!("https://hr.example/api/v3{SIGN_IN}"));
    given.owner.delete(super::SETTINGS).await.expect(204);
    assert_eq!(login().await["sign_in_url"], Value::Null);
}
