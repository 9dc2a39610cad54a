//! Subject tokens that are refused, all with the same answer.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use serde_json::{Value, json};
use shared::clock::Clock as _;
use tests::http::{Request, Response};
use tests::issuer::{SigningAlgorithm, SigningKey, TestIssuer};

use super::{BASE, EXCHANGE, Trusting, parameters};

/// The answer to each of them.
fn refusal() -> Value {
    let text = "The subject token was refused. An owner of the company finds the reason in last_problem of the named token.";
    json!({ "error": "invalid_request", "error_description": text, "code": "not_exchanged", "detail": text })
}

/// The parts of an answer that tell a stranger something.
fn seen(response: &Response) -> (u16, Vec<u8>, Vec<String>) {
    let headers = response.headers.iter().filter(|(name, _)| !name.as_str().contains("request"));
    let mut headers: Vec<_> = headers.map(|(name, value)| format!("{name}: {value:?}")).collect();
    headers.sort();
    (response.status.as_u16(), response.body.clone(), headers)
}

#[tokio::test]
async fn claims_that_are_not_those_of_the_workload_are_refused_and_the_owner_learns_why() {
    let given = Trusting::new().await;
    let now = given.app.clock().now().timestamp();
    let upper = json!("Repo:acme/ats:environment:prod");
    for (changed, problem) in [
        (json!({ "sub": "repo:acme/ats:environment:production" }), "wrong_subject"),
        (json!({ "sub": "repo:acme/ats:environment:pro" }), "wrong_subject"),
        (json!({ "sub": upper }), "wrong_subject"),
        (json!({ "sub": "repo:acme/ats:environment:prod " }), "wrong_subject"),
        (json!({ "sub": "repo:acme/ats:pull_request" }), "wrong_subject"),
        (json!({ "sub": ["repo:acme/ats:environment:prod"] }), "wrong_subject"),
        (json!({ "sub": null }), "wrong_subject"),
        (json!({ "repository_id": "75" }), "wrong_claim"),
        (json!({ "repository_id": 74 }), "wrong_claim"),
        (json!({ "repository_id": ["74"] }), "wrong_claim"),
        (json!({ "repository_id": true }), "wrong_claim"),
        (json!({ "repository_id": null }), "wrong_claim"),
        (json!({ "aud": "https://hr.example/api/v3/" }), "wrong_audience"),
        (json!({ "aud": "https://hr.example" }), "wrong_audience"),
        (json!({ "aud": "https://other.example/api/v3" }), "wrong_audience"),
        (json!({ "aud": [BASE, "https://other.example"] }), "wrong_audience"),
        (json!({ "aud": [BASE, BASE] }), "wrong_audience"),
        (json!({ "aud": [] }), "wrong_audience"),
        (json!({ "aud": null }), "wrong_audience"),
        (json!({ "exp": now - 60 }), "wrong_time"),
        (json!({ "exp": (now + 600).to_string() }), "wrong_time"),
        (json!({ "exp": null }), "wrong_time"),
        (json!({ "exp": 1e300 }), "wrong_time"),
        (json!({ "nbf": now + 61 }), "wrong_time"),
        (json!({ "nbf": "0" }), "wrong_time"),
        (json!({ "iat": now + 61 }), "wrong_time"),
        (json!({ "iat": now - 86_401 }), "wrong_time"),
        (json!({ "iat": null }), "wrong_time"),
        (json!({ "iat": true }), "wrong_time"),
    ] {
        // Another network each time: many failures from one are throttled.
        let given_claims = given.claims_with(changed.clone());
        let jwt = given.key.sign(&given_claims);
        let answer = given.exchange_for(&given.uri, &source(&changed), &jwt).await;
        answer.expect_json(400, refusal());
        assert_eq!(given.last_problem().await, problem, "{changed}");
    }
    for accepted in [
        json!({ "exp": now - 59 }),
        json!({ "exp": (now as f64) + 600.5 }),
        json!({ "nbf": now + 60, "iat": now + 60 }),
        json!({ "nbf": null }),
        json!({ "iat": now - 86_400 }),
        json!({ "aud": [BASE] }),
    ] {
        given.exchange(&given.key.sign(&given.claims_with(accepted))).await.expect(200);
    }
}

