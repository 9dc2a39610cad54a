//! Entity tags: `"<revision>-<digest>"`, of the resource that a change would overwrite, and of all that the caller is shown.
//!
//! `If-None-Match` compares digests, so a 304 never hides a change, whatever changed: counts, the viewer's
//! rights, other resources, or the session that URLs of files work for. `If-Match` compares
//! revisions, which count the writes that changed what answers show: a write of the service that shows
//! nothing does not fail a client's change.

use std::fmt;

use axum::http::HeaderValue;
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};

/// The path segments before the token in the URL of a file; the token differs in every answer.
const BEFORE_TOKEN: [&str; 5] = ["/photo/", "/cv/", "/thumb/", "/video/", "/captions/"];

/// The entity tag of an answer.
#[derive(Debug, Clone)]
pub struct EntityTag {
    revision: Option<u64>,
    digest: String,
}

impl EntityTag {
    /// The tag of an answer with this body.
    pub fn of(body: &[u8]) -> Self {
        Self { revision: None, digest: hex(Sha256::digest(body).into()) }
    }

    /// The tag of an answer that shows a resource in `revision`, to the session `viewer`. URLs of its files below `base`
    /// count by revision and viewer, since their tokens differ in every answer.
    pub(crate) fn of_resource(body: &[u8], base: &str, revision: u64, viewer: &str) -> Self {
        match std::str::from_utf8(body) {
            Ok(text) => {
                let digest = hex(hash_of(text, base, revision, viewer));
                Self { revision: Some(revision), digest }
            }
            Err(_) => Self::of(body).in_revision(Some(revision)),
        }
    }

    /// The tag of an answer that shows other resources as well, or a resource without revisions.
    pub fn in_revision(self, revision: Option<u64>) -> Self {
        Self { revision, ..self }
    }

    /// The part that `If-None-Match` compares.
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

/// The first half of a SHA-256 in hexadecimal digits.
fn hex(hash: [u8; 32]) -> String {
    let half = u128::from_be_bytes(std::array::from_fn(|at| hash[at]));
    format!("{half:032x}")
}

fn hash_of(text: &str, base: &str, revision: u64, viewer: &str) -> [u8; 32] {
    let mut hash = Sha256::new();
    let mut rest = text;
    let mut has_files = false;
    let opening = format!("\"{base}/");
    while let Some(start) = rest.find(&opening) {
        let (before, reference) = rest.split_at(start + opening.len());
        hash.update(before);
        let (reference, after) = reference.split_at(reference.find('"').unwrap_or(reference.len()));
        let token = BEFORE_TOKEN.iter().find_map(|name| Some(reference.find(name)? + name.len()));
        has_files |= token.is_some();
        // Without the token, which differs in every response. The revision and the viewer stand in for it below.
        hash.update(&reference[..token.unwrap_or(reference.len())]);
        rest = after;
    }
    hash.update(rest);
    if has_files {
        hash.update(revision.to_be_bytes());
        // File URLs are good for one session, so no other session may get a 304 for them.
        hash.update(viewer);
    }
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_do_not_count_and_all_else_does() {
        let hash = |text: &str, revision| hash_of(text, "http://x/v3", revision, "one");
        let body = r#"{"a":"1","photo":"http://x/v3/c/photo/TOKEN/","b":"2"}"#;
        assert_eq!(hash(body, 1), hash(&body.replace("TOKEN", "other"), 1));
        assert_ne!(hash(body, 1), hash(body, 2), "another photo may stand behind it");
        for (part, other) in [("\"1\"", "\"3\""), ("\"2\"", "\"3\""), ("/c/", "/d/"), ("photo/", "cv/")] {
            assert_ne!(hash(body, 1), hash(&body.replace(part, other), 1), "{part}");
        }
        assert_ne!(hash(body, 1), hash_of(body, "http://x/v3", 1, "another"), "its URLs are dead here");
        let body = body.replace("http://x/v3", "http://elsewhere");
        assert_eq!(hash(&body, 1), hash(&body, 2));
        assert_ne!(hash(&body, 1), hash(&body.replace("TOKEN", "other"), 1));
    }
}
