//! The criteria that evaluators rate in addition to the answers.

use axum::Json;
use shared::Result;
use shared::auth::access::{Admitted, QuestionnaireTarget};
use shared::domain::policy::{ChangeProject, ReadProject};
use shared::domain::questionnaire::{Criterion, Questionnaire};
use shared::http::BodyFields;
use shared::http::exchange::respond::{CommittedResponse, Created, NoContent};
use shared::http::page::{ListQuery, PageView};
use shared::http::view::CriterionView;

use crate::changes::{NewCriterion, read_criterion_changes};

/// GET …/criteria/
pub(crate) async fn list(
    access: Admitted<Questionnaire, ReadProject>,
    query: ListQuery,
) -> Result<PageView<CriterionView>> {
    let questionnaire = &access.target.questionnaire;
    let maximum_score = access.target.project.settings.maximum_score;
    let (page, total) =
        query.slice_unsorted(questionnaire.criteria.clone(), |criterion| criterion.id.to_string());
    let page = page
        .map(|criterion| CriterionView::new(&criterion, questionnaire, maximum_score, access.references()));
    query.answer(page, total)
}

/// POST …/criteria/
pub(crate) async fn create(
    access: Admitted<Questionnaire, ChangeProject>,
    body: BodyFields,
) -> Result<CommittedResponse<Created<CriterionView>>> {
    let before = &access.target.questionnaire;
    let id = access.store.next_id(access.now);
    let position = before.next_criterion_position();
    let maximum_score = access.target.project.settings.maximum_score;
    let criterion = NewCriterion::read(body, maximum_score)?.into_criterion(id, 1, position)?;
    let created = Created(CriterionView::new(&criterion, before, maximum_score, access.references()));
    let after = Questionnaire::clone(before).with_criterion(criterion)?;
    access.commit(access.store.save_questionnaire(&access.target.project, before, &after), created).await
}

/// GET …/criteria/{criterionId}/
pub(crate) async fn read(
    access: Admitted<Criterion, ReadProject>,
) -> Result<CommittedResponse<Json<CriterionView>>> {
    access.show(CriterionView::new(
        &access.target.criterion,
        &access.target.all.questionnaire,
        access.target.all.project.settings.maximum_score,
        access.references(),
    ))
}

/// PUT …/criteria/{criterionId}/
pub(crate) async fn replace(
    access: Admitted<Criterion, ChangeProject>,
    body: BodyFields,
) -> Result<CommittedResponse<Json<CriterionView>>> {
    let Criterion { id, revision, position, .. } = access.target.criterion;
    let maximum_score = access.target.all.project.settings.maximum_score;
    change(&access, NewCriterion::read(body, maximum_score)?.into_criterion(id, revision, position)?).await
}

/// PATCH …/criteria/{criterionId}/
pub(crate) async fn update(
    access: Admitted<Criterion, ChangeProject>,
    body: BodyFields,
) -> Result<CommittedResponse<Json<CriterionView>>> {
    let mut after = access.target.criterion.clone();
    read_criterion_changes(body, access.target.all.project.settings.maximum_score)?.apply_to(&mut after);
    change(&access, after).await
}

async fn change(
    access: &Admitted<Criterion, ChangeProject>,
    after: Criterion,
) -> Result<CommittedResponse<Json<CriterionView>>> {
    let QuestionnaireTarget { project, questionnaire, .. } = &access.target.all;
    let maximum_score = project.settings.maximum_score;
    let view = Json(CriterionView::new(&after, questionnaire, maximum_score, access.references()));
    let after = Questionnaire::clone(questionnaire).with_criterion(after)?;
    access.commit(access.store.save_questionnaire(project, questionnaire, &after), view).await
}

/// DELETE …/criteria/{criterionId}/
pub(crate) async fn delete(
    access: Admitted<Criterion, ChangeProject>,
) -> Result<CommittedResponse<NoContent>> {
    let before = &access.target.all.questionnaire;
    let after = Questionnaire::clone(before).without_criterion(access.target.criterion.id);
    access
        .commit(access.store.save_questionnaire(&access.target.all.project, before, &after), NoContent)
        .await
}
