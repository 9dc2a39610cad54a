//! The results of the entries of an import.

use shared::Error;
use shared::domain::Refusal;
use shared::domain::history::ResourceRef;
use shared::domain::id::CandidateId;
use shared::error::FieldErrors;
use shared::http::wire::Uri;

use super::entry::taken_external_id;
use crate::entries::lanes::may_succeed_later;

pub(super) enum ImportEntryResult {
    /// The candidate was created and invited, with the link to the interview while it is open. A dry run has neither.
    Invited { candidate: Option<CandidateId>, link: Option<Uri> },
    /// The candidate was created but not invited, for this reason; `None` if an invitation has become possible since.
    New { candidate: Option<CandidateId>, refusal: Option<Refusal> },
    /// The `external_id` is that of this candidate, with the link to their interview while it is open, or of an earlier entry
    /// without a candidate.
    KeyTaken { errors: FieldErrors, holder: Option<CandidateId>, link: Option<Uri> },
    /// The entry has no candidate.
    Failed(Error),
    /// There was no time.
    Pending,
}

impl ImportEntryResult {
    pub(super) fn failed(error: Error) -> Self {
        match error {
            Error::ExternalIdTaken { holder, .. } => {
                let holder = match holder {
                    Some(ResourceRef::Candidate { candidate, .. }) => Some(candidate),
                    _ => None,
                };
                Self::KeyTaken { errors: taken_external_id(), holder, link: None }
            }
            error => Self::Failed(error),
        }
    }

    /// The candidate of the entry, or the one that has its `external_id`.
    pub(super) fn candidate(&self) -> Option<CandidateId> {
        match self {
            Self::Invited { candidate, .. } | Self::New { candidate, .. } => *candidate,
            Self::KeyTaken { holder, .. } => *holder,
            Self::Failed(_) | Self::Pending => None,
        }
    }

    /// Whether the same entry may succeed at another time.
    pub(super) fn may_succeed_later(&self) -> bool {
        match self {
            Self::Invited { .. } | Self::New { .. } | Self::KeyTaken { .. } => false,
            Self::Pending => true,
            Self::Failed(error) => may_succeed_later(error),
        }
    }
}
