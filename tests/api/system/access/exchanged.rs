//! Tokens that were exchanged for a JWT, one for each kind of named token: callers without columns of their own in `access.txt`.

use serde_json::{Value, json};
use shared::clock::Clock as _;
use tests::app::TestApp;
use tests::caller::{Caller, Staff};
use tests::http::Request;
use tests::issuer::{Platform, SigningAlgorithm, SigningKey, TestIssuer};

use super::AccessRow;
use crate::auth::exchange::{BASE, EXCHANGE, TOKENS, parameters};

/// The kinds of named tokens, each with that of the token of an exchange for one.
const KINDS: [(&str, &str); 5] = [
    ("token", "exchanged token"),
    ("token:admin", "exchanged token:admin"),
    ("token:recruiter", "exchanged token:recruiter"),
    ("token:manager", "exchanged token:manager"),
    ("token:read-only", "exchanged token:read-only"),
];

/// Whether a route ends the credential of the request.
pub(super) fn ends_credential(path: &str) -> bool {
    path.ends_with("-invalidate/")
}

/// The statuses that a row promises to tokens of exchanges, by those of the other callers.
pub(super) fn promised(
    row: &AccessRow,
    kinds: impl Iterator<Item = (&'static str, u16)>,
) -> impl Iterator<Item = (&'static str, u16)> {
    let ends_it = ends_credential(row.path);
    kinds.filter_map(move |(kind, promised)| {
        let (_, exchanged) = KINDS.iter().find(|(named, _)| *named == kind)?;
        Some((*exchanged, if ends_it { 204 } else { promised }))
    })
}

/// Named tokens that trust a workload, by the kinds of callers that act by them.
pub(super) struct Exchanges {
    issuer: TestIssuer,
    key: SigningKey,
    /// The URL of each named token, and the secret of a token that acts as it.
    tokens: Vec<(&'static str, String, String)>,
}

impl Exchanges {
    /// Named tokens with these rights, each with a token of an exchange for it.
    pub(super) async fn new(app: &TestApp, owner: &Staff, rights: &[(&'static str, Value)]) -> Self {
        let key = SigningKey::new("k", SigningAlgorithm::Es256);
        let issuer = TestIssuer::start(&[&key]).await;
        let mut exchanges = Self { issuer, key, tokens: Vec::new() };
        for (named, fields) in rights {
            let (_, kind) = KINDS.iter().find(|(known, _)| known == named).unwrap();
            let mut body = json!({ "name": "CI", "trust": Platform::GitHub.trust(&exchanges.issuer.url) });
            body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
            let uri = owner.post(TOKENS, body).await.expect(201).uri("resource_uri");
            let answer = app.send(Request::post(EXCHANGE).json(&exchanges.parameters(app, &uri))).await;
            let secret = answer.expect(200).uri("access_token");
            app.token(&secret).get("/whoami/").await.expect(200);
            exchanges.tokens.push((kind, uri, secret));
        }
        exchanges
    }

    /// The parameters of an exchange for any of them.
    pub(super) fn any_parameters(&self, app: &TestApp) -> Value {
        self.parameters(app, &self.tokens[0].1)
    }

    fn parameters(&self, app: &TestApp, uri: &str) -> Value {
        let claims = Platform::GitHub.claims(&self.issuer.url, BASE, app.clock().now());
        parameters(&self.key.sign(&claims), uri)
    }

    /// The secret of a token of this kind: a new one if the request ends it.
    pub(super) async fn secret(&self, app: &TestApp, kind: &str, ends_it: bool) -> Option<String> {
        let (_, uri, secret) = self.tokens.iter().find(|(known, ..)| *known == kind)?;
        if !ends_it {
            return Some(secret.clone());
        }
        let answer = app.send(Request::post(EXCHANGE).json(&self.parameters(app, uri))).await;
        Some(answer.expect(200).uri("access_token"))
    }
}
