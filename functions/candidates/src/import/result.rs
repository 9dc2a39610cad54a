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
    /// The candidate was created and invited. The link is present while the interview is open; a dry run has neither.
    Invited { candidate: Option<CandidateId>, link: Option<Uri> },
    /// The candidate was created but not invited, because of `refusal`; `None` if an invitation has become possible
    /// since.
    New { candidate: Option<CandidateId>, refusal: Option<Refusal> },
    /// Another candidate, `holder`, has the `external_id`; `None` if it belongs to an earlier entry without a
    /// candidate. `link` leads to the holder's interview while it is open.
    KeyTaken { errors: FieldErrors, holder: Option<CandidateId>, link: Option<Uri> },
    /// The candidate was not created.
    Failed(Error),
    /// Not processed before the time limit.
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

    /// The candidate of the entry, or the one who has its `external_id`.
    pub(super) fn candidate(&self) -> Option<CandidateId> {
        match self {
            Self::Invited { candidate, .. } | Self::New { candidate, .. } => *candidate,
            Self::KeyTaken { holder, .. } => *holder,
            Self::Failed(_) | Self::Pending => None,
        }
    }

    /// Whether a retry of the entry may succeed.
    pub(super) fn may_succeed_later(&self) -> bool {
        match self {
            Self::Invited { .. } | Self::New { .. } | Self::KeyTaken { .. } => false,
            Self::Pending => true,
            Self::Failed(error) => may_succeed_later(error),
        }
    }
}
