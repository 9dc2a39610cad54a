//! Finds candidates who already have the `external_id` of an entry.

use std::collections::HashMap;

use shared::domain::candidate::CandidateProfile;
use shared::domain::history::ResourceRef;
use shared::domain::id::{CandidateId, ProjectId};
use shared::domain::text::ExternalId;
use shared::{Error, Result};

use super::result::ImportEntryResult;
use super::{ImportAccess, ReadEntry};

/// The candidates of a project by those `external_id`s that occur in an import.
pub(super) struct ExternalIdHolders {
    project: ProjectId,
    holders: HashMap<ExternalId, CandidateId>,
}

impl ExternalIdHolders {
    /// Finds the holders. Makes no call if no entry has a key.
    pub(super) async fn read(access: &ImportAccess, entries: &[ReadEntry]) -> Result<Self> {
        let project = access.target.project.id;
        let profiles = entries.iter().filter_map(|entry| Some(&entry.candidate.as_ref().ok()?.profile));
        let external_ids = profiles.filter_map(|profile| profile.external_id.as_ref());
        let holders =
            access.store.candidates_with_external_ids(access.company_id(), project, external_ids).await?;
        Ok(Self { project, holders })
    }

    /// Fails with [`Error::ExternalIdTaken`] if an existing candidate has the key of `profile`.
    pub(super) fn refuse_taken(&self, profile: &CandidateProfile) -> Result<()> {
        match profile.external_id.as_ref().and_then(|key| self.holders.get(key)) {
            Some(candidate) => {
                let holder = ResourceRef::Candidate { project: self.project, candidate: *candidate };
                Err(Error::ExternalIdTaken { holder: Some(holder), resource_uri: None })
            }
            None => Ok(()),
        }
    }
}

/// Adds interview links to the results whose `external_id` another candidate has.
pub(super) async fn add_links(access: &ImportAccess, results: &mut [ImportEntryResult]) -> Result<()> {
    let project = &access.target.project;
    let holders = results.iter().filter_map(|result| match result {
        ImportEntryResult::KeyTaken { holder, .. } => *holder,
        _ => None,
    });
    let holders: Vec<CandidateId> = holders.collect();
    let found = access.store.candidates(access.company_id(), project.id, holders).await?;
    let keys = access.store.open_access_keys(found.values().map(|candidate| &**candidate)).await?;
    for result in results {
        if let ImportEntryResult::KeyTaken { holder: Some(holder), link, .. } = result {
            let candidate = found.get(holder);
            *link =
                candidate.and_then(|candidate| access.references().interview_url(candidate, project, &keys));
        }
    }
    Ok(())
}
