//! What clients send of a customer.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::Deserialize;
use shared::auth::password::Password;
use shared::domain::choice;
use shared::domain::company::Company;
use shared::domain::customer::{AccountType, Customer, NewCustomer};
use shared::domain::id::{CompanyId, CustomerId};
use shared::domain::language::Language;
use shared::domain::text::{Email, Line, Name, Username, fold_case};
use shared::error::FieldErrors;
use shared::http::Fields;
use shared::http::fields::set;
use shared::{Error, Result};

/// The fields that people may change of themselves; none leaves a field as it is.
#[derive(Default)]
pub(crate) struct Profile {
    first_name: Option<Name>,
    last_name: Option<Name>,
    phone: Option<Line<50>>,
    gender: Option<Line<20>>,
    position: Option<Line<150>>,
    preferred_language: Option<Language>,
    receive_interview_notifications: Option<bool>,
    seen_welcome: Option<bool>,
}

impl Profile {
    fn read(body: &mut Fields) -> Self {
        Self {
            first_name: body.text("first_name", Name::parse),
            last_name: body.text("last_name", Name::parse),
            phone: body.line("phone"),
            gender: body.line("gender"),
            position: body.line("position"),
            preferred_language: body.text("preferred_language", choice),
            receive_interview_notifications: body.flag("receive_interview_notifications"),
            seen_welcome: body.flag("seen_welcome"),
        }
    }

    /// Makes the changes.
    pub(crate) fn apply_to(self, customer: &mut Customer) {
        set(&mut customer.first_name, self.first_name);
        set(&mut customer.last_name, self.last_name);
        set(&mut customer.phone, self.phone);
        set(&mut customer.gender, self.gender);
        set(&mut customer.position, self.position);
        set(&mut customer.preferred_language, self.preferred_language);
        set(&mut customer.receive_interview_notifications, self.receive_interview_notifications);
        set(&mut customer.seen_welcome, self.seen_welcome);
    }
}

/// The fields of a customer that a client sent in a change.
pub(crate) struct Changes {
    /// What people may change of themselves, and their managers of them.
    pub(crate) profile: Profile,
    /// Only for managers.
    pub(crate) email: Option<Email>,
    /// Only for managers.
    pub(crate) role: Option<Line<100>>,
    /// Only for managers.
    pub(crate) account_type: Option<AccountType>,
    /// Only for people themselves, with the present password.
    pub(crate) password: Option<(Password, Password)>,
}

impl Changes {
    /// Reads the body of a change; a user name is taken only if it `is_same`.
    pub(crate) fn read(mut body: Fields, is_same: impl FnOnce(&Username) -> bool) -> Result<Self> {
        let username = body.text("username", Username::parse);
        if username.is_some_and(|sent| !is_same(&sent)) {
            body.refuse("username", "A username cannot be changed.");
        }
        let password = body.text("password", Password::choose);
        let current = password.is_some().then(|| body.required("current_password", Password::attempt));
        let changes = Self {
            profile: Profile::read(&mut body),
            email: body.text("email", Email::parse),
            role: body.line("role"),
            account_type: body.text("account_type", choice),
            password: password.zip(current.flatten()),
        };
        body.finish(|| Some(changes))
    }
}

/// A customer to create.
pub(crate) struct Creation {
    profile: Profile,
    role: Option<Line<100>>,
    new: NewCustomer,
}

impl Creation {
    /// Reads the body of a creation.
    pub(crate) fn read(mut body: Fields) -> Result<Self> {
        let email = body.required("email", Email::parse);
        let username = body.clearable("username", Username::parse).flatten();
        // The email is a name to log in with as well, so it can stand for one.
        let username = username.map(Ok).or_else(|| Some(Username::parse(email.as_ref()?.as_str())));
        let username = username.and_then(|read| match read {
            Ok(username) => Some(username),
            Err(message) => {
                body.refuse("username", message);
                None
            }
        });
        let account_type = body.required("account_type", choice);
        for name in ["first_name", "last_name", "preferred_language"] {
            body.require(name);
        }
        let profile = Profile::read(&mut body);
        let role = body.line("role");
        body.finish(|| {
            let new = NewCustomer {
                account_type: account_type?,
                username: username?,
                email: email?,
                first_name: profile.first_name.clone()?,
                last_name: profile.last_name.clone()?,
                preferred_language: profile.preferred_language?,
            };
            Some(Self { profile, role, new })
        })
    }

