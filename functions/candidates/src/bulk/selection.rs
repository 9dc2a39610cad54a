//! Selects the candidates of a bulk request, by name or by status.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};
use shared::domain::candidate::CandidateStatus;
use shared::domain::id::CandidateId;
use shared::domain::text::ExternalId;
use shared::http::body::import::MAX_ENTRIES;
use shared::{Error, Result};

use super::BulkAccess;
use super::request::{CandidateName, NAMED_TWICE, WantedCandidates};

/// The candidates of a request, in its order.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Selection {
    /// `None` for a name that no candidate of the project has.
    pub(super) candidates: Vec<Option<CandidateId>>,
    /// Whether more candidates are in the status.
    pub(super) has_more: bool,
}

impl Selection {
    /// The last selected candidate, to be sent as `after`; `None` if there are no more.
    pub(super) fn next(&self) -> Option<CandidateId> {
        self.candidates.last().copied().flatten().filter(|_| self.has_more)
    }
}

impl WantedCandidates {
    /// The status that the candidates must still be in at their turn.
    pub(super) fn status(&self) -> Option<CandidateStatus> {
        match self {
            Self::Named(_) => None,
            Self::WithStatus { status, .. } => Some(*status),
        }
    }

    /// Finds the candidates. Fails with a message on `candidates` if two names are of the same candidate.
    pub(super) async fn select(&self, access: &BulkAccess) -> Result<Selection> {
        let project = access.target.project.id;
        match self {
            Self::Named(names) => {
                let candidates = find_named(access, names).await?;
                let mut distinct = HashSet::new();
                if !candidates.iter().flatten().all(|candidate| distinct.insert(*candidate)) {
                    return Err(Error::field("candidates", NAMED_TWICE));
                }
                Ok(Selection { candidates, has_more: false })
            }
            Self::WithStatus { status, after } => {
                let company = access.company_id();
                // One more tells whether there are more.
                let most = MAX_ENTRIES + 1;
                let mut found =
                    access.store.candidate_ids_with_status(company, project, *status, *after, most).await?;
                let has_more = found.len() > MAX_ENTRIES;
                found.truncate(MAX_ENTRIES);
                Ok(Selection { candidates: found.into_iter().map(Some).collect(), has_more })
            }
        }
    }
}

/// The candidates with these names. Candidates of other projects look like unknown ones.
async fn find_named(access: &BulkAccess, names: &[CandidateName]) -> Result<Vec<Option<CandidateId>>> {
    let company = access.company_id();
    let project = access.target.project.id;
    let keys = names.iter().filter_map(|name| match name {
        CandidateName::ExternalId(key) => Some(key),
        CandidateName::Reference(..) => None,
    });
    let keys: Vec<&ExternalId> = keys.collect();
    let holders = match keys.is_empty() {
        true => HashMap::new(),
        false => access.store.candidates_with_external_ids(company, project, keys).await?,
    };
    let find = |name: &CandidateName| match name {
        CandidateName::ExternalId(key) => holders.get(key).copied(),
        CandidateName::Reference(of, at, candidate) => {
            (of == company && *at == project).then_some(*candidate)
        }
    };
    Ok(names.iter().map(find).collect())
}
