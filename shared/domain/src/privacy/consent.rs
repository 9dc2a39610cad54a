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
    /// The language in which the candidate read the text.
    pub language: Language,
    /// When the candidate accepted the text.
    pub obtained_at: DateTime<Utc>,
    /// The candidate, or the author who vouches for a consent that was obtained elsewhere.
    pub recorded_by: ChangeAuthor,
    /// When the consent was withdrawn; `None` while it stands.
    // Kept, so that a system that sends its old records again cannot restore a withdrawn consent.
    pub withdrawn_at: Option<DateTime<Utc>>,
}

/// A consent to record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConsentStatement {
    pub text: LegalTextId,
    pub language: Language,
    /// When the consent was obtained elsewhere; `None` if it is given now.
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
    /// Checks that the version and the language may be consented to: the current version, or any published one if the consent was
    /// obtained elsewhere.
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
            // A consent that was obtained elsewhere is recorded with its version. If only the current version were accepted, clients
            // would have to claim that the candidate has read that one. An earlier version does not let the candidate advance.
            _ if self.obtained_at.is_some() && (1..register.count(kind)).contains(&version) => Ok(()),
            _ => Err(NOT_CURRENT),
        }
    }
}
