//! The bodies of requests that create or change a customer.

use shared::Result;
use shared::auth::password::Password;
use shared::domain::parse_enum;
use shared::domain::staff::customer::{AccountType, Customer, NewCustomer};
use shared::domain::text::{Email, ShortName, TextLine, Username};
use shared::http::{BodyChanges, BodyFields};

/// Reads the optional fields of a creation, which customers may also change themselves.
fn read_optional(body: &mut BodyFields) -> BodyChanges<Customer> {
    let mut changes = read_imported(body);
    changes.set(body.text_or_empty("phone", TextLine::parse_unmarked), |customer| &mut customer.phone);
    changes.set(body.flag("receive_interview_notifications"), |customer| {
        &mut customer.receive_interview_notifications
    });
    changes.set(body.flag("seen_welcome"), |customer| &mut customer.seen_welcome);
    changes
}

/// Reads those optional fields that an import may contain too.
pub(crate) fn read_imported(body: &mut BodyFields) -> BodyChanges<Customer> {
    let mut changes: BodyChanges<Customer> = BodyChanges::default();
    changes.set(body.text_or_empty("gender", TextLine::parse), |customer| &mut customer.gender);
    changes.set(body.text_or_empty("position", TextLine::parse), |customer| &mut customer.position);
    changes
}

/// The changes of a customer, by who may send each field.
pub(crate) struct UpdateCustomer {
    /// For the customer and their managers.
    pub(crate) profile: BodyChanges<Customer>,
    /// Only for managers.
    pub(crate) email: Option<Email>,
    /// Whether the address counts without the customer's confirmation. For owners only.
    pub(crate) confirms_email: bool,
    /// Only for managers.
    pub(crate) role: Option<TextLine<100>>,
    /// Only for managers.
    pub(crate) account_type: Option<AccountType>,
    /// For the customer only: the new and the current password.
    pub(crate) password: Option<(Password, Password)>,
}

impl UpdateCustomer {
    /// Reads the body. Accepts `username` only if it `is_same`, and `is_active` only with the current value, so that
    /// clients can send back what they have read.
    pub(crate) fn read(
        mut body: BodyFields,
        is_same: impl FnOnce(&Username) -> bool,
        is_active: bool,
    ) -> Result<Self> {
        let username = body.text("username", Username::parse);
        if username.is_some_and(|sent| !is_same(&sent)) {
            body.refuse("username", "A username cannot be changed.");
        }
        // Refuse the field instead of ignoring it: otherwise the client would believe that it has closed the account.
        if body.flag("is_active").is_some_and(|sent| sent != is_active) {
            body.refuse("is_active", ONLY_BY_IMPORT);
        }
        let password = body.text("password", Password::choose);
        let current = if password.is_some() {
            body.required("current_password", Password::attempt)
        } else {
            // Without a new password, the current one is not needed.
            body.ignore("current_password");
            None
        };
        let mut profile = read_optional(&mut body);
        profile.set(body.text("first_name", ShortName::parse), |customer| &mut customer.first_name);
        profile.set(body.text("last_name", ShortName::parse), |customer| &mut customer.last_name);
        profile.set(body.text("preferred_language", parse_enum), |customer| &mut customer.preferred_language);
        let changes = Self {
            profile,
            email: body.text("email", Email::parse),
            confirms_email: body.flag("confirm").unwrap_or_default(),
            role: body.text_or_empty("role", TextLine::parse),
            account_type: body.text("account_type", parse_enum),
            password: password.zip(current),
        };
        body.finish(|| Some(changes))
    }
}

const ONLY_BY_IMPORT: &str = "Only a batch import activates and deactivates customers: it deactivates those who are missing from its list.";

/// The body of a creation.
pub(crate) struct CreateCustomer {
    /// The required fields.
    pub(crate) new: NewCustomer,
    /// The other fields.
    pub(crate) optional: BodyChanges<Customer>,
}

impl CreateCustomer {
    pub(crate) fn read(mut body: BodyFields) -> Result<Self> {
        let email = body.required("email", Email::parse);
        let username = body.clearable("username", Username::parse).flatten();
        // The email address can be used to log in anyway, so it is the default.
        let username = username.map(Ok).or_else(|| Some(Username::parse(email.as_ref()?.as_str())));
        let username =
            username.and_then(|read| read.map_err(|message| body.refuse("username", message)).ok());
        let account_type = body.required("account_type", parse_enum);
        let first_name = body.required("first_name", ShortName::parse);
        let last_name = body.required("last_name", ShortName::parse);
        let preferred_language = body.required("preferred_language", parse_enum);
        if body.flag("is_active") == Some(false) {
            body.refuse("is_active", ONLY_BY_IMPORT);
        }
        let mut optional = read_optional(&mut body);
        optional.set(body.text_or_empty("role", TextLine::parse), |customer| &mut customer.role);
        body.finish(|| {
            let new = NewCustomer {
                account_type: account_type?,
                username: username?,
                email: email?,
                first_name: first_name?,
                last_name: last_name?,
                preferred_language: preferred_language?,
            };
            Some(Self { new, optional })
        })
    }
}
