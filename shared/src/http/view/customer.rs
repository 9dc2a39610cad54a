//! A customer as clients see it.

use serde::Serialize;

use crate::domain::customer::Customer;
use crate::domain::file::FileKind;
use crate::http::reference::References;
use crate::http::respond::timestamp;

/// A customer as clients see it.
#[derive(Debug, Serialize)]
pub struct CustomerView {
    resource_uri: String,
    company: String,
    preferred_language: &'static str,
    account_type: &'static str,
    user: String,
    username: String,
    first_name: String,
    last_name: String,
    email: String,
    email_status: &'static str,
    phone: String,
    status: &'static str,
    confirmationdate: Option<String>,
    invitationdate: Option<String>,
    gender: String,
    created_by: Option<String>,
    receive_interview_notifications: bool,
    photo: String,
    position: String,
    projects: String,
    seen_welcome: bool,
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
            projects: format!("{own}projects/"),
            seen_welcome: customer.seen_welcome,
            is_active: customer.is_active,
            resource_uri: own,
        }
    }
}
