//! Hashes of items, so that a comparison need not keep the items.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use sha2::{Digest, Sha256};
use shared::store::{RestoreRule, TAKEN_BACK};

use super::Result;
use super::table::TableItem;

/// The key and the content of an item as hashes, in 24 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ItemHash {
    // Keys with equal hashes would be treated as one item, hence 128 bits. Two words, because a `u128` would align to
    // 32 bytes.
    key: [u64; 2],
    /// The hash of the restored attributes. It only distinguishes contents of one item, so 64 bits are enough.
    content: u64,
}

impl ItemHash {
    pub(super) const BYTES: usize = 24;

    /// Hashes an item's key, and those attributes that `rule` restores.
    pub(super) fn of(pk: &str, sk: &str, item: &TableItem, rule: RestoreRule) -> Result<Self> {
        let mut content = Sha256::new();
        match rule {
            RestoreRule::TakeBackAttributes => {
                TAKEN_BACK.iter().try_for_each(|name| add_value(&mut content, item.get(*name)))?;
            }
            RestoreRule::Replace | RestoreRule::Keep => add_map(&mut content, item)?,
        }
        let mut key = Sha256::new();
        add_bytes(&mut key, pk.as_bytes());
        add_bytes(&mut key, sk.as_bytes());
        let key = key.finalize();
        Ok(Self { key: [word(&key, 0), word(&key, 1)], content: word(&content.finalize(), 0) })
    }

    pub(super) fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        for (place, word) in bytes.chunks_exact_mut(8).zip([self.key[0], self.key[1], self.content]) {
            place.copy_from_slice(&word.to_be_bytes());
        }
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        Self { key: [word(bytes, 0), word(bytes, 1)], content: word(bytes, 2) }
    }

    /// The hash of the item's key, which orders the index.
    pub(super) fn key(&self) -> [u64; 2] {
        self.key
    }

    pub(super) fn has_content_of(&self, other: &Self) -> bool {
        self.content == other.content
    }
}

fn word(bytes: &[u8], number: usize) -> u64 {
    bytes.iter().skip(number * 8).take(8).fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// Adds the attributes sorted by name.
fn add_map(hash: &mut Sha256, map: &HashMap<String, AttributeValue>) -> Result<()> {
    let mut names: Vec<_> = map.iter().collect();
    names.sort_unstable_by_key(|(name, _)| *name);
    add_length(hash, names.len());
    for (name, value) in names {
        add_bytes(hash, name.as_bytes());
        add_value(hash, Some(value))?;
    }
    Ok(())
}

/// Adds a value with its type and length, so that different values never produce the same bytes.
fn add_value(hash: &mut Sha256, value: Option<&AttributeValue>) -> Result<()> {
    match value {
        None => hash.update(b"-"),
        Some(AttributeValue::S(text)) => {
            hash.update(b"S");
            add_bytes(hash, text.as_bytes());
        }
        Some(AttributeValue::N(number)) => {
            hash.update(b"N");
            add_bytes(hash, number.as_bytes());
        }
        Some(AttributeValue::B(bytes)) => {
            hash.update(b"B");
            add_bytes(hash, bytes.as_ref());
        }
        Some(AttributeValue::Bool(value)) => hash.update(if *value { b"t" } else { b"f" }),
        Some(AttributeValue::Null(_)) => hash.update(b"0"),
        Some(AttributeValue::L(list)) => {
            hash.update(b"L");
            add_length(hash, list.len());
            for value in list {
                add_value(hash, Some(value))?;
            }
        }
        Some(AttributeValue::M(map)) => {
            hash.update(b"M");
            add_map(hash, map)?;
        }
        Some(AttributeValue::Ss(set)) => add_set(hash, b"s", set.iter().map(String::as_bytes)),
        Some(AttributeValue::Ns(set)) => add_set(hash, b"n", set.iter().map(String::as_bytes)),
        Some(AttributeValue::Bs(set)) => add_set(hash, b"b", set.iter().map(AsRef::as_ref)),
        Some(_) => return Err("an attribute has a type that this release does not know".into()),
    }
    Ok(())
}

fn add_set<'a>(hash: &mut Sha256, kind: &[u8], set: impl Iterator<Item = &'a [u8]>) {
    let mut members: Vec<_> = set.collect();
    // DynamoDB returns sets in no fixed order.
    members.sort_unstable();
    hash.update(kind);
    add_length(hash, members.len());
    for member in members {
        add_bytes(hash, member);
    }
}

fn add_bytes(hash: &mut Sha256, bytes: &[u8]) {
    add_length(hash, bytes.len());
    hash.update(bytes);
}

fn add_length(hash: &mut Sha256, length: usize) {
    hash.update((length as u64).to_be_bytes());
}
