//! Secrets, which `Debug` hides.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::random::RandomSource;

/// An argon2id hash in PHC string form.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PasswordHash(String);

impl PasswordHash {
    /// Wraps a PHC string.
    pub fn new(phc: String) -> Self {
        Self(phc)
    }

    pub fn phc(&self) -> &str {
        &self.0
    }
}

/// The SHA-256 of a secret with enough entropy, in base64url.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretHash(String);

impl SecretHash {
    /// The hash of a secret.
    pub fn of(secret: &str) -> Self {
        // Fast, unlike a password's hash: these secrets are random and too long to be guessed.
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

    /// In base64url.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Validity of a password reset key, in hours.
pub const RESET_HOURS: i64 = 2;

/// A key that is sent by mail, works once and expires.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OneTimeKey {
    /// The hash of the key.
    pub hash: SecretHash,
    /// When it ends unused.
    pub expires_at: DateTime<Utc>,
    /// When it was made.
    pub made_at: DateTime<Utc>,
}

impl OneTimeKey {
    /// Whether `key` is this one and is valid at `now`.
    pub fn is(&self, key: &str, now: DateTime<Utc>) -> bool {
        self.hash == SecretHash::of(key) && now < self.expires_at
    }
}

/// The key of a candidate without a password.
///
/// Stored unhashed, because project managers may see it; it is revoked before the interview ends.
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

    /// Whether `hash` is the hash of this key.
    pub fn has(&self, hash: &SecretHash) -> bool {
        SecretHash::of(&self.0) == *hash
    }
}

/// Signs the URLs of files for one credential; in base64url.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MediaKey(String);

impl MediaKey {
    /// A new key.
    pub fn generate(entropy: &dyn RandomSource) -> Self {
        let mut bytes = [0; 32];
        entropy.fill(&mut bytes);
        Self(URL_SAFE_NO_PAD.encode(bytes))
    }

    /// The key for an access key, which is stored unhashed.
    pub fn of(key: &AccessKey) -> Self {
        // The word before it keeps this apart from the hash that checks the key itself.
        Self(SecretHash::of(&format!("media {}", key.as_str())).0)
    }

    /// A block of SHA-256, padded with zeroes as HMAC requires.
    pub fn to_block(&self) -> [u8; 64] {
        let mut block = [0; 64];
        block.iter_mut().zip(self.0.bytes()).for_each(|(to, from)| *to = from);
        block
    }
}

macro_rules! hide {
    ($($secret:ident)+) => {$(
        impl fmt::Debug for $secret {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(concat!(stringify!($secret), "(…)"))
            }
        }
    )+};
}

hide! { PasswordHash SecretHash AccessKey MediaKey }
