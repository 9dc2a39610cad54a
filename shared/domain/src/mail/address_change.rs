//! Another address for an account that has a password. The new one counts once the holder of the account has confirmed it, and the
//! reader of the former one may restore that for some time.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::rate::{MailRate, RefusedOrThrottled};
use crate::account::Account;
use crate::id::CompanyId;
use crate::secret::OneTimeKey;
use crate::text::{Email, fold_case};

/// How long the key to confirm an address is valid, in days.
pub const CONFIRMATION_DAYS: i64 = 7;
/// How long a former address can be restored, in hours.
pub const RESTORATION_HOURS: i64 = 72;
/// The most keys of an account that restore an address within these hours. A request for a change leaves one, and so does its
/// confirmation.
// Beyond this, changes are refused. A limit that dropped old keys would let quick changes lock out the holder of the first address.
const MAX_FORMER: usize = 10;
/// The most such keys for a change that counts at once because an owner or a manager has confirmed it.
// Changes by others must not keep owners and managers from helping a person who has lost both addresses. The reverse locks nobody out:
// those who manage the account request changes, not its holder, whose confirmations and restorations are not limited.
const MAX_FORMER_CONFIRMED: usize = 20;

/// An address that is to replace the present one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingEmail {
    pub email: Email,
    /// When the mail to it was last requested.
    pub asked_at: DateTime<Utc>,
}

/// An address whose holder was told of a change, and may restore it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormerEmail {
    pub email: Email,
    /// When the change was requested or took effect.
    pub changed_at: DateTime<Utc>,
    /// Restores the address; `None` until the mail is sent.
    pub key: Option<OneTimeKey>,
}

impl FormerEmail {
    /// When the address can no longer be restored.
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

    /// Limits how often an account gets another address. Fails with the time until it may.
    fn count_change(&self, is_confirmed: bool, now: DateTime<Utc>) -> Result<(), RefusedOrThrottled> {
        // A request has room for the confirmation, which comes from the account itself and is not refused.
        let most = if is_confirmed { MAX_FORMER_CONFIRMED - 1 } else { MAX_FORMER - 2 };
        let open: Vec<_> = self.former.iter().filter(|former| now < former.ends_at()).collect();
        match open.first() {
            Some(oldest) if open.len() > most => Err(RefusedOrThrottled::TooMany(oldest.ends_at() - now)),
            _ => Ok(()),
        }
    }

    /// Lets the holder of `email` undo the change that was made at `now`.
    fn keep_former(&mut self, email: Email, now: DateTime<Utc>) {
        self.former.retain(|former| now < former.ends_at());
        self.former.push(FormerEmail { email, changed_at: now, key: None });
    }

    /// The address that `key` restores at `now`.
    pub fn restored_by(&self, key: &str, now: DateTime<Utc>) -> Option<&FormerEmail> {
        self.former.iter().find(|former| former.key.as_ref().is_some_and(|own| own.is(key, now)))
    }

    /// The change that was made since `before`, of which nobody has been told.
    pub fn change_since(&self, before: &Self) -> Option<&FormerEmail> {
        self.former.last().filter(|last| last.key.is_none() && !before.former.contains(last))
    }
}

/// The email address of an account, and what may replace it.
#[derive(Debug, Clone, Copy)]
pub struct AccountAddress<'a> {
    pub company: &'a CompanyId,
    pub account: Account,
    /// The address that counts for logins, password resets and mails; `None` if a candidate has none.
    pub email: Option<&'a Email>,
    /// Replaces it once the holder of the account confirms it.
    pub pending: Option<&'a PendingEmail>,
    pub keys: &'a AddressKeys,
}

impl<'a> AccountAddress<'a> {
    /// The address that clients see: the last one that was set.
    pub fn shown(self) -> Option<&'a Email> {
        self.pending.map(|pending| &pending.email).or(self.email)
    }

    /// The address that counts, and the pending one.
    pub fn held(self) -> impl Iterator<Item = &'a Email> {
        self.email.into_iter().chain(self.pending.map(|pending| &pending.email))
    }

    /// Whether one of [`held`](Self::held) is `email`, in any case.
    pub fn holds(self, email: &str) -> bool {
        let folded = fold_case(email);
        self.held().any(|own| fold_case(own.as_str()) == folded)
    }

    /// Whether the account logs in by this address, in folded case.
    pub fn logs_in_by(self, folded: &str) -> bool {
        self.email.is_some_and(|own| fold_case(own.as_str()) == folded)
    }

    /// All stored addresses of the account but the shown one, each once, the latest first: the one that counts until the pending one is
    /// confirmed, and those that can be restored.
    pub fn former_emails(self) -> Vec<&'a Email> {
        let former = self.keys.former.iter().rev().map(|former| &former.email);
        let mut all: Vec<&Email> = Vec::new();
        for email in self.email.into_iter().chain(former) {
            if Some(email) != self.shown() && !all.contains(&email) {
                all.push(email);
            }
        }
        all
    }
}

/// The fields of an account that a change of its address writes, besides the address itself.
pub(crate) struct AddressFields<'a> {
    pub(crate) pending: &'a mut Option<PendingEmail>,
    pub(crate) keys: &'a mut AddressKeys,
    pub(crate) mail_rate: &'a mut MailRate,
    pub(crate) one_time_key: &'a mut Option<OneTimeKey>,
}

impl AddressFields<'_> {
    /// Withdraws a pending address, and the key in the mail to it.
    pub(crate) fn withdraw(self) {
        *self.pending = None;
        self.keys.confirmation = None;
    }

    /// Asks the holder of the account to confirm `email` instead of `present`. Fails after too many changes or mails.
    pub(crate) fn request(
        self,
        present: Option<&Email>,
        email: Email,
        now: DateTime<Utc>,
    ) -> Result<(), RefusedOrThrottled> {
        self.keys.count_change(false, now)?;
        self.mail_rate.count(now)?;
        if let Some(present) = present {
            self.keys.keep_former(present.clone(), now);
        }
        self.keys.confirmation = None;
        *self.pending = Some(PendingEmail { email, asked_at: now });
        Ok(())
    }

    /// Notes that another address than `former` counts at once, without a confirmation. Fails after too many changes.
    pub(crate) fn replace_at_once(
        self,
        former: Option<Email>,
        now: DateTime<Utc>,
    ) -> Result<(), RefusedOrThrottled> {
        self.keys.count_change(true, now)?;
        self.replace(former, now);
        Ok(())
    }

    /// Notes that another address than `former` counts from `now` on.
    pub(crate) fn replace(self, former: Option<Email>, now: DateTime<Utc>) {
        if let Some(former) = former {
            self.keys.keep_former(former, now);
        }
        *self.one_time_key = None;
        self.withdraw();
    }

    /// Revokes the keys of the change that `former` tells of and of all later ones, and those that were mailed since.
    pub(crate) fn restore(self, former: &FormerEmail) {
        // Otherwise, the holder of a later address could restore that one.
        let kept = self.keys.former.iter().take_while(|other| *other != former).count();
        self.keys.former.truncate(kept);
        *self.one_time_key = None;
        self.withdraw();
    }
}
