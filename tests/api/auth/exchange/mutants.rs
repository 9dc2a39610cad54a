//! A thousand mutants of the JWT of each platform by each algorithm, none of which is accepted.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use shared::clock::Clock as _;
use shared::domain::issuer::{IssuerKeys, PresentedJwt};
use shared::domain::staff::exchange::TrustChoice;
use shared::domain::staff::named_token::{NamedToken, TokenProof};
use shared::domain::staff::trust::TokenTrust;
use tests::app::TestApp;
use tests::caller::Caller;
use tests::effort::Chance;
use tests::http::Request;
use tests::issuer::{Platform, SigningAlgorithm, SigningKey, TestIssuer};

use super::{BASE, EXCHANGE, TOKENS, parameters};

/// The mutants of each JWT.
const MUTANTS: usize = 1_000;
/// How many of them are sent to the service; all are given to what verifies them there.
const SENT: usize = 40;

#[tokio::test]
async fn one_jwt_of_each_platform_and_algorithm_is_accepted_and_a_thousand_mutants_of_it_are_not() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let mut chance = Chance::new();
    let mut refused = 0;
    for platform in Platform::ALL {
        // A company has few issuers asked at a time.
        app.clock().advance(TimeDelta::minutes(15));
        for algorithm in SigningAlgorithm::ALL {
            let key = SigningKey::new("k", algorithm);
            let impostor = SigningKey::new("k", SigningAlgorithm::Es256);
            let issuer = TestIssuer::start(&[&key]).await;
            let trust = platform.trust(&issuer.url);
            let uri = owner
                .post(TOKENS, json!({ "name": "CI", "trust": trust }))
                .await
                .expect(201)
                .uri("resource_uri");
            let now = app.clock().now();
            let claims = platform.claims(&issuer.url, BASE, now);
            let good = key.sign(&claims);
            let exchange = async |jwt: &str, number: usize| {
                let source = format!("10.0.{}.{}", number / 200, number % 200);
                let request = Request::post(EXCHANGE).json(&parameters(jwt, &uri)).from_source(&source);
                app.send(request).await
            };
            exchange(&good, 0).await.expect(200);
            let verifier = Verifier::new(&key, &trust);
            assert!(verifier.accepts(&good, now));
            for number in 0..MUTANTS {
                let mutant = mutant(&mut chance, &good, &key, &impostor, &claims, &trust);
                assert_ne!(mutant, good);
                assert!(!verifier.accepts(&mutant, now), "{platform:?} {algorithm:?}: {mutant}");
                if number < SENT {
                    // Those that name no issuer count together, and become too many.
                    let status = exchange(&mutant, number).await.status.as_u16();
                    assert!(matches!(status, 400 | 429), "{status}: {mutant}");
                }
                refused += 1;
            }
            exchange(&good, 0).await.expect(200);
        }
    }
    assert_eq!(refused, 12 * MUTANTS);
}

/// Verifies a JWT as the service does, with keys that are known.
struct Verifier {
    keys: IssuerKeys,
    tokens: Vec<NamedToken>,
}

impl Verifier {
    fn new(key: &SigningKey, trust: &Value) -> Self {
        let keys = IssuerKeys::parse(json!({ "keys": [key.jwk()] }).to_string().as_bytes()).unwrap();
        let stored = json!({
            "id": "01JQ8ZB4T1H6W5Y7X3Q9E2G0FA", "company": "acme", "name": "CI", "trust": trust,
            "created_at": "2026-11-08T10:00:00Z", "created_by": "01JQ8ZB4T1H6W5Y7X3Q9E2G0FA",
        });
        Self { keys, tokens: vec![serde_json::from_value(stored).unwrap()] }
    }

    fn accepts(&self, jwt: &str, now: DateTime<Utc>) -> bool {
        let TokenProof::Trust(TokenTrust { issuer, .. }) = &self.tokens[0].proof else { return false };
        let presented = PresentedJwt::parse(jwt).filter(|jwt| jwt.issuer() == issuer.as_str());
        let Some(verified) = presented.and_then(|jwt| jwt.verify(&self.keys)) else { return false };
        matches!(TrustChoice::among(&self.tokens, &verified), TrustChoice::Token(_))
            && verified.check(BASE, now).is_ok()
    }
}

