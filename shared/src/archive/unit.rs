//! Units of an archive: records that are read again together.

use crate::domain::archive::RecordLevel;
use crate::domain::history::ResourceRef;
use crate::domain::history::erasure::ErasedItem;
use crate::domain::id::{CandidateId, ProjectId};

use super::Result;

/// Records that are read again together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ArchiveUnit {
    /// Everything that belongs to no project.
    Company,
    /// A project, without its candidates.
    Project(ProjectId),
    /// A candidate of a project, with all records by and about them.
    Candidate(ProjectId, CandidateId),
}

impl ArchiveUnit {
    /// The unit of the record with this level and identifier.
    pub(super) fn of(level: RecordLevel, id: &str) -> Result<Self> {
        let mut parts = id.split('/');
        let mut part = || parts.next().ok_or_else(|| format!("{id} is not the identifier of a record"));
        Ok(match level {
            RecordLevel::Company => Self::Company,
            RecordLevel::Project => Self::Project(part()?.parse()?),
            RecordLevel::Candidate => Self::Candidate(part()?.parse()?, part()?.parse()?),
            RecordLevel::Feed => return Err("events are never read again".into()),
        })
    }

    pub(super) fn level(&self) -> RecordLevel {
        match self {
            Self::Company => RecordLevel::Company,
            Self::Project(_) => RecordLevel::Project,
            Self::Candidate(..) => RecordLevel::Candidate,
        }
    }

    /// The units whose records may hold data of the erased item.
    pub(super) fn erased_with(erased: ErasedItem) -> Vec<Self> {
        match erased {
            ErasedItem::Candidate { project, candidate } => {
                vec![Self::Candidate(project, candidate), Self::Project(project)]
            }
            ErasedItem::Customer { .. } | ErasedItem::Video { .. } | ErasedItem::Company => {
                vec![Self::Company]
            }
        }
    }

    /// The units whose records a change of this resource may affect.
    pub(super) fn changed_with(resource: ResourceRef) -> Vec<Self> {
        match resource {
            // The project is affected, too: it counts deleted candidates.
            ResourceRef::Candidate { project, candidate } | ResourceRef::Interview { project, candidate } => {
                vec![Self::Candidate(project, candidate), Self::Project(project)]
            }
            ResourceRef::Project { project } => vec![Self::Project(project)],
            ResourceRef::Company
            | ResourceRef::Retention
            | ResourceRef::SignIn
            | ResourceRef::Customer { .. }
            | ResourceRef::Label { .. }
            | ResourceRef::Video { .. }
            | ResourceRef::Token { .. }
            | ResourceRef::Webhook { .. } => vec![Self::Company],
            // Archives contain no exports.
            ResourceRef::Export { .. } => Vec::new(),
        }
    }
}
