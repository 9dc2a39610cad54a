//! Listing, creating, reading, changing and deleting candidates.

use axum::Json;
use shared::Result;
use shared::auth::guard::{Beside, CandidatePage, InProject, OnCandidate};
use shared::auth::policy::{ChangeProject, ReadProject};
use shared::domain::candidate::Candidate;
use shared::http::Fields;
use shared::http::page::Envelope;
use shared::http::respond::{Created, Done};

use crate::view::{CandidateView, Changes, Viewer};

/// GET …/candidates/
pub(crate) async fn list(
    Beside(guard, list): Beside<InProject<ReadProject>, CandidatePage>,
) -> Envelope<CandidateView> {
    let viewer = Viewer::of(&guard);
    let page = list.page.map(|candidate| CandidateView::new(&candidate, &viewer));
    let address = guard.references().candidates(guard.company(), guard.project.id);
    list.query.envelope(&address, page, list.total)
}

/// POST …/candidates/
pub(crate) async fn create(guard: InProject<ChangeProject>, body: Fields) -> Result<Created<CandidateView>> {
    let profile = Changes::read_new(body)?;
    let id = guard.store.next_id(guard.now);
    let by = guard.caller.customer.id;
    let candidate = Candidate::new(id, guard.company().clone(), guard.project.id, profile, by);
    guard.store.create_candidate(&candidate).await?;
    let view = CandidateView::new(&candidate, &Viewer::of(&guard));
    Ok(Created(guard.references().candidate(guard.company(), guard.project.id, id), view))
}

/// GET …/candidates/{candidateId}/
pub(crate) async fn read(guard: OnCandidate<ReadProject>) -> Json<CandidateView> {
    Json(CandidateView::new(&guard.candidate, &Viewer::of(&guard)))
}

/// PATCH …/candidates/{candidateId}/
pub(crate) async fn update(guard: OnCandidate<ChangeProject>, body: Fields) -> Result<Json<CandidateView>> {
    let mut after = Candidate::clone(&guard.candidate);
    Changes::read(body)?.apply_to(&mut after.profile);
    if after != *guard.candidate {
        guard.store.update_candidate(&guard.candidate, &after).await?;
    }
    Ok(Json(CandidateView::new(&after, &Viewer::of(&guard))))
}

/// DELETE …/candidates/{candidateId}/
pub(crate) async fn delete(guard: OnCandidate<ChangeProject>) -> Result<Done> {
    guard.store.delete_candidate(&guard.candidate).await?;
    Ok(Done)
}
