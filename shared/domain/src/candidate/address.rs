//! The email address of a candidate: the one that counts and, of candidates with a password, one that waits to be confirmed and
//! former ones that can be restored.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::search_words::{SearchedFields, WordSource};
use super::{Candidate, CandidateProfile};
use crate::mail::address_change::{AccountAddress, AddressFields, FormerEmail};
use crate::mail::rate::RefusedOrThrottled;
use crate::secret::PasswordHash;
use crate::text::{Email, fold_case};

impl Candidate {
    pub fn account_address(&self) -> AccountAddress<'_> {
        AccountAddress {
            company: &self.company,
            account: self.account(),
            email: self.profile.email.as_ref(),
            pending: self.pending_email.as_ref(),
            keys: &self.address_keys,
        }
    }

    fn address_fields(&mut self) -> AddressFields<'_> {
        let Self { pending_email: pending, address_keys: keys, mail_rate, one_time_key, .. } = self;
        AddressFields { pending, keys, mail_rate, one_time_key }
    }

    /// The address that clients see: the last one that was set.
    pub fn shown_email(&self) -> Option<&Email> {
        self.account_address().shown()
    }

    /// Whether setting `email` leaves a candidate who has a password without the address that counts. Only a manager in person may.
    // A removal counts at once: it can end the password, and without one, the next address counts at once as well.
    pub fn loses_address(&self, email: Option<&Email>) -> bool {
        email.is_none() && self.profile.email.is_some() && self.password_hash.is_some()
    }

    /// Sets another email address, or none, at `now`. Candidates with a password have to confirm it, unless it `is_confirmed`, is the
    /// one that counts anyway, or is none: see [`loses_address`](Self::loses_address). [`after_change`](Self::after_change) applies what follows from one that counts at once.
    pub fn with_email(
        mut self,
        email: Option<Email>,
        is_confirmed: bool,
        now: DateTime<Utc>,
    ) -> Result<Self, RefusedOrThrottled> {
        if self.password_hash.is_none() || email == self.profile.email {
            self.profile.email = email;
            self.address_fields().withdraw();
            return Ok(self);
        }
        let present = self.profile.email.clone();
        match email {
            Some(email) if !is_confirmed => self.address_fields().request(present.as_ref(), email, now)?,
            // The former one is told, and can be restored.
            email => {
                self.profile.email = email;
                self.address_fields().replace_at_once(present, now)?;
            }
        }
        Ok(self)
    }

    /// Lets the pending address count from `now` on: its holder has proved that it is theirs, and the account too.
    pub fn with_email_confirmed(mut self, now: DateTime<Utc>) -> Self {
        if let Some(pending) = self.pending_email.take() {
            let former = self.profile.email.replace(pending.email);
            self.address_fields().replace(former, now);
        }
        self
    }

    /// Restores a former address, and revokes whatever a later one could open: sessions, keys and, if it has counted, the
    /// password, which becomes one that nobody knows.
    pub fn with_email_restored(mut self, former: &FormerEmail, unknown_password: PasswordHash) -> Self {
        self.address_fields().restore(former);
        if self.profile.email.as_ref() != Some(&former.email) {
            // The reader of the later address may have chosen it, or read the key.
            self.password_hash = Some(unknown_password);
            self.redirect_key(None);
            self.profile.email = Some(former.email.clone());
        }
        self.with_sessions_ended()
    }

    /// Whether the candidate logs in by `name`, in folded case.
    pub fn logs_in_by(&self, name: &str) -> bool {
        let username = self.profile.username.as_ref();
        username.is_some_and(|own| fold_case(own.as_str()) == name) || self.account_address().logs_in_by(name)
    }

    /// The words that searches find the candidate by.
    pub fn words(&self) -> BTreeMap<String, WordSource> {
        self.searched_fields().words()
    }

    /// The fields that searches look in.
    pub fn searched_fields(&self) -> SearchedFields<'_> {
        let CandidateProfile { first_name, last_name, .. } = &self.profile;
        SearchedFields { first_name, last_name, email: self.shown_email() }
    }
}
