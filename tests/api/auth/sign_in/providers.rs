//! Providers that are slow, dead or lie, and strangers who make the service ask one.

use chrono::TimeDelta;
use serde_json::json;
use tests::http::Request;
use tests::issuer::{IssuerMode, SigningAlgorithm, SigningKey, TestIssuer, TokenMode};

use super::{Acme, SIGN_IN, assert_refused};

#[tokio::test]
async fn a_token_endpoint_that_fails_or_lies_lets_nobody_in() {
    let given = Acme::new().await;
    given.colleague("recruiter", &given.ada).await;
    let elsewhere = TestIssuer::start(&[&given.key]).await;
    for (mode, code) in [
        (TokenMode::Fails, "sign_in_unreachable"),
        (TokenMode::Floods, "sign_in_unreachable"),
        (TokenMode::Page, "sign_in_unreachable"),
        (TokenMode::Hangs, "sign_in_unreachable"),
        (TokenMode::RedirectsTo(format!("{}/token", elsewhere.url)), "sign_in_unreachable"),
        (TokenMode::Sends("made up".to_owned()), "sign_in_refused"),
    ] {
        given.issuer.set_token_mode(mode);
        let refused = given.sign_in(json!({})).await;
        assert_refused(&refused, code, Some("acme"));
        given.issuer.set_token_mode(TokenMode::Works);
        given.assert_works().await;
    }
    assert_eq!(elsewhere.token_requests(), 0);
}

#[tokio::test]
async fn the_client_authenticates_as_the_provider_offers() {
    let mut given = Acme::new().await;
    given.colleague("recruiter", &given.ada).await;
    for methods in [
        json!(["client_secret_post"]),
        json!(["private_key_jwt", "client_secret_post", "client_secret_basic"]),
    ] {
        given.issuer.configure(json!({ "token_endpoint_auth_methods_supported": methods }));
        given.app.clock().advance(TimeDelta::minutes(10));
        given.assert_works().await;
    }
    given.owner_again().await;
    given.set(json!({ "client_secret": "another-secret" })).await.expect(200);
    // It is the same for everybody, so it tells nothing of the person.
    assert_refused(&given.sign_in(json!({})).await, "sign_in_unreachable", Some("acme"));
}

#[tokio::test]
async fn a_dead_provider_is_told_and_asked_once_a_minute() {
    let given = Acme::new().await;
    given.colleague("recruiter", &given.ada).await;
    given.issuer.set_mode(IssuerMode::Fails);
    // Its configuration is known for an hour.
    given.app.clock().advance(TimeDelta::minutes(59));
    given.begin().await;
    given.app.clock().advance(TimeDelta::minutes(2));
    let asked = given.issuer.requests();
    for _ in 0..5 {
        assert_refused(&given.app.send(Request::get(SIGN_IN)).await, "sign_in_unreachable", Some("acme"));
    }
    assert!(given.issuer.requests() - asked <= 1);
    given.issuer.set_mode(IssuerMode::Works);
    given.app.clock().advance(TimeDelta::minutes(1));
    given.assert_works().await;
}

#[tokio::test]
async fn strangers_who_begin_sign_ins_in_a_loop_have_the_provider_asked_twice() {
    let given = Acme::new().await;
    given.app.clock().advance(TimeDelta::minutes(10));
    let asked = given.issuer.requests();
    for _ in 0..20 {
        given.begin().await;
    }
    assert_eq!((given.issuer.requests() - asked, given.issuer.token_requests()), (2, 0));
}

#[tokio::test]
async fn strangers_who_make_codes_up_are_stopped_and_others_sign_in() {
    let given = Acme::new().await;
    given.colleague("recruiter", &given.ada).await;
    let from = async |source: &str, code: &str, begun: &super::Begun| {
        let back = format!("{}?state={}&code={code}", super::CALLBACK, begun.request.state);
        given.app.send(Request::get(&back).header("cookie", &begun.cookie).from_source(source)).await
    };
    let begun = given.begin().await;
    for number in 0..12 {
        let refused = from("192.0.2.1", "made-up", &begun).await;
        let code = if number < 10 { "sign_in_refused" } else { "sign_in_limited" };
        assert_refused(&refused, code, Some("acme"));
    }
    assert_eq!(given.issuer.token_requests(), 10);
    // Sign-ins that succeed do not count.
    for _ in 0..12 {
        let begun = given.begin().await;
        let code = given.code(&begun, json!({}));
        from("192.0.2.2", &code, &begun).await.expect(302);
    }
    given.app.clock().advance(TimeDelta::minutes(15));
    let begun = given.begin().await;
    let code = given.code(&begun, json!({}));
    from("192.0.2.1", &code, &begun).await.expect(302);
}

#[tokio::test]
async fn a_key_that_the_provider_does_not_have_makes_one_look_a_minute() {
    let given = Acme::new().await;
    given.colleague("recruiter", &given.ada).await;
    let unknown = SigningKey::new("unknown", SigningAlgorithm::Es256);
    let asked = given.issuer.requests();
    for _ in 0..5 {
        let begun = given.begin().await;
        let code = given.issuer.issue_code(&begun.request, unknown.sign(&given.claims(&begun, json!({}))));
        assert_refused(&given.end(&begun, &code).await, "sign_in_refused", Some("acme"));
    }
    assert!(given.issuer.requests() - asked <= 2);
    given.assert_works().await;
    // A new key of the provider is found.
    given.issuer.publish(&[&given.key, &unknown]);
    given.app.clock().advance(TimeDelta::minutes(1));
    let begun = given.begin().await;
    let code = given.issuer.issue_code(&begun.request, unknown.sign(&given.claims(&begun, json!({}))));
    given.end(&begun, &code).await.expect(302);
}

#[tokio::test]
async fn addresses_in_the_configuration_are_checked_each_time() {
    let given = Acme::new().await;
    given.colleague("recruiter", &given.ada).await;
    for members in [
        json!({ "token_endpoint": "https://10.0.0.1/token" }),
        json!({ "token_endpoint": "https://169.254.169.254/latest/meta-data/" }),
        json!({ "token_endpoint": "http://login.example/token" }),
        json!({ "authorization_endpoint": "javascript:alert(1)" }),
        json!({ "authorization_endpoint": "https://user:password@login.example/" }),
    ] {
        given.issuer.configure(members);
        given.app.clock().advance(TimeDelta::minutes(10));
        assert_refused(&given.app.send(Request::get(SIGN_IN)).await, "sign_in_unreachable", Some("acme"));
    }
    given.issuer.configure(json!({}));
    given.app.clock().advance(TimeDelta::minutes(10));
    given.assert_works().await;
}
