//! The keys that sign receipts of erasures and archives of companies.
//!
//! A signature is a JWS in its compact form (RFC 7515) by Ed25519 (`EdDSA`, RFC 8037), so that any JOSE library verifies it
//! with the published keys, without this service.

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::id::CompanyId;

/// Makes this hash of the secret differ from hashes for other purposes.
const SEED: &[u8] = b"interviews/receipts/ed25519/1\0";

/// The types of the signatures, so that none is accepted as one of another kind, or of another service with such a key.
const RECEIPT_TYPE: &str = "erasure-receipt+jws";
const ARCHIVE_TYPE: &str = "company-export+jws";

/// The key that signs receipts, and the public keys that verify them.
#[derive(Clone)]
pub struct ReceiptKeys {
    pair: Arc<Ed25519KeyPair>,
    /// The public keys, the current one first.
    public: Vec<ReceiptKey>,
}

impl ReceiptKeys {
    /// Derives the key from `secret` and adds `former` public keys. Fails with a message about the problem.
    pub fn new(secret: &str, former: &[ReceiptKey]) -> Result<Self, String> {
        let seed = Sha256::new_with_prefix(SEED).chain_update(secret).finalize();
        let pair = Ed25519KeyPair::from_seed_unchecked(&seed).map_err(|error| error.to_string())?;
        let present = pair.public_key().as_ref().try_into().map(ReceiptKey);
        let mut public = vec![present.map_err(|_| "has no public key of 32 bytes".to_owned())?];
        for former in former {
            // Operators add the current key to the former ones before they replace its secret.
            if !public.contains(former) {
                public.push(*former);
            }
        }
        Ok(Self { pair: Arc::new(pair), public })
    }

    /// The public keys, the current one first.
    pub fn public(&self) -> &[ReceiptKey] {
        &self.public
    }

    /// Signs the statement of a receipt. Returns the JWS.
    pub fn sign(&self, statement: &[u8]) -> String {
        let [header, payload, signature] = self.signed(RECEIPT_TYPE, statement);
        format!("{header}.{payload}.{signature}")
    }

    /// Signs the manifest of an archive. Returns the JWS without its payload (RFC 7515, appendix F), because the manifest is a
    /// file of its own.
    pub fn sign_manifest(&self, manifest: &[u8]) -> String {
        let [header, _, signature] = self.signed(ARCHIVE_TYPE, manifest);
        format!("{header}..{signature}")
    }

    /// The parts of a JWS in its compact form.
    fn signed(&self, signature_type: &str, payload: &[u8]) -> [String; 3] {
        let key = self.public.first().map(ReceiptKey::thumbprint).unwrap_or_default();
        let header = header_of(signature_type, &key);
        let [header, payload] = [URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(payload)];
        let signature = self.pair.sign(format!("{header}.{payload}").as_bytes());
        [header, payload, URL_SAFE_NO_PAD.encode(signature)]
    }
}

/// The header of a JWS.
fn header_of(signature_type: &str, thumbprint: &str) -> String {
    json!({ "alg": "EdDSA", "kid": thumbprint, "typ": signature_type }).to_string()
}

/// A public key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReceiptKey([u8; 32]);

impl ReceiptKey {
    /// Parses the `x` of a JWK. Fails with a message about the problem.
    pub fn parse(x: &str) -> Result<Self, String> {
        let bytes = URL_SAFE_NO_PAD.decode(x).ok().and_then(|bytes| bytes.try_into().ok());
        bytes.map(Self).ok_or_else(|| format!("\"{x}\" is not the `x` of a JWK with the curve Ed25519"))
    }

    /// Parses values of `x`, separated by commas. Fails with a message about the problem.
    pub fn parse_list(list: &str) -> Result<Vec<Self>, String> {
        list.split(',').filter(|key| !key.is_empty()).map(Self::parse).collect()
    }

    /// Verifies a receipt, which is a compact JWS, and returns its payload; `None` if this key has not signed it.
    pub fn open_receipt(&self, jws: &str) -> Option<Vec<u8>> {
        let (header, rest) = jws.split_once('.')?;
        let (payload, signature) = rest.split_once('.')?;
        let payload = URL_SAFE_NO_PAD.decode(payload).ok()?;
        self.has_signed(RECEIPT_TYPE, header, &payload, signature).then_some(payload)
    }

