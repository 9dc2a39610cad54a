//! Seals: encryption of stored values that the service must read back (stored responses, candidates' keys, keys that sign file
//! URLs, webhooks' secrets). The key is in Secrets Manager and not in the table, so that a copy or backup of the table neither
//! reveals the values nor lets anyone verify a guess.
//!
//! An environment fetches the key when it first seals or opens something, and keeps it. If the key cannot be fetched, requests
//! that need it fail and write nothing.
//!
//! HKDF derives a key for each place from the key in Secrets Manager. So a sealed value cannot be opened at another place, and
//! few values share a key, which keeps random nonces of 96 bits from repeating. A sealed value names its key. After a rotation,
//! the former key still opens values for [`FORMER_OPENS`], but seals nothing. Within that time, the operator's command `reseal`
//! must seal lasting values again.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, TimeDelta, Utc};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, Prk, Salt};
use tokio::sync::Mutex;

use crate::app::App;
use crate::aws::SecretVersion;
use crate::domain::random::RandomSource;
use crate::domain::secret::Sealed;
use crate::error::{Error, Result};

/// How long a replaced key still opens values.
// The maximum lifetime of a guest link.
pub const FORMER_OPENS: TimeDelta = TimeDelta::days(90);
/// The minimum time between two attempts of an environment to fetch an unknown key.
const LOOK_AGAIN: TimeDelta = TimeDelta::minutes(1);
/// The minimum length of the secret in characters: with a copy of the table, a short secret could be guessed.
const MIN_SECRET: usize = 32;
/// The length of a key's name in bytes, enough that two keys of a deployment never share a name.
const NAME: usize = 6;
/// Separates the key's name from the encrypted value.
const SEPARATOR: char = '.';

/// The place of a sealed value, the only one where it can be opened.
#[derive(Clone)]
pub(crate) struct SealPlace(String);

impl SealPlace {
    /// The attribute `name` of the item with this partition and sort key.
    pub(crate) fn attribute(pk: &str, sk: &str, name: &str) -> Self {
        Self([pk, sk, name].join("\n"))
    }

    /// The cookie of the sign-in with this `state`.
    pub(crate) fn of_sign_in(state: &str) -> Self {
        // Unambiguous, because no item has this partition key.
        Self(format!("SIGN_IN\n{state}"))
    }

    /// A value stored for a request. `name` contains the Idempotency-Key, which only the client knows: without it, not even
    /// the key in Secrets Manager opens the value.
    pub(crate) fn of_request(name: &str, what: &str) -> Self {
        // Unambiguous, because no item has this partition key.
        Self(format!("REQUEST\n{what}\n{name}"))
    }
}

/// Hides the place, which may contain an Idempotency-Key.
impl fmt::Debug for SealPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealPlace(…)")
    }
}

/// The keys that one environment has fetched.
#[derive(Default)]
pub(crate) struct Seals {
    known: RwLock<Option<Arc<SealKeys>>>,
    /// Held by the request that fetches keys. Other requests wait for it.
    fetching: Mutex<()>,
}

impl Seals {
    fn known(&self) -> Option<Arc<SealKeys>> {
        self.known.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn learn(&self, keys: SealKeys) -> Arc<SealKeys> {
        let keys = Arc::new(keys);
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = Some(keys.clone());
        keys
    }
}

/// The current key, which seals, and the former key.
pub(crate) struct SealKeys {
    current: SealKey,
    /// The former key, and when it stops working; `None` until a sealed value has named a key other than the current one.
    former: Option<(SealKey, DateTime<Utc>)>,
    /// When this environment last tried to fetch an unknown key.
    looked_at: Option<DateTime<Utc>>,
}

impl SealKeys {
    /// Encrypts a secret for one place with the current key.
    pub(crate) fn seal(
        &self,
        place: &SealPlace,
        secret: &[u8],
        entropy: &dyn RandomSource,
    ) -> Result<Sealed> {
        let impossible = |_| Error::internal("a secret cannot be sealed");
        let mut nonce = [0; NONCE_LEN];
        entropy.fill(&mut nonce);
        let mut sealed = secret.to_vec();
        let cipher = self.current.cipher(place).map_err(impossible)?;
        cipher
            .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut sealed)
            .map_err(impossible)?;
        let sealed = URL_SAFE_NO_PAD.encode([&nonce[..], &sealed].concat());
        Ok(Sealed::new(format!("{}{SEPARATOR}{sealed}", self.current.name)))
    }

