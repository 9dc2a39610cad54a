//! Results of effects.

use shared::mail::Delivery;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
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
    WithSomebodyElse,
}

/// The effect's result for SES's response, and the reason.
pub(crate) fn fate_of(delivery: Delivery) -> (Fate, String) {
    match delivery {
        Delivery::Sent(message) => (Fate::Sent, message),
        Delivery::Rejected(code) => (Fate::GivenUp, code),
        Delivery::Postponed(code) => (Fate::Postponed, code),
        Delivery::Transient(code) => (Fate::Failed, code),
    }
}
