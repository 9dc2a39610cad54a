//! The email address of a candidate. Candidates with a password may also have a pending address, which awaits confirmation, and
//! former addresses that can be restored.

use chrono::{DateTime, Utc};

use super::Candidate;
use crate::mail::address_change::{AccountEmail, EmailFields, FormerEmail};
use crate::mail::rate::RefusedOrThrottled;
use crate::secret::PasswordHash;
use crate::text::{Email, fold_case};

impl Candidate {
    pub fn account_email(&self) -> AccountEmail<'_> {
        AccountEmail {
            company: &self.company,
            account: self.account(),
            email: self.profile.email.as_ref(),
            pending: self.pending_email.as_ref(),
            keys: &self.email_keys,
        }
    }

    fn email_fields(&mut self) -> EmailFields<'_> {
        let Self { pending_email: pending, email_keys: keys, mail_rate, one_time_key, .. } = self;
        EmailFields { pending, keys, mail_rate, one_time_key }
    }

    /// The address that responses show: the pending one if there is one, otherwise that of the profile.
    pub fn shown_email(&self) -> Option<&Email> {
        self.account_email().shown()
    }

    /// Whether setting `email` removes the address of a candidate who has a password. Only a manager in person may do that.
    // Removing the address takes effect at once: it can revoke the password, and without a password, the next address takes
    // effect at once too.
    pub fn loses_address(&self, email: Option<&Email>) -> bool {
        email.is_none() && self.profile.email.is_some() && self.password_hash.is_some()
    }

    /// Sets another email address, or none, at `now`. Candidates with a password have to confirm a new address, unless it
    /// `is_confirmed` or already is that of the profile; for none, see [`loses_address`](Self::loses_address). If the address
    /// takes effect at once, [`after_change`](Self::after_change) applies the consequences.
    pub fn with_email(
        mut self,
        email: Option<Email>,
        is_confirmed: bool,
        now: DateTime<Utc>,
    ) -> Result<Self, RefusedOrThrottled> {
        if self.password_hash.is_none() || email == self.profile.email {
            self.profile.email = email;
            self.email_fields().withdraw();
            return Ok(self);
        }
        let present = self.profile.email.clone();
        match email {
            Some(email) if !is_confirmed => self.email_fields().request(present.as_ref(), email, now)?,
            // The holder of the former address is told and can restore it.
            email => {
                self.profile.email = email;
                self.email_fields().replace_at_once(present, now)?;
            }
        }
        Ok(self)
    }

    /// Makes the pending address that of the profile from `now` on: the candidate has proved that address and account are theirs.
    pub fn with_email_confirmed(mut self, now: DateTime<Utc>) -> Self {
        if let Some(pending) = self.pending_email.take() {
            let former = self.profile.email.replace(pending.email);
            self.email_fields().replace(former, now);
        }
        self
    }

    /// Restores a former address and revokes everything that the reader of a later address could use: sessions, keys and, if the
    /// later one was that of the profile, the password, which is replaced by one that nobody knows.
    pub fn with_email_restored(mut self, former: &FormerEmail, unknown_password: PasswordHash) -> Self {
        self.email_fields().restore(former);
        if self.profile.email.as_ref() != Some(&former.email) {
            // The reader of the later address may have chosen the password, or may have read the access key.
            self.password_hash = Some(unknown_password);
            self.redirect_key(None);
            self.profile.email = Some(former.email.clone());
        }
        self.with_sessions_ended()
    }

    /// Whether the candidate logs in by `name`, which is in folded case.
    pub fn logs_in_by(&self, name: &str) -> bool {
        let username = self.profile.username.as_ref();
        username.is_some_and(|own| fold_case(own.as_str()) == name) || self.account_email().logs_in_by(name)
    }
}
