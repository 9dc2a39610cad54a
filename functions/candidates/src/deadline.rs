//! The deadline of a candidate.

use axum::Json;
use chrono::{DateTime, Utc};
use shared::auth::guard::OnCandidate;
use shared::auth::policy::ChangeProject;
use shared::domain::candidate::Candidate;
use shared::http::Fields;
use shared::http::view::CandidateView;
use shared::{Error, Result};

use crate::view::show;

/// PATCH …/candidates/{candidateId}/deadline/
pub(crate) async fn update(guard: OnCandidate<ChangeProject>, body: Fields) -> Result<Json<CandidateView>> {
    let deadline = read(body)?;
    let before = &guard.candidate;
    if before.profile.deadline == Some(deadline) {
        return Ok(show(&guard, before));
    }
    let mut after = Candidate::clone(before);
    after.profile.deadline = Some(deadline);
    let key = guard.new_access_key(guard.project.id, before.id);
    let step = after.after_change(before, guard.now, key)?;
    guard.store.commit(guard.store.change_candidate(before, &step, guard.now)).await?;
    Ok(show(&guard, &step.candidate))
}

/// Reads the body of a change.
pub(crate) fn read(mut body: Fields) -> Result<DateTime<Utc>> {
    let deadline = body.required_timestamp("deadline");
    body.finish()?;
    deadline.ok_or_else(|| Error::internal("a required field was neither read nor refused"))
}
