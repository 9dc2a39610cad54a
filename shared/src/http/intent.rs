//! The header Idempotency-Key, and what it names a request.

use axum::body::Bytes;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use super::multipart;
use crate::domain::Refusal;
use crate::error::Result;
use crate::store::{KeyedRequest, SealingKey, keys};

const KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// The most characters of a key.
const MAX_CHARACTERS: usize = 255;

const INVALID_KEY: Refusal = Refusal {
    code: "invalid_idempotency_key",
    detail: "Send one Idempotency-Key of 1 to 255 visible ASCII characters.",
};

/// What names a request, so that a repeat is known.
#[derive(Debug)]
pub(crate) struct Intent {
    /// Method and path.
    route: String,
    /// What its sender calls it.
    key: String,
    /// The hash of its query and of what its body means. They may hold what nobody should guess, so that the key is part
    /// of it.
    fingerprint: String,
}

impl Intent {
    /// That of a request with these parts and this body, which its sender calls `key`.
    pub(super) async fn new(parts: &Parts, key: String, body: &Bytes) -> Self {
        let (method, uri) = (&parts.method, &parts.uri);
        let query = uri.query().unwrap_or_default();
        let hasher = Sha256::new().chain_update(format!("{key}\n{query}\n"));
        let hash = multipart::hash(hasher, &parts.headers, body).await.finalize();
        Self { route: format!("{method} {}", uri.path()), key, fingerprint: URL_SAFE_NO_PAD.encode(hash) }
    }

    /// The request as one of `sender`.
    pub(crate) fn of(&self, sender: &str) -> KeyedRequest {
        // None of the parts can hold the separator.
        let name = format!("{sender}\n{}\n{}", self.route, self.key);
        let (id, sealing_key) = (keys::idempotency_id(&name), SealingKey::of(&name));
        KeyedRequest { id, fingerprint: self.fingerprint.clone(), sealing_key }
    }
}

/// The key that the headers bring.
///
/// # Errors
/// When it is no key, or there are several.
pub(super) fn key_in(headers: &HeaderMap) -> Result<Option<String>> {
    let mut keys = headers.get_all(KEY).into_iter();
    let Some(key) = keys.next() else { return Ok(None) };
    let key = key.as_bytes();
    let is_key = (1..=MAX_CHARACTERS).contains(&key.len()) && key.iter().all(u8::is_ascii_graphic);
    if !is_key || keys.next().is_some() {
        return Err(INVALID_KEY.into());
    }
    Ok(Some(String::from_utf8_lossy(key).into_owned()))
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;
    use crate::error::Error;

    fn read(keys: &[&str]) -> Result<Option<String>> {
        key_in(&keys.iter().map(|key| (KEY, HeaderValue::from_bytes(key.as_bytes()).unwrap())).collect())
    }

    #[test]
    fn a_key_is_one_word_of_visible_characters() {
        assert_eq!(read(&[]).unwrap(), None);
        for good in ["a", "\"8e03978e-40d5-43dd\"", "~!{}", &"k".repeat(255)] {
            assert_eq!(read(&[good]).unwrap().as_deref(), Some(good));
        }
        for bad in [&[""][..], &["a b"], &["é"], &["a\tb"], &[&"k".repeat(256)], &["a", "a"]] {
            assert!(matches!(read(bad), Err(Error::Refused(INVALID_KEY))), "{bad:?}");
        }
    }
}
