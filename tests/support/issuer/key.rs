//! Signing keys of test issuers.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::rand::SystemRandom;
use ring::rsa::PublicKeyComponents;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _,
    RSA_PKCS1_SHA256, RSA_PKCS1_SHA512, RSA_PSS_SHA256, RsaEncoding, RsaKeyPair,
};
use serde_json::{Value, json};

/// A key of 2,048 bits for tests only, because *ring* generates no RSA keys.
const RSA: &str = include_str!("rsa.txt");

/// A signature algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SigningAlgorithm {
    Rs256,
    Es256,
    Es384,
}

impl SigningAlgorithm {
    pub const ALL: [Self; 3] = [Self::Rs256, Self::Es256, Self::Es384];

    /// The algorithm's name in JWT headers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rs256 => "RS256",
            Self::Es256 => "ES256",
            Self::Es384 => "ES384",
        }
    }
}

enum Pair {
    Rsa(RsaKeyPair),
    Ec(EcdsaKeyPair),
}

/// A key pair with an identifier.
pub struct SigningKey {
    pub id: String,
    pub algorithm: SigningAlgorithm,
    pair: Pair,
}

impl SigningKey {
    /// A key of this algorithm; new except for RSA, which always has the same key.
    pub fn new(id: &str, algorithm: SigningAlgorithm) -> Self {
        let random = SystemRandom::new();
        let ec = |of| {
            let made = EcdsaKeyPair::generate_pkcs8(of, &random).expect("a new key");
            Pair::Ec(EcdsaKeyPair::from_pkcs8(of, made.as_ref(), &random).expect("the new key"))
        };
        let pair = match algorithm {
            SigningAlgorithm::Rs256 => {
                let der: String = RSA.split_whitespace().collect();
                let der = STANDARD.decode(der).expect("base64");
                Pair::Rsa(RsaKeyPair::from_pkcs8(&der).expect("a key of RSA"))
            }
            SigningAlgorithm::Es256 => ec(&ECDSA_P256_SHA256_FIXED_SIGNING),
            SigningAlgorithm::Es384 => ec(&ECDSA_P384_SHA384_FIXED_SIGNING),
        };
        Self { id: id.to_owned(), algorithm, pair }
    }

    /// The public key as a JWK.
    pub fn jwk(&self) -> Value {
        let encode = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let mut jwk = match &self.pair {
            Pair::Rsa(pair) => {
                let public: PublicKeyComponents<Vec<u8>> = pair.public().into();
                json!({ "kty": "RSA", "n": encode(&public.n), "e": encode(&public.e) })
            }
            Pair::Ec(pair) => {
                let point = &pair.public_key().as_ref()[1..];
                let (x, y) = point.split_at(point.len() / 2);
                let curve = if x.len() == 32 { "P-256" } else { "P-384" };
                json!({ "kty": "EC", "crv": curve, "x": encode(x), "y": encode(y) })
            }
        };
        jwk["kid"] = self.id.clone().into();
        jwk["use"] = "sig".into();
        jwk["alg"] = self.algorithm.as_str().into();
        jwk
    }

    /// The header of a JWT by this key.
    pub fn header(&self) -> Value {
        json!({ "alg": self.algorithm.as_str(), "kid": self.id, "typ": "JWT" })
    }

    /// Signs a JWT with these claims.
    pub fn sign(&self, claims: &Value) -> String {
        self.sign_with(&self.header(), claims)
    }

    /// Signs a JWT with this header and these claims, using the key's algorithm even if the header names another.
    pub fn sign_with(&self, header: &Value, claims: &Value) -> String {
        self.sign_text(&header.to_string(), &claims.to_string())
    }

    /// Signs a JWT with these texts as header and claims.
    pub fn sign_text(&self, header: &str, claims: &str) -> String {
        let signed = unsigned(header, claims);
        let signature = match &self.pair {
            Pair::Rsa(pair) => by_rsa(pair, &RSA_PKCS1_SHA256, &signed),
            Pair::Ec(pair) => {
                pair.sign(&SystemRandom::new(), signed.as_bytes()).expect("a signature").as_ref().to_vec()
            }
        };
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
    }

    /// Signs JWTs with other RSA algorithms, each named in its header; none for other keys.
    pub fn sign_by_other_algorithms(&self, claims: &Value) -> Vec<String> {
        let Pair::Rsa(pair) = &self.pair else { return Vec::new() };
        let others: [(&str, &'static dyn RsaEncoding); 2] =
            [("RS512", &RSA_PKCS1_SHA512), ("PS256", &RSA_PSS_SHA256)];
        let others = others.into_iter().map(|(name, encoding)| {
            let signed = unsigned(&json!({ "alg": name, "kid": self.id }).to_string(), &claims.to_string());
            let signature = by_rsa(pair, encoding, &signed);
            format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
        });
        others.collect()
    }
}

fn by_rsa(pair: &RsaKeyPair, encoding: &'static dyn RsaEncoding, signed: &str) -> Vec<u8> {
    let mut signature = vec![0; pair.public().modulus_len()];
    pair.sign(encoding, &SystemRandom::new(), signed.as_bytes(), &mut signature).expect("a signature");
    signature
}

fn unsigned(header: &str, claims: &str) -> String {
    format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims))
}
