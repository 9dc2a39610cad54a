//! The criteria by which evaluators rate candidates, apart from their answers.

use axum::Json;
use shared::Result;
use shared::auth::access::{CriterionAccess, InterviewAccess};
use shared::domain::interview::Criterion;
use shared::domain::policy::{ChangeProject, ReadProject};
use shared::http::BodyFields;
use shared::http::page::{ListQuery, PageView};
use shared::http::respond::{CommittedResponse, Created, NoContent};
use shared::http::view::CriterionView;

use crate::changes::{NewCriterion, read_criterion_changes};

/// GET …/criteria/
pub(crate) async fn list(
    access: InterviewAccess<ReadProject>,
    query: ListQuery,
) -> Result<PageView<CriterionView>> {
    let interview = &access.stored.interview;
    let (page, total) = query.slice_unsorted(interview.criteria.clone(), |one| one.id.to_string());
    let page = page.map(|one| CriterionView::new(&one, interview, access.references()));
    query.answer(&access.references().criteria(&interview.company, interview.project), page, total)
}

/// POST …/criteria/
pub(crate) async fn create(
    access: InterviewAccess<ChangeProject>,
    body: BodyFields,
) -> Result<CommittedResponse<Created<CriterionView>>> {
    let before = &access.stored.interview;
    let id = access.store.next_id(access.now);
    let position = before.last_position::<Criterion>();
    let criterion = NewCriterion::read(body)?.into_criterion(id, 1, position)?;
    let address = access.references().criterion(&before.company, before.project, id);
    let created = Created(address, CriterionView::new(&criterion, before, access.references()));
    access
        .commit(
            access.stored.change_to(&access.store, &access.project, &before.clone().with(criterion)?)?,
            created,
        )
        .await
}

/// GET …/criteria/{criterionId}/
pub(crate) async fn read(
    access: CriterionAccess<ReadProject>,
) -> Result<CommittedResponse<Json<CriterionView>>> {
    access.show(CriterionView::new(&access.criterion, &access.stored.interview, access.references()))
}

/// PUT …/criteria/{criterionId}/
pub(crate) async fn replace(
    access: CriterionAccess<ChangeProject>,
    body: BodyFields,
) -> Result<CommittedResponse<Json<CriterionView>>> {
    let Criterion { id, revision, position, .. } = access.criterion;
    change(&access, NewCriterion::read(body)?.into_criterion(id, revision, position)?).await
}

/// PATCH …/criteria/{criterionId}/
pub(crate) async fn update(
    access: CriterionAccess<ChangeProject>,
    body: BodyFields,
) -> Result<CommittedResponse<Json<CriterionView>>> {
    let mut after = access.criterion.clone();
    read_criterion_changes(body)?.apply_to(&mut after);
    change(&access, after).await
}

async fn change(
    access: &CriterionAccess<ChangeProject>,
    after: Criterion,
) -> Result<CommittedResponse<Json<CriterionView>>> {
    let interview = &access.stored.interview;
    let view = Json(CriterionView::new(&after, interview, access.references()));
    access
        .commit(
            access.stored.change_to(&access.store, &access.project, &interview.clone().with(after)?)?,
            view,
        )
        .await
}

/// DELETE …/criteria/{criterionId}/
pub(crate) async fn delete(access: CriterionAccess<ChangeProject>) -> Result<CommittedResponse<NoContent>> {
    let after = access.stored.interview.clone().without::<Criterion>(access.criterion.id);
    access.commit(access.stored.change_to(&access.store, &access.project, &after)?, NoContent).await
}
