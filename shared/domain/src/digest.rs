//! Short names of contents that are stored elsewhere.

use sha2::{Digest, Sha256};

/// Tells a content from others: half of its SHA-256 in hexadecimal digits.
pub(super) fn digest_of(content: &str) -> String {
    Sha256::digest(content)[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}
