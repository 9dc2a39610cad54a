//! How the tokens of exchanges end.

use chrono::TimeDelta;
use serde_json::json;
use tests::caller::Caller;
use tests::http::Request;

use super::{EXCHANGE, Trusting, parameters};

#[tokio::test]
async fn deleting_the_named_token_ends_all_of_them_at_once() {
    let given = Trusting::new().await;
    let tokens = [given.exchanged().await, given.exchanged().await];
    for token in &tokens {
        token.get("/companies/acme/").await.expect(200);
    }
    given.owner.delete(&given.uri).await.expect(204);
    for token in &tokens {
        token.get("/companies/acme/").await.expect_code(401, "invalid_credential");
    }
    given.exchange(&given.jwt()).await.expect_code(400, "not_exchanged");
}

#[tokio::test]
async fn a_named_token_past_its_end_is_exchanged_no_more_and_deleted_with_its_trust() {
    // The clock of the tests begins two hours before.
    let given = Trusting::with(json!({ "expires_at": "2026-11-08T12:00:00Z" })).await;
    let token = given.exchanged().await;
    given.app.clock().advance(TimeDelta::hours(2));
    token.get("/companies/acme/").await.expect_code(401, "invalid_credential");
    given.exchange(&given.jwt()).await.expect_code(400, "not_exchanged");
    given.app.clock().advance(TimeDelta::days(30));
    assert_eq!(given.app.sweep().await["RetentionFunction"]["tokens"], 1);
    let stored = given.app.table().contents().await.into_keys();
    assert_eq!(stored.filter(|(pk, _)| pk.starts_with("TRUSTS#")).count(), 0);
    given.app.assert_sound();
}

#[tokio::test]
async fn an_exchange_that_a_deletion_overtakes_opens_nothing() {
    let (app, chaos) = tests::app::TestApp::start_with_chaos().await;
    let given = Trusting::on(app, json!({})).await;
    // The token is stored after the deletion, whose request began later.
    given.exchanged().await;
    given.app.app().finish_background().await;
    let held = chaos.pause("PutItem");
    let jwt = given.jwt();
    let exchange = async { given.exchange(&jwt).await };
    let deletion = async {
        held.reached().await;
        given.owner.delete(&given.uri).await.expect(204);
        held.resume();
    };
    let (answer, ()) = tokio::join!(exchange, deletion);
    let token = given.app.token(&answer.expect(200).uri("access_token"));
    token.get("/companies/acme/").await.expect_code(401, "invalid_credential");
}

#[tokio::test]
async fn invalidating_one_ends_it_alone_even_if_it_may_only_read() {
    for read_only in [false, true] {
        let given = Trusting::with(json!({ "read_only": read_only })).await;
        let [one, other] = [given.exchanged().await, given.exchanged().await];
        let label = one.post("/companies/acme/labels/", json!({ "text": "Senior" })).await;
        label.expect(if read_only { 403 } else { 201 });
        one.send(Request::post("/api-token-invalidate/")).await.expect(204);
        one.get("/whoami/").await.expect_code(401, "invalid_credential");
        one.send(Request::post("/api-token-invalidate/")).await.expect_code(401, "invalid_credential");
        other.get("/whoami/").await.expect(200);
    }
}

#[tokio::test]
async fn it_ends_with_its_hour_and_with_the_end_of_the_named_token() {
    let given = Trusting::with(json!({ "expires_at": "2026-11-08T11:30:00Z" })).await;
    let first = given.exchanged().await;
    given.app.clock().advance(TimeDelta::minutes(60) - TimeDelta::seconds(1));
    first.get("/whoami/").await.expect(200);
    let last = given.exchanged().await;
    given.app.clock().advance(TimeDelta::seconds(1));
    first.get("/whoami/").await.expect_code(401, "invalid_credential");
    given.app.clock().advance(TimeDelta::minutes(30) - TimeDelta::seconds(1));
    last.get("/whoami/").await.expect(200);
    given.app.clock().advance(TimeDelta::seconds(1));
    last.get("/whoami/").await.expect_code(401, "invalid_credential");
    given.exchange(&given.jwt()).await.expect_code(400, "not_exchanged");
}

#[tokio::test]
async fn the_end_of_a_contract_ends_them_with_the_tokens_of_the_company() {
    let given = Trusting::new().await;
    let token = given.exchanged().await;
    let command = json!({ "command": "erase-company", "company": "acme", "confirm": "acme" });
    given.app.operate(command).await.unwrap();
    token.get("/companies/acme/").await.expect(401);
    given.exchange(&given.jwt()).await.expect_code(400, "not_exchanged");
}

#[tokio::test]
async fn a_changed_secret_is_no_token_and_neither_is_that_of_another_company() {
    let given = Trusting::new().await;
    let token = given.exchanged().await;
    for wrong in [
        token.secret[..token.secret.len() - 1].to_owned(),
        format!("{}A", token.secret),
        token.secret.to_uppercase(),
        token.secret.replacen("ivx_", "ivt_", 1),
        token.secret.replacen("ivx_", "ivn_", 1),
        "ivx_".to_owned(),
        "ivx_AAAA".to_owned(),
    ] {
        given.app.token(&wrong).get("/whoami/").await.expect_code(401, "invalid_credential");
    }
    token.get("/companies/globex/").await.expect(404);
    // It is no value that a client may choose, and no subject token.
    let chosen = json!({ "name": "Chosen", "value": token.secret });
    given.owner.post(super::TOKENS, chosen).await.expect(400);
    let request = Request::post(EXCHANGE).json(&parameters(&token.secret, &given.uri));
    given.app.send(request).await.expect_code(400, "not_exchanged");
}
