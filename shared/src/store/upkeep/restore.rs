//! The rules by which a restore of the table to a moment treats each kind of item. The restore itself is `admin`'s
//! `restore-table`.

use crate::domain::id::CompanyId;
use crate::store::table::item::Item;
use crate::store::table::keys;

/// The attributes of an [`EventSequence`](crate::store::EventSequence) that a restore takes back.
// The events that have lost their numbers get others, and count as usage once more.
pub const TAKEN_BACK: [&str; 2] = ["last_event", "usage"];

/// Prefixes of keys whose items a restore does not touch.
// Things that have ended stay ended: sessions, named tokens, guest links, webhooks, exports, and throttled logins. Work that is
// done is not done again: mails are not sent twice. Pending work is done: deletions, uploads whose files are in the bucket, and
// conversions, except for takes that are gone. The outbox queues those that come back.
const KEPT: [&str; 13] = [
    keys::CONVERSIONS,
    keys::EFFECT,
    keys::EXCHANGED,
    keys::EXPORTS,
    keys::FAILURES,
    keys::GUESTS,
    keys::NOTICES,
    keys::RESET,
    keys::SESSION,
    keys::TOKEN,
    keys::TRUSTS,
    keys::UPLOAD,
    keys::WEBHOOK,
];

/// The treatment of an item by a restore.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RestoreRule {
    /// Gives it the content that it had then, or deletes it if it did not exist.
    Replace,
    /// Leaves it as it is, and does not bring it back.
    Keep,
    /// Takes back [`TAKEN_BACK`] alone: the item counts a company's events.
    // No number is given twice, because clients have read it. The next event names the last one that still exists, so that
    // readers pass the numbers in between.
    TakeBackAttributes,
}

impl RestoreRule {
    /// The rule for the item with this key.
    pub fn of(pk: &str, sk: &str) -> Self {
        if sk == keys::SEQUENCE {
            Self::TakeBackAttributes
        } else if KEPT.iter().any(|start| pk.starts_with(start) || sk.starts_with(start)) {
            Self::Keep
        } else {
            Self::Replace
        }
    }
}

/// The item with the attributes of [`TAKEN_BACK`] that it had `then`.
pub fn take_back(then: &Item, mut now: Item) -> Item {
    for name in TAKEN_BACK {
        match then.get(name) {
            Some(value) => now.insert(name.to_owned(), value.clone()),
            None => now.remove(name),
        };
    }
    now
}

/// The company whose item has this key; `None` for other items.
pub fn company_in(pk: &str, sk: &str) -> Option<CompanyId> {
    if sk == keys::COMPANY { keys::in_company(pk) } else { None }
}
