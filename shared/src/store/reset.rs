//! Mails about forgotten passwords: at most one to an address in five minutes, whoever asks for them by whichever name.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::Store;
use super::item::{Entity, Versioned};
use super::keys::{self, Key};
use crate::domain::id::CompanyId;
use crate::domain::secret::{OneTimeKey, SecretHash};
use crate::domain::text::{Email, fold_case};
use crate::error::{Error, Result};

/// The time between two such mails to an address.
const PAUSE: TimeDelta = TimeDelta::minutes(5);
/// How long an effect may still be tried that has begun one.
const REMEMBERED: TimeDelta = TimeDelta::days(4);

/// The last mail about forgotten passwords to an address.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ResetMail {
    /// The hash of company and address.
    address: SecretHash,
    /// The identifier of the effect that sends it.
    effect: String,
    begun_at: DateTime<Utc>,
    is_sent: bool,
}

impl ResetMail {
    /// Whether an account's key may be replaced at `now`: not within five minutes, unless an earlier try at this very
    /// mail has made it.
    pub fn may_replace(&self, key: Option<&OneTimeKey>, now: DateTime<Utc>) -> bool {
        let made = key.and_then(|key| key.made_at);
        made.is_none_or(|made| made >= self.begun_at || made + PAUSE <= now)
    }
}

impl Entity for ResetMail {
    fn key(&self) -> Key {
        keys::reset_mail(&self.address)
    }

    fn expires_at(&self) -> Option<DateTime<Utc>> {
        Some(self.begun_at + REMEMBERED)
    }
}

impl Store {
    /// Begins at `now` the mail to `address` that `effect` sends, or goes on with it; none when the effect has sent it
    /// already, or another mail was begun less than five minutes ago.
    ///
    /// # Errors
    /// [`Error::Busy`] or [`Error::Internal`].
    pub async fn begin_reset_mail(
        &self,
        company: &CompanyId,
        address: &Email,
        effect: &str,
        now: DateTime<Utc>,
    ) -> Result<Option<Versioned<ResetMail>>> {
        let address = SecretHash::of(&format!("{company}#{}", fold_case(address.as_str())));
        let new = ResetMail { address, effect: effect.to_owned(), begun_at: now, is_sent: false };
        let key = new.key();
        let before: Option<Versioned<ResetMail>> = self.get([key.clone()]).await?.take(&key)?;
        let begun = match before {
            None => self.create_alone(new).await,
            Some(own) if own.effect == effect => return Ok((!own.is_sent).then_some(own)),
            Some(other) if now < other.begun_at + PAUSE => return Ok(None),
            Some(other) => self.replace(&other, new).await,
        };
        match begun {
            // Another effect was faster.
            Err(Error::Changed) => Ok(None),
            begun => begun.map(Some),
        }
    }

    /// Notes that a mail is sent, so that another try of its effect does not send it again.
    ///
    /// # Errors
    /// [`Error::Changed`] when another effect has begun one since.
    pub async fn end_reset_mail(&self, mail: &Versioned<ResetMail>) -> Result<()> {
        self.replace(mail, ResetMail { is_sent: true, ..ResetMail::clone(mail) }).await.map(drop)
    }
}
