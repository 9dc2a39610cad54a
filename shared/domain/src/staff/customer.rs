//! Customers: the staff users of a company.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Refusal;
use crate::account::Account;
use crate::history::{
    EventType, FieldChanges, FieldValue, HasHistory, ResourceRef, events_that_apply, facts, private,
};
use crate::id::{CompanyId, CustomerId};
use crate::language::Language;
use crate::mail::address_change::{EmailKeys, PendingEmail};
use crate::mail::rate::{MailRate, RefusedOrThrottled};
use crate::mail::suppression::{EmailStatus, Suppression, SuppressionReason, UNDELIVERABLE};
use crate::media::file::StoredFile;
use crate::names::named;
use crate::secret::{OneTimeKey, PasswordHash};
use crate::staff::sign_in_link::SignInLink;
use crate::text::{Email, ShortName, TextLine, Username};
use crate::timestamp::Timestamp;

named! {
    /// A customer's rights in the company. Each type includes the rights of the types before it.
    #[schemars(extend("x-closed-set" = true))]
    pub enum AccountType {
        /// Works in the projects that give them a role.
        HiringManager = "hiring-manager",
        /// Creates projects and welcome videos.
        Recruiter = "recruiter",
        /// Manages staff and every project.
        Admin = "admin",
        /// Has all rights in the company.
        Owner = "owner",
    }
}

impl AccountType {
    /// Whether customers of this type may create, change and delete those of `other`.
    pub fn manages(self, other: Self) -> bool {
        other < self
    }
}

/// Whether a customer has accepted the invitation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline, extend("x-closed-set" = true))]
pub enum CustomerStatus {
    /// Invited, but has not activated the account.
    Invited,
    /// Has activated the account, by setting a password or by signing in.
    Confirmed,
}

/// The company must keep an owner who can log in.
pub const LAST_OWNER: Refusal = Refusal {
    code: "last_owner",
    detail: "This is the company's last owner who can log in. Add another owner first.",
};
/// Customers cannot delete themselves.
pub const OWN_ACCOUNT: Refusal =
    Refusal { code: "own_account", detail: "You cannot delete your own account. Ask a colleague to do it." };
/// The customer has neither an invitation to accept nor an address to confirm.
pub const NOT_INVITED: Refusal = Refusal {
    code: "not_invited",
    detail: "This customer has activated the account and has no new email address to confirm.",
};
/// The reader of an address can get access to everything that its account sees, so callers who see less may not change it.
pub const UNSEEN_PROJECTS: Refusal = Refusal {
    code: "permission_denied",
    detail: "To change the email address, you must see every project in which this customer has a role or a share. Ask an admin.",
};
/// Only a person may vouch for an address that its holder has not confirmed.
pub const OWNER_CONFIRMS: Refusal = Refusal {
    code: "permission_denied",
    detail: "Only an owner who has logged in themselves may send `confirm`. Without it, the customer confirms the address.",
};

/// A customer as stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Customer {
    pub id: CustomerId,
    pub company: CompanyId,
    /// The customer's rights in the company.
    pub account_type: AccountType,
    /// The login name, unique in the company.
    pub username: Username,
    /// The address for mails and logins; unique among the company's staff.
    pub email: Email,
    /// Replaces `email` once the customer confirms it. Until then, no other account can have either address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending_email: Option<PendingEmail>,
    pub first_name: ShortName,
    pub last_name: ShortName,
    /// Telephone number.
    pub phone: TextLine<50>,
    /// The form of address as the client sent it, for example `mr` or `mrs`.
    pub gender: TextLine<20>,
    /// The job title.
    pub position: TextLine<150>,
    /// A role in the managers' own words, without effect on rights.
    pub role: TextLine<100>,
    /// The language of mails to the customer.
    pub preferred_language: Language,
    /// Whether the invitation is accepted.
    pub status: CustomerStatus,
    /// Whether the customer may log in.
    pub is_active: bool,
    /// When the customer was last invited.
    pub invited_at: Option<DateTime<Utc>>,
    /// When the account was activated.
    pub confirmed_at: Option<DateTime<Utc>>,
    /// The rate of repeated invitations.
    pub mail_rate: MailRate,
    /// The customer who created this one; `None` if the operator did.
    pub created_by: Option<CustomerId>,
    /// Whether the customer wants mails about interviews of their projects that have ended.
    pub receive_interview_notifications: bool,
    /// Whether the web application has greeted the customer.
    pub seen_welcome: bool,
    /// The password; `None` before activation.
    pub password_hash: Option<PasswordHash>,
    /// Sessions of an earlier epoch are revoked.
    pub session_epoch: u32,
    /// The key with which the customer chooses a password, after an invitation or for a password reset.
    pub one_time_key: Option<OneTimeKey>,
    /// The keys that confirm a pending address or restore a former one.
    #[serde(default, skip_serializing_if = "EmailKeys::is_empty")]
    pub email_keys: EmailKeys,
    /// Whether the operator lets the customer act on behalf of others.
    pub authenticate_on_behalf: bool,
    /// Set when SES reported a bounce or a complaint.
    pub suppression: Option<Suppression>,
    pub photo: Option<StoredFile>,
    /// The identity at the company's provider that the customer signs in as. It may be void: see
    /// [`SignInSettings::link_of`](super::sign_in::SignInSettings::link_of).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sign_in_link: Option<SignInLink>,
}

