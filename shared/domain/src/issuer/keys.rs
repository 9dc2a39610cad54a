//! The public keys of an issuer: a JWK set (RFC 7517).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents,
    UnparsedPublicKey,
};
use serde::Deserialize;
use serde_json::Value;

use super::IssuerFault;

/// The maximum number of keys that are read from a set.
const MAX_KEYS: usize = 100;
/// The maximum length of a key's identifier, in bytes.
const MAX_ID: usize = 500;
/// The maximum length of a modulus, in bytes: ring verifies with up to 8,192 bits.
const MAX_MODULUS: usize = 1024;
/// The maximum length of an exponent, in bytes.
const MAX_EXPONENT: usize = 8;
/// The first byte of an uncompressed point of a curve.
const UNCOMPRESSED: u8 = 4;

/// The signature algorithms that the service verifies. A token cannot choose another, because there is no value for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SignatureAlgorithm {
    Rs256,
    Es256,
    Es384,
}

impl SignatureAlgorithm {
    pub(super) fn of(name: &str) -> Option<Self> {
        match name {
            "RS256" => Some(Self::Rs256),
            "ES256" => Some(Self::Es256),
            "ES384" => Some(Self::Es384),
            _ => None,
        }
    }
}

/// The keys of an issuer that the service can verify with.
#[derive(Debug, Clone, Default)]
pub struct IssuerKeys(Vec<IssuerKey>);

#[derive(Debug, Clone)]
struct IssuerKey {
    id: String,
    material: KeyMaterial,
}

#[derive(Debug, Clone)]
enum KeyMaterial {
    /// Modulus and exponent.
    Rsa(Vec<u8>, Vec<u8>),
    /// A point of P-256.
    P256(Vec<u8>),
    /// A point of P-384.
    P384(Vec<u8>),
}

#[derive(Deserialize)]
struct JwkSet {
    keys: Vec<Value>,
}

#[derive(Deserialize)]
struct Jwk {
    kty: String,
    kid: String,
    #[serde(rename = "use")]
    used_for: Option<String>,
    key_ops: Option<Vec<String>>,
    alg: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

impl IssuerKeys {
    /// Reads a JWK set. Skips keys of other kinds and for other uses; fails if no key is left.
    pub fn parse(set: &[u8]) -> Result<Self, IssuerFault> {
        let set: JwkSet = serde_json::from_slice(set).map_err(|_| IssuerFault::NoKeys)?;
        let known = set.keys.into_iter().take(MAX_KEYS).filter_map(|key| {
            let key: Jwk = serde_json::from_value(key).ok()?;
            key.read()
        });
        let keys: Vec<_> = known.collect();
        if keys.is_empty() { Err(IssuerFault::NoKeys) } else { Ok(Self(keys)) }
    }

    /// Whether one of the keys has this identifier.
    pub fn has(&self, id: &str) -> bool {
        self.0.iter().any(|key| key.id == id)
    }

    /// Whether the key with this identifier has signed `message` by `algorithm`.
    pub(super) fn verify(
        &self,
        id: &str,
        algorithm: SignatureAlgorithm,
        message: &[u8],
        signature: &[u8],
    ) -> bool {
        self.0.iter().filter(|key| key.id == id).any(|key| key.material.verify(algorithm, message, signature))
    }
}

impl Jwk {
    /// The key; `None` unless it signs by a known algorithm.
    fn read(self) -> Option<IssuerKey> {
        // Keys are kept in memory, and the issuer chooses their length.
        if self.kid.len() > MAX_ID {
            return None;
        }
        let is_for_signatures = self.used_for.is_none_or(|used_for| used_for == "sig");
        let may_verify = self.key_ops.is_none_or(|operations| operations.iter().any(|name| name == "verify"));
        let (algorithm, material) = match (self.kty.as_str(), self.crv.as_deref()) {
            ("RSA", _) => {
                ("RS256", KeyMaterial::Rsa(bytes(self.n, MAX_MODULUS)?, bytes(self.e, MAX_EXPONENT)?))
            }
            ("EC", Some("P-256")) => ("ES256", KeyMaterial::P256(point(self.x, self.y, 32)?)),
            ("EC", Some("P-384")) => ("ES384", KeyMaterial::P384(point(self.x, self.y, 48)?)),
            _ => return None,
        };
        let is_of_algorithm = self.alg.is_none_or(|named| named == algorithm);
        (is_for_signatures && may_verify && is_of_algorithm).then_some(IssuerKey { id: self.kid, material })
    }
}

impl KeyMaterial {
    fn verify(&self, algorithm: SignatureAlgorithm, message: &[u8], signature: &[u8]) -> bool {
        match (self, algorithm) {
            // ring refuses moduli of fewer than 2,048 bits.
            (Self::Rsa(n, e), SignatureAlgorithm::Rs256) => RsaPublicKeyComponents { n, e }
                .verify(&RSA_PKCS1_2048_8192_SHA256, message, signature)
                .is_ok(),
            (Self::P256(point), SignatureAlgorithm::Es256) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature).is_ok()
            }
            (Self::P384(point), SignatureAlgorithm::Es384) => {
                UnparsedPublicKey::new(&ECDSA_P384_SHA384_FIXED, point).verify(message, signature).is_ok()
            }
            _ => false,
        }
    }
}

/// A number of at most `max` bytes. Drops leading zeros, which some platforms send and ring refuses.
fn bytes(text: Option<String>, max: usize) -> Option<Vec<u8>> {
    let bytes = URL_SAFE_NO_PAD.decode(text?.trim_end_matches('=')).ok()?;
    let start = bytes.iter().position(|byte| *byte != 0)?;
    let number = &bytes[start..];
    (number.len() <= max).then(|| number.to_vec())
}

fn point(x: Option<String>, y: Option<String>, length: usize) -> Option<Vec<u8>> {
    let coordinate = |text: Option<String>| {
        let bytes = URL_SAFE_NO_PAD.decode(text?.trim_end_matches('=')).ok()?;
        (bytes.len() == length).then_some(bytes)
    };
    Some([&[UNCOMPRESSED][..], &coordinate(x)?, &coordinate(y)?].concat())
}
