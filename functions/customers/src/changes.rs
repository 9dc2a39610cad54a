//! What clients send of a customer.

use chrono::{DateTime, Utc};
use shared::Result;
use shared::auth::password::Password;
use shared::domain::customer::{AccountType, Customer, NewCustomer};
use shared::domain::id::{CompanyId, CustomerId};
use shared::domain::language::Language;
use shared::domain::parse_enum;
use shared::domain::text::{Email, ShortName, TextLine, Username};
use shared::http::BodyFields;
use shared::http::fields::set;

/// The fields that people may change of themselves; none leaves a field as it is.
#[derive(Default)]
pub(crate) struct UpdateProfile {
    first_name: Option<ShortName>,
    last_name: Option<ShortName>,
    phone: Option<TextLine<50>>,
    gender: Option<TextLine<20>>,
    position: Option<TextLine<150>>,
    preferred_language: Option<Language>,
    receive_interview_notifications: Option<bool>,
    seen_welcome: Option<bool>,
}

impl UpdateProfile {
    fn read(body: &mut BodyFields) -> Self {
        Self {
            first_name: body.text("first_name", ShortName::parse),
            last_name: body.text("last_name", ShortName::parse),
            phone: body.line("phone"),
            gender: body.line("gender"),
            position: body.line("position"),
            preferred_language: body.text("preferred_language", parse_enum),
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
pub(crate) struct UpdateCustomer {
    /// What people may change of themselves, and their managers of them.
    pub(crate) profile: UpdateProfile,
    /// Only for managers.
    pub(crate) email: Option<Email>,
    /// Only for managers.
    pub(crate) role: Option<TextLine<100>>,
    /// Only for managers.
    pub(crate) account_type: Option<AccountType>,
    /// Only for people themselves, with the present password.
    pub(crate) password: Option<(Password, Password)>,
}

impl UpdateCustomer {
    /// Reads the body of a change; a user name is taken only if it `is_same`.
    pub(crate) fn read(mut body: BodyFields, is_same: impl FnOnce(&Username) -> bool) -> Result<Self> {
        let username = body.text("username", Username::parse);
        if username.is_some_and(|sent| !is_same(&sent)) {
            body.refuse("username", "A username cannot be changed.");
        }
        let password = body.text("password", Password::choose);
        let current = password.is_some().then(|| body.required("current_password", Password::attempt));
        let changes = Self {
            profile: UpdateProfile::read(&mut body),
            email: body.text("email", Email::parse),
            role: body.line("role"),
            account_type: body.text("account_type", parse_enum),
            password: password.zip(current.flatten()),
        };
        body.finish(|| Some(changes))
    }
}

/// A customer to create.
pub(crate) struct CreateCustomer {
    profile: UpdateProfile,
    role: Option<TextLine<100>>,
    new: NewCustomer,
}

impl CreateCustomer {
    /// Reads the body of a creation.
    pub(crate) fn read(mut body: BodyFields) -> Result<Self> {
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
        let account_type = body.required("account_type", parse_enum);
        for name in ["first_name", "last_name", "preferred_language"] {
            body.require(name);
        }
        let profile = UpdateProfile::read(&mut body);
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
