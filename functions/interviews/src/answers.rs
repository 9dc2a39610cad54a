//! The answer to one question: reading, writing and resetting it.

use axum::Json;
use shared::auth::access::{Admitted, AnswerTarget, AnswersTarget, WrittenTarget};
use shared::domain::answers::{ALREADY_INTERVIEWED, AnswerText, Answers, QuestionAnswer, WrittenAnswer};
use shared::domain::candidate::CandidateStatus;
use shared::domain::policy::{AnswerQuestions, CallerRelation, ChangeProject, ReadCandidate};
use shared::http::BodyFields;
use shared::http::exchange::respond::{CommittedResponse, CreatedOrUpdated, NoContent};
use shared::store::AnswerReader;
use shared::{Error, Result};

use crate::view::{AnswerView, InterviewViewer};

/// GET …/answers/{questionId}/
pub(crate) async fn read(
    access: Admitted<QuestionAnswer, ReadCandidate>,
) -> Result<CommittedResponse<Json<AnswerView>>> {
    let question = &access.target.question;
    let AnswersTarget { candidate, relation, answers, .. } = &access.target.all;
    let reader = AnswerReader {
        is_this_candidate: *relation == CallerRelation::ThisCandidate,
        only: Some(question.id),
    };
    let shown = access.store.shown_answers(candidate, answers, reader, access.now).await?;
    let given = shown.answers.answer_to(question.id);
    // A reset answer counts as no answer.
    let given = given.filter(|answer| !answer.is_empty()).ok_or(Error::NotFound)?;
    let viewer = InterviewViewer::of(&access.target.all, access.references());
    access.show(AnswerView::new(question, Some(given), shown.written.get(&question.id), &viewer))
}

/// PUT …/answers/{questionId}/
pub(crate) async fn write(
    access: Admitted<WrittenAnswer, AnswerQuestions>,
    body: BodyFields,
) -> Result<CommittedResponse<CreatedOrUpdated<AnswerView>>> {
    let text = read_text(body)?;
    let WrittenTarget { answer, written: former } = &access.target;
    let AnswerTarget { all, question } = answer;
    all.candidate.may_begin_answer(access.now)?;
    let counted = Answers::clone(&all.answers).count_text(access.now).map_err(Error::Throttled)?;
    let may_write = all.candidate.adjusted().may_write;
    let (after, written) = counted.write(question, may_write, text)?;
    let viewer = InterviewViewer::of(all, access.references());
    let view = AnswerView::new(question, after.answer_to(question.id), Some(&written), &viewer);
    let is_new = answer.question_answer().is_none_or(QuestionAnswer::is_empty);
    let shown = if is_new { CreatedOrUpdated::New(view) } else { CreatedOrUpdated::Old(view) };
    let texts = (former, &written);
    let writes = access.store.save_written_answer(&all.candidate, &all.answers, &after, texts, access.now);
    access.commit(writes, shown).await
}

/// DELETE …/answers/{questionId}/
pub(crate) async fn reset(
    access: Admitted<QuestionAnswer, ChangeProject>,
) -> Result<CommittedResponse<NoContent>> {
    let all = &access.target.all;
    let has_something = |answer: &&QuestionAnswer| !answer.is_empty() || answer.has_draft;
    access.target.question_answer().filter(has_something).ok_or(Error::NotFound)?;
    if all.candidate.status == CandidateStatus::Interviewed {
        return Err(ALREADY_INTERVIEWED.into());
    }
    let question = access.target.question.id;
    let after = Answers::clone(&all.answers).reset(question);
    let writes = access.store.reset_answer(&all.candidate, &all.answers, &after, question, access.now);
    access.commit(writes, NoContent).await
}

/// Reads a written answer.
pub(crate) fn read_text(mut body: BodyFields) -> Result<AnswerText> {
    let text = body.required("text", AnswerText::parse);
    body.finish(|| text)
}
