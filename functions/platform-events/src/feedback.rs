//! Handles bounces and complaints that SES reports.

use serde::Deserialize;
use shared::auth::System;
use shared::domain::account::Account;
use shared::domain::candidate::Candidate;
use shared::domain::customer::Customer;
use shared::domain::recipient::RecipientTag;
use shared::domain::suppression::SuppressionReason;
use shared::{Error, Result};

use crate::Outcome;

/// The `detail` of an event that SES publishes.
#[derive(Deserialize)]
pub(crate) struct Feedback {
    mail: Mail,
    bounce: Option<Bounce>,
    complaint: Option<Complaint>,
}

#[derive(Deserialize)]
struct Mail {
    tags: Tags,
}

#[derive(Deserialize)]
struct Tags {
    /// The recipient's account; absent in mails to accounts that were deleted.
    #[serde(default)]
    recipient: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Bounce {
    bounce_type: String,
    bounced_recipients: Vec<Recipient>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Complaint {
    complained_recipients: Vec<Recipient>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Recipient {
    email_address: String,
}

impl Feedback {
    /// The addresses to suppress; none for transient bounces.
    fn suppressed(self) -> Option<(SuppressionReason, Vec<Recipient>)> {
        match (self.bounce, self.complaint) {
            (Some(bounce), None) if bounce.bounce_type == "Permanent" => {
                Some((SuppressionReason::Bounced, bounce.bounced_recipients))
            }
            (None, Some(complaint)) => Some((SuppressionReason::Complained, complaint.complained_recipients)),
            _ => None,
        }
    }
}

/// Suppresses the reported addresses. Idempotent.
pub(crate) async fn take(system: &System, feedback: Feedback) -> Result<Outcome> {
    let Some(tag) = feedback.mail.tags.recipient.first() else { return Ok(Outcome::Ignored) };
    let tag: RecipientTag =
        tag.parse().map_err(|_| Error::field("recipient", "Not a tag of this service."))?;
    let Some((reason, addresses)) = feedback.suppressed() else { return Ok(Outcome::Ignored) };
    let mut outcome = Outcome::Ignored;
    for Recipient { email_address } in addresses {
        if system.store.retry(|| note(system, &tag, &email_address, reason)).await? {
            outcome = Outcome::Applied;
        }
    }
    Ok(outcome)
}

/// Suppresses an address; false if the account is gone, or no longer has this address.
async fn note(system: &System, tag: &RecipientTag, address: &str, reason: SuppressionReason) -> Result<bool> {
    let store = &system.store;
    let transaction = match tag.account {
        Account::Customer { customer } => {
            let Some(before) = store.customer(&tag.company, customer).await? else { return Ok(false) };
            let after = Customer::clone(&before).after_delivery_report(address, reason);
            after.map(|after| store.update_customer(&before, &after, system.now))
        }
        Account::Candidate { project, candidate } => {
            let found = store.candidate(&tag.company, project, candidate).await?;
            let Some(before) = found else { return Ok(false) };
            let after = Candidate::clone(&before).after_delivery_report(address, reason);
            after.map(|after| store.change_candidate(&before, &after.into(), system.now))
        }
    };
    match transaction {
        Some(transaction) => system.commit(transaction).await.map(|()| true),
        None => Ok(false),
    }
}
