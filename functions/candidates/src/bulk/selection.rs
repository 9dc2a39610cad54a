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

/// The selected candidates, in the order of the request.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Selection {
    /// `None` for a reference that no candidate of the project matches.
    pub(super) candidates: Vec<Option<CandidateId>>,
    /// Whether further candidates have the requested status.
    pub(super) has_more: bool,
}

impl Selection {
    /// The last selected candidate, to be sent as `after` of the next request; `None` if no candidates are left.
    pub(super) fn next(&self) -> Option<CandidateId> {
        self.candidates.last().copied().flatten().filter(|_| self.has_more)
    }
}

impl WantedCandidates {
    /// The status that each candidate must still have when the request acts on them.
    pub(super) fn status(&self) -> Option<CandidateStatus> {
        match self {
            Self::Named(_) => None,
            Self::WithStatus { status, .. } => Some(*status),
        }
    }

    /// Finds the candidates. Fails with an error on `candidates` if two references are to the same candidate.
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
                // Read one more to learn whether candidates are left.
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

/// Finds candidates by their references. Candidates of other projects are treated as unknown.
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
