//! The consents of a candidate.

use chrono::{DateTime, SubsecRound as _, Utc};

use super::Candidate;
use crate::history::ChangeAuthor;
use crate::privacy::consent::{CandidateConsent, ConsentProblem, ConsentStatement};
use crate::privacy::legal::{LegalKind, LegalRegister, LegalTextId};

const SUPERSEDED: ConsentProblem =
    ConsentProblem { field: "version", message: "The candidate has accepted a later version." };
const IN_FUTURE: ConsentProblem =
    ConsentProblem { field: "obtained_at", message: "Must not be in the future." };
const WITHDRAWN: ConsentProblem = ConsentProblem {
    field: "obtained_at",
    message: "The candidate has withdrawn this consent since. Obtain another one.",
};

impl Candidate {
    pub fn standing_consents(&self) -> impl Iterator<Item = (LegalKind, &CandidateConsent)> {
        let all = self.consents.iter().map(|(kind, consent)| (*kind, consent));
        all.filter(|(_, consent)| consent.withdrawn_at.is_none())
    }

    /// The standing consent of a kind.
    pub fn standing_consent(&self, kind: LegalKind) -> Option<&CandidateConsent> {
        self.consents.get(&kind).filter(|consent| consent.withdrawn_at.is_none())
    }

    /// Records a consent; changes nothing if it is already recorded. `register` holds the versions of the company's texts.
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
        // Whole seconds, so that a client that sends back what it read changes nothing.
        let obtained_at = obtained_at.unwrap_or(now).trunc_subsecs(0);
        let consent =
            CandidateConsent { version, language, obtained_at, recorded_by: by, withdrawn_at: None };
        self.consents.insert(kind, consent);
        Ok(self)
    }

    /// Withdraws the standing consent of a kind at `now`, if there is one.
    pub fn without_consent(mut self, kind: LegalKind, now: DateTime<Utc>) -> Self {
        if let Some(consent) = self.consents.get_mut(&kind) {
            consent.withdrawn_at.get_or_insert(now);
        }
        self
    }

    /// Whether the candidate has accepted each of these texts.
    pub fn has_accepted(&self, texts: &[LegalTextId]) -> bool {
        texts.iter().all(|text| {
            self.standing_consent(text.kind).is_some_and(|consent| consent.version == text.version)
        })
    }
}

#[cfg(test)]
mod tests;
