//! Named tokens with trust, as owners create them.

use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::Caller;
use tests::issuer::{IssuerMode, Platform, SigningAlgorithm, SigningKey, TestIssuer};
use tests::{assert_refusal, assert_refusals};

use super::{BASE, TOKENS, Trusting};

#[tokio::test]
async fn a_trust_pins_one_workload_and_everything_wrong_with_it_is_told_at_once() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let key = SigningKey::new("k", SigningAlgorithm::Es256);
    let issuer = TestIssuer::start(&[&key]).await;
    let with = |changed: Value| {
        let mut trust = json!({ "issuer": issuer.url, "subject": "repo:acme/ats:environment:prod" });
        trust.as_object_mut().unwrap().extend(changed.as_object().unwrap().clone());
        json!({ "name": "CI", "trust": trust })
    };
    let many: serde_json::Map<String, Value> = (0..11).map(|n| (format!("c{n}"), json!("x"))).collect();
    let mut refusals = Vec::new();
    for body in [
        json!({ "name": "CI", "trust": {} }),
        json!({ "name": "CI", "trust": null }),
        json!({ "name": "CI", "trust": "repo:acme/ats" }),
        json!({ "name": "CI", "trust": with(json!({}))["trust"], "value": "correct-horse-battery-staple:2026!" }),
        with(json!({ "subject": "" })),
        with(json!({ "subject": "repo:acme/*" })),
        with(json!({ "subject": "x".repeat(501) })),
        with(json!({ "subject": null })),
        with(json!({ "audience": "x" })),
        with(json!({ "claims": { "iss": "x", "sub": "x", "aud": "x", "exp": "x", "nbf": "x", "iat": "x" } })),
        with(json!({ "claims": { "": "x", "ref": "", "n": 7, "b": true, "l": ["x"], "w": "refs/heads/*" } })),
        with(json!({ "claims": many })),
        with(json!({ "claims": [] })),
        with(json!({ "issuer": "http://issuer.example" })),
        with(json!({ "issuer": "https://issuer.example/?x=1" })),
        with(json!({ "issuer": "https://issuer.example/#x" })),
        with(json!({ "issuer": "https://me@issuer.example" })),
        with(json!({ "issuer": "https://Issuer.example" })),
        with(json!({ "issuer": "https://issuer.example:443" })),
        with(json!({ "issuer": "https://192.168.0.7" })),
        with(json!({ "issuer": "https://metadata.google.internal" })),
        with(json!({ "issuer": "issuer.example" })),
    ] {
        refusals.push(owner.post(TOKENS, body).await);
    }
    assert_refusals!(refusals, @r#"
        400 {"trust.issuer":["This field is required."],"trust.subject":["This field is required."]}
        400 {"trust":["Send an object, or omit this field."]}
        400 {"trust":["Expected an object."]}
        400 {"value":["A token with `trust` has no value. Omit one of the two."]}
        2 x 400 {"trust.subject":["Ensure this field has 1 to 500 characters."]}
        400 {"trust.subject":["Wildcards are not supported. Write the whole value."]}
        400 {"trust.subject":["This field may not be null."]}
        400 {"trust.audience":["There is no such field."]}
        400 {
          "trust.claims.aud":["`aud` is always the base URL of the API."],
          "trust.claims.exp":["`exp` is checked in any case."],
          "trust.claims.iat":["`iat` is checked in any case."],
          "trust.claims.iss":["`iss` is the `issuer`."],
          "trust.claims.nbf":["`nbf` is checked in any case."],
          "trust.claims.sub":["`sub` is the `subject`."]
        }
        400 {
          "trust.claims.":["The name of a claim has 1 to 100 visible characters."],
          "trust.claims.b":["Not a valid string."],
          "trust.claims.l":["Not a valid string."],
          "trust.claims.n":["Not a valid string."],
          "trust.claims.ref":["Ensure this field has 1 to 500 characters."],
          "trust.claims.w":["Wildcards are not supported. Write the whole value."]
        }
        400 {"trust.claims":["Ensure this object has no more than 10 members."]}
        400 {"trust.claims":["Expected an object."]}
        400 {"trust.issuer":["Use a URL that begins with https://, or with http:// for this computer."]}
        400 {"trust.issuer":["The URL of an issuer has no query."]}
        400 {"trust.issuer":["A fragment (#) may not be part of the URL."]}
        400 {"trust.issuer":["A user name or a password may not be part of the URL."]}
        2 x 400 {"trust.issuer":["Write it as the issuer does, such as https://issuer.example/"]}
        400 {"trust.issuer":["Use the name of a host. IP addresses are not allowed."]}
        400 {"trust.issuer":["Use the name of a host in the public internet."]}
        400 {"trust.issuer":["Enter a valid URL."]}
        "#);
    assert_eq!(issuer.requests(), 0);
    assert_eq!(owner.get(TOKENS).await.expect(200).json()["meta"]["total_count"], 0);
}

