//! Reads the body of an import.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, HashSet};

use chrono::{DateTime, Utc};
use shared::domain::candidate::CandidateProfile;
use shared::domain::privacy::consent::ConsentStatement;
use shared::domain::privacy::legal::LegalKind;
use shared::domain::text::{ExternalId, fold_case};
use shared::error::FieldErrors;
use shared::http::BodyFields;
use shared::store::taken_username;
use shared::{Error, Result};

use crate::changes::{CandidateFiles, read_new};
use crate::privacy::consents::read_imported;

pub(crate) struct ImportedCandidate {
    pub(super) profile: CandidateProfile,
    /// Consents that the candidate has given elsewhere, at most one of each kind.
    pub(super) consents: Vec<ConsentStatement>,
}

pub(super) struct ReadEntry {
    pub(super) candidate: Result<ImportedCandidate>,
    /// The index of the first entry with the same `external_id`; `None` if this is the first, or has no key.
    pub(super) repeats: Option<usize>,
}

/// Reads all entries. Of several entries with the same user name, only the first is valid, whether or not it can be
/// created. The same holds for `external_id`, even if the first entry is invalid.
// Otherwise concurrency would decide which of the entries the table accepts.
pub(super) fn read_entries(entries: Vec<Result<BodyFields>>, now: DateTime<Utc>) -> Vec<ReadEntry> {
    let mut usernames = HashSet::new();
    let mut external_ids = HashMap::new();
    let mut read = Vec::with_capacity(entries.len());
    for (index, mut entry) in entries.into_iter().enumerate() {
        // A malformed one is refused when the entry is read.
        let external_id =
            entry.as_mut().ok().and_then(|entry| entry.clearable("external_id", ExternalId::parse)).flatten();
        let repeats = external_id.and_then(|key| match external_ids.entry(key) {
            Entry::Occupied(first) => Some(*first.get()),
            Entry::Vacant(place) => {
                place.insert(index);
                None
            }
        });
        let candidate = entry.and_then(|entry| read_candidate(entry, now)).and_then(|candidate| {
            match &candidate.profile.username {
                Some(name) if !usernames.insert(fold_case(name.as_str())) => Err(taken_username()),
                _ => Ok(candidate),
            }
        });
        let candidate = if repeats.is_some() { Err(with_taken_external_id(candidate)) } else { candidate };
        read.push(ReadEntry { candidate, repeats });
    }
    read
}

/// The error for an entry whose `external_id` another candidate or entry has.
pub(super) fn taken_external_id() -> FieldErrors {
    let message = "This external_id is already in use.".to_owned();
    FieldErrors::from_iter([("external_id".to_owned(), vec![message])])
}

/// The error of an entry whose `external_id` is taken, together with its other errors.
fn with_taken_external_id(candidate: Result<ImportedCandidate>) -> Error {
    match candidate {
        Ok(_) => Error::Fields(taken_external_id()),
        Err(Error::Fields(mut others)) => {
            others.merge(taken_external_id());
            Error::Fields(others)
        }
        Err(other) => other,
    }
}

pub(crate) fn read_candidate(mut fields: BodyFields, now: DateTime<Utc>) -> Result<ImportedCandidate> {
    if !CandidateFiles::read(&mut fields, |_| None).is_empty() {
        // The files of a thousand candidates do not fit into a request, and clients would notice too late if they were
        // dropped.
        fields.refuse("photo", "Imports take no files. PATCH the candidate afterwards.");
    }
    let consents = fields.objects("consents", LegalKind::ALL.len(), read_imported)?.unwrap_or_default();
    let kinds: BTreeSet<LegalKind> = consents.iter().map(|consent| consent.text.kind).collect();
    if kinds.len() < consents.len() {
        fields.refuse("consents", "Each kind may appear only once.");
    }
    Ok(ImportedCandidate { profile: read_new(fields, now)?, consents })
}
