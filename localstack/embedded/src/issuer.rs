//! An issuer of identities that signs any claims on request, so that token exchanges and sign-ins can be tried without
//! an account elsewhere.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, TimeDelta, Utc};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Map, Value, json};

use crate::{Error, random};

/// How long a token is valid if its claims do not contain `exp`.
const LIFETIME: TimeDelta = TimeDelta::minutes(10);

/// The issuer of one run, with its own key. Clones share it.
#[derive(Clone)]
pub(crate) struct LocalIssuer {
    url: String,
    key: Arc<EcdsaKeyPair>,
    key_id: String,
    random: SystemRandom,
}

impl LocalIssuer {
    /// Creates an issuer with this URL.
    ///
    /// # Errors
    /// If no key can be generated.
    pub(crate) fn new(url: String) -> Result<Self, Error> {
        let random = SystemRandom::new();
        let failed = |_| Error::new("no key can be made for the issuer");
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let made = EcdsaKeyPair::generate_pkcs8(algorithm, &random).map_err(failed)?;
        let key = EcdsaKeyPair::from_pkcs8(algorithm, made.as_ref(), &random)
            .map_err(|_| Error::new("the key of the issuer cannot be read"))?;
        Ok(Self { url, key: Arc::new(key), key_id: random::hex(), random })
    }

    /// The `iss` of its tokens, without a final slash.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The OpenID Connect Discovery document.
    pub(crate) fn configuration(&self) -> Value {
        json!({
            "issuer": self.url,
            "jwks_uri": format!("{}/keys", self.url),
            "id_token_signing_alg_values_supported": ["ES256"],
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
        })
    }

    /// The public key, as a JWK set.
    pub(crate) fn keys(&self) -> Value {
        // The public key is an uncompressed point: one byte, then two coordinates of 32 bytes.
        let (x, y) = self.key.public_key().as_ref()[1..].split_at(32);
        let [x, y] = [x, y].map(|coordinate| URL_SAFE_NO_PAD.encode(coordinate));
        let key = json!({
            "kty": "EC", "crv": "P-256", "x": x, "y": y, "use": "sig", "alg": "ES256", "kid": self.key_id,
        });
        json!({ "keys": [key] })
    }

    /// Signs a JWT with these claims, and with default claims where they are missing.
    ///
    /// # Errors
    /// If no random numbers are available for signing.
    pub(crate) fn sign(&self, claims: Map<String, Value>, now: DateTime<Utc>) -> Result<String, Error> {
        let mut all = Map::from_iter([
            ("iss".to_owned(), json!(self.url)),
            ("iat".to_owned(), json!(now.timestamp())),
            ("exp".to_owned(), json!((now + LIFETIME).timestamp())),
        ]);
        all.extend(claims);
        let header = json!({ "alg": "ES256", "kid": self.key_id, "typ": "JWT" });
        let [header, claims] =
            [header, Value::Object(all)].map(|part| URL_SAFE_NO_PAD.encode(part.to_string()));
        let signed = format!("{header}.{claims}");
        let signature = self.key.sign(&self.random, signed.as_bytes());
        let signature = signature.map_err(|_| Error::new("the issuer cannot sign"))?;
        Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }
}
