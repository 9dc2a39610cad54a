//! The answer to one question: what there is of it, in writing, and anew.

use axum::Json;
use shared::auth::access::Admitted;
use shared::domain::answers::{ALREADY_INTERVIEWED, AnswerText, Answers, QuestionAnswer};
use shared::domain::candidate::CandidateStatus;
use shared::domain::policy::{AnswerQuestions, ChangeProject, ReadCandidate};
use shared::http::BodyFields;
use shared::http::exchange::respond::{CommittedResponse, CreatedOrUpdated, NoContent};
use shared::{Error, Result};

use crate::view::{AnswerView, InterviewViewer};

/// GET …/answers/{questionId}/
pub(crate) async fn read(
    access: Admitted<QuestionAnswer, ReadCandidate>,
) -> Result<CommittedResponse<Json<AnswerView>>> {
    // A reset answer is as good as none.
    access.target.answer().filter(|answer| !answer.is_empty()).ok_or(Error::NotFound)?;
    let all = &access.target.all;
    let question = &access.target.question;
    let written = all.answers.written().filter(|written| *written == question.id);
    let texts = access.store.answer_texts(&all.answers, written).await?;
    let viewer = InterviewViewer::of(all, access.references());
    access.show(AnswerView::new(question, access.target.answer(), texts.get(&question.id), &viewer))
}

/// PUT …/answers/{questionId}/
pub(crate) async fn write(
    access: Admitted<QuestionAnswer, AnswerQuestions>,
    body: BodyFields,
) -> Result<CommittedResponse<CreatedOrUpdated<AnswerView>>> {
    let text = read_text(body)?;
    let all = &access.target.all;
    let question = &access.target.question;
    all.candidate.may_begin_answer(access.now)?;
    let counted = Answers::clone(&all.answers).count_text(access.now).map_err(Error::Throttled)?;
    let may_write = all.candidate.adjusted().may_write;
    let (after, written) = counted.write(question, may_write, text)?;
    let viewer = InterviewViewer::of(all, access.references());
    let view = AnswerView::new(question, after.answer_to(question.id), Some(&written.text), &viewer);
    let is_new = access.target.answer().is_none_or(QuestionAnswer::is_empty);
    let shown = if is_new { CreatedOrUpdated::New(view) } else { CreatedOrUpdated::Old(view) };
    let candidate = &all.candidate;
    let writes = access.store.save_written_answer(candidate, &all.answers, &after, &written, access.now);
    access.commit(writes, shown).await
}

/// DELETE …/answers/{questionId}/
pub(crate) async fn reset(
    access: Admitted<QuestionAnswer, ChangeProject>,
) -> Result<CommittedResponse<NoContent>> {
    let all = &access.target.all;
    access.target.answer().filter(|answer| !answer.is_empty()).ok_or(Error::NotFound)?;
    if all.candidate.status == CandidateStatus::Interviewed {
        return Err(ALREADY_INTERVIEWED.into());
    }
    let after = Answers::clone(&all.answers).reset(access.target.question.id);
    let writes = access.store.save_answers(&all.candidate, &all.answers, &after, access.now);
    access.commit(writes, NoContent).await
}

/// Reads the body of a written answer.
pub(crate) fn read_text(mut body: BodyFields) -> Result<AnswerText> {
    let text = body.required("text", AnswerText::parse);
    body.finish(|| text)
}
