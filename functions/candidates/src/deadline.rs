//! The deadline of a candidate.

use axum::Json;
use chrono::{DateTime, Utc};
use shared::Result;
use shared::auth::access::Admitted;
use shared::domain::candidate::{Candidate, CandidateProfile};
use shared::domain::policy::ChangeProject;
use shared::domain::transition::CandidateAction;
use shared::http::BodyFields;
use shared::http::exchange::respond::CommittedResponse;
use shared::http::iso8601::parse_timestamp;
use shared::http::view::CandidateView;

use crate::action::take_action;

/// PATCH …/candidates/{candidateId}/deadline/
pub(crate) async fn update(
    access: Admitted<Candidate, ChangeProject>,
    body: BodyFields,
) -> Result<CommittedResponse<Json<CandidateView>>> {
    let deadline = read(body, access.now)?;
    take_action(access, CandidateAction::SetDeadline(deadline)).await
}

/// Reads the new deadline.
pub(crate) fn read(mut body: BodyFields, now: DateTime<Utc>) -> Result<DateTime<Utc>> {
    let deadline =
        body.required("deadline", |text| CandidateProfile::check_deadline(parse_timestamp(text)?, now));
    body.finish(|| deadline)
}
