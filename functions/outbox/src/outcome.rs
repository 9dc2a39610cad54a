//! Results of effects.

use shared::mail::Delivery;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
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
pub(crate) fn outcome_of(delivery: Delivery) -> (Outcome, String) {
    match delivery {
        Delivery::Sent(message) => (Outcome::Sent, message),
        Delivery::Rejected(code) => (Outcome::GivenUp, code),
        Delivery::Postponed(code) => (Outcome::Postponed, code),
        Delivery::Transient(code) => (Outcome::Failed, code),
    }
}
