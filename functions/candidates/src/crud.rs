//! Listing, creating, reading, changing and deleting candidates.

use axum::Json;
use shared::Result;
use shared::auth::guard::{Beside, CandidatePage, InProject, OnCandidate};
use shared::auth::policy::{ChangeCandidate, ChangeProject, ReadCandidate, ReadProject, Standing};
use shared::domain::candidate::Candidate;
use shared::domain::transition::Step;
use shared::http::WithFiles;
use shared::http::page::Envelope;
use shared::http::respond::{Created, Done};
use shared::http::view::CandidateView;

use crate::changes::{Changes, Files, OwnChanges};
use crate::view::{show, viewer};

/// GET …/candidates/
pub(crate) async fn list(
    Beside(guard, list): Beside<InProject<ReadProject>, CandidatePage>,
) -> Envelope<CandidateView> {
    let viewer = viewer(&guard);
    let page = list.page.map(|candidate| CandidateView::new(&candidate, &viewer));
    let address = guard.references().candidates(guard.company(), guard.project.id);
    list.query.envelope(&address, page, list.total)
}

/// POST …/candidates/
pub(crate) async fn create(
    guard: InProject<ChangeProject>,
    WithFiles(mut body): WithFiles,
) -> Result<Created<CandidateView>> {
    let files = Files::read(&mut body, |_| None);
    let profile = Changes::read_new(body)?;
    let id = guard.store.next_id(guard.now);
    let by = guard.caller.customer();
    let mut candidate = Candidate::new(id, guard.company().clone(), guard.project.id, profile, by);
    files.apply_to(&mut candidate, &guard).await?;
    let step = Step::from(candidate);
    guard.store.commit(guard.store.create_candidate(&step, guard.now)).await?;
    let view = CandidateView::new(&step.candidate, &viewer(&guard));
    Ok(Created(guard.references().candidate(guard.company(), guard.project.id, id), view))
}

/// GET …/candidates/{candidateId}/
pub(crate) async fn read(guard: OnCandidate<ReadCandidate>) -> Json<CandidateView> {
    show(&guard, &guard.candidate)
}

/// PATCH …/candidates/{candidateId}/
pub(crate) async fn update(
    guard: OnCandidate<ChangeCandidate>,
    WithFiles(mut body): WithFiles,
) -> Result<Json<CandidateView>> {
    let before = &guard.candidate;
    let mut after = Candidate::clone(before);
    let files =
        Files::read(&mut body, |kind| Some(guard.references().files(guard.company(), before.owner(), kind)));
    match guard.standing() {
        Standing::Itself => {
            if let Some(password) = OwnChanges::read(body)?.apply_to(&mut after.profile) {
                after = after.with_password(guard.hash_for(before, password).await?);
            }
        }
        _ => Changes::read(body)?.apply_to(&mut after.profile),
    }
    files.apply_to(&mut after, &guard).await?;
    if after == **before {
        return Ok(show(&guard, before));
    }
    let key = guard.new_access_key(guard.project.id, before.id);
    let step = after.after_change(before, guard.now, key)?;
    guard.store.commit(guard.store.change_candidate(before, &step, guard.now)).await?;
    Ok(show(&guard, &step.candidate))
}

/// DELETE …/candidates/{candidateId}/
pub(crate) async fn delete(guard: OnCandidate<ChangeProject>) -> Result<Done> {
    guard.store.commit(guard.store.delete_candidate(&guard.candidate, guard.now)).await?;
    Ok(Done)
}
