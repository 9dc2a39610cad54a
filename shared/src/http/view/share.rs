//! A share of a candidate as clients see it.

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::candidate::Candidate;
use crate::domain::id::CompanyId;
use crate::http::example_uri;
use crate::http::reference::ReferenceUris;
use crate::http::view::{CandidateView, CustomerView, ExpandedReference};
use crate::http::wire::Uri;
use crate::store::SharedCandidate;

/// A share of a candidate.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Share")]
pub struct ShareView {
    /// The URL of the resource.
    #[schemars(example = example_uri::SHARE)]
    resource_uri: Uri,
    /// The customer with whom the candidate is shared.
    #[schemars(example = example_uri::CUSTOMER)]
    customer: ExpandedReference<CustomerView>,
    /// The shared candidate.
    #[schemars(example = example_uri::CANDIDATE)]
    candidate: ExpandedReference<CandidateView>,
}

impl ShareView {
    /// The view of a share.
    pub fn new(company: &CompanyId, shared: &SharedCandidate, references: ReferenceUris<'_>) -> Self {
        let SharedCandidate { share, project, candidate, customer } = *shared;
        Self {
            resource_uri: references.share(company, project, candidate, share),
            customer: ExpandedReference::Reference(references.customer(company, customer)),
            candidate: ExpandedReference::Reference(references.candidate(company, project, candidate)),
        }
    }

    /// The view with the customer instead of the reference, if given.
    pub fn with_customer(self, customer: Option<CustomerView>) -> Self {
        Self { customer: self.customer.expanded(customer), ..self }
    }

    /// The view with the candidate instead of the reference, if given.
    pub fn with_candidate(self, candidate: Option<CandidateView>) -> Self {
        Self { candidate: self.candidate.expanded(candidate), ..self }
    }

    /// The views of all shares of a candidate, oldest first.
    pub fn all_of(candidate: &Candidate, references: ReferenceUris<'_>) -> Vec<Self> {
        let shares = SharedCandidate::all_of(candidate);
        shares.map(|shared| Self::new(&candidate.company, &shared, references)).collect()
    }
}
