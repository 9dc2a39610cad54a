//! Issuers that rotate keys, are slow, dead or lie, while tokens are in use.

use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::caller::Caller;
use tests::issuer::{IssuerMode, Platform, SigningAlgorithm, SigningKey, TestIssuer};

use super::{TOKENS, Trusting};

#[tokio::test]
async fn a_rotated_key_is_found_at_once_and_a_withdrawn_one_works_for_ten_minutes() {
    let given = Trusting::new().await;
    let second = SigningKey::new("second", SigningAlgorithm::Es384);
    let third = SigningKey::new("third", SigningAlgorithm::Es256);
    let by = async |key: &SigningKey| given.exchange(&key.sign(&given.claims())).await.status.as_u16();
    let asked = given.issuer.requests();
    assert_eq!((by(&given.key).await, by(&second).await), (200, 400));
    // The look for the unknown key was the one of this minute.
    given.issuer.publish(&[&given.key, &second]);
    assert_eq!((by(&second).await, given.issuer.requests() - asked), (400, 0));
    given.app.clock().advance(TimeDelta::minutes(1));
    assert_eq!((by(&second).await, given.issuer.requests() - asked), (200, 2));
    // Known keys need no look, whatever else is tried.
    given.issuer.publish(&[&second, &third]);
    for _ in 0..3 {
        assert_eq!((by(&given.key).await, by(&second).await, by(&third).await), (200, 200, 400));
    }
    assert_eq!(given.issuer.requests() - asked, 2);
    given.app.clock().advance(TimeDelta::minutes(10) - TimeDelta::seconds(1));
    assert_eq!(by(&given.key).await, 200);
    given.app.clock().advance(TimeDelta::seconds(1));
    assert_eq!((by(&given.key).await, by(&third).await), (400, 200));
    assert_eq!(given.issuer.requests() - asked, 4);
}

#[tokio::test]
async fn a_dead_issuer_costs_one_look_a_minute_and_its_keys_do_for_an_hour() {
    let given = Trusting::new().await;
    let token = given.exchanged().await;
    given.issuer.set_mode(IssuerMode::Fails);
    let asked = given.issuer.requests();
    given.app.clock().advance(TimeDelta::minutes(10));
    for _ in 0..3 {
        given.exchange(&given.jwt()).await.expect(200);
    }
    assert_eq!(given.issuer.requests() - asked, 1);
    given.app.clock().advance(TimeDelta::minutes(50) - TimeDelta::seconds(1));
    given.exchange(&given.jwt()).await.expect(200);
    // Tokens that were made ask nobody.
    token.get("/companies/acme/").await.expect(200);
    assert_eq!(given.last_problem().await, Value::Null);
    given.app.clock().advance(TimeDelta::seconds(1));
    let asked = given.issuer.requests();
    for number in 0..3 {
        let refused = given.exchange_from(&format!("192.0.2.{number}"), &given.jwt()).await;
        refused.expect_code(400, "not_exchanged");
    }
    assert!(given.issuer.requests() - asked <= 1);
    assert_eq!(given.last_problem().await, "issuer_unreachable");
    // It is found again within a minute, and the problem stays for the owner to see.
    given.issuer.set_mode(IssuerMode::Works);
    given.app.clock().advance(TimeDelta::minutes(1));
    given.exchange(&given.jwt()).await.expect(200);
    assert_eq!(given.last_problem().await, "issuer_unreachable");
}

#[tokio::test]
async fn an_issuer_that_begins_to_lie_makes_nothing_valid_and_its_former_keys_do_for_an_hour() {
    let given = Trusting::new().await;
    let other = SigningKey::new(&given.key.id, SigningAlgorithm::Es256);
    let elsewhere = TestIssuer::start(&[&other]).await;
    for mode in [
        IssuerMode::CallsItself("https://accounts.google.com".to_owned()),
        IssuerMode::RedirectsTo(elsewhere.url.clone()),
        IssuerMode::Page,
        IssuerMode::Missing,
        IssuerMode::Floods,
    ] {
        given.issuer.set_mode(mode.clone());
        given.app.clock().advance(TimeDelta::minutes(10));
        given.exchange(&given.jwt()).await.expect(200);
        let by_other = given.exchange_from("192.0.2.9", &other.sign(&given.claims())).await;
        assert_eq!(by_other.status, 400, "{mode:?}");
    }
    assert_eq!(elsewhere.requests(), 0);
}

