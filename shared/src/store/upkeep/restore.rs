//! The rules for each kind of item when the table is restored to a time. The restore itself is `admin`'s `restore-table`.

use crate::domain::id::CompanyId;
use crate::store::table::item::Item;
use crate::store::table::keys;

/// The attributes of an [`EventSequence`](crate::store::EventSequence) that a restore sets back to their former values.
// Events that lose their numbers in the restore get new ones, and then count as usage again.
pub const TAKEN_BACK: [&str; 2] = ["last_event", "usage"];

/// Prefixes of keys whose items a restore does not touch.
// What has ended stays ended: sessions, named tokens, guest links, webhooks, exports, and throttled logins. Completed
// work is not repeated: no mail is sent twice. Pending work is completed: deletions, uploads whose files are in the
// bucket, and conversions, except of takes that the restore removes. The outbox queues the conversions of takes that it
// brings back.
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

/// How a restore treats an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RestoreRule {
    /// Gives the item its former content, or deletes it if it did not exist then.
    Replace,
    /// Leaves the item as it is. Does not bring back a deleted one.
    Keep,
    /// Sets back only the [`TAKEN_BACK`] attributes. Applies to [`EventSequence`](crate::store::EventSequence).
    // The last number is kept: no number may be given twice, because clients have read it. The next event names the
    // last event that still exists as its predecessor, so that readers skip the numbers in between.
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

/// Returns the item `now` with the [`TAKEN_BACK`] attributes of the item `then`.
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
