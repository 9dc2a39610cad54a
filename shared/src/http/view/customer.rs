//! The view of a customer.

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::id::CustomerId;
use crate::domain::language::Language;
use crate::domain::mail::suppression::EmailStatus;
use crate::domain::media::file::FileKind;
use crate::domain::staff::customer::{AccountType, Customer, CustomerStatus};
use crate::domain::text::Email;
use crate::http::example_uri;
use crate::http::reference::ReferenceUris;
use crate::http::wire::{Identifier, OrEmpty, Timestamp, Uri};

/// A customer: a staff user of a company.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Customer")]
pub struct CustomerView {
    id: Identifier<CustomerId>,
    /// The URL of the resource.
    #[schemars(example = example_uri::CUSTOMER)]
    resource_uri: Uri,
    /// The URL of the customer's company.
    #[schemars(example = example_uri::COMPANY)]
    company: Uri,
    /// The language of mails to the customer.
    preferred_language: Language,
    /// The customer's rights in the company.
    account_type: AccountType,
    /// Equals `resource_uri`.
    #[schemars(example = example_uri::CUSTOMER)]
    user: Uri,
    /// The login name, unique in the company. It cannot be changed.
    #[schemars(example = &"grace", length(min = 1))]
    username: String,
    /// First name.
    #[schemars(example = &"Grace", length(min = 1))]
    first_name: String,
    /// Last name.
    #[schemars(example = &"Hopper", length(min = 1))]
    last_name: String,
    /// The email address, for mails and as a login name; unique among the company's staff. While `email_confirmed` is false and
    /// `status` is `confirmed`, the customer has yet to confirm this address, and the former one remains in use.
    #[schemars(example = &"grace@example.com")]
    email: Email,
    /// Whether the email address is confirmed: the customer has accepted the invitation, and they or an owner have confirmed any
    /// later address.
    email_confirmed: bool,
    /// Whether mails reach the email address. An address that is not `deliverable` gets no mails until it is replaced.
    email_status: EmailStatus,
    /// Telephone number.
    #[schemars(example = &"+1 202 555 0100")]
    phone: String,
    /// Whether the invitation is accepted.
    status: CustomerStatus,
    /// When the invitation was accepted; null before.
    #[schemars(example = ())]
    confirmationdate: Option<Timestamp>,
    /// When the customer was last invited; null before the first invitation.
    invitationdate: Option<Timestamp>,
    /// Free text from the client, for example `mr` or `mrs`.
    #[schemars(example = &"mrs")]
    gender: String,
    /// The URL of the customer who created this one; null if a named token or the operator did.
    #[schemars(example = example_uri::CUSTOMER)]
    created_by: Option<Uri>,
    /// Whether the customer gets mails, in `preferred_language`, about ended interviews of projects that they manage or evaluate.
    /// An interview counts if it is complete, or if its time ended after the candidate had answered something. The first mail comes
    /// about five minutes after an interview, then at most one an hour for all projects together. A mail names up to ten candidates
    /// by project and counts the others. Customers who are not activated or not active, and addresses that bounced, get none.
    receive_interview_notifications: bool,
    /// The URL of the photo, valid for the session that fetched it; empty if there is none.
    #[schemars(example = &"")]
    photo: OrEmpty<Uri>,
    /// The customer's job title.
    #[schemars(example = &"Rear Admiral")]
    position: String,
    /// A role in the client's own words, without effect on rights. Only users who manage the customer may change it.
    #[schemars(example = &"Head of hiring")]
    role: String,
    /// Always empty: keys are mailed, and only their hashes are stored.
    #[schemars(example = &"")]
    activation_key: &'static str,
    /// The URL of the list of projects that give the customer a role.
    #[schemars(example = format!("{}projects/", example_uri::CUSTOMER))]
    projects: Uri,
    /// Whether the web application has greeted the customer.
    seen_welcome: bool,
    /// Whether the customer may log in once the invitation is accepted.
    #[schemars(example = true)]
    is_active: bool,
}

impl CustomerView {
    /// The view of a customer.
    pub fn new(customer: &Customer, references: ReferenceUris<'_>) -> Self {
        let own = references.uri(&customer.company, customer.id);
        Self {
            company: references.company(&customer.company),
            preferred_language: customer.preferred_language,
            account_type: customer.account_type,
            // The contract gives user records no URL of their own, so show the customer's.
            user: own.clone(),
            username: customer.username.as_str().to_owned(),
            first_name: customer.first_name.to_string(),
            last_name: customer.last_name.to_string(),
            email: customer.shown_email().clone(),
            email_confirmed: customer.is_email_confirmed(),
            email_status: customer.email_status(),
            phone: customer.phone.to_string(),
            status: customer.status,
            confirmationdate: customer.confirmed_at.map(Timestamp),
            invitationdate: customer.invited_at.map(Timestamp),
            gender: customer.gender.to_string(),
            created_by: customer.created_by.map(|by| references.uri(&customer.company, by)),
            receive_interview_notifications: customer.receive_interview_notifications,
            photo: OrEmpty(references.file(
                &customer.company,
                customer.account(),
                FileKind::Photo,
                customer.photo,
            )),
            position: customer.position.to_string(),
            role: customer.role.to_string(),
            // The contract has this field, but the table has only the key's hash.
            activation_key: "",
            projects: own.join("projects"),
            seen_welcome: customer.seen_welcome,
            is_active: customer.is_active,
            id: Identifier(customer.id),
            resource_uri: own,
        }
    }
}
