//! What a restore of the table to a moment does to each kind of item. The restore itself is `admin`'s `restore-table`.

use crate::domain::id::CompanyId;
use crate::store::table::keys;

/// The attribute of an [`EventSequence`](crate::store::EventSequence) that a restore takes back.
pub const LAST_EVENT: &str = "last_event";

/// Prefixes of keys whose items a restore does not touch.
// What has ended stays ended: sessions, named tokens, guest links, webhooks, exports, and logins that were throttled. What is done is not done
// again: mails are not sent twice. What is pending is done: deletions, uploads whose files are in the bucket, and conversions,
// but for takes that are gone. The outbox queues those that come back.
const KEPT: [&str; 11] = [
    keys::CONVERSIONS,
    keys::EFFECT,
    keys::EXPORTS,
    keys::FAILURES,
    keys::GUESTS,
    keys::NOTICES,
    keys::RESET,
    keys::SESSION,
    keys::TOKEN,
    keys::UPLOAD,
    keys::WEBHOOK,
];

/// What a restore does to an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RestoreRule {
    /// Gives it the content that it had then, or deletes it if it did not exist.
    Replace,
    /// Leaves it as it is, and does not bring it back.
    Keep,
    /// Takes back [`LAST_EVENT`] alone: the item counts a company's events.
    // No number is given twice, because clients have read it. The next event names the last one that still exists, so that
    // readers pass the numbers in between.
    TakeBackLastEvent,
}

impl RestoreRule {
    /// The rule for the item with this key.
    pub fn of(pk: &str, sk: &str) -> Self {
        if sk == keys::SEQUENCE {
            Self::TakeBackLastEvent
        } else if KEPT.iter().any(|start| pk.starts_with(start) || sk.starts_with(start)) {
            Self::Keep
        } else {
            Self::Replace
        }
    }
}

/// The company whose item has this key; `None` for other items.
pub fn company_in(pk: &str, sk: &str) -> Option<CompanyId> {
    if sk == keys::COMPANY { keys::in_company(pk) } else { None }
}
