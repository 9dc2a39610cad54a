//! What SES tells of mails that did not arrive, or were not wanted.

use serde::Deserialize;
use shared::auth::System;
use shared::domain::account::Account;
use shared::domain::candidate::Candidate;
use shared::domain::customer::Customer;
use shared::domain::email_status::{MailTag, Trouble};
use shared::domain::id::{CandidateId, CompanyId, CustomerId, ProjectId};
use shared::{Error, Result};

use crate::{Outcome, TRIES};

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
    /// Whom the mail was to. Mails to who is nobody any more have none.
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
    /// What is wrong, and with mails to which addresses; none when it may pass by itself.
    fn trouble(self) -> Option<(Trouble, Vec<Recipient>)> {
        match (self.bounce, self.complaint) {
            (Some(bounce), None) if bounce.bounce_type == "Permanent" => {
                Some((Trouble::Bounced, bounce.bounced_recipients))
            }
            (None, Some(complaint)) => Some((Trouble::Complained, complaint.complained_recipients)),
            _ => None,
        }
    }
}

/// Notes with whom the mail was to that it gets no more. Doing it again changes nothing.
pub(crate) async fn take(system: &System, feedback: Feedback) -> Result<Outcome> {
    let Some(tag) = feedback.mail.tags.recipient.first() else { return Ok(Outcome::Ignored) };
    let tag: MailTag = tag.parse().map_err(|_| Error::field("recipient", "Not a tag of this service."))?;
    let Some((trouble, addresses)) = feedback.trouble() else { return Ok(Outcome::Ignored) };
    let mut outcome = Outcome::Ignored;
    for Recipient { email_address } in addresses {
        let applied = match tag.account {
            Account::Customer { customer } => {
                note_customer(system, &tag.company, customer, &email_address, trouble).await?
            }
            Account::Candidate { project, candidate } => {
                note_candidate(system, (&tag.company, project, candidate), &email_address, trouble).await?
            }
        };
        if applied {
            outcome = Outcome::Applied;
        }
    }
    Ok(outcome)
}

async fn note_customer(
    system: &System,
    company: &CompanyId,
    customer: CustomerId,
    address: &str,
    trouble: Trouble,
) -> Result<bool> {
    for _ in 0..TRIES {
        let Some(before) = system.store.customer(company, customer).await? else { return Ok(false) };
        let Some(after) = Customer::clone(&before).after_mail_trouble(address, trouble) else {
            return Ok(false);
        };
        match system.commit(system.store.update_customer(&before, &after, system.now)).await {
            // Deleted meanwhile, which the next look finds.
            Err(Error::Changed | Error::NotFound) => {}
            done => return done.map(|()| true),
        }
    }
    Err(Error::Changed)
}

async fn note_candidate(
    system: &System,
    (company, project, candidate): (&CompanyId, ProjectId, CandidateId),
    address: &str,
    trouble: Trouble,
) -> Result<bool> {
    for _ in 0..TRIES {
        let Some(before) = system.store.candidate(company, project, candidate).await? else {
            return Ok(false);
        };
        let Some(after) = Candidate::clone(&before).after_mail_trouble(address, trouble) else {
            return Ok(false);
        };
        match system.commit(system.store.change_candidate(&before, &after.into(), system.now)).await {
            // Deleted meanwhile, which the next look finds.
            Err(Error::Changed | Error::NotFound) => {}
            done => return done.map(|()| true),
        }
    }
    Err(Error::Changed)
}
