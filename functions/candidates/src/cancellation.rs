//! Cancels the interview of a candidate, who may have begun it.

use axum::Json;
use shared::Result;
use shared::auth::access::{Admitted, AdmittedRequest};
use shared::domain::candidate::{Cancellation, CancellationReason, Candidate};
use shared::domain::policy::ChangeProject;
use shared::domain::transition::CandidateAction;
use shared::http::BodyFields;
use shared::http::exchange::respond::CommittedResponse;
use shared::http::view::CandidateView;

use crate::action::take_action;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CancellationRequest {
    reason: CancellationReason,
    notify: bool,
}

impl CancellationRequest {
    /// Reads the fields of a body, which the caller may make required; `None` if `reason` is missing or invalid.
    pub(crate) fn read_fields(body: &mut BodyFields) -> Option<Self> {
        let reason = body.text("reason", CancellationReason::parse);
        let notify = body.flag("notify").unwrap_or_default();
        Some(Self { reason: reason?, notify })
    }

    /// Reads the body of a request to cancel one candidate's interview.
    pub(crate) fn read(mut body: BodyFields) -> Result<Self> {
        body.require("reason");
        let request = Self::read_fields(&mut body);
        body.finish(|| request)
    }

    /// The action, taken now by the caller of `access`.
    pub(crate) fn action(&self, access: &AdmittedRequest) -> CandidateAction {
        let by = access.caller.principal().creator();
        let cancellation = Cancellation { reason: self.reason.clone(), at: access.now, by };
        CandidateAction::Cancel { cancellation, notify: self.notify }
    }
}

/// POST …/candidates/{candidateId}/cancel/
pub(crate) async fn create(
    access: Admitted<Candidate, ChangeProject>,
    body: BodyFields,
) -> Result<CommittedResponse<Json<CandidateView>>> {
    let action = CancellationRequest::read(body)?.action(&access);
    take_action(access, action).await
}