    /// Decrypts a value that was sealed for this place. Fails if its key is unknown or no longer works, if the value was altered,
    /// or if it was sealed for another place.
    pub(crate) fn open(&self, place: &SealPlace, sealed: &Sealed, now: DateTime<Utc>) -> Result<Vec<u8>> {
        let (name, text) = parts(sealed).ok_or_else(|| Error::internal("this is no seal"))?;
        let key = self.key(name, now).ok_or_else(|| {
            Error::internal(format!(
                "the key {name} of a seal is not that of SEAL_SECRET_ID, and not the former one within {} days",
                FORMER_OPENS.num_days()
            ))
        })?;
        let broken = || Error::internal(format!("the key {name} does not open a seal that names it"));
        let mut bytes = URL_SAFE_NO_PAD.decode(text).map_err(Error::internal)?;
        let (nonce, text) = bytes.split_first_chunk_mut::<NONCE_LEN>().ok_or_else(broken)?;
        let cipher = key.cipher(place).map_err(|_| broken())?;
        let opened = cipher.open_in_place(Nonce::assume_unique_for_key(*nonce), Aad::empty(), text);
        Ok(opened.map_err(|_| broken())?.to_vec())
    }

    /// Whether the value was sealed with the current key.
    pub(crate) fn is_current(&self, sealed: &Sealed) -> bool {
        parts(sealed).is_some_and(|(name, _)| name == self.current.name)
    }

    fn key(&self, name: &str, now: DateTime<Utc>) -> Option<&SealKey> {
        let former = self.former.as_ref().filter(|(_, end)| now < *end).map(|(key, _)| key);
        [Some(&self.current), former].into_iter().flatten().find(|key| key.name == name)
    }

    fn knows(&self, sealed: &Sealed) -> bool {
        let former = self.former.as_ref().map(|(key, _)| key);
        let mut names = [Some(&self.current), former].into_iter().flatten().map(|key| &key.name);
        parts(sealed).is_none_or(|(named, _)| names.any(|name| name == named))
    }
}

fn parts(sealed: &Sealed) -> Option<(&str, &str)> {
    sealed.as_str().split_once(SEPARATOR)
}

/// A key from Secrets Manager, from which a key for each place is derived.
struct SealKey {
    /// Identifies the key; derived from it.
    name: String,
    root: Prk,
}

impl SealKey {
    fn of(secret: &str) -> Result<Self> {
        if secret.len() < MIN_SECRET {
            let problem = format!("the secret of SEAL_SECRET_ID has fewer than {MIN_SECRET} characters");
            return Err(Error::internal(problem));
        }
        let root = Salt::new(HKDF_SHA256, b"seals").extract(secret.as_bytes());
        let mut name = [0; 32];
        let derived = root.expand(&[b"name"], HKDF_SHA256).and_then(|derived| derived.fill(&mut name));
        derived.map_err(|_| Error::internal("a key has no name"))?;
        let name = URL_SAFE_NO_PAD.encode(&name[..NAME]);
        Ok(Self { name, root })
    }

    fn cipher(&self, place: &SealPlace) -> Result<LessSafeKey, ring::error::Unspecified> {
        let info = [b"place\n", place.0.as_bytes()];
        Ok(LessSafeKey::new(UnboundKey::from(self.root.expand(&info, &CHACHA20_POLY1305)?)))
    }
}

impl App {
    /// The keys, fetched on first use.
    pub(crate) async fn seal_keys(&self) -> Result<Arc<SealKeys>> {
        if let Some(keys) = self.seals().known() {
            return Ok(keys);
        }
        let _turn = self.seals().fetching.lock().await;
        match self.seals().known() {
            Some(keys) => Ok(keys),
            None => Ok(self.seals().learn(self.fetch_current().await?.0)),
        }
    }

