//! URLs of files. With them, programs without a credential of their own, such as players, fetch files that a response has shown.
//!
//! Each URL ends in a token with a MAC. Its key, the media key, is derived from the secret of a credential: a session,
//! a named token, a candidate's key, or a guest link. So the MAC proves that this credential was shown this file. The
//! credential's item holds the media key, sealed, because requests with the token come without the secret.
//!
//! Tokens are not stored. A token ends with the credential, with its holder's right to read the file's owner, and with
//! the file; that of a named token after 24 hours at the latest, that of a guest after 15 minutes.

use std::sync::OnceLock;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, TimeDelta, Utc};
use hmac::{Hmac, KeyInit, Mac as _};
use sha2::Sha256;

use crate::domain::random::RandomSource;
use crate::domain::secret::{MediaKey, PresentedSecret};

// Random, so that tokens differ between responses.
const NONCE_LEN: usize = 8;
/// Creation time, in seconds since 1970.
const MOMENT_LEN: usize = 8;
/// The identifier of the file or welcome video; for a take, that of its question.
const FILE_LEN: usize = 16;
/// 128 bits of HMAC-SHA-256.
const MAC_LEN: usize = 16;
/// Longer tokens are not parsed.
const MAX_CHARACTERS: usize = 256;

/// Signs the tokens of one response.
#[derive(Debug, Clone)]
pub struct FileUrlSigner {
    secret: PresentedSecret,
    /// Derived when the first token is signed: most responses have none.
    media_key: OnceLock<MediaKey>,
    start: [u8; NONCE_LEN + MOMENT_LEN],
    /// Identifies the credential.
    reference: Vec<u8>,
}

impl FileUrlSigner {
    /// Signs for the credential with this secret. `reference` identifies the credential in the tokens.
    pub fn new(
        secret: PresentedSecret,
        reference: &[u8],
        now: DateTime<Utc>,
        entropy: &dyn RandomSource,
    ) -> Self {
        let mut start = [0; NONCE_LEN + MOMENT_LEN];
        let (nonce, moment) = start.split_at_mut(NONCE_LEN);
        entropy.fill(nonce);
        moment.copy_from_slice(&now.timestamp().to_be_bytes());
        Self { secret, media_key: OnceLock::new(), start, reference: reference.to_vec() }
    }

    /// The token for the file with this identifier. `signed_name` is the key of its object. If the object may be
    /// replaced, or the file is no object, it is a name that stays the same.
    pub fn sign(&self, file: [u8; FILE_LEN], signed_name: &str) -> String {
        let head = [&self.start[..], &file, &self.reference].concat();
        let media_key = self.media_key.get_or_init(|| MediaKey::of(self.secret.as_str()));
        let mac = mac(media_key, &head, signed_name).finalize().into_bytes();
        URL_SAFE_NO_PAD.encode([&head[..], &mac[..MAC_LEN]].concat())
    }
}

/// A token from a URL. Do not trust it before [`is_for`](Self::is_for) has verified it.
#[derive(Debug)]
pub struct FileUrlToken {
    head: Vec<u8>,
    mac: [u8; MAC_LEN],
}

impl FileUrlToken {
    // The URLs of a session or a candidate's key end with it. Most named tokens never end, so their URLs have a lifetime.
    /// How long a URL works that was shown to a named token.
    pub const LIFETIME_OF_NAMED_TOKENS: TimeDelta = TimeDelta::hours(24);
    /// How long a URL works that was shown to a guest.
    pub const LIFETIME_OF_GUESTS: TimeDelta = TimeDelta::minutes(15);