/// The required fields of a new customer.
#[derive(Debug, Clone)]
pub struct NewCustomer {
    /// The customer's rights in the company.
    pub account_type: AccountType,
    /// The login name.
    pub username: Username,
    /// The address for mails.
    pub email: Email,
    pub first_name: ShortName,
    pub last_name: ShortName,
    /// The language of mails to the customer.
    pub preferred_language: Language,
}

impl Customer {
    /// A customer invited at `now` to choose a password. `created_by` is `None` if the operator creates them.
    pub fn invited(
        id: CustomerId,
        company: CompanyId,
        new: NewCustomer,
        created_by: Option<CustomerId>,
        now: DateTime<Utc>,
    ) -> Self {
        Self {
            id,
            company,
            account_type: new.account_type,
            username: new.username,
            email: new.email,
            pending_email: None,
            first_name: new.first_name,
            last_name: new.last_name,
            phone: TextLine::default(),
            gender: TextLine::default(),
            position: TextLine::default(),
            role: TextLine::default(),
            preferred_language: new.preferred_language,
            status: CustomerStatus::Invited,
            is_active: true,
            invited_at: Some(now),
            confirmed_at: None,
            mail_rate: MailRate::default(),
            created_by,
            receive_interview_notifications: true,
            seen_welcome: false,
            password_hash: None,
            session_epoch: 0,
            one_time_key: None,
            email_keys: EmailKeys::default(),
            authenticate_on_behalf: false,
            suppression: None,
            photo: None,
            sign_in_link: None,
        }
    }

    /// The customer's account, which also owns their files.
    pub fn account(&self) -> Account {
        Account::Customer { customer: self.id }
    }

    /// Whether the customer may act on behalf of `other`: never for a higher account type.
    pub fn may_act_for(&self, other: &Self) -> bool {
        self.is_active
            && self.authenticate_on_behalf
            && self.company == other.company
            && other.account_type <= self.account_type
    }

    /// Whether the change from `before` requires an invitation: the customer is new, active again or has another address, and has
    /// neither a password nor a key from the operator.
    pub fn is_invited_since(&self, before: Option<&Self>) -> bool {
        let awaits_mail =
            self.is_active && self.status == CustomerStatus::Invited && self.one_time_key.is_none();
        awaits_mail && before.is_none_or(|before| !before.is_active || before.email != self.email)
    }

    /// Invites the customer again at `now`, or asks them again to confirm a new address. Revokes the key of the last mail at once.
    /// Fails with [`NOT_INVITED`], [`UNDELIVERABLE`], or after too many mails.
    pub fn invited_again(mut self, now: DateTime<Utc>) -> Result<Self, RefusedOrThrottled> {
        let is_invited = self.status == CustomerStatus::Invited;
        if !self.is_active || !is_invited && self.pending_email.is_none() {
            return Err(NOT_INVITED.into());
        }
        // Refuse, so that the client learns that the mail would not arrive. The key of the last mail stays valid, and a manager
        // may pass it on.
        if self.email_status() != EmailStatus::Deliverable {
            return Err(UNDELIVERABLE.into());
        }
        // The limit is per person, so that switching between addresses does not reset it.
        self.mail_rate.count(now)?;
        match &mut self.pending_email {
            Some(pending) => {
                self.email_keys.confirmation = None;
                pending.asked_at = now;
            }
            None => {
                self.one_time_key = None;
                self.invited_at = Some(now);
            }
        }
        Ok(self)
    }

    /// Sets a chosen password, and revokes all sessions and the one-time key.
    pub fn with_password(mut self, hash: PasswordHash, now: DateTime<Utc>) -> Self {
        self.password_hash = Some(hash);
        self.session_epoch += 1;
        self.one_time_key = None;
        if self.status == CustomerStatus::Invited {
            self.status = CustomerStatus::Confirmed;
            self.confirmed_at = Some(now);
        }
        self
    }

    /// Revokes all sessions.
    pub fn with_sessions_ended(mut self) -> Self {
        self.session_epoch += 1;
        self
    }

    /// Allows or forbids logging in. Forbidding it revokes all sessions.
    pub fn with_access(mut self, is_active: bool) -> Self {
        if self.is_active && !is_active {
            self.session_epoch += 1;
            self.one_time_key = None;
            self.email_keys.confirmation = None;
        }
        self.is_active = is_active;
        self
    }

    /// The `email_status` that clients see.
    pub fn email_status(&self) -> EmailStatus {
        Suppression::status(self.suppression.as_ref(), Some(self.shown_email()))
    }