#[tokio::test]
async fn another_workload_that_names_the_company_hides_no_problem_of_its_own() {
    let given = Trusting::new().await;
    let stranger =
        given.key.sign(&given.claims_with(json!({ "sub": "repo:stranger/x:ref:refs/heads/main" })));
    let other_claim = given.key.sign(&given.claims_with(json!({ "repository_id": "75" })));
    given.exchange(&stranger).await.expect_json(400, refusal());
    assert_eq!(given.last_problem().await, Value::Null);
    let for_others = given.claims_with(json!({ "aud": "https://other.example" }));
    given.exchange(&given.key.sign(&for_others)).await.expect_json(400, refusal());
    for jwt in [&stranger, &other_claim] {
        given.exchange(jwt).await.expect_json(400, refusal());
        assert_eq!(given.last_problem().await, "wrong_audience");
    }
    // Only the company knows the address of the token.
    given.exchange_for(&given.uri, "192.0.2.1", &stranger).await.expect_json(400, refusal());
    assert_eq!(given.last_problem().await, "wrong_subject");
}

/// A network that follows from what is tried.
fn source(tried: &Value) -> String {
    let bytes =
        tried.to_string().bytes().fold(7_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    let [_, a, b, c] = bytes.to_be_bytes();
    format!("10.{a}.{b}.{c}")
}

#[tokio::test]
async fn tokens_that_the_issuer_has_not_signed_as_the_service_demands_are_refused_and_noted_nowhere() {
    let given = Trusting::new().await;
    let rsa = SigningKey::new("rsa", SigningAlgorithm::Rs256);
    given.issuer.publish(&[&given.key, &rsa]);
    let impostor = SigningKey::new(&given.key.id, SigningAlgorithm::Es256);
    let claims = given.claims();
    let header = |changed: Value| {
        let mut header = given.key.header();
        header.as_object_mut().unwrap().extend(changed.as_object().unwrap().clone());
        given.key.sign_with(&header, &claims)
    };
    let good = given.jwt();
    let parts: Vec<&str> = good.split('.').collect();
    let encode = |json: &Value| URL_SAFE_NO_PAD.encode(json.to_string());
    let body = encode(&claims);
    // The public key as the secret of a HMAC, in two of its forms.
    let by_hmac = [rsa.jwk().to_string(), rsa.jwk()["n"].as_str().unwrap().to_owned()].map(|secret| {
        let signed = format!("{}.{body}", encode(&json!({ "alg": "HS256", "kid": "rsa" })));
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()), signed.as_bytes());
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(tag))
    });
    let mut tried = vec![
        ("none", format!("{}.{body}.", encode(&json!({ "alg": "none", "kid": "first" })))),
        ("None", format!("{}.{body}.", encode(&json!({ "alg": "None", "kid": "first" })))),
        ("none with a signature", header(json!({ "alg": "none" }))),
        ("another algorithm of the key", header(json!({ "alg": "ES384" }))),
        ("that of another key", header(json!({ "alg": "RS256", "kid": "rsa" }))),
        ("lower case", header(json!({ "alg": "es256" }))),
        ("another key", header(json!({ "kid": "rsa" }))),
        ("an unknown key", header(json!({ "kid": "third" }))),
        ("a number", header(json!({ "kid": 1 }))),
        ("critical", header(json!({ "crit": [] }))),
        ("critical and unencoded", header(json!({ "crit": ["b64"], "b64": false }))),
        ("another type", header(json!({ "typ": "at+jwt" }))),
        ("no type", header(json!({ "typ": 1 }))),
        ("a key in the header", {
            let mut header = impostor.header();
            header["jwk"] = impostor.jwk();
            header["kid"] = "mine".into();
            impostor.sign_with(&header, &claims)
        }),
        ("an impostor", impostor.sign(&claims)),
        ("no signature", format!("{}.{}.", parts[0], parts[1])),
        ("two parts", format!("{}.{}", parts[0], parts[1])),
        ("four parts", format!("{good}.{}", parts[2])),
        (
            "other claims",
            format!("{}.{}.{}", parts[0], encode(&given.claims_with(json!({ "jti": "2" }))), parts[2]),
        ),
        ("padding", format!("{good}=")),
        ("a blank", format!("{good} ")),
        ("zeros", format!("{}.{}.{}", parts[0], parts[1], URL_SAFE_NO_PAD.encode([0; 64]))),
        (
            "the signature as DER",
            format!("{}.{}.{}", parts[0], parts[1], URL_SAFE_NO_PAD.encode([48, 6, 2, 1, 1, 2, 1, 1])),
        ),
        ("no JSON", given.key.sign_text("{", &claims.to_string())),
        ("a list", given.key.sign_text(&given.key.header().to_string(), "[]")),
        ("no issuer", given.key.sign(&given.claims_with(json!({ "iss": null })))),
        ("another issuer", given.key.sign(&given.claims_with(json!({ "iss": "https://other.example" })))),
        ("a slash", given.key.sign(&given.claims_with(json!({ "iss": format!("{}/", given.issuer.url) })))),
        ("too long", given.key.sign(&given.claims_with(json!({ "jti": "x".repeat(20_000) })))),
        ("nothing", "x".to_owned()),
    ];
    tried.extend(by_hmac.into_iter().map(|jwt| ("HS256", jwt)));
    tried.extend(rsa.sign_by_other_algorithms(&claims).into_iter().map(|jwt| ("another one of RSA", jwt)));
    // Without the identifier, nothing tells the key.
    let nameless = json!({ "alg": "ES256" });
    tried.push(("no identifier", given.key.sign_with(&nameless, &claims)));
    for (name, jwt) in &tried {
        let answer = given.exchange_from(&source(&json!([name, jwt])), jwt).await;
        assert_eq!(answer.status, 400, "{name}: {answer}");
        answer.expect_json(400, refusal());
    }
    assert_eq!(given.last_problem().await, Value::Null);
    // The type may be missing, or in another case.
    for typed in [json!({ "typ": "jwt" }), json!({ "typ": null })] {
        given.exchange(&header(typed)).await.expect(200);
    }
}

