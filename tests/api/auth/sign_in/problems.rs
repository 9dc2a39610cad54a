//! What owners read about faults of the provider and of the settings.

use chrono::{SecondsFormat, TimeDelta};
use serde_json::{Value, json};
use shared::clock::Clock as _;
use tests::caller::Caller;
use tests::http::Request;
use tests::issuer::{IssuerMode, SigningAlgorithm, SigningKey, TestIssuer, TokenMode};

use super::{Acme, CALLBACK, SETTINGS, SIGN_IN, assert_refused, session_in};

impl Acme {
    /// The last problem, as owners read it.
    async fn last_problem(&self) -> Value {
        self.owner.get(SETTINGS).await.expect(200).json()["last_problem"].clone()
    }

    /// The number of writes of the settings.
    async fn writes(&self) -> u64 {
        let items = self.app.table().snapshot().await;
        let (_, settings) = items.iter().find(|((_, sk), _)| sk == "SIGN_IN").unwrap();
        settings["version"].as_u64().unwrap()
    }

    /// Has the service read the configuration again at the next sign-in.
    async fn forget_configuration(&mut self) {
        self.app.clock().advance(TimeDelta::minutes(10));
        self.owner_again().await;
    }
}

fn unreachable(response: &tests::http::Response) {
    assert_refused(response, "sign_in_unreachable", Some("acme"));
}

#[tokio::test]
async fn owners_read_what_is_wrong_with_the_secret_until_they_change_it() {
    let given = Acme::new().await;
    given.colleague("recruiter", &given.ada).await;
    assert_eq!(given.last_problem().await, Value::Null);
    given.set(json!({ "client_secret": "mistyped" })).await.expect(200);
    unreachable(&given.sign_in(json!({})).await);
    let at = given.app.clock().now().to_rfc3339_opts(SecondsFormat::Secs, true);
    let problem = json!({ "code": "client_refused", "at": at });
    assert_eq!(given.last_problem().await, problem);
    // These settings are the same, and so is their problem.
    let same = given.set(json!({ "client_secret": null })).await.expect(200).json();
    assert_eq!(same["last_problem"], problem);
    assert_eq!(given.set(json!({})).await.expect(200).json()["last_problem"], Value::Null);
    given.assert_works().await;
    assert_eq!(given.last_problem().await, Value::Null);
    given.issuer.set_token_mode(TokenMode::SendsNoIdToken);
    unreachable(&given.sign_in(json!({})).await);
    assert_eq!(given.last_problem().await["code"], "no_id_token");
}

#[tokio::test]
async fn owners_read_what_is_wrong_with_the_configuration() {
    let mut given = Acme::new().await;
    let tls = given.issuer.url.replace("http://", "https://");
    for (mode, members, problem) in [
        (IssuerMode::Works, json!({ "token_endpoint": null }), "issuer_without_endpoints"),
        (IssuerMode::Works, json!({ "code_challenge_methods_supported": ["plain"] }), "issuer_without_pkce"),
        (
            IssuerMode::Works,
            json!({ "token_endpoint_auth_methods_supported": ["private_key_jwt"] }),
            "issuer_without_authentication",
        ),
        (
            IssuerMode::Works,
            json!({ "token_endpoint": format!("{tls}/token") }),
            "token_endpoint_unreachable",
        ),
        (IssuerMode::Fails, json!({}), "issuer_unreachable"),
        (IssuerMode::Missing, json!({}), "issuer_without_discovery"),
        (IssuerMode::CallsItself("https://other.example".to_owned()), json!({}), "issuer_differs"),
        (IssuerMode::KeysAt("http://10.0.0.1:8080/keys".to_owned()), json!({}), "issuer_not_public"),
    ] {
        given.issuer.set_mode(mode);
        given.issuer.configure(members);
        given.forget_configuration().await;
        // What was read before does for an hour while the issuer fails.
        given.app.clock().advance(TimeDelta::minutes(50));
        given.owner_again().await;
        let begun = given.app.send(Request::get(SIGN_IN)).await;
        if begun.status == 302 {
            let begun = given.begin().await;
            unreachable(&given.end(&begun, "code").await);
        } else {
            unreachable(&begun);
        }
        assert_eq!(given.last_problem().await["code"], problem);
        given.issuer.set_mode(IssuerMode::Works);
        given.issuer.configure(json!({}));
        given.forget_configuration().await;
        given.set(json!({})).await.expect(200);
    }
    given.colleague("recruiter", &given.ada).await;
    given.assert_works().await;
}

