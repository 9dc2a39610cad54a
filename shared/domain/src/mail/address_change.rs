//! Another address for an account that has proved the present one. The new one counts once its holder has confirmed it, and whoever
//! reads the former one may put it back for some time.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::rate::RefusedOrThrottled;
use crate::secret::OneTimeKey;
use crate::text::Email;

/// How long the key to confirm an address is valid, in days.
pub const CONFIRMATION_DAYS: i64 = 7;
/// How long a former address can be put back, in hours.
pub const RESTORATION_HOURS: i64 = 72;
/// The most keys of an account that undo changes within these hours. A request for a change leaves one, and so does its confirmation.
// Beyond this, changes are refused. A limit that dropped old keys would let quick changes lock out the holder of the first address.
const MAX_FORMER: usize = 10;
/// The most of them that owners in person may leave by settling an address.
// Changes by others must not keep owners from helping whoever has lost both addresses.
const MAX_FORMER_BY_OWNERS: usize = 20;

/// An address that is to replace the present one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingEmail {
    pub email: Email,
    /// When the mail to it was last requested.
    pub asked_at: DateTime<Utc>,
}

/// An address whose holder was told of a change, and may undo it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormerEmail {
    pub email: Email,
    /// When the change was requested or took effect.
    pub changed_at: DateTime<Utc>,
    /// Puts the address back; `None` until the mail is sent.
    pub key: Option<OneTimeKey>,
}

impl FormerEmail {
    /// When the address can no longer be put back.
    pub fn ends_at(&self) -> DateTime<Utc> {
        self.changed_at + TimeDelta::hours(RESTORATION_HOURS)
    }
}

/// The keys in mails about other addresses of an account. No response shows them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddressKeys {
    /// Confirms the pending address; `None` until the mail to it is sent.
    pub confirmation: Option<OneTimeKey>,
    /// One for each change that was told, oldest first.
    pub former: Vec<FormerEmail>,
}

impl AddressKeys {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Limits how often an account gets another address, which owners may settle more often. Fails with the time until it may.
    pub(crate) fn count_change(
        &self,
        is_settled: bool,
        now: DateTime<Utc>,
    ) -> Result<(), RefusedOrThrottled> {
        // A request has room for the confirmation, which comes from the account itself and is not refused.
        let most = if is_settled { MAX_FORMER_BY_OWNERS - 1 } else { MAX_FORMER - 2 };
        let open: Vec<_> = self.former.iter().filter(|former| now < former.ends_at()).collect();
        match open.first() {
            Some(oldest) if open.len() > most => Err(RefusedOrThrottled::TooMany(oldest.ends_at() - now)),
            _ => Ok(()),
        }
    }

    /// Lets the holder of `email` undo the change that was made at `now`.
    pub(crate) fn let_undo(&mut self, email: Email, now: DateTime<Utc>) {
        self.former.retain(|former| now < former.ends_at());
        self.former.push(FormerEmail { email, changed_at: now, key: None });
    }

    /// The address that `key` puts back at `now`.
    pub fn restored_by(&self, key: &str, now: DateTime<Utc>) -> Option<&FormerEmail> {
        self.former.iter().find(|former| former.key.as_ref().is_some_and(|own| own.is(key, now)))
    }

    /// Revokes the keys of the change that `former` tells of and of all later ones, and that of a pending address.
    pub(crate) fn undo(&mut self, former: &FormerEmail) {
        // Otherwise, whoever has brought a later address into the account could put that back.
        let kept = self.former.iter().take_while(|other| *other != former).count();
        self.former.truncate(kept);
        self.confirmation = None;
    }

    /// The change that was made since `before`, of which nobody has been told.
    pub fn change_since(&self, before: &Self) -> Option<&FormerEmail> {
        self.former.last().filter(|last| last.key.is_none() && !before.former.contains(last))
    }
}
