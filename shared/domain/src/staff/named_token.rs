//! Named tokens: credentials of a company without expiry.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::Refusal;
use crate::history::{EventType, FieldValue, HasHistory, ResourceRef, private};
use crate::id::{CompanyId, CustomerId, TokenId};
use crate::secret::{MediaKey, SecretHash};
use crate::text::ShortName;

/// The maximum per company.
pub const MAX_TOKENS: u32 = 100;
/// The company has the maximum number of named tokens.
pub const TOO_MANY_TOKENS: Refusal =
    Refusal { code: "too_many_tokens", detail: "A company may have 100 named tokens. Delete one first." };

/// The minimum entropy of a value, by [`bits`]: that of 20 random hexadecimal digits.
pub const MIN_BITS: f64 = 80.0;

/// The approximate entropy of a text in bits: by the frequency of its characters or, if that is less, of the
/// differences between neighbours. Repetitions of earlier parts do not count.
pub fn bits(text: &str) -> f64 {
    let bytes = text.as_bytes();
    let fresh = bytes.windows(3).collect::<BTreeSet<_>>().len() as f64;
    let steps: Vec<u8> = bytes.windows(2).map(|pair| pair[1].wrapping_sub(pair[0])).collect();
    fresh * surprise(bytes).min(surprise(&steps))
}

/// Entropy per byte by the frequency of bytes (Shannon).
fn surprise(bytes: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    bytes.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
    let shares =
        counts.into_iter().filter(|count| *count > 0).map(|count| f64::from(count) / bytes.len() as f64);
    shares.map(|share| -share * share.log2()).sum()
}

/// A named token as stored, with the hash of its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedToken {
    /// Its identifier.
    pub id: TokenId,
    /// The company that owns it.
    pub company: CompanyId,
    /// Usually the name of a service.
    pub name: ShortName,
    /// The hash of its value.
    pub hash: SecretHash,
    /// Signs the URLs of files in its responses.
    pub media_key: MediaKey,
    /// When the resource was created.
    pub created_at: DateTime<Utc>,
    /// The owner who created the token.
    // The token outlives them: services must not stop when a person leaves, and any owner may delete it.
    pub created_by: CustomerId,
}

impl HasHistory for NamedToken {
    const CREATED: EventType = EventType::TokenCreated;
    // A token never changes: clients replace it.
    const UPDATED: Option<EventType> = None;
    const DELETED: Option<EventType> = Some(EventType::TokenDeleted);

    fn place(&self) -> (&CompanyId, ResourceRef) {
        (&self.company, ResourceRef::Token { token: self.id })
    }

    fn history_fields(&self) -> Vec<(&'static str, FieldValue)> {
        let Self { name, id: _, company: _, hash: _, media_key: _, created_at: _, created_by: _ } = self;
        vec![("name", private(name))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_values_have_many_bits_and_repetitions_and_sequences_few() {
        for good in [
            "correct-horse-battery-staple:2026!",
            "9f86d081884c7d659a2feaa0c55ad015",
            "7b1f1a52-3c1d-4d53-9f0b-8a7e5d0c2b64",
            "31415926535897932384626433832795",
            "Zk3vQ9xT0pLmW7sB2nYcR5dHfJ8gUaEi",
        ] {
            assert!(bits(good) >= MIN_BITS, "{good}: {}", bits(good));
        }
        for bad in [
            "a".repeat(32),
            "a".repeat(255) + "b",
            "ab".repeat(60),
            "password".repeat(5),
            "Xy7$Qp2z".repeat(4),
            "0123456789abcdef".repeat(2),
            "abcdefghijklmnopqrstuvwxyz123456".to_owned(),
            "ZYXWVUTSRQPONMLKJIHGFEDCBA987654".to_owned(),
            "aaaaaaaaaaaaaaaabbbbbbbbbbbbbbbb".to_owned(),
        ] {
            assert!(bits(&bad) < MIN_BITS, "{bad}: {}", bits(&bad));
        }
    }
}
