//! The view of a cancellation.

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::candidate::Cancellation;
use crate::domain::id::CompanyId;
use crate::http::example_uri;
use crate::http::reference::ReferenceUris;
use crate::http::wire::{Timestamp, Uri};

/// The cancellation of a candidate's interview.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Cancellation")]
pub struct CancellationView {
    /// Why the interview was cancelled. It never appears in events and mails.
    #[schemars(example = &"The position is filled.")]
    reason: String,
    /// When the interview was cancelled.
    at: Timestamp,
    /// The URL of the customer or named token that cancelled the interview, which may be deleted since; null if it is unknown.
    #[schemars(example = example_uri::CUSTOMER)]
    by: Option<Uri>,
}

impl CancellationView {
    /// The view of a cancellation in `company`.
    pub fn new(cancellation: &Cancellation, company: &CompanyId, references: ReferenceUris<'_>) -> Self {
        let Cancellation { reason, at, by } = cancellation;
        Self {
            reason: reason.to_string(),
            at: Timestamp(*at),
            by: by.map(|by| references.creator(company, by)),
        }
    }
}
