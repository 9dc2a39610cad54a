//! The state of an interview.

use axum::Json;
use shared::Result;
use shared::auth::access::{Admitted, AnswersTarget};
use shared::domain::answers::Answers;
use shared::domain::policy::{CallerRelation, ReadCandidate};
use shared::store::AnswerReader;

use crate::view::InterviewView;

/// GET …/candidates/{candidateId}/interview/
pub(crate) async fn read(access: Admitted<Answers, ReadCandidate>) -> Result<Json<InterviewView>> {
    let AnswersTarget { candidate, relation, answers, .. } = &access.target;
    let reader = AnswerReader { is_this_candidate: *relation == CallerRelation::ThisCandidate, only: None };
    let shown = access.store.shown_answers(candidate, answers, reader, access.now).await?;
    // No `ETag`: `now` differs in every response.
    Ok(Json(InterviewView::new(&access.target, &shown, access.references(), access.now)))
}