#[tokio::test]
async fn an_issuer_that_answers_wrongly_is_refused_and_one_that_cannot_be_reached_is_a_warning() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let mut refusals = Vec::new();
    for mode in [
        IssuerMode::Page,
        IssuerMode::Missing,
        IssuerMode::Floods,
        IssuerMode::CallsItself("https://accounts.google.com".to_owned()),
        IssuerMode::RedirectsTo("https://accounts.google.com/".to_owned()),
        IssuerMode::KeysAt("http://10.0.0.1/keys".to_owned()),
        IssuerMode::KeysAt("http://169.254.169.254/latest/meta-data/".to_owned()),
        IssuerMode::KeysAt("file:///etc/passwd".to_owned()),
        IssuerMode::KeysAt("https://me:secret@127.0.0.1/".to_owned()),
        IssuerMode::Works,
    ] {
        let issuer = TestIssuer::start(&[]).await;
        issuer.set_mode(mode);
        refusals.push(
            owner.post(TOKENS, json!({ "name": "CI", "trust": Platform::GitHub.trust(&issuer.url) })).await,
        );
    }
    assert_refusals!(refusals, @r#"
        6 x 400 {"trust.issuer":["Below this URL, .well-known/openid-configuration is no configuration of an issuer. Check the URL."]}
        400 {"trust.issuer":["The issuer at this URL calls itself otherwise. Use its `issuer`, with or without a final slash."]}
        2 x 400 {"trust.issuer":["Use an issuer whose addresses, and those of its keys, are in the public internet."]}
        400 {"trust.issuer":["The issuer publishes no keys for RS256, ES256 or ES384."]}
        "#);
    // The limit of ten issuers counts those of 15 minutes.
    app.clock().advance(TimeDelta::minutes(15));
    let gone = TestIssuer::start(&[]).await.url;
    let failing = TestIssuer::start(&[]).await;
    failing.set_mode(IssuerMode::Fails);
    for url in [gone, failing.url.clone()] {
        let created =
            owner.post(TOKENS, json!({ "name": "CI", "trust": Platform::GitHub.trust(&url) })).await;
        let problem = json!({ "code": "issuer_unreachable", "at": "2026-11-08T10:15:00Z" });
        assert_eq!(created.expect(201).json()["last_problem"], problem);
    }
}

#[tokio::test]
async fn nobody_is_asked_for_a_token_that_is_refused_in_any_case() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let issuer = TestIssuer::start(&[]).await;
    let id = "01JQ8ZB4T1H6W5Y7X3Q9E2G0FA";
    let project = format!("{BASE}/companies/acme/projects/{id}/");
    let body = json!({
        "name": "CI", "account_type": "hiring-manager", "projects": [project],
        "trust": Platform::GitHub.trust(&issuer.url),
    });
    let refused = owner.post(TOKENS, body).await.expect(400).json();
    assert_eq!(refused, json!({ "projects": [format!("Project {id} does not exist.")] }));
    assert_eq!(issuer.requests(), 0);
}

#[tokio::test]
async fn a_company_has_ten_issuers_asked_within_a_quarter_of_an_hour_whatever_comes_of_it() {
    let given = Trusting::new().await;
    let create = async |url: &str| {
        given.owner.post(TOKENS, json!({ "name": "CI", "trust": Platform::GitHub.trust(url) })).await
    };
    // Below the URL of an issuer there are as many others as anybody likes. The first one has been asked before.
    for number in 1..10 {
        let issuer = TestIssuer::start(&[&given.key]).await;
        let created = create(&issuer.url).await.expect(201);
        given.owner.delete(&created.uri("resource_uri")).await.expect(204);
        assert_eq!(issuer.requests(), 2, "{number}");
    }
    let asked = given.issuer.requests();
    let other = format!("{}/other", given.issuer.url);
    let refused = create(&other).await.expect_code(429, "throttled");
    assert_eq!((refused.header("retry-after"), given.issuer.requests()), (Some("900"), asked));
    // Known keys are no look, and exchanges have limits of their own.
    create(&given.issuer.url).await.expect(201);
    given.app.clock().advance(TimeDelta::minutes(15));
    create(&other).await.expect(400);
}

#[tokio::test]
async fn a_company_has_twenty_of_them_and_the_last_place_goes_once() {
    let given = Trusting::new().await;
    let body = || json!({ "name": "CI", "trust": Platform::GitHub.trust(&given.issuer.url) });
    for _ in 0..18 {
        given.owner.post(TOKENS, body()).await.expect(201);
    }
    let (one, other) = tokio::join!(given.owner.post(TOKENS, body()), given.owner.post(TOKENS, body()));
    let mut statuses = [one.status.as_u16(), other.status.as_u16()];
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 400], "{one} {other}");
    let asked = given.issuer.requests();
    let refused = given.owner.post(TOKENS, body()).await;
    assert_refusal!(refused, @r#"400 {"code":"too_many_trusts","detail":"A company may have 20 named tokens with `trust`. Delete one first."}"#);
    assert_eq!(given.issuer.requests(), asked);
    // Those with a value have places of their own.
    given.owner.post(TOKENS, json!({ "name": "By value" })).await.expect(201);
    given.owner.delete(&given.uri).await.expect(204);
    given.owner.post(TOKENS, body()).await.expect(201);
}

#[tokio::test]
async fn a_retry_creates_one_and_only_owners_in_person_do() {
    let given = Trusting::new().await;
    let body = json!({ "name": "Once", "trust": Platform::GitHub.trust(&given.issuer.url) });
    let request = || tests::http::Request::post(TOKENS).json(&body).header("idempotency-key", "1");
    let first = given.owner.send(request()).await.expect(201);
    let again = given.owner.send(request()).await.expect(201);
    assert_eq!((first.json(), again.header("idempotent-replayed")), (again.json(), Some("true")));
    given.owner.delete(&first.uri("resource_uri")).await.expect(204);
    // A pipeline cannot let another one in.
    let token = given.exchanged().await;
    token.post(TOKENS, body).await.expect_code(403, "permission_denied");
    token.get(TOKENS).await.expect_code(403, "permission_denied");
    token.delete(&given.uri).await.expect_code(403, "permission_denied");
}