    /// Whether this key has signed the manifest. `jws` is the signature, without its payload.
    pub fn has_signed_manifest(&self, jws: &str, manifest: &[u8]) -> bool {
        let parts = jws.split_once("..");
        parts.is_some_and(|(header, signature)| self.has_signed(ARCHIVE_TYPE, header, manifest, signature))
    }

    fn has_signed(&self, signature_type: &str, header: &str, payload: &[u8], signature: &str) -> bool {
        // Accept only the header that this service writes: another one could name critical extensions.
        let expected = URL_SAFE_NO_PAD.encode(header_of(signature_type, &self.thumbprint()));
        let signed = format!("{header}.{}", URL_SAFE_NO_PAD.encode(payload));
        let Ok(signature) = URL_SAFE_NO_PAD.decode(signature) else { return false };
        header == expected
            && UnparsedPublicKey::new(&ED25519, self.0).verify(signed.as_bytes(), &signature).is_ok()
    }

    /// The thumbprint of the key (RFC 7638), which serves as its name.
    pub fn thumbprint(&self) -> String {
        // The standard hashes exactly this text: the members sorted by name, without spaces.
        let jwk = format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{self}"}}"#);
        URL_SAFE_NO_PAD.encode(Sha256::digest(jwk))
    }
}

/// A key from a company's archive, which verifies the receipts of the company's former deployment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportedReceiptKey {
    pub company: CompanyId,
    pub key: ReceiptKey,
}

impl Serialize for ReceiptKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ReceiptKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// The member `x` of the key's JWK.
impl fmt::Display for ReceiptKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&URL_SAFE_NO_PAD.encode(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_thumbprint_is_that_of_the_standard() {
        // RFC 8037, appendix A.3.
        let key = ReceiptKey::parse("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo").unwrap();
        assert_eq!(key.thumbprint(), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
    }

    #[test]
    fn a_signature_holds_for_its_payload_and_its_key_alone() {
        let keys = ReceiptKeys::new("a secret", &[]).unwrap();
        let jws = keys.sign(b"{\"a\":1}");
        let own = keys.public()[0];
        assert_eq!(own.open_receipt(&jws).as_deref(), Some(&b"{\"a\":1}"[..]));
        assert_eq!(ReceiptKeys::new("another", &[]).unwrap().public()[0].open_receipt(&jws), None);
        let (header, rest) = jws.split_once('.').unwrap();
        let payload = URL_SAFE_NO_PAD.encode(b"{\"a\":2}");
        let (_, signature) = rest.split_once('.').unwrap();
        assert_eq!(own.open_receipt(&format!("{header}.{payload}.{signature}")), None);
        let manifest = keys.sign_manifest(b"{}");
        assert!(own.has_signed_manifest(&manifest, b"{}") && !own.has_signed_manifest(&manifest, b"{ }"));
        // Neither signature is accepted as the other kind.
        assert!(!own.has_signed_manifest(
            &jws.replace(&format!(".{}.", jws.split('.').nth(1).unwrap()), ".."),
            b"{\"a\":1}"
        ));
        assert_eq!(own.open_receipt(&manifest.replace("..", ".e30.")), None);
        let header: serde_json::Value =
            serde_json::from_slice(&URL_SAFE_NO_PAD.decode(header).unwrap()).unwrap();
        let expected = json!({ "alg": "EdDSA", "kid": own.thumbprint(), "typ": "erasure-receipt+jws" });
        assert_eq!(header, expected);
    }

    #[test]
    fn a_secret_always_has_the_same_key() {
        // With another seed, receipts that were issued before could no longer be verified.
        let key = ReceiptKeys::new("a secret", &[]).unwrap().public()[0];
        assert_eq!(key.to_string(), "R-a4Gfw9Ue1yaIJ8vUJm7cCs0rudVvRGd3CCWzKX9Uo");
    }

    #[test]
    fn former_keys_stay_public_and_none_is_there_twice() {
        let [one, two] = ["one", "two"].map(|secret| ReceiptKeys::new(secret, &[]).unwrap().public()[0]);
        let former = ReceiptKey::parse_list(&format!("{two},{one},{one}")).unwrap();
        let keys = ReceiptKeys::new("two", &former).unwrap();
        assert_eq!(keys.public(), [two, one]);
        assert_eq!(ReceiptKey::parse_list(""), Ok(Vec::new()));
        for wrong in ["x", "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo=", &format!("{one} ")] {
            let refused = ReceiptKey::parse_list(wrong).unwrap_err();
            assert!(refused.contains(wrong), "{refused}");
        }
    }
}
