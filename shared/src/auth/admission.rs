//! The callers that a route can admit.

use crate::domain::policy::{Action, ActionGrant};

/// The callers that a route can admit.
#[derive(Debug, Clone, Copy)]
pub enum AdmissionRule {
    /// Everyone, with or without a credential.
    Anyone,
    /// Callers with a file URL, which refers to their credential. Only the reference uses this value: the route's extractor, such
    /// as [`FileAccess`](super::access::FileAccess), checks an action of its own.
    FileUrl,
    /// Guests with the key of a working link.
    Guest,
    /// All callers with a valid credential.
    Authenticated,
    /// Candidates. The error for an ended key contains the reason.
    Candidate,
    /// Callers whom the policy allows this action.
    Action(Action),
}

/// A type that says which callers are admitted.
pub trait HasAdmission {
    /// The callers that are admitted.
    const ADMISSION: AdmissionRule;
}

impl<G: ActionGrant> HasAdmission for G {
    const ADMISSION: AdmissionRule = AdmissionRule::Action(G::ACTION);
}
