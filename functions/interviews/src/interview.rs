//! The state of an interview.

use axum::Json;
use shared::Result;
use shared::auth::access::Admitted;
use shared::domain::answers::Answers;
use shared::domain::policy::ReadCandidate;

use crate::view::InterviewView;

/// GET …/candidates/{candidateId}/interview/
pub(crate) async fn read(access: Admitted<Answers, ReadCandidate>) -> Result<Json<InterviewView>> {
    let answers = &access.target.answers;
    let texts = access.store.answer_texts(answers, answers.written()).await?;
    // Without a tag, since it shows the time.
    Ok(Json(InterviewView::new(&access.target, &texts, access.references(), access.now)))
}
