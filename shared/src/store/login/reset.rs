//! Access patterns of password reset mails: at most one to each address in five minutes, whichever name was given.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::domain::id::CompanyId;
use crate::domain::secret::{OneTimeKey, SecretHash};
use crate::domain::text::{Email, fold_case};
use crate::error::{Error, Result};
use crate::store::table::handle::Store;
use crate::store::table::item::{StoredEntity, VersionedItem};
use crate::store::table::keys::{self, ItemKey};

/// The minimum time between two reset mails to an address.
const PAUSE: TimeDelta = TimeDelta::minutes(5);
/// How long the item is kept, so that an effect can retry a mail that it has begun.
const REMEMBERED: TimeDelta = TimeDelta::days(4);

/// The last password reset mail to an address.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ResetMail {
    /// The hash of company and address.
    address: SecretHash,
    /// The hash of the identifier of the effect that sends the mail. Hashed, because the identifier names the company.
    effect: SecretHash,
    begun_at: DateTime<Utc>,
    is_sent: bool,
}

impl ResetMail {
    /// Whether the mail may replace an account's key: not within five minutes, unless an earlier attempt at this mail created the key.
    pub fn may_replace(&self, key: Option<&OneTimeKey>, now: DateTime<Utc>) -> bool {
        key.is_none_or(|key| key.made_at >= self.begun_at || key.made_at + PAUSE <= now)
    }
}

impl StoredEntity for ResetMail {
    fn key(&self) -> ItemKey {
        keys::reset_mail(&self.address)
    }

    fn expires_at(&self) -> Option<DateTime<Utc>> {
        Some(self.begun_at + REMEMBERED)
    }
}

impl Store {
    /// Begins the mail to `address` that `effect` sends, or resumes it. Returns `None` if the effect has already sent
    /// it, or if another mail to the address was begun in the last five minutes.
    pub async fn begin_reset_mail(
        &self,
        company: &CompanyId,
        address: &Email,
        effect: &str,
        now: DateTime<Utc>,
    ) -> Result<Option<VersionedItem<ResetMail>>> {
        let address = SecretHash::of(&format!("{company}#{}", fold_case(address.as_str())));
        let effect = SecretHash::of(effect);
        let new = ResetMail { address, effect: effect.clone(), begun_at: now, is_sent: false };
        let begun = match self.one::<ResetMail>(new.key()).await? {
            None => self.create_alone(new).await,
            // A retried effect skips the addresses that it has mailed already.
            Some(own) if own.effect == effect => return Ok((!own.is_sent).then_some(own)),
            // Anyone may request a reset for anyone: without the pause, they could flood a mailbox, or revoke each key before it is used.
            Some(other) if now < other.begun_at + PAUSE => return Ok(None),
            Some(other) => self.replace(&other, new).await,
        };
        match begun {
            // Another effect was faster.
            Err(Error::Changed) => Ok(None),
            begun => begun.map(Some),
        }
    }

    /// Marks a mail as sent, so that a retry of its effect does not send it again. Fails with [`Error::Changed`] if
    /// another effect has begun a mail to the address since.
    pub async fn end_reset_mail(&self, mail: &VersionedItem<ResetMail>) -> Result<()> {
        self.replace(mail, ResetMail { is_sent: true, ..ResetMail::clone(mail) }).await.map(drop)
    }
}
