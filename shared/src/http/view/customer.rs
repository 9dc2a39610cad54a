//! A customer as clients see it.

use crate::domain::customer::AccountType;
use crate::domain::customer::CustomerStatus;
use crate::domain::language::Language;
use crate::domain::text::Email;
use crate::openapi::{EmailStatus, Timestamp, Uri, UriOrEmpty};
use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::customer::Customer;
use crate::domain::file::FileKind;
use crate::http::reference::References;
use crate::http::respond::timestamp;

/// A customer as clients see it.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Customer")]
pub struct CustomerView {
    /// Its own address.
    #[schemars(with = "Uri")]
    resource_uri: String,
    /// The company it works for.
    #[schemars(with = "Uri")]
    company: String,
    /// The language of mails to it.
    #[schemars(with = "Language")]
    preferred_language: &'static str,
    /// What it is in the company.
    #[schemars(with = "AccountType")]
    account_type: &'static str,
    /// The same as `resource_uri`.
    #[schemars(with = "Uri")]
    user: String,
    /// The name it logs in with, unique in the company. It cannot be changed.
    #[schemars(example = &"grace")]
    username: String,
    /// First name.
    #[schemars(example = &"Grace")]
    first_name: String,
    /// Last name.
    #[schemars(example = &"Hopper")]
    last_name: String,
    /// Where mails go; also a name to log in with, unique among the company's staff.
    #[schemars(with = "Email", example = &"grace@example.com")]
    email: String,
    /// Whether mails reach it: who bounced or complained gets none until the address changes.
    #[schemars(with = "EmailStatus")]
    email_status: &'static str,
    /// Telephone number.
    #[schemars(example = &"+1 202 555 0100")]
    phone: String,
    /// Whether it has taken up its invitation.
    #[schemars(with = "CustomerStatus")]
    status: &'static str,
    /// When it took the invitation up.
    #[schemars(with = "Option<Timestamp>")]
    confirmationdate: Option<String>,
    /// When it was last invited.
    #[schemars(with = "Option<Timestamp>")]
    invitationdate: Option<String>,
    /// As the client has sent it.
    #[schemars(example = &"mrs")]
    gender: String,
    /// The customer who created it; null when that was a named token or the operator.
    #[schemars(with = "Option<Uri>")]
    created_by: Option<String>,
    /// Whether it wants mails about interviews.
    receive_interview_notifications: bool,
    /// Where its photo is; empty without one. Good for the session that was shown it.
    #[schemars(with = "UriOrEmpty")]
    photo: String,
    /// What they do in the company.
    #[schemars(example = &"Rear Admiral")]
    position: String,
    /// A role in the client's own words; it gives no rights. Changed by those who manage the customer.
    #[schemars(example = &"Head of hiring")]
    role: String,
    /// Always empty: keys are mailed, and only their hashes are stored.
    #[schemars(example = &"")]
    activation_key: &'static str,
    /// The projects in which it has a role.
    #[schemars(with = "Uri")]
    projects: String,
    /// Whether the web application has greeted it.
    seen_welcome: bool,
    /// Whether it can log in, once it has taken up its invitation.
    #[schemars(example = true)]
    is_active: bool,
}

impl CustomerView {
    /// The view of a customer.
    pub fn new(customer: &Customer, references: References<'_>) -> Self {
        let own = references.customer(&customer.company, customer.id);
        Self {
            company: references.company(&customer.company),
            preferred_language: customer.preferred_language.code(),
            account_type: customer.account_type.as_str(),
            // User records have no address of their own in the contract; the customer's leads somewhere.
            user: own.clone(),
            username: customer.username.as_str().to_owned(),
            first_name: customer.first_name.to_string(),
            last_name: customer.last_name.to_string(),
            email: customer.email.as_str().to_owned(),
            email_status: customer.email_status(),
            phone: customer.phone.to_string(),
            status: customer.status.as_str(),
            confirmationdate: customer.confirmed_at.map(timestamp),
            invitationdate: customer.invited_at.map(timestamp),
            gender: customer.gender.to_string(),
            created_by: customer.created_by.map(|by| references.customer(&customer.company, by)),
            receive_interview_notifications: customer.receive_interview_notifications,
            photo: references.file(&customer.company, customer.owner(), FileKind::Photo, customer.photo),
            position: customer.position.to_string(),
            role: customer.role.to_string(),
            activation_key: "",
            projects: format!("{own}projects/"),
            seen_welcome: customer.seen_welcome,
            is_active: customer.is_active,
            resource_uri: own,
        }
    }
}
