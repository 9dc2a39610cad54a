//! The body of an import: the candidates as the client lists them.

use std::collections::HashSet;

use shared::Result;
use shared::domain::candidate::CandidateProfile;
use shared::domain::text::fold_case;
use shared::http::BodyFields;
use shared::store::taken_username;

use crate::changes::{CandidateFiles, read_new};

/// Reads all entries. Of those with the same user name only the first is valid, whether or not it can be created.
pub(super) fn read_profiles(entries: Vec<Result<BodyFields>>) -> Vec<Result<CandidateProfile>> {
    let mut usernames = HashSet::new();
    let mut profiles = Vec::with_capacity(entries.len());
    for entry in entries {
        profiles.push(entry.and_then(read_profile).and_then(|profile| match &profile.username {
            // The table would let the first of two concurrent entries win, whichever that is.
            Some(name) if !usernames.insert(fold_case(name.as_str())) => Err(taken_username()),
            _ => Ok(profile),
        }));
    }
    profiles
}

fn read_profile(mut fields: BodyFields) -> Result<CandidateProfile> {
    if !CandidateFiles::read(&mut fields, |_| None).is_empty() {
        // The files of a thousand candidates would not fit through a request, and dropping them silently would be noticed
        // late.
        fields.refuse("photo", "Imports take no files. PATCH the candidate afterwards.");
    }
    read_new(fields)
}
