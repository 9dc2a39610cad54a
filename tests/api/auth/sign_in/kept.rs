//! Sessions and links: how long they are kept, and who is told when they change.

use chrono::TimeDelta;
use futures_util::future::join_all;
use serde_json::json;
use tests::caller::{Caller, PASSWORD};
use tests::http::Request;
use tests::issuer::IssuerMode;

use super::{Acme, CALLBACK, SETTINGS, assert_refused};
use crate::system::erasure::planted::{CANARY, found};

#[tokio::test]
async fn a_session_ends_with_the_provider_that_began_it() {
    let given = Acme::new().await;
    given.colleague("recruiter", &given.ada).await;
    let session = given.browser_of(&given.sign_in(json!({})).await.expect(302));
    session.get("/whoami/").await.expect(200);
    given.set(json!({ "domains": ["acme.example", "acme.test"] })).await.expect(200);
    session.get("/whoami/").await.expect(200);
    given.app.clock().advance(TimeDelta::seconds(1));
    given.set(json!({ "client_id": "other" })).await.expect(200);
    session.get("/whoami/").await.expect(401);
    given.set(json!({})).await.expect(200);
    session.get("/whoami/").await.expect(401);
    let session = given.browser_of(&given.sign_in(json!({})).await.expect(302));
    session.get("/whoami/").await.expect(200);
    given.owner.delete(SETTINGS).await.expect(204);
    session.get("/whoami/").await.expect(401);
}

#[tokio::test]
async fn an_owner_lifts_the_requirement_while_the_provider_is_down() {
    let mut given = Acme::new().await;
    let owner = [given.owner.uri.clone()];
    given.set(json!({ "required": true, "break_glass": owner })).await.expect(200);
    given.issuer.set_mode(IssuerMode::Fails);
    given.app.clock().advance(TimeDelta::hours(2));
    given.owner_again().await;
    let lifted = json!({ "required": false, "client_secret": null });
    given.set(lifted).await.expect(200);
    let required = json!({ "required": true, "break_glass": owner, "client_secret": null });
    given.set(required).await.expect(400);
}

#[tokio::test]
async fn twenty_people_of_one_office_sign_in_at_once() {
    let given = Acme::new().await;
    given.colleague("recruiter", &given.ada).await;
    given.assert_works().await;
    let mut begun = Vec::new();
    for _ in 0..20 {
        begun.push(given.begin().await);
    }
    let ends = begun.iter().map(async |begun| {
        let back = format!("{CALLBACK}?state={}&code={}", begun.request.state, given.code(begun, json!({})));
        given.app.send(Request::get(&back).header("cookie", &begun.cookie).from_source("192.0.2.9")).await
    });
    for ended in join_all(ends).await {
        ended.expect(302);
    }
}

#[tokio::test]
async fn a_restored_address_ends_the_link_that_the_later_one_has_made() {
    let given = Acme::new().await;
    let former = given.address("former.example");
    let ada = given.colleague("recruiter", &former).await;
    let confirmed = json!({ "email": given.ada, "confirm": true });
    given.owner.patch(&ada.uri, confirmed).await.expect(200);
    given.app.settle().await;
    given.sign_in(json!({ "sub": "evil" })).await.expect(302);
    let restored = json!({ "key": given.app.mailed_key(&former) });
    given.app.anonymous().post("/api-email-restore/", restored).await.expect(204);
    assert_refused(&given.sign_in(json!({ "sub": "evil" })).await, "sign_in_refused", Some("acme"));
    given.app.settle().await;
}

#[tokio::test]
async fn nothing_is_left_of_the_link_of_a_deleted_customer() {
    let given = Acme::new().await;
    let ada = given.colleague("recruiter", &given.ada).await;
    given.sign_in(json!({ "sub": CANARY })).await.expect(302);
    assert_eq!(found(&given.app.moment()).len(), 1);
    given.owner.delete(&ada.uri).await.expect(204);
    given.app.settle().await;
    assert_eq!(found(&given.app.moment()), [] as [String; 0]);
}

#[tokio::test]
async fn an_invitation_is_accepted_as_the_subject_that_an_owner_has_set() {
    let given = Acme::new().await;
    let address = given.address("elsewhere.example");
    let ada = given.owner.colleague("recruiter", json!({ "email": address })).await;
    let link = format!("{}sign-in/", ada.uri);
    let subject = json!({ "subject": "ada-at-provider" });
    given.app.settle().await;
    let key = given.app.mailed_key(&address);
    let set = given.owner.send(Request::put(&link).json(&subject)).await.expect(200).json();
    given.sign_in(json!({})).await.expect(302);
    assert_eq!(given.owner.get(&ada.uri).await.json()["status"], "confirmed");
    assert_eq!(given.owner.get(&link).await.expect(200).json(), set);
    let choice = json!({ "activation_key": key, "password": PASSWORD });
    given.app.anonymous().post("/api-activate/", choice).await.expect(400);
}

#[tokio::test]
async fn a_customer_is_told_when_somebody_else_changes_their_link() {
    let given = Acme::new().await;
    let ada = given.colleague("recruiter", &given.ada).await;
    let [link, own] = [&ada.uri, &given.owner.uri].map(|uri| format!("{uri}sign-in/"));
    given.app.settle().await;
    let told = async |address: &str| {
        given.app.settle().await;
        let mails = given.app.mails_to(address);
        mails.iter().filter(|mail| mail.subject.contains("the account that you sign in with")).count()
    };
    let subject = json!({ "subject": "evil" });
    given.owner.send(Request::put(&link).json(&subject)).await.expect(200);
    assert_eq!(told(&given.ada).await, 1);
    // The same again changes nothing.
    given.owner.send(Request::put(&link).json(&subject)).await.expect(200);
    assert_eq!(told(&given.ada).await, 1);
    given.owner.delete(&link).await.expect(204);
    assert_eq!(told(&given.ada).await, 2);
    // Neither are the first sign-in and a change of one's own.
    given.sign_in(json!({})).await.expect(302);
    given.owner.send(Request::put(&own).json(&json!({ "subject": "owner" }))).await.expect(200);
    assert_eq!((told(&given.ada).await, told(&given.owner.email).await), (2, 0));
}
