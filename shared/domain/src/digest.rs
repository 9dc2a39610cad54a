//! Short digests of content that is stored elsewhere.

use sha2::{Digest, Sha256};

/// The first 16 bytes of the content's SHA-256, as hexadecimal digits.
pub(super) fn digest_of(content: &str) -> String {
    Sha256::digest(content)[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}