    /// Parses a token; `None` if it is malformed.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() > MAX_CHARACTERS {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (head, mac) = bytes.split_last_chunk()?;
        (head.len() > NONCE_LEN + MOMENT_LEN + FILE_LEN).then(|| Self { head: head.to_vec(), mac: *mac })
    }

    /// Identifies the credential.
    pub fn reference(&self) -> &[u8] {
        &self.head[NONCE_LEN + MOMENT_LEN + FILE_LEN..]
    }

    /// The identifier of the file that the token claims to be for.
    pub fn file(&self) -> [u8; FILE_LEN] {
        self.head[NONCE_LEN + MOMENT_LEN..].first_chunk().copied().unwrap_or_default()
    }

    /// Whether the token is older than `lifetime`.
    pub fn is_older_than(&self, lifetime: TimeDelta, now: DateTime<Utc>) -> bool {
        self.made_at().is_none_or(|made| now - made > lifetime)
    }

    /// How much of the token's `lifetime` is left; `None` once it has expired.
    pub fn time_left(&self, lifetime: TimeDelta, now: DateTime<Utc>) -> Option<TimeDelta> {
        let left = lifetime - (now - self.made_at()?);
        // The clock of the server that made the token may be ahead of this one.
        (TimeDelta::zero() < left).then(|| left.min(lifetime))
    }

    fn made_at(&self) -> Option<DateTime<Utc>> {
        let moment = self.head[NONCE_LEN..].first_chunk().map_or(0, |bytes| i64::from_be_bytes(*bytes));
        DateTime::from_timestamp(moment, 0)
    }

    /// Whether the credential with this `media_key` was shown the file with this `signed_name`.
    pub fn is_for(&self, media_key: &MediaKey, signed_name: &str) -> bool {
        mac(media_key, &self.head, signed_name).verify_truncated_left(&self.mac).is_ok()
    }
}

fn mac(media_key: &MediaKey, head: &[u8], signed_name: &str) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new(&media_key.to_block().into());
    // Heads differ in length, so the length marks where the head ends.
    mac.update(&(head.len() as u64).to_be_bytes());
    mac.update(head);
    mac.update(signed_name.as_bytes());
    mac
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SystemEntropy;

    const NAME: &str = "media/acme/customers/U/F";
    const FILE: [u8; 16] = [9; 16];

    const SECRET: &str = "ivt_secret";

    fn signer() -> FileUrlSigner {
        FileUrlSigner::new(PresentedSecret::new(SECRET), b"whose", DateTime::UNIX_EPOCH, &SystemEntropy)
    }

    #[test]
    fn a_token_is_good_for_its_key_and_its_name_and_no_other() {
        let media_key = MediaKey::of(SECRET);
        let token = FileUrlToken::parse(&signer().sign(FILE, NAME)).unwrap();
        assert!(token.is_for(&media_key, NAME));
        assert_eq!((token.reference(), token.file()), (&b"whose"[..], FILE));
        assert!(!token.is_for(&media_key, "media/acme/customers/U/G"));
        assert!(!token.is_for(&MediaKey::of("ivt_another"), NAME));
        let hour = TimeDelta::hours(1);
        let day = TimeDelta::days(1);
        assert!(token.is_older_than(hour, DateTime::UNIX_EPOCH + day));
        assert!(!token.is_older_than(day, DateTime::UNIX_EPOCH + day));
        assert_eq!(token.time_left(day, DateTime::UNIX_EPOCH + hour), Some(day - hour));
        assert_eq!(token.time_left(day, DateTime::UNIX_EPOCH + day), None);
        assert_eq!(token.time_left(day, DateTime::UNIX_EPOCH - hour), Some(day));
    }

    #[test]
    fn two_fetches_give_two_tokens() {
        assert_ne!(signer().sign(FILE, NAME), signer().sign(FILE, NAME));
    }

    #[test]
    fn no_bit_can_be_turned() {
        let media_key = MediaKey::of(SECRET);
        let bytes = URL_SAFE_NO_PAD.decode(signer().sign(FILE, NAME)).unwrap();
        for bit in 0..bytes.len() * 8 {
            let mut turned = bytes.clone();
            turned[bit / 8] ^= 1 << (bit % 8);
            let token = FileUrlToken::parse(&URL_SAFE_NO_PAD.encode(turned)).unwrap();
            assert!(!token.is_for(&media_key, NAME), "bit {bit}");
        }
    }

    #[test]
    fn malformed_tokens_are_recognised() {
        let long = "A".repeat(MAX_CHARACTERS + 1);
        for text in ["", "AAAA", "!", "../../etc/passwd", &long] {
            assert!(FileUrlToken::parse(text).is_none(), "{text}");
        }
    }
}
