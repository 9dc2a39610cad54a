//! The callers that a route admits.

use crate::domain::policy::{Action, ActionGrant};

/// The callers that a route admits.
#[derive(Debug, Clone, Copy)]
pub enum AdmissionRule {
    /// Everyone.
    Anyone,
    /// Callers with the URL of a file, which stands for the credential that was shown it. Tells the reference alone: the extractor of the
    /// route checks its own action, such as that of [`FileAccess`](super::access::FileAccess).
    FileUrl,
    /// Guests, by the key of a link that works.
    Guest,
    /// Callers with a credential.
    Authenticated,
    /// Candidates. Holders of a key that has ended learn why.
    Candidate,
    /// Callers who may take this action.
    Action(Action),
}

/// A type that says which callers are admitted.
pub trait HasAdmission {
    /// The callers.
    const ADMISSION: AdmissionRule;
}

impl<G: ActionGrant> HasAdmission for G {
    const ADMISSION: AdmissionRule = AdmissionRule::Action(G::ACTION);
}
