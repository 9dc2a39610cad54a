//! Reads the body of an import: the list of staff.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::Deserialize;
use shared::domain::id::{CompanyId, CustomerId};
use shared::domain::language::Language;
use shared::domain::parse_enum;
use shared::domain::staff::customer::{Customer, NewCustomer};
use shared::domain::text::{Email, ShortName, Username, fold_case};
use shared::error::FieldErrors;
use shared::http::{BodyChanges, BodyFields};
use shared::{Error, Result};

use crate::changes::read_imported;

/// The field that identifies the customers of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(super) enum PrimaryKey {
    /// The user name.
    Username,
    /// The email address.
    Email,
}

impl PrimaryKey {
    /// The name of the field in an entry.
    fn as_str(self) -> &'static str {
        match self {
            Self::Username => "username",
            Self::Email => "email",
        }
    }

    /// The normalised key of a customer with this user name and address.
    pub(super) fn of(self, username: &Username, email: &Email) -> String {
        fold_case(match self {
            Self::Username => username.as_str(),
            Self::Email => email.as_str(),
        })
    }

    /// A customer's normalised keys: with the confirmed address, and with the one that awaits confirmation.
    pub(super) fn all_of(self, customer: &Customer) -> [String; 2] {
        [&customer.email, customer.shown_email()].map(|email| self.of(&customer.username, email))
    }
}

pub(crate) struct StaffList {
    pub(super) primary_key: PrimaryKey,
    pub(super) entries: Vec<StaffImportEntry>,
}

impl StaffList {
    /// Reads all entries. They must use the same primary key, with distinct values. New customers get mails in
    /// `language`.
    ///
    /// # Errors
    /// Field errors of all entries, with names such as `[3].email`.
    pub(crate) fn read(entries: Vec<Result<BodyFields>>, language: Language) -> Result<Self> {
        let mut errors = FieldErrors::default();
        let mut primary_key = None;
        let mut found = BTreeSet::new();
        let mut read = Vec::new();
        for (index, entry) in entries.into_iter().enumerate() {
            match entry.and_then(|body| StaffImportEntry::read(body, language)) {
                Ok((key, entry)) => {
                    if *primary_key.get_or_insert(key) != key {
                        let message = "This must be the same in all entries.";
                        errors.add(&format!("[{index}].pk_attribute"), message);
                    } else if !found.insert(entry.key(key)) {
                        errors.add(&format!("[{index}].{}", key.as_str()), "This entry appears twice.");
                    }
                    read.push(entry);
                }
                Err(Error::Fields(messages)) => errors.merge(messages.below(&format!("[{index}]"))),
                Err(error) => return Err(error),
            }
        }
        match primary_key {
            Some(primary_key) if errors.is_empty() => Ok(Self { primary_key, entries: read }),
            _ => Err(Error::Fields(errors)),
        }
    }
}

pub(crate) struct StaffImportEntry {
    pub(super) new: NewCustomer,
    optional: BodyChanges<Customer>,
}

impl StaffImportEntry {
    fn read(mut body: BodyFields, preferred_language: Language) -> Result<(PrimaryKey, Self)> {
        let primary_key = body.required("pk_attribute", parse_enum);
        let account_type = body.required("account_type", parse_enum);
        let username = body.required("username", Username::parse);
        let email = body.required("email", Email::parse);
        let first_name = body.required("first_name", ShortName::parse);
        let last_name = body.required("last_name", ShortName::parse);
        let optional = read_imported(&mut body);
        if body.flag("is_active") == Some(false) {
            body.refuse("is_active", "Leave out customers who are to be deactivated.");
        }
        body.finish(|| {
            let new = NewCustomer {
                account_type: account_type?,
                username: username?,
                email: email?,
                first_name: first_name?,
                last_name: last_name?,
                preferred_language,
            };
            Some((primary_key?, Self { new, optional }))
        })
    }

    /// The normalised login names, with the names of their fields.
    pub(super) fn names(&self) -> [(&'static str, String); 2] {
        [PrimaryKey::Username, PrimaryKey::Email].map(|field| (field.as_str(), self.key(field)))
    }

    /// The normalised key that identifies the customer.
    pub(super) fn key(&self, primary_key: PrimaryKey) -> String {
        primary_key.of(&self.new.username, &self.new.email)
    }

    /// The new customer, who will be invited by mail.
    pub(super) fn into_customer(
        self,
        id: CustomerId,
        company: &CompanyId,
        by: Option<CustomerId>,
        now: DateTime<Utc>,
    ) -> Customer {
        let mut customer = Customer::invited(id, company.clone(), self.new, by, now);
        self.optional.apply_to(&mut customer);
        customer
    }
}