    /// Whether mail reaches the current address: it is not suppressed.
    pub fn takes_mail(&self) -> bool {
        Suppression::reason(self.suppression.as_ref(), Some(&self.email)).is_none()
    }

    /// The customer after SES reported `reason` for mails to `reported`. `None` if the report changes nothing.
    pub fn after_delivery_report(mut self, reported: &str, reason: SuppressionReason) -> Option<Self> {
        let known = self.suppression.as_ref();
        let after = |own| Suppression::after_report(known, Some(own), reported, reason);
        let suppression = self.account_email().held().find_map(after)?;
        self.suppression = Some(suppression);
        Some(self)
    }

    /// Lifts the suppression, so that the customer gets mails again.
    pub fn with_mails_allowed(mut self) -> Self {
        self.suppression = None;
        self
    }

    /// Whether the customer can log in.
    pub fn is_at_work(&self) -> bool {
        self.is_active && self.status == CustomerStatus::Confirmed
    }

    /// Whether the customer gets mails about interviews of their projects that have ended.
    pub fn takes_interview_notices(&self) -> bool {
        self.receive_interview_notifications && self.is_at_work() && self.takes_mail()
    }

    /// Whether the customer is an owner who can log in.
    pub fn is_owner_at_work(&self) -> bool {
        self.account_type == AccountType::Owner && self.is_at_work()
    }
}

facts! {
    /// The facts of a customer: values that events about the customer contain.
    pub struct CustomerFacts {
        /// The customer's rights in the company.
        account_type: AccountType,
        /// Whether the invitation is accepted.
        status: CustomerStatus,
        /// Whether the customer may log in.
        is_active: bool,
        /// Whether the operator lets the customer act on behalf of others.
        authenticate_on_behalf: bool,
        /// When the customer was last invited; null before the first invitation.
        invitationdate: Option<Timestamp>,
        /// When the account was activated; null before.
        confirmationdate: Option<Timestamp>,
        /// Whether mails reach the customer's email address.
        email_status: EmailStatus,
        /// False while the customer has yet to accept the invitation or to confirm a new email address.
        email_confirmed: bool,
    }
}

impl HasHistory for Customer {
    const CREATED: EventType = EventType::CustomerCreated;
    const UPDATED: Option<EventType> = Some(EventType::CustomerUpdated);
    const DELETED: Option<EventType> = Some(EventType::CustomerDeleted);

    fn place(&self) -> (&CompanyId, ResourceRef) {
        (&self.company, ResourceRef::Customer { customer: self.id })
    }

    #[rustfmt::skip]
    fn history_fields(&self) -> Vec<(&'static str, FieldValue)> {
        let Self {
            account_type, username, first_name, last_name, phone, gender, position, role, preferred_language,
            status, is_active, invited_at, confirmed_at, receive_interview_notifications, seen_welcome, password_hash,
            authenticate_on_behalf, photo, sign_in_link,
            // Represented by the identifiers or by other fields.
            id: _, company: _, created_by: _, suppression: _, email: _, pending_email: _,
            // Internal.
            mail_rate: _, session_epoch: _, one_time_key: _, email_keys: _,
        } = self;
        let facts = CustomerFacts {
            account_type: *account_type,
            status: *status,
            is_active: *is_active,
            authenticate_on_behalf: *authenticate_on_behalf,
            invitationdate: invited_at.map(Timestamp),
            confirmationdate: confirmed_at.map(Timestamp),
            email_status: self.email_status(),
            email_confirmed: self.is_email_confirmed(),
        };
        let others = [
            ("first_name", private(first_name)),
            ("last_name", private(last_name)),
            ("username", private(username)),
            ("email", private(self.shown_email())),
            ("phone", private(phone)),
            ("gender", private(gender)),
            ("position", private(position)),
            ("role", private(role)),
            ("preferred_language", private(preferred_language)),
            ("receive_interview_notifications", private(receive_interview_notifications)),
            ("seen_welcome", private(seen_welcome)),
            ("password", private(password_hash)),
            ("photo", private(photo)),
            ("sign_in_link", private(sign_in_link)),
        ];
        facts.into_fields().into_iter().chain(others).collect()
    }

    fn events(before: Option<&Self>, after: &Self, changes: &FieldChanges) -> Vec<EventType> {
        // Owners whom the operator creates are confirmed from the beginning.
        let was_confirmed = before.is_some_and(|before| before.status == CustomerStatus::Confirmed);
        let is_confirmed = after.status == CustomerStatus::Confirmed && !was_confirmed;
        // The first password is part of the confirmation, and proves the address of the invitation.
        let [password, address] = if is_confirmed { ["password", "email_confirmed"] } else { ["status"; 2] };
        let told = ["status", "confirmationdate", "is_active", password, address];
        events_that_apply([
            (is_confirmed, EventType::CustomerConfirmed),
            (changes.has("is_active") && after.is_active, EventType::CustomerActivated),
            (changes.has("is_active") && !after.is_active, EventType::CustomerDeactivated),
            (changes.has_other_than(&told), EventType::CustomerUpdated),
        ])
    }
}