#[tokio::test]
async fn issuers_that_hang_hold_up_an_exchange_for_five_seconds_and_nobody_else() {
    let given = Trusting::new().await;
    let slow = async |mode: IssuerMode, name: &str| {
        let key = SigningKey::new("k", SigningAlgorithm::Es256);
        let issuer = TestIssuer::start(&[&key]).await;
        let mut trust = Platform::GitHub.trust(&issuer.url);
        trust["subject"] = name.into();
        let body = json!({ "name": name, "trust": trust });
        let uri = given.owner.post(TOKENS, body).await.expect(201).uri("resource_uri");
        issuer.set_mode(mode);
        (key, issuer, uri)
    };
    let hanging = [slow(IssuerMode::Hangs, "hangs").await, slow(IssuerMode::Drips, "drips").await];
    given.app.clock().advance(TimeDelta::minutes(70));
    let exchanges = hanging.iter().map(|(key, issuer, _)| {
        let jwt = key.sign(&given.claims_with(json!({ "iss": issuer.url })));
        let given = &given;
        async move { given.exchange(&jwt).await }
    });
    let waiting = futures_util::future::join_all(exchanges);
    let others = async {
        // Meanwhile, the issuer of others is asked as well.
        given.exchange(&given.jwt()).await.expect(200);
    };
    let (answers, ()) = tokio::join!(waiting, others);
    for answer in answers {
        answer.expect_code(400, "not_exchanged");
    }
    for (_, _, uri) in &hanging {
        let problem = given.owner.get(uri).await.expect(200).json()["last_problem"]["code"].clone();
        assert_eq!(problem, "issuer_unreachable");
    }
}

#[tokio::test]
async fn keys_that_are_weak_or_for_something_else_verify_nothing() {
    let given = Trusting::new().await;
    let key = SigningKey::new("k", SigningAlgorithm::Es256);
    let changed = |changed: Value| {
        let mut jwk = key.jwk();
        for (name, value) in changed.as_object().unwrap() {
            match value {
                Value::Null => drop(jwk.as_object_mut().unwrap().remove(name)),
                value => jwk[name] = value.clone(),
            }
        }
        jwk
    };
    for (number, jwk) in [
        changed(json!({ "use": "enc" })),
        changed(json!({ "alg": "ES384" })),
        changed(json!({ "alg": "ECDH-ES" })),
        changed(json!({ "key_ops": ["sign"] })),
        changed(json!({ "crv": "P-384" })),
        changed(json!({ "crv": "secp256k1" })),
        changed(json!({ "kid": null })),
        changed(json!({ "x": "AA" })),
        changed(json!({ "kty": "oct", "k": "AAAA" })),
    ]
    .into_iter()
    .enumerate()
    {
        given.issuer.publish_set(vec![given.key.jwk(), jwk.clone()]);
        given.app.clock().advance(TimeDelta::minutes(10));
        given.exchange(&given.jwt()).await.expect(200);
        let answer = given.exchange_from(&format!("10.0.{number}.1"), &key.sign(&given.claims())).await;
        assert_eq!(answer.status, 400, "{jwk}");
    }
    for good in [
        changed(json!({ "use": null, "alg": null })),
        changed(json!({ "key_ops": ["verify"] })),
        changed(json!({ "x5c": [], "madeup": 1 })),
    ] {
        given.issuer.publish_set(vec![json!({ "kty": "RSA" }), json!("x"), good]);
        given.app.clock().advance(TimeDelta::minutes(10));
        given.exchange(&key.sign(&given.claims())).await.expect(200);
    }
}
