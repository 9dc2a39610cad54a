//! Answers that no provider has given to this browser. Beside each attack, a good sign-in succeeds.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::TimeDelta;
use ring::hmac;
use serde_json::json;
use shared::clock::Clock as _;
use tests::app::TestApp;
use tests::http::Request;
use tests::issuer::{SigningAlgorithm, SigningKey, TestIssuer};

use super::{Acme, CALLBACK, REDIRECT_URI, assert_refused, session_in};

/// A company with Ada, who may sign in.
async fn with_ada() -> Acme {
    let given = Acme::new().await;
    given.colleague("recruiter", &given.ada).await;
    given
}

/// Makes sure that this ID token lets nobody in, and that Ada gets in by a good one of the same sign-in page.
async fn assert_id_token_refused(given: &Acme, make: impl Fn(&super::Begun) -> String) {
    let begun = given.begin().await;
    let code = given.issuer.issue_code(&begun.request, make(&begun));
    assert_refused(&given.end(&begun, &code).await, "sign_in_refused", Some("acme"));
    given.assert_works().await;
}

#[tokio::test]
async fn the_browser_is_sent_to_the_provider_with_a_fresh_state_nonce_and_challenge() {
    let given = with_ada().await;
    let [first, second] = [given.begin().await, given.begin().await];
    let of = |name: &str| first.request.parameters[name].as_str();
    assert_eq!((of("response_type"), of("client_id"), of("scope")), ("code", "interviews", "openid email"));
    assert_eq!((of("redirect_uri"), of("code_challenge_method")), (REDIRECT_URI, "S256"));
    assert_eq!(of("tenant"), "acme", "the provider's own parameters stay");
    for value in [&first.request.state, &first.request.nonce, &first.request.challenge] {
        assert_eq!(value.len(), 43);
        assert!(!format!("{:?}", second.request).contains(value.as_str()));
        assert!(!first.cookie.contains(value.as_str()), "it is sealed");
    }
    let begun = given.app.send(Request::get(super::SIGN_IN)).await.expect(302);
    let cookie = begun.header("set-cookie").unwrap();
    assert!(cookie.starts_with("__Host-sign-in-"), "{cookie}");
    assert!(cookie.ends_with("; Max-Age=600; HttpOnly; Secure; SameSite=Lax; Path=/"), "{cookie}");
    assert_eq!(begun.header("referrer-policy"), Some("no-referrer"));
}

#[tokio::test]
async fn id_tokens_that_nobody_or_somebody_else_has_signed_are_refused() {
    let given = with_ada().await;
    let encoded = |value: &serde_json::Value| URL_SAFE_NO_PAD.encode(value.to_string());
    // Without a signature, by whatever name.
    for alg in ["none", "None", "NONE", ""] {
        assert_id_token_refused(&given, |begun| {
            let claims = given.claims(begun, json!({}));
            format!("{}.{}.", encoded(&json!({ "alg": alg, "kid": "first" })), encoded(&claims))
        })
        .await;
    }
    // With the public key as the secret of a MAC.
    assert_id_token_refused(&given, |begun| {
        let header = json!({ "alg": "HS256", "kid": "first", "typ": "JWT" });
        let signed = format!("{}.{}", encoded(&header), encoded(&given.claims(begun, json!({}))));
        let key = hmac::Key::new(hmac::HMAC_SHA256, given.key.jwk().to_string().as_bytes());
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(hmac::sign(&key, signed.as_bytes())))
    })
    .await;
    // By another key of the same name.
    let other = SigningKey::new("first", SigningAlgorithm::Es256);
    assert_id_token_refused(&given, |begun| other.sign(&given.claims(begun, json!({})))).await;
    // Signed before it was changed.
    assert_id_token_refused(&given, |begun| {
        let signed = given.key.sign(&given.claims(begun, json!({ "sub": "evil" })));
        let signature = signed.rsplit('.').next().unwrap();
        let header = signed.split('.').next().unwrap();
        format!("{header}.{}.{signature}", encoded(&given.claims(begun, json!({}))))
    })
    .await;
    assert_id_token_refused(&given, |_| "no token at all".to_owned()).await;
}

