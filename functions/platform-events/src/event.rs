//! Events in EventBridge envelopes.

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use shared::domain::id::{CandidateId, CompanyId, ProjectId};
use shared::domain::not_a_choice;
use shared::domain::transition::report::PlatformReport;
use shared::error::FieldErrors;
use shared::http::reference::ReferenceUris;
use shared::{Error, Result};

/// The fields of an event that this function uses.
#[derive(Debug, Deserialize)]
pub struct BusEvent {
    /// The identifier of the event, equal for duplicates.
    pub id: String,
    /// The source: another part of the platform, or `aws.ses`, which only SES can use.
    pub source: String,
    /// `interview.completed`, `interview.aborted` or `evaluation.recorded`; other kinds for SES.
    #[serde(rename = "detail-type")]
    pub kind: String,
    /// When the event happened, to the second.
    pub time: DateTime<Utc>,
    /// The content, whose fields depend on the kind.
    pub detail: Value,
}

const REQUIRED: &str = "This field is required.";
/// The kinds of events from the platform.
const KINDS: [&str; 3] = ["interview.completed", "interview.aborted", "evaluation.recorded"];

/// The `detail` of a platform event.
#[derive(Debug, Deserialize)]
struct EventDetail {
    candidate: String,
    /// The evaluator's reference; evaluations only.
    customer: Option<String>,
    /// Whether the evaluation is complete; evaluations only.
    completed: Option<bool>,
}

pub(crate) struct CandidateEvent {
    pub(crate) id: String,
    pub(crate) candidate: (CompanyId, ProjectId, CandidateId),
    pub(crate) report: PlatformReport,
    pub(crate) at: DateTime<Utc>,
}

impl BusEvent {
    /// Whether the event comes from SES.
    pub(crate) fn is_from_ses(&self) -> bool {
        self.source == "aws.ses"
    }

    /// Parses `detail` for the event's kind.
    ///
    /// # Errors
    /// A field error on `detail`.
    pub(crate) fn detail<T: DeserializeOwned>(&self) -> Result<T> {
        T::deserialize(&self.detail).map_err(|error| Error::field("detail", error.to_string()))
    }

    /// Validates the event.
    ///
    /// # Errors
    /// Field errors.
    pub(crate) fn read(self, references: ReferenceUris<'_>) -> Result<CandidateEvent> {
        let mut errors = FieldErrors::default();
        let EventDetail { candidate, customer, completed } = self.detail()?;
        // Events refer to candidates by URL: the platform knows no other names from this API.
        let candidate = errors.read("candidate", references.parse_candidate(&candidate));
        let report = match self.kind.as_str() {
            "interview.completed" => Some(PlatformReport::Completed),
            "interview.aborted" => Some(PlatformReport::Aborted),
            "evaluation.recorded" => {
                let customer = match (&customer, &candidate) {
                    (None, _) => Err(REQUIRED.to_owned()),
                    (Some(customer), Some((company, ..))) => references.parse(company, customer).map(Some),
                    // Without a valid candidate, the customer's company is unknown.
                    (Some(_), None) => Ok(None),
                };
                let customer = errors.read("customer", customer).flatten();
                let completed = errors.read("completed", completed.ok_or_else(|| REQUIRED.to_owned()));
                customer
                    .zip(completed)
                    .map(|(customer, completed)| PlatformReport::Evaluated { customer, completed })
            }
            other => {
                errors.add("detail-type", not_a_choice(other, &KINDS));
                None
            }
        };
        match (candidate, report) {
            (Some(candidate), Some(report)) => {
                Ok(CandidateEvent { id: self.id, candidate, report, at: self.time })
            }
            _ => Err(Error::Fields(errors)),
        }
    }
}
