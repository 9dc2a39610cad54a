//! A share of a candidate as clients see it.

use serde::Serialize;

use crate::domain::candidate::Candidate;
use crate::domain::id::{CandidateId, CompanyId, CustomerId, ProjectId, ShareId};
use crate::http::reference::References;

/// A share of a candidate as clients see it.
#[derive(Debug, Serialize)]
pub struct ShareView {
    resource_uri: String,
    customer: String,
    candidate: String,
}

impl ShareView {
    /// The view of a share of a candidate with a customer.
    pub fn new(
        company: &CompanyId,
        (project, candidate): (ProjectId, CandidateId),
        (share, customer): (ShareId, CustomerId),
        references: References<'_>,
    ) -> Self {
        Self {
            resource_uri: references.share(company, project, candidate, share),
            customer: references.customer(company, customer),
            candidate: references.candidate(company, project, candidate),
        }
    }

    /// The views of all shares of a candidate, oldest first.
    pub fn all_of(candidate: &Candidate, references: References<'_>) -> Vec<Self> {
        let Candidate { company, project, id, shares, .. } = candidate;
        let view = |(share, customer): (&ShareId, &CustomerId)| {
            Self::new(company, (*project, *id), (*share, *customer), references)
        };
        shares.iter().map(view).collect()
    }
}