#[tokio::test]
async fn id_tokens_for_others_or_another_time_are_refused() {
    let given = with_ada().await;
    let url = given.issuer.url.clone();
    let wrong = |now: i64| {
        [
            json!({ "iss": "https://accounts.google.com" }),
            json!({ "iss": format!("{url}/") }),
            json!({ "iss": null }),
            json!({ "aud": "another-client" }),
            json!({ "aud": ["interviews", "another-client"] }),
            json!({ "aud": null }),
            json!({ "azp": "another-client" }),
            json!({ "azp": ["interviews"] }),
            json!({ "nonce": "of another sign-in" }),
            json!({ "nonce": null }),
            json!({ "exp": now - 61 }),
            json!({ "exp": null }),
            json!({ "iat": now + 120 }),
            json!({ "nbf": now + 120 }),
            json!({ "iat": now - 2 * 86_400 }),
        ]
    };
    for case in 0..wrong(0).len() {
        // Ten failures within 15 minutes are too many.
        given.app.clock().advance(TimeDelta::minutes(2));
        let changes = wrong(given.app.clock().now().timestamp())[case].clone();
        assert_id_token_refused(&given, |begun| given.key.sign(&given.claims(begun, changes.clone()))).await;
    }
    // What a provider may send is accepted.
    given.sign_in(json!({ "azp": "interviews", "aud": ["interviews"] })).await.expect(302);
}

#[tokio::test]
async fn a_sign_in_ends_in_the_browser_that_began_it_alone() {
    let given = with_ada().await;
    let [victim, attacker] = [given.begin().await, given.begin().await];
    // The attacker has a code of their own account, and sends the victim's browser to the callback with it.
    let code = given.code(&attacker, json!({}));
    let back = format!("{CALLBACK}?state={}&code={code}", attacker.request.state);
    for cookie in ["", &*victim.cookie] {
        let ended = given.app.send(Request::get(&back).header("cookie", cookie)).await;
        assert_refused(&ended, "sign_in_expired", Some("acme"));
    }
    // With the state of the victim's sign-in, the code is one of another challenge and nonce.
    let ended = given.end(&victim, &code).await;
    assert_refused(&ended, "sign_in_refused", Some("acme"));
    // A cookie under the name of another state opens nothing either.
    let (name, _) = victim.cookie.split_once('=').unwrap();
    let (_, sealed) = attacker.cookie.split_once('=').unwrap();
    let moved = super::Begun { cookie: format!("{name}={sealed}"), ..victim.clone() };
    assert_refused(&given.end(&moved, "code").await, "sign_in_expired", Some("acme"));
    for forged in ["x", "a.b", ""] {
        let forged = super::Begun { cookie: format!("{name}={forged}"), ..victim.clone() };
        assert_refused(&given.end(&forged, "code").await, "sign_in_expired", Some("acme"));
    }
    given.assert_works().await;
}

#[tokio::test]
async fn an_answer_without_the_right_state_or_after_ten_minutes_ends_nothing() {
    let given = with_ada().await;
    let begun = given.begin().await;
    let code = given.code(&begun, json!({}));
    let state = &begun.request.state;
    for (query, refused) in [
        (format!("code={code}"), "sign_in_expired"),
        (format!("state=&code={code}"), "sign_in_expired"),
        (format!("state={state}x&code={code}"), "sign_in_expired"),
        (format!("state={state}&state={state}&code={code}"), "sign_in_refused"),
        (format!("state={state}&code={code}&code=evil"), "sign_in_refused"),
    ] {
        let back = Request::get(&format!("{CALLBACK}?{query}")).header("cookie", &begun.cookie);
        assert_refused(&given.app.send(back).await, refused, Some("acme"));
    }
    given.app.clock().advance(TimeDelta::minutes(10) - TimeDelta::seconds(1));
    let late = given.begin().await;
    let of_late = given.code(&late, json!({}));
    given.app.clock().advance(TimeDelta::seconds(1));
    assert_refused(&given.end(&begun, &code).await, "sign_in_expired", Some("acme"));
    let ended = given.end(&late, &of_late).await.expect(302);
    assert!(session_in(&ended).is_some());
}

