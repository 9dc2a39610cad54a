//! Consents: what a candidate has accepted, and when.

use chrono::{DateTime, SubsecRound as _, Utc};
use serde::{Deserialize, Serialize};

use super::legal::{LegalKind, LegalRegister, LegalTextId};
use crate::domain::Refusal;
use crate::domain::candidate::Candidate;
use crate::domain::history::ChangeAuthor;
use crate::domain::language::Language;

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
    /// What to do about it.
    pub message: &'static str,
}

const NOT_CURRENT: ConsentProblem =
    ConsentProblem { field: "version", message: "This is not the current version of the text." };
const SUPERSEDED: ConsentProblem =
    ConsentProblem { field: "version", message: "The candidate has accepted a later version." };
const OTHER_LANGUAGE: ConsentProblem =
    ConsentProblem { field: "language", message: "The text does not exist in this language." };
const IN_FUTURE: ConsentProblem =
    ConsentProblem { field: "obtained_at", message: "Must not be in the future." };
const WITHDRAWN: ConsentProblem = ConsentProblem {
    field: "obtained_at",
    message: "The candidate has withdrawn this consent since. Obtain another one.",
};

impl ConsentStatement {
    /// Refuses a version or a language that was never published.
    fn check_text(&self, register: &LegalRegister) -> Result<(), ConsentProblem> {
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

impl Candidate {
    pub fn standing_consents(&self) -> impl Iterator<Item = (LegalKind, &CandidateConsent)> {
        let all = self.consents.iter().map(|(kind, consent)| (*kind, consent));
        all.filter(|(_, consent)| consent.withdrawn_at.is_none())
    }

    /// The consent of a kind, if one stands.
    pub fn standing_consent(&self, kind: LegalKind) -> Option<&CandidateConsent> {
        self.consents.get(&kind).filter(|consent| consent.withdrawn_at.is_none())
    }

    /// Records a consent, unchanged if it is recorded already. `register` holds the versions of the company's texts.
    pub fn with_consent(
        mut self,
        statement: ConsentStatement,
        register: &LegalRegister,
        by: ChangeAuthor,
        now: DateTime<Utc>,
    ) -> Result<Self, ConsentProblem> {
        let ConsentStatement { text: LegalTextId { kind, version }, language, obtained_at } = statement;
        statement.check_text(register)?;
        if obtained_at.is_some_and(|at| at > now) {
            return Err(IN_FUTURE);
        }
        if let Some(known) = self.consents.get(&kind) {
            match known.withdrawn_at {
                Some(end) if obtained_at.is_some_and(|at| at <= end) => return Err(WITHDRAWN),
                Some(_) => {}
                None if known.version > version => return Err(SUPERSEDED),
                None if (known.version, known.language) == (version, language)
                    && obtained_at.is_none_or(|at| at == known.obtained_at) =>
                {
                    return Ok(self);
                }
                None => {}
            }
        }
        // Whole seconds, so that sending back what was read changes nothing.
        let obtained_at = obtained_at.unwrap_or(now).trunc_subsecs(0);
        let consent =
            CandidateConsent { version, language, obtained_at, recorded_by: by, withdrawn_at: None };
        self.consents.insert(kind, consent);
        Ok(self)
    }

    /// Withdraws the consent of a kind at `now`, if one stands.
    pub fn without_consent(mut self, kind: LegalKind, now: DateTime<Utc>) -> Self {
        if let Some(consent) = self.consents.get_mut(&kind) {
            consent.withdrawn_at.get_or_insert(now);
        }
        self
    }

    /// Whether they have accepted each of these texts.
    pub fn has_accepted(&self, texts: &[LegalTextId]) -> bool {
        texts.iter().all(|text| {
            self.standing_consent(text.kind).is_some_and(|consent| consent.version == text.version)
        })
    }
}

#[cfg(test)]
mod tests;
