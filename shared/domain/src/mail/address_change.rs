//! Changes the email address of an account that has a password. The new address counts once the account's holder has confirmed
//! it. For some time, the reader of the former address can restore it.

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
/// The maximum number of keys of an account that restore an address within these hours. A request for a change adds one, and so
/// does its confirmation.
// Beyond this, changes are refused. If old keys were dropped instead, quick changes could lock out the holder of the first
// address.
const MAX_FORMER: usize = 10;
/// The maximum number of such keys for a change that counts at once because an owner or a manager has confirmed it.
// It is higher so that changes by others cannot keep owners and managers from helping a person who has lost both addresses. The
// reverse locks nobody out: managers of the account request changes, whereas its holder confirms and restores, which is not
// limited.
const MAX_FORMER_CONFIRMED: usize = 20;

/// An address that is to replace the present one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingEmail {
    pub email: Email,
    /// When the confirmation mail was last requested.
    pub asked_at: DateTime<Utc>,
}

/// A former address. Its holder was told of the change and may restore the address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormerEmail {
    pub email: Email,
    /// When the change was requested or took effect.
    pub changed_at: DateTime<Utc>,
    /// The key that restores the address; `None` until the mail with it is sent.
    pub key: Option<OneTimeKey>,
}

impl FormerEmail {
    /// When the address can no longer be restored.
    pub fn ends_at(&self) -> DateTime<Utc> {
        self.changed_at + TimeDelta::hours(RESTORATION_HOURS)
    }
}

/// The mailed keys that confirm or restore an address of an account. No response shows them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmailKeys {
    /// Confirms the pending address; `None` until the mail with the key is sent.
    pub confirmation: Option<OneTimeKey>,
    /// The addresses that can be restored, one for each change, oldest first.
    pub former: Vec<FormerEmail>,
}

impl EmailKeys {
    /// Whether the account has no such keys.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Limits how often an account's address changes. Fails with the time until the next change is allowed.
    fn count_change(&self, is_confirmed: bool, now: DateTime<Utc>) -> Result<(), RefusedOrThrottled> {
        // A request also leaves room for its confirmation, which the account's holder makes and which is never refused.
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

    /// The former address that `key` restores at `now`.
    pub fn restored_by(&self, key: &str, now: DateTime<Utc>) -> Option<&FormerEmail> {
        self.former.iter().find(|former| former.key.as_ref().is_some_and(|own| own.is(key, now)))
    }

    /// The former address added since `before` that still lacks a restore key, i.e. whose holder has not been mailed.
    pub fn change_since(&self, before: &Self) -> Option<&FormerEmail> {
        self.former.last().filter(|last| last.key.is_none() && !before.former.contains(last))
    }
}

/// The email address of an account, its pending address, and the keys of both.
#[derive(Debug, Clone, Copy)]
pub struct AccountEmail<'a> {
    pub company: &'a CompanyId,
    pub account: Account,
    /// The address that counts for logins, password resets and mails; `None` if a candidate has none.
    pub email: Option<&'a Email>,
    /// The address that replaces `email` once the account's holder confirms it.
    pub pending: Option<&'a PendingEmail>,
    pub keys: &'a EmailKeys,
}

impl<'a> AccountEmail<'a> {
    /// The address that responses show: the pending one if there is one, otherwise `email`.
    pub fn shown(self) -> Option<&'a Email> {
        self.pending.map(|pending| &pending.email).or(self.email)
    }

    /// `email` and the pending address.
    pub fn held(self) -> impl Iterator<Item = &'a Email> {
        self.email.into_iter().chain(self.pending.map(|pending| &pending.email))
    }

    /// Whether `email` is one of [`held`](Self::held), ignoring case.
    pub fn holds(self, email: &str) -> bool {
        let folded = fold_case(email);
        self.held().any(|own| fold_case(own.as_str()) == folded)
    }

    /// Whether `folded`, an address in folded case, is the one that the account logs in by.
    pub fn logs_in_by(self, folded: &str) -> bool {
        self.email.is_some_and(|own| fold_case(own.as_str()) == folded)
    }

    /// All stored addresses except the shown one, each once, latest first: `email` while another is pending, and those that can
    /// be restored.
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
pub(crate) struct EmailFields<'a> {
    pub(crate) pending: &'a mut Option<PendingEmail>,
    pub(crate) keys: &'a mut EmailKeys,
    pub(crate) mail_rate: &'a mut MailRate,
    pub(crate) one_time_key: &'a mut Option<OneTimeKey>,
}

impl EmailFields<'_> {
    /// Withdraws the pending address and revokes the key in the mail to it.
    pub(crate) fn withdraw(self) {
        *self.pending = None;
        self.keys.confirmation = None;
    }

    /// Makes `email` the pending address, which replaces `present` once the account's holder confirms it. Fails after too many
    /// changes or mails.
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

    /// Records that a new address replaces `former` at once, without confirmation. Fails after too many changes.
    pub(crate) fn replace_at_once(
        self,
        former: Option<Email>,
        now: DateTime<Utc>,
    ) -> Result<(), RefusedOrThrottled> {
        self.keys.count_change(true, now)?;
        self.replace(former, now);
        Ok(())
    }

    /// Records that a new address replaces `former` from `now` on.
    pub(crate) fn replace(self, former: Option<Email>, now: DateTime<Utc>) {
        if let Some(former) = former {
            self.keys.keep_former(former, now);
        }
        *self.one_time_key = None;
        self.withdraw();
    }

    /// Revokes the restore keys of the change that made `former` a former address and of all later changes, and the other keys
    /// mailed since.
    pub(crate) fn restore(self, former: &FormerEmail) {
        // Otherwise, the holder of a later address could restore it.
        let kept = self.keys.former.iter().take_while(|other| *other != former).count();
        self.keys.former.truncate(kept);
        *self.one_time_key = None;
        self.withdraw();
    }
}
