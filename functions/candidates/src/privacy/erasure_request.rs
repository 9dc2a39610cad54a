//! A candidate's request for erasure.

use axum::Json;
use schemars::JsonSchema;
use serde::Serialize;
use shared::auth::access::Admitted;
use shared::domain::candidate::Candidate;
use shared::domain::policy::{RequestErasure, WithdrawErasure};
use shared::domain::privacy::erasure_request::ErasureRequest;
use shared::domain::retention::REQUEST_DAYS;
use shared::http::exchange::respond::{CommittedResponse, NoContent};
use shared::http::wire::Timestamp;
use shared::{Error, Result};

/// A request for erasure.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ErasureRequest")]
pub(crate) struct ErasureRequestView {
    /// When the request was made.
    #[schemars(example = &"2026-11-08T22:59:00Z")]
    requested_at: Timestamp,
    /// When the service will erase the candidate. A hold postpones it by a day at a time.
    #[schemars(example = &"2026-12-08T22:59:00Z")]
    due_at: Timestamp,
}

impl ErasureRequestView {
    pub(crate) fn new(request: ErasureRequest) -> Self {
        Self { requested_at: Timestamp(request.requested_at), due_at: Timestamp(request.due_at) }
    }
}

/// GET …/erasure-request/
pub(crate) async fn read(
    access: Admitted<Candidate, RequestErasure>,
) -> Result<CommittedResponse<Json<ErasureRequestView>>> {
    let request = access.target.candidate.erasure_request.ok_or(Error::NotFound)?;
    access.show(ErasureRequestView::new(request))
}

/// PUT …/erasure-request/
pub(crate) async fn save(
    access: Admitted<Candidate, RequestErasure>,
) -> Result<CommittedResponse<Json<ErasureRequestView>>> {
    let before = &access.target.candidate;
    if let Some(request) = before.erasure_request {
        return access.show(ErasureRequestView::new(request));
    }
    let to_change = access.target.to_change(access.now)?;
    let policy = access.store.retention_policy(access.company_id()).await?;
    let days = policy.map_or(*REQUEST_DAYS.end(), |policy| policy.request_days);
    let request = ErasureRequest::new(days, access.now);
    let after = Candidate { erasure_request: Some(request), ..to_change };
    let shown = Json(ErasureRequestView::new(request));
    access.commit(access.store.change_candidate(before, &after.into(), access.now), shown).await
}

/// DELETE …/erasure-request/
pub(crate) async fn delete(
    access: Admitted<Candidate, WithdrawErasure>,
) -> Result<CommittedResponse<NoContent>> {
    let before = &access.target.candidate;
    before.erasure_request.ok_or(Error::NotFound)?;
    let to_change = access.target.to_change(access.now)?;
    let after = Candidate { erasure_request: None, ..to_change };
    access.commit(access.store.change_candidate(before, &after.into(), access.now), NoContent).await
}
