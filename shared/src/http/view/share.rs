//! A share of a candidate as clients see it.

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::candidate::Candidate;
use crate::domain::id::{CandidateId, CompanyId, CustomerId, ProjectId, ShareId};
use crate::http::reference::ReferenceUris;
use crate::http::view::{CandidateView, CustomerView, ExpandedReference};
use crate::http::wire::Uri;

/// A share of a candidate.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Share")]
pub struct ShareView {
    /// The URL of the resource.
    resource_uri: Uri,
    /// The customer with whom the candidate is shared.
    customer: ExpandedReference<CustomerView>,
    /// The shared candidate.
    candidate: ExpandedReference<CandidateView>,
}

impl ShareView {
    /// The view of a share of a candidate with a customer.
    pub fn new(
        company: &CompanyId,
        (project, candidate): (ProjectId, CandidateId),
        (share, customer): (ShareId, CustomerId),
        references: ReferenceUris<'_>,
    ) -> Self {
        Self {
            resource_uri: references.share(company, project, candidate, share),
            customer: ExpandedReference::Reference(references.customer(company, customer)),
            candidate: ExpandedReference::Reference(references.candidate(company, project, candidate)),
        }
    }

    /// Replaces the reference of the customer by the customer, if given.
    pub fn with_customer(self, customer: Option<CustomerView>) -> Self {
        let customer = customer.map(|customer| ExpandedReference::Resource(Box::new(customer)));
        Self { customer: customer.unwrap_or(self.customer), ..self }
    }

    /// Replaces the reference of the candidate by the candidate, if given.
    pub fn with_candidate(self, candidate: Option<CandidateView>) -> Self {
        let candidate = candidate.map(|candidate| ExpandedReference::Resource(Box::new(candidate)));
        Self { candidate: candidate.unwrap_or(self.candidate), ..self }
    }

    /// The views of all shares of a candidate, oldest first.
    pub fn all_of(candidate: &Candidate, references: ReferenceUris<'_>) -> Vec<Self> {
        let Candidate { company, project, id, shares, .. } = candidate;
        let view = |(share, customer): (&ShareId, &CustomerId)| {
            Self::new(company, (*project, *id), (*share, *customer), references)
        };
        shares.iter().map(view).collect()
    }
}