    /// The keys, including those that `seals` name, if they exist. Fetches unknown keys at most once a minute.
    pub(crate) async fn seal_keys_for<'a>(
        &self,
        seals: impl IntoIterator<Item = &'a Sealed> + Clone,
    ) -> Result<Arc<SealKeys>> {
        let is_known = |keys: &SealKeys| {
            let has_looked = keys.looked_at.is_some_and(|at| self.now() - at < LOOK_AGAIN);
            has_looked || seals.clone().into_iter().all(|sealed| keys.knows(sealed))
        };
        let keys = self.seal_keys().await?;
        if is_known(&keys) {
            return Ok(keys);
        }
        let _turn = self.seals().fetching.lock().await;
        // Another request may have fetched the keys in the meantime.
        if let Some(keys) = self.seals().known().filter(|keys| is_known(keys)) {
            return Ok(keys);
        }
        let (mut keys, since) = self.fetch_current().await?;
        if let Some(former) = self.fetch("AWSPREVIOUS").await? {
            // Ignore an invalid former secret, stored by mistake and then replaced: it must not keep the current key from working.
            keys.former = SealKey::of(&former.text).ok().map(|key| (key, since + FORMER_OPENS));
        }
        keys.looked_at = Some(self.now());
        Ok(self.seals().learn(keys))
    }

    async fn fetch_current(&self) -> Result<(SealKeys, DateTime<Utc>)> {
        let secret = self.fetch("AWSCURRENT").await?;
        let secret = secret.ok_or_else(|| Error::internal("the secret of SEAL_SECRET_ID does not exist"))?;
        let current = SealKey::of(&secret.text)?;
        Ok((SealKeys { current, former: None, looked_at: None }, secret.created_at()))
    }

    async fn fetch(&self, stage: &str) -> Result<Option<SecretVersion>> {
        let id = self.config().seal_secret.as_deref();
        let id = id.ok_or_else(|| Error::internal("environment variable SEAL_SECRET_ID: is missing"))?;
        self.aws().secret(id, stage).await
    }

    pub(crate) async fn seal(&self, place: &SealPlace, secret: &[u8]) -> Result<Sealed> {
        self.seal_keys().await?.seal(place, secret, self.entropy())
    }

    /// Decrypts a value that was sealed for this place. Fails if no key opens it.
    pub(crate) async fn open(&self, place: &SealPlace, sealed: &Sealed) -> Result<Vec<u8>> {
        self.seal_keys_for([sealed]).await?.open(place, sealed, self.now())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SystemEntropy;

    const SECRET: &str = "0123456789abcdef0123456789abcdef";

    fn keys(secret: &str) -> SealKeys {
        SealKeys { current: SealKey::of(secret).unwrap(), former: None, looked_at: None }
    }

    #[test]
    fn a_seal_opens_with_its_key_in_its_place_and_not_otherwise() {
        let now = DateTime::UNIX_EPOCH;
        let request =
            |key: &str| SealPlace::of_request(&format!("acme customer 1\nPOST /labels/\n{key}"), "answer");
        let own = keys(SECRET);
        let sealed = own.seal(&request("key"), b"Grace Hopper", &SystemEntropy).unwrap();
        assert_eq!(own.open(&request("key"), &sealed, now).unwrap(), b"Grace Hopper");
        assert_ne!(sealed, own.seal(&request("key"), b"Grace Hopper", &SystemEntropy).unwrap());
        let elsewhere = [
            request("other"),
            SealPlace::of_request("acme customer 1\nPOST /labels/\nkey", "selection"),
            SealPlace::attribute("COMPANY#acme", "TOKEN#1", "media_key"),
        ];
        for place in elsewhere {
            assert!(own.open(&place, &sealed, now).is_err(), "{}", place.0);
        }
        // A different key with the same name does not open it either.
        let other = keys(&SECRET.to_uppercase());
        let renamed = sealed.as_str().replace(&own.current.name, &other.current.name);
        for sealed in [&sealed, &Sealed::new(renamed)] {
            assert!(other.open(&request("key"), sealed, now).is_err());
        }
        let text = sealed.as_str();
        for wrong in [
            "",
            ".",
            "!",
            &text[..text.len() - 2],
            &text[2..],
            &text.replace('.', ".A"),
            &text.replace('.', ""),
        ] {
            assert!(own.open(&request("key"), &Sealed::new(wrong.to_owned()), now).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_former_key_opens_until_its_end_and_a_short_secret_makes_none() {
        let place = SealPlace::attribute("COMPANY#acme", "TOKEN#1", "media_key");
        let sealed = keys(SECRET).seal(&place, b"key", &SystemEntropy).unwrap();
        let end = DateTime::UNIX_EPOCH + FORMER_OPENS;
        let mut rotated = keys(&SECRET.replace('0', "z"));
        assert!(!rotated.knows(&sealed));
        rotated.former = Some((SealKey::of(SECRET).unwrap(), end));
        assert!(rotated.knows(&sealed) && !rotated.is_current(&sealed));
        assert_eq!(rotated.open(&place, &sealed, end - TimeDelta::seconds(1)).unwrap(), b"key");
        assert!(rotated.open(&place, &sealed, end).is_err());
        assert!(rotated.is_current(&rotated.seal(&place, b"key", &SystemEntropy).unwrap()));
        assert!(SealKey::of(&SECRET[1..]).is_err());
    }
}
