//! Secrets, which `Debug` hides.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

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

/// The SHA-256 of a high-entropy secret, in base64url.
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

    /// The 32 bytes of the hash; `None` if the stored text is not a hash.
    pub fn to_bytes(&self) -> Option<[u8; 32]> {
        URL_SAFE_NO_PAD.decode(&self.0).ok()?.try_into().ok()
    }

    /// The hash in base64url.
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
    /// When the key expires, unless it is used earlier.
    pub expires_at: DateTime<Utc>,
    pub made_at: DateTime<Utc>,
}

impl OneTimeKey {
    /// Whether `key` is this key and has not expired at `now`.
    pub fn is(&self, key: &str, now: DateTime<Utc>) -> bool {
        self.hash == SecretHash::of(key) && now < self.expires_at
    }
}

/// A secret as its holder presents it.
#[derive(Clone, PartialEq, Eq)]
pub struct PresentedSecret(String);

impl PresentedSecret {
    /// Wraps a secret.
    pub fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A secret that the service shows or uses again, encrypted with a key from outside the table: a copy of the table does not
/// reveal it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sealed(String);

impl Sealed {
    /// Wraps a sealed secret.
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// A placeholder for a secret that nobody knows, such as that of an imported credential. No key opens it.
    pub fn of_nothing() -> Self {
        Self(String::new())
    }

    /// Whether it is the placeholder [`of_nothing`](Self::of_nothing).
    pub fn is_of_nothing(&self) -> bool {
        self.0.is_empty()
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The key of a candidate without a password.
///
/// The key is stored both hashed and sealed, because project managers may see it and mails repeat it. It opens nothing
/// once the interview has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessKey {
    /// The hash of the key. Requests are authenticated with it, so they need not open the seal.
    pub hash: SecretHash,
    pub sealed: Sealed,
}

/// The key that signs the URLs of files for one credential, in base64url.
///
/// It is derived from the credential's secret: a request that presents the secret can sign URLs without opening a seal.
#[derive(Clone, PartialEq, Eq)]
pub struct MediaKey(String);

impl MediaKey {
    /// The key for a credential with this secret.
    pub fn of(secret: &str) -> Self {
        // The prefix makes the key differ from the hash that authenticates the secret.
        Self(SecretHash::of(&format!("media {secret}")).0)
    }

    /// Wraps a key from an opened seal.
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// The key, to be sealed.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The key as one 64-byte block of SHA-256, padded with zeroes as HMAC requires.
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

hide! { PasswordHash SecretHash PresentedSecret Sealed MediaKey }
