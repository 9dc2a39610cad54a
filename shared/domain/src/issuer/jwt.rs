//! JSON Web Tokens (RFC 7519) in their compact form, signed by an issuer.
//!
//! ring verifies the signatures, because it is linked anyway. A JOSE library would add ways to sign, to encrypt and to choose the
//! algorithm, whereas the service needs to be stricter in each of these rules.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, TimeDelta, Utc};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::keys::{IssuerKeys, SignatureAlgorithm};

/// The maximum size of a token, in bytes.
const MAX: usize = 16 * 1024;
/// The tolerated difference between clocks.
const SLACK: TimeDelta = TimeDelta::seconds(60);
/// The maximum age of a token.
const MAX_AGE: TimeDelta = TimeDelta::days(1);
/// The latest time that the service calculates with, in seconds: the end of the year 9999.
const LAST_SECOND: f64 = 253_402_300_799.0;

/// A token whose signature is not verified yet. It reveals only what is needed to verify it.
#[derive(Debug, Clone)]
pub struct PresentedJwt {
    algorithm: SignatureAlgorithm,
    key_id: String,
    issuer: String,
    claims: Map<String, Value>,
    /// The header and the claims as they were signed.
    signed: String,
    signature: Vec<u8>,
}

/// The claims of a token that its issuer has signed.
#[derive(Debug, Clone)]
pub struct VerifiedJwt {
    claims: Map<String, Value>,
}

/// Why a signed token is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JwtProblem {
    /// The token is for another audience.
    Audience,
    /// The token has expired, is not valid yet or is too old, or lacks the claims about its time.
    Time,
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: String,
    typ: Option<String>,
}

impl PresentedJwt {
    /// Reads a token; `None` if it is malformed, or has an algorithm or conditions that the service does not verify.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() > MAX {
            return None;
        }
        let (signed, signature) = text.rsplit_once('.')?;
        let (header, claims) = signed.split_once('.')?;
        // This also refuses a further dot, which is not a character of base64url.
        let [header, claims] = [header, claims].map(|part| URL_SAFE_NO_PAD.decode(part).ok());
        let header: Map<String, Value> = serde_json::from_slice(&header?).ok()?;
        // RFC 7515 demands that unknown critical headers be refused. The service knows none.
        if header.contains_key("crit") {
            return None;
        }
        let header: Header = serde_json::from_value(header.into()).ok()?;
        if header.typ.is_some_and(|name| !name.eq_ignore_ascii_case("JWT")) {
            return None;
        }
        let claims: Map<String, Value> = serde_json::from_slice(&claims?).ok()?;
        Some(Self {
            algorithm: SignatureAlgorithm::of(&header.alg)?,
            key_id: header.kid,
            issuer: claims.get("iss")?.as_str()?.to_owned(),
            claims,
            signed: signed.to_owned(),
            signature: URL_SAFE_NO_PAD.decode(signature).ok()?,
        })
    }

    /// The issuer that the token names.
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// The identifier of the key that the token names.
    pub fn key_id(&self) -> &str {
        &self.key_id
    }

    /// The claims, if one of the issuer's keys has signed them.
    pub fn verify(self, keys: &IssuerKeys) -> Option<VerifiedJwt> {
        let Self { algorithm, key_id, claims, signed, signature, .. } = self;
        keys.verify(&key_id, algorithm, signed.as_bytes(), &signature).then_some(VerifiedJwt { claims })
    }
}

impl VerifiedJwt {
    /// Checks that the token is only for `audience` and valid at `now`. Returns when it expires.
    pub fn check(&self, audience: &str, now: DateTime<Utc>) -> Result<DateTime<Utc>, JwtProblem> {
        let is_for_audience = match self.claims.get("aud") {
            Some(Value::String(one)) => one == audience,
            Some(Value::Array(list)) => matches!(&list[..], [Value::String(one)] if one == audience),
            _ => false,
        };
        if !is_for_audience {
            return Err(JwtProblem::Audience);
        }
        let end = self.moment("exp").ok_or(JwtProblem::Time)?;
        let issued = self.moment("iat").ok_or(JwtProblem::Time)?;
        let begin = match self.claims.contains_key("nbf") {
            true => self.moment("nbf").ok_or(JwtProblem::Time)?,
            false => issued,
        };
        let has_begun = issued.max(begin) <= now + SLACK;
        let is_over = end + SLACK <= now || issued + MAX_AGE < now;
        if has_begun && !is_over { Ok(end) } else { Err(JwtProblem::Time) }
    }

    /// A claim that is a string; `None` for other types.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.claims.get(name)?.as_str()
    }

    /// Whether there is a claim of this name.
    pub fn has(&self, name: &str) -> bool {
        self.claims.contains_key(name)
    }

    /// Whether a claim is the boolean `true`.
    pub fn is_true(&self, name: &str) -> bool {
        self.claims.get(name).and_then(Value::as_bool) == Some(true)
    }

    /// A claim that is a time: seconds since 1970, possibly with decimals.
    fn moment(&self, name: &str) -> Option<DateTime<Utc>> {
        let seconds = self.claims.get(name)?.as_f64()?;
        let is_sensible = (0.0..=LAST_SECOND).contains(&seconds);
        is_sensible.then(|| DateTime::from_timestamp(seconds as i64, 0)).flatten()
    }
}
