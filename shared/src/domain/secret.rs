//! Secrets as values that no log shows.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::clock::Entropy;

/// A password as it may be stored: argon2id in PHC string form.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PasswordHash(String);

impl PasswordHash {
    /// Wraps a PHC string.
    pub fn new(phc: String) -> Self {
        Self(phc)
    }

    /// The PHC string.
    pub fn phc(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for PasswordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PasswordHash(…)")
    }
}

/// The SHA-256 of a secret that is hard enough to guess without slowing that down, in base64url.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretHash(String);

impl SecretHash {
    /// The hash of a secret.
    pub fn of(secret: &str) -> Self {
        Self::from_bytes(Sha256::digest(secret).into())
    }

    /// The hash with these bytes.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(URL_SAFE_NO_PAD.encode(bytes))
    }

    /// The bytes of the hash.
    pub fn to_bytes(&self) -> Option<[u8; 32]> {
        URL_SAFE_NO_PAD.decode(&self.0).ok()?.try_into().ok()
    }

    /// The hash as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SecretHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretHash(…)")
    }
}

/// How many hours a forgotten password can be replaced by the key in a mail.
pub const RESET_HOURS: i64 = 2;

/// A key that is sent by mail and may be used once, until a day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OneTimeKey {
    /// The hash of the key.
    pub hash: SecretHash,
    /// When it ends unused.
    pub expires_at: DateTime<Utc>,
    /// When it was made; none when that was not noted yet.
    #[serde(default)]
    pub made_at: Option<DateTime<Utc>>,
}

impl OneTimeKey {
    /// Whether `key` is this one and may be used at `now`.
    pub fn is(&self, key: &str, now: DateTime<Utc>) -> bool {
        self.hash == SecretHash::of(key) && now < self.expires_at
    }
}

/// What lets a candidate act who has no password, or none yet.
///
/// Stored as it is, unlike other secrets: project managers may see it, and it dies before the interview is over.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessKey(String);

impl AccessKey {
    /// Wraps a key.
    pub fn new(key: String) -> Self {
        Self(key)
    }

    /// The key.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether `hash` is that of this key.
    pub fn has(&self, hash: &SecretHash) -> bool {
        SecretHash::of(&self.0) == *hash
    }
}

impl fmt::Debug for AccessKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AccessKey(…)")
    }
}

/// What the addresses of files are signed with, for one credential: in base64url.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MediaKey(String);

impl MediaKey {
    /// A new key.
    pub fn generate(entropy: &dyn Entropy) -> Self {
        let mut bytes = [0; 32];
        entropy.fill(&mut bytes);
        Self(URL_SAFE_NO_PAD.encode(bytes))
    }

    /// The key for a credential that is stored as it is.
    pub fn of(key: &AccessKey) -> Self {
        Self(SecretHash::of(&format!("media {}", key.as_str())).0)
    }

    /// The key as a block of SHA-256, filled up with zeroes as HMAC does.
    pub fn to_block(&self) -> [u8; 64] {
        let mut block = [0; 64];
        block.iter_mut().zip(self.0.bytes()).for_each(|(to, from)| *to = from);
        block
    }
}

impl fmt::Debug for MediaKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MediaKey(…)")
    }
}