#[tokio::test]
async fn a_code_is_redeemed_once_and_the_cookie_is_cleared_in_every_case() {
    let given = with_ada().await;
    let begun = given.begin().await;
    let code = given.code(&begun, json!({}));
    let (name, _) = begun.cookie.split_once('=').unwrap();
    let cleared = format!("{name}=; Max-Age=0; HttpOnly; Secure; SameSite=Lax; Path=/");
    let answers = [
        (
            given.end_with(&begun, "error=access_denied&error_description=%3Cscript%3E").await,
            "sign_in_refused",
        ),
        (given.end(&begun, "made-up").await, "sign_in_refused"),
        (given.end(&begun, &code).await.expect(302), ""),
        (given.end(&begun, &code).await, "sign_in_refused"),
    ];
    for (answer, refused) in answers {
        let set: Vec<_> = answer.headers.get_all("set-cookie").iter().collect();
        assert!(set.iter().any(|cookie| cookie.as_bytes() == cleared.as_bytes()), "{answer}");
        match refused {
            "" => assert!(session_in(&answer).is_some(), "{answer}"),
            code => assert_refused(&answer, code, Some("acme")),
        }
    }
}

#[tokio::test]
async fn an_answer_of_another_provider_is_not_redeemed_at_this_one() {
    let mut given = with_ada().await;
    given.issuer.configure(json!({ "authorization_response_iss_parameter_supported": true }));
    given.app.clock().advance(TimeDelta::minutes(10));
    let begun = given.begin().await;
    let code = given.code(&begun, json!({}));
    let asked = given.issuer.token_requests();
    for parameters in [format!("code={code}"), format!("code={code}&iss=https://evil.example")] {
        assert_refused(&given.end_with(&begun, &parameters).await, "sign_in_refused", Some("acme"));
    }
    assert_eq!(given.issuer.token_requests(), asked);
    given.end_with(&begun, &format!("code={code}&iss={}", given.issuer.url)).await.expect(302);
    // The company has changed its provider meanwhile.
    let begun = given.begin().await;
    let code = given.code(&begun, json!({}));
    let second = TestIssuer::start(&[&given.key]).await;
    given.owner_again().await;
    given.set(json!({ "issuer": second.url })).await.expect(200);
    assert_refused(&given.end_with(&begun, &format!("code={code}")).await, "sign_in_expired", Some("acme"));
    assert_eq!((second.token_requests(), given.issuer.token_requests()), (0, asked + 1));
}

#[tokio::test]
async fn programs_get_the_error_that_people_read_on_a_page() {
    let given = Acme::without_provider(TestApp::start().await).await;
    let begin = Request::get(super::SIGN_IN).header("accept", "application/json");
    given.app.send(begin.clone()).await.expect_code(400, "sign_in_unavailable");
    given
        .app
        .send(Request::get("/sign-in/nobody/").header("accept", "application/json"))
        .await
        .expect_code(400, "sign_in_unavailable");
    assert_refused(
        &given.app.send(Request::get("/sign-in/nobody/")).await,
        "sign_in_unavailable",
        Some("nobody"),
    );
    assert_refused(&given.app.send(Request::get("/sign-in/No%20name/")).await, "sign_in_unavailable", None);
    let back = Request::get(&format!("{CALLBACK}?state=x&code=y")).header("accept", "application/json");
    given.app.send(back).await.expect_code(400, "sign_in_expired");
}
