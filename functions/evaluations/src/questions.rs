//! The questions of a project to its candidates.

use axum::Json;
use shared::Result;
use shared::auth::access::{Admitted, AdmittedRequest, QuestionnaireTarget};
use shared::domain::answers::Answers;
use shared::domain::candidate::Candidate;
use shared::domain::policy::{CallerRelation, ChangeProject, ReadQuestions};
use shared::domain::questionnaire::{Question, Questionnaire};
use shared::http::BodyFields;
use shared::http::exchange::respond::{CommittedResponse, Created, NoContent};
use shared::http::page::{ListQuery, PageView};
use shared::http::reference::ReferenceUris;
use shared::http::view::QuestionView;

use crate::changes::{NewQuestion, read_question_changes};

/// GET …/questions/
pub(crate) async fn list(
    access: Admitted<Questionnaire, ReadQuestions>,
    query: ListQuery,
) -> Result<PageView<QuestionView>> {
    let questionnaire = &access.target.questionnaire;
    let reader = concealed_from(&access, &access.target).await?;
    let (page, total) =
        query.slice_unsorted(questionnaire.questions.clone(), |question| question.id.to_string());
    let page = page.map(|question| view(&question, &access.target, reader.as_ref(), access.references()));
    query.answer(page, total)
}

/// POST …/questions/
pub(crate) async fn create(
    access: Admitted<Questionnaire, ChangeProject>,
    body: BodyFields,
) -> Result<CommittedResponse<Created<QuestionView>>> {
    let before = &access.target.questionnaire;
    let maximum_score = access.target.project.settings.maximum_score;
    let new = NewQuestion::read(body, access.company_id(), access.references(), maximum_score)?;
    let id = access.store.next_id(access.now);
    let question = new.into_question(id, 1, before.next_question_position())?;
    let created = Created(QuestionView::new(&question, before, maximum_score, access.references()));
    let after = Questionnaire::clone(before).with_question(question)?;
    access.commit(access.store.save_questionnaire(&access.target.project, before, &after), created).await
}

/// GET …/questions/{questionId}/
pub(crate) async fn read(
    access: Admitted<Question, ReadQuestions>,
) -> Result<CommittedResponse<Json<QuestionView>>> {
    let all = &access.target.all;
    let reader = concealed_from(&access, all).await?;
    access.show(view(&access.target.question, all, reader.as_ref(), access.references()))
}

/// PUT …/questions/{questionId}/
pub(crate) async fn replace(
    access: Admitted<Question, ChangeProject>,
    body: BodyFields,
) -> Result<CommittedResponse<Json<QuestionView>>> {
    let maximum_score = access.target.all.project.settings.maximum_score;
    let whole = NewQuestion::read(body, access.company_id(), access.references(), maximum_score)?;
    let Question { id, revision, position, .. } = access.target.question;
    change(&access, whole.into_question(id, revision, position)?).await
}

/// PATCH …/questions/{questionId}/
pub(crate) async fn update(
    access: Admitted<Question, ChangeProject>,
    body: BodyFields,
) -> Result<CommittedResponse<Json<QuestionView>>> {
    let mut after = access.target.question.clone();
    let maximum_score = access.target.all.project.settings.maximum_score;
    let changes = read_question_changes(body, access.company_id(), access.references(), maximum_score)?;
    changes.apply_to(&mut after);
    change(&access, after).await
}

async fn change(
    access: &Admitted<Question, ChangeProject>,
    after: Question,
) -> Result<CommittedResponse<Json<QuestionView>>> {
    let QuestionnaireTarget { project, questionnaire, has_begun, .. } = &access.target.all;
    let maximum_score = project.settings.maximum_score;
    let view = Json(QuestionView::new(&after, questionnaire, maximum_score, access.references()));
    let after = Questionnaire::clone(questionnaire).with_question(after)?;
    let after = if *has_begun { after } else { after.without_former_texts() };
    access.commit(access.store.save_questionnaire(project, questionnaire, &after), view).await
}

/// DELETE …/questions/{questionId}/
pub(crate) async fn delete(
    access: Admitted<Question, ChangeProject>,
) -> Result<CommittedResponse<NoContent>> {
    let before = &access.target.all.questionnaire;
    let after = Questionnaire::clone(before).without_question(access.target.question.id);
    access
        .commit(access.store.save_questionnaire(&access.target.all.project, before, &after), NoContent)
        .await
}

/// The calling candidate and their answers, if questions may still be concealed from them; `None` for other callers.
async fn concealed_from<'a>(
    access: &'a AdmittedRequest,
    QuestionnaireTarget { project, questionnaire, relation, .. }: &QuestionnaireTarget,
) -> Result<Option<(&'a Candidate, Answers)>> {
    let is_concealing = project.conducts(questionnaire) && questionnaire.conceals_any();
    let Some(reader) =
        access.caller.candidate().filter(|_| *relation == CallerRelation::ThisCandidate && is_concealing)
    else {
        return Ok(None);
    };
    let answers = access.store.answers(access.company_id(), project.id, reader.id).await?;
    let answers = answers.map_or_else(|| Answers::of(reader), |answers| Answers::clone(&answers));
    Ok(Some((reader, answers)))
}

fn view(
    question: &Question,
    QuestionnaireTarget { project, questionnaire, relation, .. }: &QuestionnaireTarget,
    reader: Option<&(&Candidate, Answers)>,
    references: ReferenceUris<'_>,
) -> QuestionView {
    let view = QuestionView::new(question, questionnaire, project.settings.maximum_score, references);
    let is_concealed =
        reader.is_some_and(|(candidate, answers)| question.is_concealed_from(candidate, Some(answers)));
    match relation {
        CallerRelation::ThisCandidate if is_concealed => view.for_candidate().concealed(),
        CallerRelation::ThisCandidate => view.for_candidate(),
        _ => view,
    }
}
