//! A customer as clients see it.

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::customer::{AccountType, Customer, CustomerStatus};
use crate::domain::file::FileKind;
use crate::domain::language::Language;
use crate::domain::suppression::EmailStatus;
use crate::domain::text::Email;
use crate::http::reference::References;
use crate::http::wire::{OrEmpty, Timestamp, Uri};

/// A customer as clients see it.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Customer")]
pub struct CustomerView {
    /// Its own address.
    resource_uri: Uri,
    /// The company it works for.
    company: Uri,
    /// The language of mails to it.
    preferred_language: Language,
    /// What it is in the company.
    account_type: AccountType,
    /// The same as `resource_uri`.
    user: Uri,
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
    #[schemars(example = &"grace@example.com")]
    email: Email,
    /// Whether mails reach it: who bounced or complained gets none until the address changes.
    email_status: EmailStatus,
    /// Telephone number.
    #[schemars(example = &"+1 202 555 0100")]
    phone: String,
    /// Whether it has taken up its invitation.
    status: CustomerStatus,
    /// When it took the invitation up.
    confirmationdate: Option<Timestamp>,
    /// When it was last invited.
    invitationdate: Option<Timestamp>,
    /// As the client has sent it.
    #[schemars(example = &"mrs")]
    gender: String,
    /// The customer who created it; null when that was a named token or the operator.
    created_by: Option<Uri>,
    /// Whether it wants mails about interviews.
    receive_interview_notifications: bool,
    /// Where its photo is; empty without one. Good for the session that was shown it.
    #[schemars(example = &"")]
    photo: OrEmpty<Uri>,
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
    projects: Uri,
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
            preferred_language: customer.preferred_language,
            account_type: customer.account_type,
            // User records have no address of their own in the contract; the customer's leads somewhere.
            user: own.clone(),
            username: customer.username.as_str().to_owned(),
            first_name: customer.first_name.to_string(),
            last_name: customer.last_name.to_string(),
            email: customer.email.clone(),
            email_status: customer.email_status(),
            phone: customer.phone.to_string(),
            status: customer.status,
            confirmationdate: customer.confirmed_at.map(Timestamp),
            invitationdate: customer.invited_at.map(Timestamp),
            gender: customer.gender.to_string(),
            created_by: customer.created_by.map(|by| references.customer(&customer.company, by)),
            receive_interview_notifications: customer.receive_interview_notifications,
            photo: OrEmpty(references.file(
                &customer.company,
                customer.owner(),
                FileKind::Photo,
                customer.photo,
            )),
            position: customer.position.to_string(),
            role: customer.role.to_string(),
            activation_key: "",
            projects: own.join("projects"),
            seen_welcome: customer.seen_welcome,
            is_active: customer.is_active,
            resource_uri: own,
        }
    }
}
