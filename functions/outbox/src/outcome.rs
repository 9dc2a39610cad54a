//! Results of effects.

use shared::mail::MailDelivery;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EffectResult {
    /// SES accepted the mail.
    Sent,
    /// Objects are deleted, and a deletion is recorded.
    Deleted,
    /// The mail is pointless: the candidate has moved on, is deleted or takes no mails.
    Outdated,
    /// Retried later.
    Failed,
    /// Retried once SES accepts mails again; does not count as a try.
    Postponed,
    /// Kept for the operator.
    GivenUp,
    /// Another worker holds the lease or has completed the effect.
    Skipped,
}

/// The effect's result for SES's response, and the reason.
pub(crate) fn outcome_of(delivery: MailDelivery) -> (EffectResult, String) {
    match delivery {
        MailDelivery::Sent(message) => (EffectResult::Sent, message),
        MailDelivery::Rejected(code) => (EffectResult::GivenUp, code),
        MailDelivery::Postponed(code) => (EffectResult::Postponed, code),
        MailDelivery::Transient(code) => (EffectResult::Failed, code),
    }
}
