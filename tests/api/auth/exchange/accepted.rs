//! The answer to an exchange, and the rights of its token.

use chrono::TimeDelta;
use serde_json::{Value, json};
use shared::clock::Clock as _;
use tests::app::TestApp;
use tests::caller::Caller;
use tests::http::Request;
use tests::issuer::{Platform, SigningAlgorithm, SigningKey, TestIssuer};

use super::{BASE, EXCHANGE, TOKENS, Trusting, parameters};

#[tokio::test]
async fn the_jwt_of_every_platform_is_exchanged_by_every_algorithm_as_json_and_as_a_form() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    for platform in Platform::ALL {
        // A company has few issuers asked at a time.
        app.clock().advance(TimeDelta::minutes(15));
        for algorithm in SigningAlgorithm::ALL {
            let key = SigningKey::new("k1", algorithm);
            let issuer = TestIssuer::start(&[&key]).await;
            let body = json!({ "name": "CI", "trust": platform.trust(&issuer.url) });
            let created = owner.post(TOKENS, body.clone()).await.expect(201);
            assert_eq!(created.json().get("value"), None, "{created}");
            let mut trust = body["trust"].clone();
            trust["is_imported"] = false.into();
            assert_eq!((&created.json()["trust"], &created.json()["last_problem"]), (&trust, &Value::Null));
            let uri = created.uri("resource_uri");
            owner.get(&uri).await.expect_json(200, created.json());

            let jwt = key.sign(&platform.claims(&issuer.url, BASE, app.clock().now()));
            let sent = parameters(&jwt, &uri);
            let form = url::form_urlencoded::Serializer::new(String::new())
                .extend_pairs(
                    sent.as_object().unwrap().iter().map(|(name, value)| (name, value.as_str().unwrap())),
                )
                .finish();
            for request in [
                Request::post(EXCHANGE).json(&sent),
                Request::post(EXCHANGE).body("application/x-www-form-urlencoded; charset=UTF-8", form),
            ] {
                let answer = app.send(request).await.expect(200);
                assert_eq!(answer.header("cache-control"), Some("private, no-store"));
                let secret = answer.uri("access_token");
                assert!(secret.starts_with("ivx_"), "{secret}");
                answer.expect_json(
                    200,
                    json!({
                        "access_token": secret,
                        "issued_token_type": "urn:ietf:params:oauth:token-type:access_token",
                        "token_type": "Token",
                        "expires_in": 3600,
                    }),
                );
                app.token(&secret).get("/companies/acme/").await.expect(200);
            }
            // Both looks at the issuer were enough for creation and exchanges.
            assert_eq!(issuer.requests(), 2);
            owner.delete(&uri).await.expect(204);
        }
    }
}

#[tokio::test]
async fn the_token_is_the_named_token_but_for_its_own_end() {
    let given = Trusting::with(json!({ "account_type": "admin" })).await;
    let token = given.exchanged().await;
    let whoami = token.get("/whoami/").await.expect(200).json();
    assert_eq!((&whoami["kind"], &whoami["resource"]), (&json!("named_token"), &Value::Null));
    assert_eq!(whoami["token"], json!({ "kind": "named", "expires_at": "2026-11-08T11:00:00Z" }));
    assert_eq!(whoami["rights"]["account_type"], "admin");
    // Others know the named token alone.
    let label = token.post("/companies/acme/labels/", json!({ "text": "Senior" })).await.expect(201);
    assert!(label.log().caller.starts_with("token "), "{:?}", label.log());
    given.app.settle().await;
    let by = format!("/companies/acme/events/?by={}", given.uri);
    let events = given.owner.get(&by).await.expect(200).json();
    assert_eq!(events["objects"][0]["type"], "label.created");
    assert_eq!(events["objects"][0]["by"]["resource_uri"], given.uri, "{events}");
    given.app.app().finish_background().await;
    let shown = given.owner.get(&given.uri).await.expect(200).json();
    assert_eq!(shown["last_used_at"], "2026-11-08T00:00:00Z");
    assert_eq!(shown["exchanged_at"], "2026-11-08T00:00:00Z");
    // A retry with the token of another exchange is the same request.
    let request = || {
        Request::post("/companies/acme/labels/")
            .json(&json!({ "text": "Once" }))
            .header("idempotency-key", "1")
    };
    token.send(request()).await.expect(201);
    let again = given.exchanged().await.send(request()).await.expect(201);
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
}

#[tokio::test]
async fn a_jwt_may_be_exchanged_twice_and_the_token_lives_as_long_as_the_shortest_of_three() {
    let given = Trusting::with(json!({ "expires_at": "2026-11-08T12:00:00Z" })).await;
    let expires_in = async |claims: Value| {
        given.exchange(&given.key.sign(&claims)).await.expect(200).json()["expires_in"].as_i64().unwrap()
    };
    let now = given.app.clock().now().timestamp();
    let jwt = given.jwt();
    let secrets =
        [given.exchange(&jwt).await, given.exchange(&jwt).await].map(|answer| answer.uri("access_token"));
    assert_ne!(secrets[0], secrets[1]);
    assert_eq!(expires_in(given.claims_with(json!({ "exp": now + 86_400 }))).await, 3600);
    // An hour after the end of the JWT, which may have ended a moment ago by another clock.
    assert_eq!(expires_in(given.claims_with(json!({ "exp": now }))).await, 3600);
    assert_eq!(expires_in(given.claims_with(json!({ "exp": now - 59 }))).await, 3541);
    // The end of the named token.
    given.app.clock().advance(TimeDelta::minutes(90));
    assert_eq!(expires_in(given.claims()).await, 1800);
}

#[tokio::test]
async fn a_token_of_its_own_decides_where_several_trust_the_workload() {
    let given = Trusting::new().await;
    let trust = Platform::GitHub.trust(&given.issuer.url);
    let read_only = json!({ "name": "Report", "read_only": true, "trust": trust });
    let other = given.owner.post(TOKENS, read_only).await.expect(201).uri("resource_uri");
    given.exchange(&given.jwt()).await.expect_code(400, "not_exchanged");
    assert_eq!(given.last_problem().await, "several_tokens");
    for (uri, is_read_only) in [(&given.uri, false), (&other, true)] {
        for resource in [uri.as_str(), uri.trim_end_matches('/')] {
            let request = Request::post(EXCHANGE).json(&parameters(&given.jwt(), resource));
            let token = given.app.token(&given.app.send(request).await.expect(200).uri("access_token"));
            let whoami = token.get("/whoami/").await.expect(200).json();
            assert_eq!(whoami["rights"]["read_only"], is_read_only);
        }
    }
    // One that has ended no longer counts.
    given.owner.delete(&other).await.expect(204);
    given.exchange(&given.jwt()).await.expect(200);
}

#[tokio::test]
async fn an_exchange_is_four_calls_at_most_and_a_request_one() {
    let given = Trusting::new().await;
    let first = given.exchange(&given.jwt()).await.expect(200);
    given.app.app().finish_background().await;
    // The failures, the tokens, the new one, and once a day the day.
    assert_eq!(first.log().dynamodb_calls, 4);
    let second = given.exchange(&given.jwt()).await.expect(200);
    assert_eq!(second.log().dynamodb_calls, 3);
    let token = given.app.token(&second.uri("access_token"));
    assert_eq!(token.get("/companies/acme/").await.expect(200).log().dynamodb_calls, 2);
    given.app.app().finish_background().await;
    for target in ["/companies/acme/", "/whoami/"] {
        assert_eq!(token.get(target).await.expect(200).log().dynamodb_calls, 1);
    }
}
