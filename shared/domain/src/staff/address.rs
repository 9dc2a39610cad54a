//! The email address of a customer: the one that counts, one that waits to be confirmed, and former ones that can be put back.

use chrono::{DateTime, Utc};

use super::customer::{Customer, CustomerStatus};
use crate::mail::address_change::{FormerEmail, PendingEmail};
use crate::mail::rate::RefusedOrThrottled;
use crate::text::{Email, fold_case};

impl Customer {
    /// The address that clients see: the last one that was set.
    pub fn shown_email(&self) -> &Email {
        self.pending_email.as_ref().map_or(&self.email, |pending| &pending.email)
    }

    /// Whether the customer has proved the address that clients see.
    pub fn is_email_confirmed(&self) -> bool {
        self.status == CustomerStatus::Confirmed && self.pending_email.is_none()
    }

    /// Changes the email address at `now`. Customers who have activated their account have to confirm it, unless it `is_settled` or
    /// is the one that counts anyway; others are invited again. A change that counts at once revokes all sessions and the keys
    /// mailed to the old address.
    pub fn with_email(
        mut self,
        email: Email,
        is_settled: bool,
        now: DateTime<Utc>,
    ) -> Result<Self, RefusedOrThrottled> {
        if self.status == CustomerStatus::Invited {
            self.one_time_key = None;
            self.email = email;
            // Mails went to the wrong person, who may have used the keys in them.
            let moved = self.with_sessions_ended();
            return if moved.is_active { moved.invited_again(now) } else { Ok(moved) };
        }
        self.address_keys.confirmation = None;
        if email == self.email {
            self.pending_email = None;
            return Ok(self);
        }
        self.address_keys.count_change(is_settled, now)?;
        if is_settled {
            return Ok(self.with_email_replaced(email, now).with_sessions_ended());
        }
        self.mail_rate.count(now)?;
        self.address_keys.let_undo(self.email.clone(), now);
        self.pending_email = Some(PendingEmail { email, asked_at: now });
        Ok(self)
    }

    /// Lets the pending address count from `now` on: its holder has proved that it is theirs, and the account too.
    pub fn with_email_confirmed(mut self, now: DateTime<Utc>) -> Self {
        match self.pending_email.take() {
            Some(pending) => self.with_email_replaced(pending.email, now),
            None => self,
        }
    }

    fn with_email_replaced(mut self, email: Email, now: DateTime<Utc>) -> Self {
        let former = std::mem::replace(&mut self.email, email);
        self.address_keys.let_undo(former, now);
        self.address_keys.confirmation = None;
        self.pending_email = None;
        self.one_time_key = None;
        self
    }

    /// Puts a former address back, and revokes whatever a later one could open: sessions, keys and, if it has counted, the
    /// password.
    pub fn with_email_restored(mut self, former: &FormerEmail) -> Self {
        self.address_keys.undo(former);
        if self.email != former.email {
            // Whoever reads the later address may have chosen it.
            self.password_hash = None;
            self.email = former.email.clone();
        }
        self.pending_email = None;
        self.one_time_key = None;
        self.with_sessions_ended()
    }

    /// Whether the customer logs in by `name`, in folded case.
    pub fn logs_in_by(&self, name: &str) -> bool {
        [self.username.as_str(), self.email.as_str()].into_iter().any(|own| fold_case(own) == name)
    }
}
