//! Exchanges of the JWT of a platform for a token that acts as a named token.

mod accepted;
mod creation;
mod ended;
mod issuers;
mod known;
mod mutants;
mod parameters;
mod refused;
mod throttling;

use serde_json::{Value, json};
use shared::clock::Clock as _;
use tests::app::TestApp;
use tests::caller::{Caller, Staff, Token};
use tests::http::{Request, Response};
use tests::issuer::{Platform, SigningAlgorithm, SigningKey, TestIssuer};

pub(crate) const EXCHANGE: &str = "/api-token-exchange/";
pub(crate) const TOKENS: &str = "/companies/acme/tokens/";
/// The base URL of the tests, which is the only audience.
pub(crate) const BASE: &str = "https://hr.example/api/v3";

/// The parameters of an exchange for `resource`.
pub(crate) fn parameters(jwt: &str, resource: &str) -> Value {
    json!({
        "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
        "subject_token": jwt,
        "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
        "resource": resource,
    })
}

/// A company with a token that trusts a workload of GitHub, whose issuer is on this computer.
pub(crate) struct Trusting {
    pub(crate) app: TestApp,
    pub(crate) owner: Staff,
    pub(crate) issuer: TestIssuer,
    pub(crate) key: SigningKey,
    /// The named token.
    pub(crate) uri: String,
}

impl Trusting {
    pub(crate) async fn new() -> Self {
        Self::with(json!({})).await
    }

    /// The token has these fields too.
    pub(crate) async fn with(fields: Value) -> Self {
        Self::on(TestApp::start().await, fields).await
    }

    pub(crate) async fn on(app: TestApp, fields: Value) -> Self {
        let owner = app.owner().await;
        let key = SigningKey::new("first", SigningAlgorithm::Es256);
        let issuer = TestIssuer::start(&[&key]).await;
        let mut body = json!({ "name": "CI", "trust": Platform::GitHub.trust(&issuer.url) });
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let uri = owner.post(TOKENS, body).await.expect(201).uri("resource_uri");
        Self { app, owner, issuer, key, uri }
    }

    /// The claims of the workload.
    pub(crate) fn claims(&self) -> Value {
        Platform::GitHub.claims(&self.issuer.url, BASE, self.app.clock().now())
    }

    /// The claims with these in their place; null takes one away.
    pub(crate) fn claims_with(&self, changed: Value) -> Value {
        let mut claims = self.claims();
        for (name, value) in changed.as_object().unwrap() {
            match value {
                Value::Null => drop(claims.as_object_mut().unwrap().remove(name)),
                value => claims[name] = value.clone(),
            }
        }
        claims
    }

    /// A JWT of the workload.
    pub(crate) fn jwt(&self) -> String {
        self.key.sign(&self.claims())
    }

    /// The answer to an exchange of `jwt` for any token of the company.
    pub(crate) async fn exchange(&self, jwt: &str) -> Response {
        self.exchange_from("192.0.2.1", jwt).await
    }

    pub(crate) async fn exchange_from(&self, source: &str, jwt: &str) -> Response {
        self.exchange_for(&format!("{BASE}/companies/acme/"), source, jwt).await
    }

    /// The answer to an exchange of `jwt` for a company or a token at this address.
    pub(crate) async fn exchange_for(&self, resource: &str, source: &str, jwt: &str) -> Response {
        self.app.send(Request::post(EXCHANGE).json(&parameters(jwt, resource)).from_source(source)).await
    }

    /// The token of a new exchange.
    pub(crate) async fn exchanged(&self) -> Token {
        let answer = self.exchange(&self.jwt()).await.expect(200);
        self.app.token(&answer.uri("access_token"))
    }

    /// The code of the last problem that the named token shows; null for none.
    pub(crate) async fn last_problem(&self) -> Value {
        self.owner.get(&self.uri).await.expect(200).json()["last_problem"]["code"].clone()
    }
}
