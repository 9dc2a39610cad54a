//! Consents: what a candidate has accepted, and when.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::legal::{LegalRegister, LegalTextId};
use crate::Refusal;
use crate::history::ChangeAuthor;
use crate::language::Language;

/// The candidate has not accepted a required text.
pub const CONSENT_MISSING: Refusal = Refusal {
    code: "consent_missing",
    detail: "Accept the current version of every required legal text first.",
};

/// A candidate's acceptance of a legal text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CandidateConsent {
    /// The version of the text.
    pub version: u32,
    /// The language that the candidate read it in.
    pub language: Language,
    /// When they accepted it.
    pub obtained_at: DateTime<Utc>,
    /// The candidate, or who vouches for a consent that was obtained elsewhere.
    pub recorded_by: ChangeAuthor,
    /// When it was withdrawn; `None` while it stands.
    // Kept, so that a system which sends its old records again cannot bring a withdrawn consent back.
    pub withdrawn_at: Option<DateTime<Utc>>,
}

/// A consent to record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConsentStatement {
    pub text: LegalTextId,
    pub language: Language,
    /// When it was obtained elsewhere; `None` if it is given now.
    pub obtained_at: Option<DateTime<Utc>>,
}

/// Why a consent cannot be recorded: a field of the statement, and a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConsentProblem {
    pub field: &'static str,
    /// The reason, for the client.
    pub message: &'static str,
}

pub(crate) const NOT_CURRENT: ConsentProblem =
    ConsentProblem { field: "version", message: "This is not the current version of the text." };
pub(crate) const OTHER_LANGUAGE: ConsentProblem =
    ConsentProblem { field: "language", message: "The text does not exist in this language." };

impl ConsentStatement {
    /// Refuses a version or a language that was never published.
    pub(crate) fn check_text(&self, register: &LegalRegister) -> Result<(), ConsentProblem> {
        let LegalTextId { kind, version } = self.text;
        match register.current(kind) {
            Some(current) if current.version == version => {
                if current.languages.contains(&self.language) {
                    Ok(())
                } else {
                    Err(OTHER_LANGUAGE)
                }
            }
            // A consent that was obtained elsewhere is recorded as what it is. Were only the current version accepted, clients
            // would have to claim that the candidate has read it. An earlier version does not let the candidate advance.
            _ if self.obtained_at.is_some() && (1..register.count(kind)).contains(&version) => Ok(()),
            _ => Err(NOT_CURRENT),
        }
    }
}
