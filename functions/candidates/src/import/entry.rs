//! The body of an import: the candidates as the client lists them.

use std::collections::{BTreeSet, HashSet};

use shared::Result;
use shared::domain::candidate::CandidateProfile;
use shared::domain::privacy::consent::ConsentStatement;
use shared::domain::privacy::legal::LegalKind;
use shared::domain::text::fold_case;
use shared::http::BodyFields;
use shared::store::taken_username;

use crate::changes::{CandidateFiles, read_new};
use crate::privacy::consents::read_imported;

pub(crate) struct ImportedCandidate {
    pub(super) profile: CandidateProfile,
    /// What they have accepted elsewhere, each kind once.
    pub(super) consents: Vec<ConsentStatement>,
}

/// Reads all entries. Of those with the same user name only the first is valid, whether or not it can be created.
pub(super) fn read_candidates(entries: Vec<Result<BodyFields>>) -> Vec<Result<ImportedCandidate>> {
    let mut usernames = HashSet::new();
    let mut candidates = Vec::with_capacity(entries.len());
    for entry in entries {
        candidates.push(entry.and_then(read_candidate).and_then(
            |candidate| match &candidate.profile.username {
                // The table would let the first of two concurrent entries win, whichever that is.
                Some(name) if !usernames.insert(fold_case(name.as_str())) => Err(taken_username()),
                _ => Ok(candidate),
            },
        ));
    }
    candidates
}

/// Reads one entry.
pub(crate) fn read_candidate(mut fields: BodyFields) -> Result<ImportedCandidate> {
    if !CandidateFiles::read(&mut fields, |_| None).is_empty() {
        // The files of a thousand candidates would not fit through a request, and dropping them silently would be noticed
        // late.
        fields.refuse("photo", "Imports take no files. PATCH the candidate afterwards.");
    }
    let consents = fields.objects("consents", LegalKind::ALL.len(), read_imported)?.unwrap_or_default();
    let kinds: BTreeSet<LegalKind> = consents.iter().map(|consent| consent.text.kind).collect();
    if kinds.len() < consents.len() {
        fields.refuse("consents", "Each kind may appear only once.");
    }
    Ok(ImportedCandidate { profile: read_new(fields)?, consents })
}
