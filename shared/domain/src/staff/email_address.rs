//! The email address of a customer, a pending address that awaits confirmation, and former addresses that can be restored.

use chrono::{DateTime, Utc};

use super::customer::{Customer, CustomerStatus};
use crate::mail::address_change::{AccountEmail, EmailFields, FormerEmail};
use crate::mail::rate::RefusedOrThrottled;
use crate::secret::PasswordHash;
use crate::text::{Email, fold_case};

impl Customer {
    pub fn account_email(&self) -> AccountEmail<'_> {
        AccountEmail {
            company: &self.company,
            account: self.account(),
            email: Some(&self.email),
            pending: self.pending_email.as_ref(),
            keys: &self.email_keys,
        }
    }

    fn email_fields(&mut self) -> EmailFields<'_> {
        let Self { pending_email: pending, email_keys: keys, mail_rate, one_time_key, .. } = self;
        EmailFields { pending, keys, mail_rate, one_time_key }
    }

    /// The address that responses show: the pending one if there is one, otherwise `email`.
    pub fn shown_email(&self) -> &Email {
        self.pending_email.as_ref().map_or(&self.email, |pending| &pending.email)
    }

    /// Whether the customer has confirmed the address that responses show.
    pub fn is_email_confirmed(&self) -> bool {
        self.status == CustomerStatus::Confirmed && self.pending_email.is_none()
    }

    /// Changes the email address at `now`. Customers who have activated their account have to confirm a new address, unless it
    /// `is_confirmed` or is the current one; others are invited again. A change that takes effect at once revokes all sessions
    /// and the keys mailed to the old address.
    pub fn with_email(
        mut self,
        email: Email,
        is_confirmed: bool,
        now: DateTime<Utc>,
    ) -> Result<Self, RefusedOrThrottled> {
        if self.status == CustomerStatus::Invited {
            self.one_time_key = None;
            self.email = email;
            // The former address may be another person's, who may have used the keys mailed there.
            let moved = self.with_sessions_ended();
            return if moved.is_active { moved.invited_again(now) } else { Ok(moved) };
        }
        if email == self.email {
            self.email_fields().withdraw();
            return Ok(self);
        }
        if is_confirmed {
            let former = std::mem::replace(&mut self.email, email);
            self.email_fields().replace_at_once(Some(former), now)?;
            return Ok(self.with_sessions_ended());
        }
        let present = self.email.clone();
        self.email_fields().request(Some(&present), email, now)?;
        Ok(self)
    }

    /// Makes the pending address the current one at `now`: the customer has proved that address and account are theirs.
    pub fn with_email_confirmed(mut self, now: DateTime<Utc>) -> Self {
        if let Some(pending) = self.pending_email.take() {
            let former = std::mem::replace(&mut self.email, pending.email);
            self.email_fields().replace(Some(former), now);
        }
        self
    }

    /// Restores a former address and revokes everything that the reader of a later address could use: sessions, keys and, if the
    /// later one was the current one, the password, which is replaced by one that nobody knows.
    pub fn with_email_restored(mut self, former: &FormerEmail, unknown_password: PasswordHash) -> Self {
        self.email_fields().restore(former);
        if self.email != former.email {
            // The reader of the later address may have chosen the password.
            self.password_hash = Some(unknown_password);
            // The reader of the later address may also have signed in by the provider.
            self.sign_in_link = None;
            self.email = former.email.clone();
        }
        self.with_sessions_ended()
    }

    /// Whether the customer logs in by `name`, which is in folded case.
    pub fn logs_in_by(&self, name: &str) -> bool {
        fold_case(self.username.as_str()) == name || self.account_email().logs_in_by(name)
    }
}
