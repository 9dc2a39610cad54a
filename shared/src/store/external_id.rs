//! Access patterns of `external_id`, the client's key of a resource. Each key of a project has a unique marker in its
//! company, each key of a candidate one in their project. All markers of one key are in one partition, so that a key is
//! found across projects.

use super::project::CountedProject;
use super::table::handle::Store;
use super::table::item::{self, Item, VersionedItem};
use super::table::keys::{self, ItemKey};
use super::table::write::transaction::Transaction;
use crate::domain::candidate::Candidate;
use crate::domain::history::ResourceRef;
use crate::domain::id::{CandidateId, CompanyId, ProjectId};
use crate::domain::text::ExternalId;
use crate::error::{Error, Result};

impl Transaction {
    /// Moves the unique marker of the `external_id` of `resource`. Fails with [`Error::ExternalIdTaken`] if another
    /// resource has the new one.
    pub(in crate::store) fn move_external_id(
        &mut self,
        old: Option<ItemKey>,
        new: Option<ItemKey>,
        resource: ResourceRef,
    ) {
        // Skip the marker of an unchanged key: nearly every change keeps it, and most resources have none.
        if old != new
            && let Some(marker) = self.or_fault(item::bare_of(&resource))
        {
            let taken = Error::ExternalIdTaken { holder: None, resource_uri: None };
            self.move_marker(old, new, marker, taken);
        }
    }
}

/// The error for an `external_id` whose unique marker exists.
pub(in crate::store) fn taken_by(marker: Option<&Item>) -> Error {
    let holder = marker.and_then(|marker| item::value_in(marker).ok());
    Error::ExternalIdTaken { holder, resource_uri: None }
}

/// The key of the unique marker of a candidate's `external_id`; `None` if they have none.
pub(in crate::store) fn marker_of_candidate(candidate: &Candidate) -> Option<ItemKey> {
    let external_id = candidate.profile.external_id.as_ref()?;
    Some(keys::candidates_by_external_id(&candidate.company, external_id).key(candidate.project))
}

impl Store {
    /// The candidate of a project with this `external_id`; `None` if there is none.
    pub async fn candidate_by_external_id(
        &self,
        company: &CompanyId,
        project: ProjectId,
        external_id: &ExternalId,
    ) -> Result<Option<VersionedItem<Candidate>>> {
        let marker = keys::candidates_by_external_id(company, external_id).key(project);
        let Some(ResourceRef::Candidate { candidate, .. }) = self.holder(&marker).await? else {
            return Ok(None);
        };
        let found: Vec<VersionedItem<Candidate>> =
            self.listed(vec![keys::candidate(company, project, candidate)]).await?;
        // The `external_id` may have changed between the two reads.
        Ok(found.into_iter().find(|candidate| candidate.profile.external_id.as_ref() == Some(external_id)))
    }

    /// The projects and identifiers of all candidates of a company with this `external_id`, oldest first. Some may have
    /// changed it or been deleted since.
    pub async fn candidate_ids_by_external_id(
        &self,
        company: &CompanyId,
        external_id: &ExternalId,
    ) -> Result<Vec<(ProjectId, CandidateId)>> {
        let mut found = Vec::new();
        for marker in self.all_items(&keys::candidates_by_external_id(company, external_id)).await? {
            let holder = item::or_skipped(item::value_in::<ResourceRef>(&marker))?;
            if let Some(ResourceRef::Candidate { project, candidate }) = holder {
                found.push((project, candidate));
            }
        }
        found.sort_by_key(|(_, candidate)| *candidate);
        Ok(found)
    }

    /// The project with this `external_id`; `None` if there is none.
    pub async fn project_by_external_id(
        &self,
        company: &CompanyId,
        external_id: &ExternalId,
    ) -> Result<Option<CountedProject>> {
        let marker = keys::project_by_external_id(company, external_id);
        let Some(ResourceRef::Project { project }) = self.holder(&marker).await? else { return Ok(None) };
        let found = self.counted_project(company, project).await?;
        // The `external_id` may have changed between the two reads.
        Ok(found.filter(|counted| counted.project.settings.external_id.as_ref() == Some(external_id)))
    }

    /// The resource that a unique marker names; `None` if there is no marker.
    async fn holder(&self, marker: &ItemKey) -> Result<Option<ResourceRef>> {
        self.get([marker.clone()]).await?.take_listed_value(marker)
    }
}