/// A JWT that is not to be accepted, made of the good one.
fn mutant(
    chance: &mut Chance,
    good: &str,
    key: &SigningKey,
    impostor: &SigningKey,
    claims: &Value,
    trust: &Value,
) -> String {
    match chance.below(10) {
        0..=3 => changed_character(chance, good),
        4 => changed_byte(chance, good),
        5 => cut(chance, good),
        6 => key.sign(&changed_claim(chance, claims, trust)),
        7 => key.sign_with(&changed_header(chance, key), claims),
        8 => impostor.sign_with(&key.header(), claims),
        // The signature of another JWT by the same key.
        _ => {
            let other = key.sign(&json!({ "jti": chance.below(usize::MAX) }));
            let (signed, _) = good.rsplit_once('.').unwrap();
            let (_, signature) = other.rsplit_once('.').unwrap();
            format!("{signed}.{signature}")
        }
    }
}

/// Another character in one place.
fn changed_character(chance: &mut Chance, jwt: &str) -> String {
    const CHARACTERS: &[u8] = b"ABCXYZabcxyz0189-_.=+/ ";
    let mut bytes = jwt.as_bytes().to_vec();
    let place = chance.below(bytes.len());
    let others: Vec<u8> = CHARACTERS.iter().copied().filter(|other| *other != bytes[place]).collect();
    bytes[place] = others[chance.below(others.len())];
    String::from_utf8(bytes).unwrap()
}

/// Another bit in the content of one part.
fn changed_byte(chance: &mut Chance, jwt: &str) -> String {
    let mut parts: Vec<Vec<u8>> = jwt.split('.').map(|part| URL_SAFE_NO_PAD.decode(part).unwrap()).collect();
    let part = chance.below(3);
    let place = chance.below(parts[part].len());
    parts[part][place] ^= 1 << chance.below(8);
    let parts: Vec<String> = parts.iter().map(|part| URL_SAFE_NO_PAD.encode(part)).collect();
    parts.join(".")
}

/// A part of it, or more than it.
fn cut(chance: &mut Chance, jwt: &str) -> String {
    let place = chance.below(jwt.len());
    match chance.below(3) {
        0 => jwt[..place].to_owned(),
        1 => format!("{}{}", &jwt[..place], &jwt[place + 1..]),
        _ => format!("{}A{}", &jwt[..place], &jwt[place..]),
    }
}

/// Signed by the issuer, but not for this workload, this service or this moment.
fn changed_claim(chance: &mut Chance, claims: &Value, trust: &Value) -> Value {
    let mut changed = claims.clone();
    let pinned = trust["claims"].as_object().unwrap().keys().map(String::as_str);
    let names: Vec<&str> = ["iss", "sub", "aud", "exp", "iat"].into_iter().chain(pinned).collect();
    let name = names[chance.below(names.len())];
    let text = claims[name].as_str().unwrap_or_default();
    let values = [
        json!(null),
        json!(true),
        json!({}),
        json!([]),
        json!(["x", "y"]),
        json!(0),
        json!(-1),
        json!(1e20),
        json!(format!("{text}x")),
        json!(format!(" {text}")),
        json!("*"),
        json!(text.chars().rev().collect::<String>() + "."),
    ];
    changed[name] = values[chance.below(values.len())].clone();
    changed
}

fn changed_header(chance: &mut Chance, key: &SigningKey) -> Value {
    let mut header = key.header();
    let others = SigningAlgorithm::ALL.into_iter().filter(|other| *other != key.algorithm);
    let names: Vec<&str> = others
        .map(SigningAlgorithm::as_str)
        .chain(["none", "HS256", "PS256", "EdDSA", "RS512", ""])
        .collect();
    match chance.below(4) {
        0 => header["alg"] = names[chance.below(names.len())].into(),
        1 => header["kid"] = format!("k{}", chance.below(1000)).into(),
        2 => header["crit"] = json!(["exp"]),
        _ => header["typ"] = "JWS".into(),
    }
    header
}
