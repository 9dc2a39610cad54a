//! Entity tags: `"<revision>-<digest>"`. The revision is that of the resource at the path; the digest is that of everything
//! that the response shows.
//!
//! `If-None-Match` compares digests, so a 304 never hides a change, be it of counts, the caller's rights, other
//! resources, or the session for which file URLs are valid. `If-Match` compares revisions. They count only writes that
//! change what responses show, so other writes of the service do not make a client's change fail.

use std::fmt;
use std::hash::Hasher;

use axum::http::HeaderValue;
use memchr::memmem;
use siphasher::sip128::{Hasher128, SipHasher13};

use crate::error::{Error, Result};

/// The path segments before the token in the URL of a file. The token differs in every response.
const BEFORE_TOKEN: [&str; 5] = ["photo/", "cv/", "thumb/", "video/", "captions/"];

/// The entity tag of a response.
#[derive(Debug, Clone)]
pub struct EntityTag {
    revision: Option<u64>,
    digest: String,
}

impl EntityTag {
    /// A tag without a revision, from the whole `body`.
    pub fn of(body: &[u8]) -> Self {
        let mut hash = SipHasher13::new();
        hash.write(body);
        Self { revision: None, digest: hex(&hash) }
    }

    /// The tag of a response that shows a resource in `revision`, with file URLs below `base` that are valid for `file_url_scope`.
    /// The digest contains revision and scope instead of these URLs' tokens, which differ in every response.
    pub(crate) fn of_resource(body: &[u8], base: &str, revision: u64, file_url_scope: &str) -> Self {
        match std::str::from_utf8(body) {
            Ok(text) => {
                let digest = hex(&hash_of(text, base, revision, file_url_scope));
                Self { revision: Some(revision), digest }
            }
            Err(_) => Self::of(body).in_revision(Some(revision)),
        }
    }

    /// The same digest with this revision; `None` for a resource without revisions.
    pub fn in_revision(self, revision: Option<u64>) -> Self {
        Self { revision, ..self }
    }

    /// The part of the tag that `If-None-Match` compares.
    pub(in crate::http) fn digest(&self) -> &str {
        &self.digest
    }

    pub(crate) fn value(&self) -> Result<HeaderValue> {
        HeaderValue::from_str(&self.to_string()).map_err(Error::internal)
    }
}

impl fmt::Display for EntityTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let revision = self.revision.map(|revision| format!("{revision}-")).unwrap_or_default();
        write!(f, "\"{revision}{}\"", self.digest)
    }
}

fn hex(hash: &SipHasher13) -> String {
    format!("{:032x}", u128::from(hash.finish128()))
}

// SipHash is not cryptographic. SHA-256 would take most of the time of a short response on a processor without SHA instructions,
// and is not needed: digests are compared only for the same URL. A client that may write a resource could craft two bodies with
// one digest; then other clients' caches would keep the first body after a change to the second. `If-Match` is safe, because it
// compares the revision.
fn hash_of(text: &str, base: &str, revision: u64, file_url_scope: &str) -> SipHasher13 {
    let mut hash = SipHasher13::new();
    let mut hashed = 0;
    let opening = format!("\"{base}/");
    for start in memmem::find_iter(text.as_bytes(), &opening) {
        let start = start + opening.len();
        let end = text[start..].find('"').map_or(text.len(), |length| start + length);
        let Some(length) = length_before_token(&text[start..end]) else { continue };
        // Skip the token, which differs in every response. Revision and scope are hashed instead, below.
        hash.write(&text.as_bytes()[hashed..start + length]);
        hashed = end;
    }
    hash.write(&text.as_bytes()[hashed..]);
    if hashed > 0 {
        hash.write(&revision.to_be_bytes());
        // File URLs are valid for one session, so another session must not get a 304 with them.
        hash.write(file_url_scope.as_bytes());
    }
    hash
}

/// The length of a file's URL up to its token; `None` for other URLs.
fn length_before_token(reference: &str) -> Option<usize> {
    let mut length = 0;
    reference.split_inclusive('/').find_map(|segment| {
        length += segment.len();
        BEFORE_TOKEN.contains(&segment).then_some(length)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_do_not_count_and_all_else_does() {
        let of = |text: &str, revision, scope| hex(&hash_of(text, "http://x/v3", revision, scope));
        let hash = |text: &str, revision| of(text, revision, "one");
        let body = r#"{"a":"1","photo":"http://x/v3/c/photo/TOKEN/","b":"2"}"#;
        assert_eq!(hash(body, 1), hash(&body.replace("TOKEN", "other"), 1));
        assert_ne!(hash(body, 1), hash(body, 2), "another photo may stand behind it");
        for (part, other) in [("\"1\"", "\"3\""), ("\"2\"", "\"3\""), ("/c/", "/d/"), ("photo/", "cv/")] {
            assert_ne!(hash(body, 1), hash(&body.replace(part, other), 1), "{part}");
        }
        assert_ne!(hash(body, 1), of(body, 1, "another"), "its URLs are dead here");
        let body = body.replace("http://x/v3", "http://elsewhere");
        assert_eq!(hash(&body, 1), hash(&body, 2));
        assert_ne!(hash(&body, 1), hash(&body.replace("TOKEN", "other"), 1));
    }
}
