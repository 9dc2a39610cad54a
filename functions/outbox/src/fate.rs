//! What becomes of effects.

use shared::mail::Delivery;

/// What became of an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// SES took the mail.
    Sent,
    /// The objects are gone, and what was erased is noted.
    Deleted,
    /// The candidate has moved on, is gone or takes no mails: there is nobody to tell anything any more.
    Outdated,
    /// It will be tried again.
    Failed,
    /// It will be tried again, when SES takes mails again; it does not count as tried.
    Postponed,
    /// It stays as it is, for the operator.
    GivenUp,
    /// Somebody else is at it, or has done it.
    WithSomebodyElse,
}

/// What SES's answer means for the effect, and why.
pub(crate) fn fate_of(delivery: Delivery) -> (Fate, String) {
    match delivery {
        Delivery::Sent(message) => (Fate::Sent, message),
        Delivery::Rejected(code) => (Fate::GivenUp, code),
        Delivery::Postponed(code) => (Fate::Postponed, code),
        Delivery::Transient(code) => (Fate::Failed, code),
    }
}
