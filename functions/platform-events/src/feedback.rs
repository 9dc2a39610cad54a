//! Handles bounces and complaints reported by SES.

use mail_parser::MessageParser;
use serde::Deserialize;
use shared::auth::SystemAccess;
use shared::domain::account::Account;
use shared::domain::candidate::Candidate;
use shared::domain::mail::recipient::RecipientTag;
use shared::domain::mail::suppression::SuppressionReason;
use shared::domain::staff::customer::Customer;
use shared::event::RecordOutcome;
use shared::store::RetryPolicy;
use shared::{Error, Result};

/// The `detail` of an SES event.
#[derive(Deserialize)]
pub(crate) struct MailFeedback {
    mail: SentMail,
    bounce: Option<MailBounce>,
    complaint: Option<MailComplaint>,
}

#[derive(Deserialize)]
struct SentMail {
    tags: Option<MailTags>,
}

#[derive(Deserialize)]
struct MailTags {
    /// The tag of the recipient's account; absent for mails to deleted accounts.
    recipient: Option<Vec<String>>,
}

// SES sends null for empty lists, hence the `Option`s.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MailBounce {
    bounce_type: Option<String>,
    /// SES's reason, such as `General`, or `Suppressed` for an address on its global suppression list.
    bounce_sub_type: Option<String>,
    bounced_recipients: Option<Vec<MailRecipient>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MailComplaint {
    /// The feedback type of RFC 5965, such as `abuse`; absent if the recipient's server gives none.
    complaint_feedback_type: Option<String>,
    complained_recipients: Option<Vec<MailRecipient>>,
}

impl MailComplaint {
    /// Whether the recipient has complained about the mail.
    fn is_against_mails(&self) -> bool {
        // `not-spam` means that the recipient moved the mail out of the spam folder; `auth-failure` reports an invalid
        // signature.
        let kind = self.complaint_feedback_type.as_deref().unwrap_or_default();
        !["not-spam", "auth-failure"].iter().any(|harmless| harmless.eq_ignore_ascii_case(kind))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MailRecipient {
    /// The address, or a mailbox with a display name if SES takes it from the header `To`.
    email_address: Option<String>,
    /// The status code of the recipient's server, such as `5.1.1`; absent in complaints.
    status: Option<String>,
}

impl MailRecipient {
    /// The addresses without display names, such as `kim@x.example` in `Kim Lee <kim@x.example>`.
    fn addresses(&self) -> Vec<String> {
        let Some(mailboxes) = &self.email_address else { return Vec::new() };
        let header = format!("To: {mailboxes}\r\n\r\n");
        let message = MessageParser::new().parse_headers(header.as_bytes());
        let parsed = message.as_ref().and_then(|message| message.to());
        let parsed = parsed.into_iter().flat_map(|list| list.iter());
        parsed.filter_map(|mailbox| mailbox.address().map(str::to_owned)).collect()
    }
}

impl MailFeedback {
    /// Logs the reason for a report about a mail to this recipient.
    // Does not log the diagnostic text, which quotes the address.
    fn log(&self, tag: &RecipientTag) {
        let bounce = self.bounce.as_ref();
        let status = bounce.and_then(|bounce| bounce.bounced_recipients.as_ref()?.first()?.status.as_deref());
        // The recipient's server writes the status, so log it only if it is a code.
        let status = status.filter(|code| code.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'));
        tracing::info!(
            target: "platform-events",
            recipient = %tag,
            bounce_type = bounce.and_then(|bounce| bounce.bounce_type.as_deref()),
            bounce_sub_type = bounce.and_then(|bounce| bounce.bounce_sub_type.as_deref()),
            smtp_status = status,
            is_complaint = self.complaint.is_some(),
            "SES reported on a mail"
        );
    }

    /// The addresses to suppress; `None` for transient bounces and for reports that are not complaints about the mail.
    fn suppressed(self) -> Option<(SuppressionReason, Vec<String>)> {
        let (reason, recipients) = match (self.bounce, self.complaint) {
            (Some(bounce), None) if bounce.bounce_type.as_deref() == Some("Permanent") => {
                (SuppressionReason::Bounced, bounce.bounced_recipients)
            }
            (None, Some(complaint)) if complaint.is_against_mails() => {
                (SuppressionReason::Complained, complaint.complained_recipients)
            }
            _ => return None,
        };
        Some((reason, recipients.into_iter().flatten().flat_map(|recipient| recipient.addresses()).collect()))
    }
}

/// Suppresses the reported addresses. Idempotent.
pub(crate) async fn apply_feedback(system: &SystemAccess, feedback: MailFeedback) -> Result<RecordOutcome> {
    // Find the recipient by tag: accounts of several companies may have the address.
    let tags = feedback.mail.tags.as_ref().and_then(|tags| tags.recipient.as_ref());
    let Some(tag) = tags.and_then(|tags| tags.first()) else { return Ok(RecordOutcome::Ignored) };
    let tag: RecipientTag = tag.parse().map_err(|_| Error::field("recipient", "Unknown recipient tag."))?;
    feedback.log(&tag);
    let Some((reason, addresses)) = feedback.suppressed() else { return Ok(RecordOutcome::Ignored) };
    // Fail, so that the event is retried and becomes a dead letter, like other events before the company's start.
    if system.store.awaits_start(&tag.company).await? {
        return Err(Error::NotStarted);
    }
    let mut outcome = RecordOutcome::Ignored;
    for address in addresses {
        if system
            .store
            .retry_on_conflict(RetryPolicy::CHANGE, || suppress_address(system, &tag, &address, reason))
            .await?
        {
            outcome = RecordOutcome::Applied;
        }
    }
    Ok(outcome)
}

/// Suppresses an address; false if the account is gone or no longer has the address.
async fn suppress_address(
    system: &SystemAccess,
    tag: &RecipientTag,
    address: &str,
    reason: SuppressionReason,
) -> Result<bool> {
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