    /// What it is to be in the company.
    pub(crate) fn account_type(&self) -> AccountType {
        self.new.account_type
    }

    /// The customer, who is to be invited by mail.
    pub(crate) fn into_customer(
        self,
        id: CustomerId,
        company: CompanyId,
        by: Option<CustomerId>,
        now: DateTime<Utc>,
    ) -> Customer {
        let mut customer = Customer::invited(id, company, self.new, by, now);
        self.profile.apply_to(&mut customer);
        set(&mut customer.role, self.role);
        customer
    }
}

/// By what the entries of an import are found among the staff.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(crate) enum PrimaryKey {
    /// The user name.
    Username,
    /// The email address.
    Email,
}

impl PrimaryKey {
    /// The field of an entry that holds it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Username => "username",
            Self::Email => "email",
        }
    }

    /// The key of a customer, in the form in which keys are compared.
    pub(crate) fn of(self, username: &Username, email: &Email) -> String {
        fold_case(match self {
            Self::Username => username.as_str(),
            Self::Email => email.as_str(),
        })
    }
}

/// An entry of an import.
#[derive(Clone)]
pub(crate) struct Imported {
    pub(crate) account_type: AccountType,
    username: Username,
    email: Email,
    first_name: Name,
    last_name: Name,
    gender: Option<Line<20>>,
    position: Option<Line<150>>,
}

impl Imported {
    /// Reads all entries, each of which has the same primary key and is found by it once.
    ///
    /// # Errors
    /// Messages on the fields of all entries, such as `[3].email`.
    pub(crate) fn read_all(entries: Vec<Result<Fields>>) -> Result<(PrimaryKey, Vec<Self>)> {
        let mut errors = FieldErrors::default();
        let mut primary_key = None;
        let mut found = BTreeSet::new();
        let mut read = Vec::new();
        for (index, entry) in entries.into_iter().enumerate() {
            match entry.and_then(Self::read) {
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
            Some(key) if errors.is_empty() => Ok((key, read)),
            _ => Err(Error::Fields(errors)),
        }
    }

    fn read(mut body: Fields) -> Result<(PrimaryKey, Self)> {
        let primary_key = body.required("pk_attribute", choice);
        let account_type = body.required("account_type", choice);
        let username = body.required("username", Username::parse);
        let email = body.required("email", Email::parse);
        let first_name = body.required("first_name", Name::parse);
        let last_name = body.required("last_name", Name::parse);
        let (gender, position) = (body.line("gender"), body.line("position"));
        body.finish(|| {
            let entry = Self {
                account_type: account_type?,
                username: username?,
                email: email?,
                first_name: first_name?,
                last_name: last_name?,
                gender,
                position,
            };
            Some((primary_key?, entry))
        })
    }

    /// The names that would lead to it, in the form in which names are compared, with the fields that hold them.
    pub(crate) fn names(&self) -> [(&'static str, String); 2] {
        [PrimaryKey::Username, PrimaryKey::Email].map(|field| (field.as_str(), self.key(field)))
    }

    /// By what it is found.
    pub(crate) fn key(&self, primary_key: PrimaryKey) -> String {
        primary_key.of(&self.username, &self.email)
    }

    /// The customer, who is to be invited by mail.
    pub(crate) fn into_customer(
        self,
        id: CustomerId,
        company: &Company,
        by: Option<CustomerId>,
        now: DateTime<Utc>,
    ) -> Customer {
        let new = NewCustomer {
            account_type: self.account_type,
            username: self.username,
            email: self.email,
            first_name: self.first_name,
            last_name: self.last_name,
            preferred_language: company.default_project_lang,
        };
        let mut customer = Customer::invited(id, company.id.clone(), new, by, now);
        set(&mut customer.gender, self.gender);
        set(&mut customer.position, self.position);
        customer
    }
}
