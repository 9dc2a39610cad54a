//! Actions on the candidate of the path.

use axum::Json;
use shared::Result;
use shared::auth::access::{Admitted, AdmittedRequest, CandidateTarget};
use shared::domain::candidate::Candidate;
use shared::domain::policy::ChangeProject;
use shared::domain::transition::{AdvanceTerms, CandidateAction, CandidateChange};
use shared::http::exchange::respond::CommittedResponse;
use shared::http::view::CandidateView;
use shared::store::{Store, Transaction, VersionedItem};

use crate::view::view;

/// Takes an action that needs no further input, and responds with the candidate.
pub(crate) async fn take_action(
    access: Admitted<Candidate, ChangeProject>,
    action: CandidateAction,
) -> Result<CommittedResponse<Json<CandidateView>>> {
    let CandidateTarget { company, project, candidate, .. } = &access.target;
    let terms = AdvanceTerms::of(project, company);
    let key = access.new_access_key(project.id, candidate.id).await?;
    let (shown, writes) = match action.change(candidate, &terms, access.now, key)? {
        Some(change) => {
            let writes = writes_of(&access, &access.store, candidate, &change).await?;
            (view(&access, &change.candidate).await?, writes)
        }
        None => (view(&access, candidate).await?, access.store.empty_transaction()),
    };
    access.commit(writes, Json(shown)).await
}

/// The writes of a candidate's change by an action. If it ends an interview in the service, the answers are closed with
/// it.
pub(crate) async fn writes_of(
    access: &AdmittedRequest,
    store: &Store,
    before: &VersionedItem<Candidate>,
    change: &CandidateChange,
) -> Result<Transaction> {
    let writes = store.change_candidate(before, change, access.now);
    // Only an action that moves the candidate out of the interview ends the answers.
    if !before.is_in_interview() || change.candidate.is_in_interview() {
        return Ok(writes);
    }
    let (_, answers) = store.interview_of(before).await?;
    let closed = access.objects()?.close_takes(&answers, access.now).await?;
    // After the interview's time is over, staff may have seen drafts as answers, so drafts become answers.
    let ended = match before.has_final_drafts(access.now) {
        true => store.end_drafts(closed).await?,
        false => store.drop_drafts(closed).await?,
    };
    Ok(writes.with_final_answers(&answers, &ended, access.now))
}
