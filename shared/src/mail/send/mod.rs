//! Sends mails through SES and classifies its responses.

use aws_sdk_ses::config::http::HttpResponse;
use aws_sdk_ses::error::{BuildError, ProvideErrorMetadata, SdkError};
use aws_sdk_ses::operation::send_raw_email::SendRawEmailError;
use aws_sdk_ses::primitives::Blob;
use aws_sdk_ses::types::{MessageTag, RawMessage};
use mail_builder::MessageBuilder;
use mail_builder::headers::raw::Raw;

use super::{RenderedMail, from};
use crate::aws::AwsClients;
use crate::config::{Config, ConfigError};
use crate::domain::account::Account;
use crate::domain::company::Company;
use crate::domain::mail::recipient::RecipientTag;
use crate::domain::text::Email;

/// The sender and recipient of a mail.
pub struct MailEnvelope<'a> {
    /// The recipient's address.
    pub to: &'a Email,
    /// The recipient's account, for bounces and complaints; `None` if it was deleted.
    pub account: Option<Account>,
    /// The company in whose name the mail is sent.
    pub company: &'a Company,
    /// The sender, if SES has verified it for the company.
    pub alias: Option<&'a Email>,
    /// The address for replies; `None` for the sender's.
    pub reply_to: Option<&'a Email>,
}

/// The result of sending a mail.
///
/// The strings in errors are only SES's error codes, because its messages contain addresses, which must not be logged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MailDelivery {
    /// SES accepted the mail, under this message id.
    Sent(String),
    /// SES rejects the mail itself; retrying is pointless.
    Rejected(String),
    /// SES currently accepts no mails from this sender or AWS account: the rate or quota is exhausted, the sender is not verified, or
    /// the account is paused or in the sandbox. Does not count as a try. Other mails will get the same response for a while.
    Postponed(String),
    /// Any other failure; retry later.
    Transient(String),
}

/// Sends mails through SES.
pub struct Mailer<'a> {
    aws: &'a AwsClients,
    sender: &'a Email,
    configuration_set: Option<&'a str>,
}

impl<'a> Mailer<'a> {
    /// Reads the sender from the configuration. Fails if `MAIL_SENDER` is missing.
    pub fn new(aws: &'a AwsClients, config: &'a Config) -> Result<Self, ConfigError> {
        // Required only here, so that functions that send no mails start without it.
        let sender = config
            .mail_sender
            .as_ref()
            .ok_or_else(|| ConfigError { variable: "MAIL_SENDER", problem: "is missing".to_owned() })?;
        Ok(Self { aws, sender, configuration_set: config.mail_configuration_set.as_deref() })
    }

    /// Sends `mail`. Not idempotent.
    pub async fn send(&self, envelope: &MailEnvelope<'_>, mail: &RenderedMail) -> MailDelivery {
        // Check the alias for this company: SES verifies senders for the whole AWS account, but a company must not send from
        // another company's domain.
        if let Some(alias) = envelope.alias.filter(|alias| envelope.company.may_send_from(alias)) {
            match self.send_from(alias, envelope, mail).await {
                // The alias's verification may have lapsed. SES has not sent the refused mail, so sending it again from
                // the default sender creates no duplicate.
                MailDelivery::Postponed(code) if SENDER_REFUSED.contains(&code.as_str()) => {
                    let company = envelope.company.id.as_str();
                    tracing::warn!(target: "outbox", company, code, "SES refused a project's own sender");
                }
                delivery => return delivery,
            }
        }
        self.send_from(self.sender, envelope, mail).await
    }

    async fn send_from(
        &self,
        from: &Email,
        envelope: &MailEnvelope<'_>,
        mail: &RenderedMail,
    ) -> MailDelivery {
        let sender = from::sender(envelope.company.name.as_str(), from);
        let reply_to = envelope.reply_to.filter(|address| *address != from);
        let message = message(&sender, envelope.to, reply_to, mail);
        let (Ok(message), Ok(tags)) = (message, tags(envelope)) else { return not_made() };
        let sent = self
            .aws
            .ses()
            .send_raw_email()
            .source(&sender)
            .destinations(envelope.to.as_str())
            .raw_message(message)
            .set_tags(tags)
            .set_configuration_set_name(self.configuration_set.map(str::to_owned))
            .send()
            .await;
        match sent {
            Ok(sent) => MailDelivery::Sent(sent.message_id),
            Err(error) => meaning(&error),
        }
    }
}

/// The raw mail with its headers. SES replaces `Date` and `Message-ID`.
// SES's action `SendEmail` would not accept headers.
fn message(
    sender: &str,
    to: &Email,
    reply_to: Option<&Email>,
    mail: &RenderedMail,
) -> Result<RawMessage, BuildError> {
    let mut message = MessageBuilder::new()
        .header("From", Raw::new(sender))
        .header("To", Raw::new(to.as_str()))
        .subject(mail.subject.as_str())
        // Prevent out-of-office replies: RFC 3834, and Exchange's own header.
        .header("Auto-Submitted", Raw::new("auto-generated"))
        .header("X-Auto-Response-Suppress", Raw::new("OOF, AutoReply"))
        .text_body(mail.text.as_str())
        .html_body(mail.html.as_str());
    if let Some(address) = reply_to {
        message = message.header("Reply-To", Raw::new(address.as_str()));
    }
    let mut bytes = Vec::new();
    message.serialize(&mut bytes);
    RawMessage::builder().data(Blob::new(bytes)).build()
}

/// The tags that SES includes when it reports a bounce or a complaint.
fn tags(envelope: &MailEnvelope<'_>) -> Result<Option<Vec<MessageTag>>, BuildError> {
    let Some(account) = envelope.account else { return Ok(None) };
    // The tag identifies the recipient, so that nothing must be stored for each mail.
    let tag = RecipientTag { company: envelope.company.id.clone(), account };
    Ok(Some(vec![MessageTag::builder().name("recipient").value(tag.to_string()).build()?]))
}

/// Codes that may mean that SES does not accept the sender. Another sender may work.
const SENDER_REFUSED: [&str; 2] = ["MessageRejected", "MailFromDomainNotVerifiedException"];

/// Codes for a fault of the mail itself. Other refusals concern the sender or the AWS account, so the mail can be sent later.
const MAIL_REFUSED: [&str; 4] =
    ["InvalidParameterCombination", "InvalidParameterValue", "ValidationError", "ValidationException"];

fn meaning(error: &SdkError<SendRawEmailError, HttpResponse>) -> MailDelivery {
    let status = error.raw_response().map_or(0, |response| response.status().as_u16());
    match error {
        SdkError::ServiceError(answer) => {
            let code = answer.err().code().unwrap_or("unknown").to_owned();
            if status >= 500 {
                MailDelivery::Transient(code)
            } else if MAIL_REFUSED.contains(&code.as_str()) {
                MailDelivery::Rejected(code)
            } else {
                MailDelivery::Postponed(code)
            }
        }
        // SES may have accepted the mail, but a duplicate does less harm than no mail.
        SdkError::TimeoutError(_) => MailDelivery::Transient("timeout".to_owned()),
        SdkError::DispatchFailure(_) => MailDelivery::Transient("connection failed".to_owned()),
        SdkError::ResponseError(_) => MailDelivery::Transient(format!("unreadable answer, status {status}")),
        _ => not_made(),
    }
}

fn not_made() -> MailDelivery {
    MailDelivery::Transient("request not made".to_owned())
}

#[cfg(test)]
mod tests;
