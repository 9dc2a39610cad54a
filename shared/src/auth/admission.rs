//! The callers that guards admit.

use crate::domain::policy::Action;

/// The callers that a guard admits.
#[derive(Debug, Clone, Copy)]
pub enum AdmissionRule {
    /// Everyone.
    Anyone,
    /// Everyone whose URL has the token of a file.
    Link,
    /// Callers with a credential.
    Authenticated,
    /// Candidates.
    Candidate,
    /// Callers who may take this action.
    Action(Action),
}

/// A guard that says whom it admits.
pub trait HasAdmission {
    /// The callers that the guard admits.
    const ADMISSION: AdmissionRule;
}