#[tokio::test]
async fn a_stranger_learns_neither_companies_nor_tokens_nor_issuers() {
    let given = Trusting::new().await;
    let key = SigningKey::new("first", SigningAlgorithm::Es256);
    let unknown = TestIssuer::start(&[&key]).await;
    let of_unknown = key.sign(&given.claims_with(json!({ "iss": unknown.url })));
    let wrong = given.key.sign(&given.claims_with(json!({ "sub": "repo:stranger/x:ref:refs/heads/main" })));
    let (other_token, _) = given.owner.named_token("By value").await;
    let made_up = format!("{BASE}/companies/acme/tokens/01JQ8ZB4T1H6W5Y7X3Q9E2G0FA/");
    let companies = ["acme", "globex", "nobody"].map(|company| format!("{BASE}/companies/{company}/"));
    let mut answers = Vec::new();
    for resource in companies.iter().chain([&given.uri, &other_token, &made_up]) {
        for jwt in [&wrong, &of_unknown, &"x".to_owned()] {
            let source = source(&json!([resource, jwt]));
            let request = Request::post(EXCHANGE).json(&parameters(jwt, resource)).from_source(&source);
            answers.push(seen(&given.app.send(request).await));
        }
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "{answers:?}");
    // Nobody has been asked whom no token trusts.
    assert_eq!(unknown.requests(), 0);
}

#[tokio::test]
async fn what_a_stranger_sends_is_no_error_in_the_log() {
    let given = Trusting::new().await;
    for jwt in [
        "x",
        "a.b.c",
        &given.key.sign(&given.claims_with(json!({ "sub": "x" }))),
        &given.key.sign(&json!({})),
    ] {
        let answer = given.exchange(jwt).await.expect(400);
        assert_eq!(answer.log().status, 400);
    }
}
