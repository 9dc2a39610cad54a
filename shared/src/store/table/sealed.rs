//! Sealed answers to keyed requests. Only the Idempotency-Key, which is not stored, opens them.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use sha2::{Digest, Sha256};

use crate::domain::random::RandomSource;
use crate::error::{Error, Result};

/// The key that seals the answer to one request.
#[derive(Clone)]
pub(crate) struct SealingKey([u8; 32]);

impl SealingKey {
    /// The key for the name of a request: its sender, route and Idempotency-Key.
    pub(crate) fn of(request: &str) -> Self {
        // The hash in the key of the attempt has another prefix, so that neither reveals the other.
        Self(Sha256::digest(format!("answer\n{request}")).into())
    }

    pub(in crate::store) fn seal(&self, text: &[u8], entropy: &dyn RandomSource) -> Result<String> {
        let mut nonce = [0; NONCE_LEN];
        entropy.fill(&mut nonce);
        let mut sealed = text.to_vec();
        self.cipher()?
            .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut sealed)
            .map_err(|_| Error::internal("an answer cannot be sealed"))?;
        Ok(STANDARD_NO_PAD.encode([&nonce[..], &sealed].concat()))
    }

    /// The text that was sealed. Fails if another key sealed it, or if it was changed since.
    pub(in crate::store) fn open(&self, sealed: &str) -> Result<Vec<u8>> {
        let broken = || Error::internal("a kept answer cannot be opened");
        let bytes = STANDARD_NO_PAD.decode(sealed).map_err(Error::internal)?;
        let (nonce, sealed) = bytes.split_first_chunk::<NONCE_LEN>().ok_or_else(broken)?;
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let mut sealed = sealed.to_vec();
        let text = self.cipher()?.open_in_place(nonce, Aad::empty(), &mut sealed).map_err(|_| broken())?;
        Ok(text.to_vec())
    }

    fn cipher(&self) -> Result<LessSafeKey> {
        let key = UnboundKey::new(&CHACHA20_POLY1305, &self.0);
        key.map(LessSafeKey::new).map_err(|_| Error::internal("a key has the wrong length"))
    }
}

impl fmt::Debug for SealingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealingKey(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SystemEntropy;

    #[test]
    fn only_the_key_opens_its_sealed_values() {
        let key = SealingKey::of("acme customer 1\nPOST /labels/\nkey");
        let sealed = key.seal(b"Grace Hopper", &SystemEntropy).unwrap();
        assert_eq!(key.open(&sealed).unwrap(), b"Grace Hopper");
        assert_ne!(sealed, key.seal(b"Grace Hopper", &SystemEntropy).unwrap());
        assert!(SealingKey::of("acme customer 1\nPOST /labels/\nother").open(&sealed).is_err());
        for wrong in ["", "!", &sealed[..sealed.len() - 2], &sealed[2..]] {
            assert!(key.open(wrong).is_err(), "{wrong}");
        }
    }
}
