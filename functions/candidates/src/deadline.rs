//! The deadline of a candidate.

use axum::Json;
use chrono::{DateTime, Utc};
use shared::Result;
use shared::auth::access::Admitted;
use shared::domain::candidate::Candidate;
use shared::domain::policy::ChangeProject;
use shared::http::BodyFields;
use shared::http::exchange::respond::CommittedResponse;
use shared::http::iso8601::parse_timestamp;
use shared::http::view::CandidateView;

use crate::view::view;

/// PATCH …/candidates/{candidateId}/deadline/
pub(crate) async fn update(
    access: Admitted<Candidate, ChangeProject>,
    body: BodyFields,
) -> Result<CommittedResponse<Json<CandidateView>>> {
    let deadline = read(body)?;
    let before = &access.target.candidate;
    if before.profile.deadline == Some(deadline) {
        return access.show(view(&access, before));
    }
    let mut after = Candidate::clone(before);
    after.profile.deadline = Some(deadline);
    let reminder_days = &access.target.project.settings.reminder_days;
    let key = access.new_access_key(access.target.project.id, before.id);
    let change = after.after_change(before, reminder_days, access.now, key)?;
    let shown = Json(view(&access, &change.candidate));
    access.commit(access.store.change_candidate(before, &change, access.now), shown).await
}

/// Reads the body of a change.
pub(crate) fn read(mut body: BodyFields) -> Result<DateTime<Utc>> {
    let deadline = body.required("deadline", parse_timestamp);
    body.finish(|| deadline)
}