#[tokio::test]
async fn a_problem_is_noted_once_an_hour_however_many_meet_it() {
    let mut given = Acme::new().await;
    given.set(json!({ "client_secret": "mistyped" })).await.expect(200);
    let before = given.writes().await;
    for _ in 0..5 {
        let begun = given.begin().await;
        unreachable(&given.end(&begun, "made-up").await);
    }
    assert_eq!(given.writes().await, before + 1);
    let noted = given.last_problem().await;
    // Another one is not noted in the same hour either.
    given.app.clock().advance(TimeDelta::minutes(59));
    given.issuer.configure(json!({ "token_endpoint": null }));
    unreachable(&given.app.send(Request::get(SIGN_IN)).await);
    given.owner_again().await;
    assert_eq!((given.last_problem().await, given.writes().await), (noted, before + 1));
    given.app.clock().advance(TimeDelta::minutes(1));
    unreachable(&given.app.send(Request::get(SIGN_IN)).await);
    assert_eq!(given.last_problem().await["code"], "issuer_without_endpoints");
    assert_eq!(given.writes().await, before + 2);
}

#[tokio::test]
async fn strangers_make_no_problem_up() {
    let given = Acme::new().await;
    given.colleague("recruiter", &given.ada).await;
    let elsewhere = TestIssuer::start(&[&given.key]).await;
    let other = SigningKey::new("other", SigningAlgorithm::Es256);
    let before = given.writes().await;
    let begun = given.begin().await;
    for parameters in
        ["code=made-up", "error=access_denied", "error=invalid_client", "iss=https://evil.example"]
    {
        assert_refused(&given.end_with(&begun, parameters).await, "sign_in_refused", Some("acme"));
    }
    let forged = given.issuer.issue_code(&begun.request, other.sign(&given.claims(&begun, json!({}))));
    assert_refused(&given.end(&begun, &forged).await, "sign_in_refused", Some("acme"));
    let unknown = given.app.send(Request::get(&format!("{CALLBACK}?state=x&code=y"))).await;
    assert_refused(&unknown, "sign_in_expired", Some("acme"));
    // A code may make a provider fail, or be slow.
    for mode in [
        TokenMode::Fails,
        TokenMode::Forbids,
        TokenMode::Page,
        TokenMode::Hangs,
        TokenMode::Floods,
        TokenMode::RedirectsTo(format!("{}/token", elsewhere.url)),
    ] {
        given.issuer.set_token_mode(mode);
        let begun = given.begin().await;
        unreachable(&given.end(&begun, "made-up").await);
    }
    assert_eq!((given.last_problem().await, given.writes().await), (Value::Null, before));
    given.issuer.set_token_mode(TokenMode::Works);
    given.assert_works().await;
}

#[tokio::test]
async fn a_lost_key_of_the_seals_is_told_to_owners_and_mended_by_them() {
    let mut given = Acme::new().await;
    given.colleague("recruiter", &given.ada).await;
    let former = given.begin().await;
    assert_eq!(given.owner.get(SETTINGS).await.json()["is_working"], true);
    // The former key is none, so that nothing opens any more.
    given.app.put_seal_secret("short");
    given.app.rotate_seal_key();
    given.app = given.app.started_anew(&[]);
    let shown = async |given: &Acme| {
        let owner = given.app.token(given.owner.secret());
        let shown = owner.get(SETTINGS).await.expect(200).json();
        [shown["is_working"].clone(), shown["last_problem"]["code"].clone()]
    };
    assert_eq!(shown(&given).await, [json!(false), Value::Null]);
    assert_refused(&given.end(&former, "code").await, "sign_in_expired", Some("acme"));
    let asked = given.issuer.token_requests();
    for _ in 0..3 {
        unreachable(&given.sign_in(json!({})).await);
    }
    assert_eq!(given.issuer.token_requests(), asked, "no secret is sent");
    assert_eq!(shown(&given).await, [json!(false), json!("client_secret_lost")]);
    let owner = given.app.token(given.owner.secret());
    let settings = Request::put(SETTINGS).json(&given.settings(json!({})));
    let set = owner.send(settings).await.expect(200).json();
    assert_eq!((&set["is_working"], &set["last_problem"]), (&json!(true), &Value::Null));
    assert!(session_in(&given.sign_in(json!({})).await.expect(302)).is_some());
}
