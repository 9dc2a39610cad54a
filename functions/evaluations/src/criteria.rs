//! The criteria that evaluators rate besides the answers of candidates.

use axum::Json;
use shared::Result;
use shared::auth::access::Admitted;
use shared::domain::interview::{Criterion, Interview};
use shared::domain::policy::{ChangeProject, ReadProject};
use shared::http::BodyFields;
use shared::http::exchange::respond::{CommittedResponse, Created, NoContent};
use shared::http::page::{ListQuery, PageView};
use shared::http::view::CriterionView;

use crate::changes::{NewCriterion, read_criterion_changes};

/// GET …/criteria/
pub(crate) async fn list(
    access: Admitted<Interview, ReadProject>,
    query: ListQuery,
) -> Result<PageView<CriterionView>> {
    let interview = &access.target.interview;
    let (page, total) = query.slice_unsorted(interview.criteria.clone(), |one| one.id.to_string());
    let page = page.map(|one| CriterionView::new(&one, interview, access.references()));
    query.answer(page, total)
}

/// POST …/criteria/
pub(crate) async fn create(
    access: Admitted<Interview, ChangeProject>,
    body: BodyFields,
) -> Result<CommittedResponse<Created<CriterionView>>> {
    let before = &access.target.interview;
    let id = access.store.next_id(access.now);
    let position = before.next_criterion_position();
    let criterion = NewCriterion::read(body)?.into_criterion(id, 1, position)?;
    let created = Created(CriterionView::new(&criterion, before, access.references()));
    let after = Interview::clone(before).with_criterion(criterion)?;
    access.commit(access.store.save_interview(&access.target.project, before, &after), created).await
}

/// GET …/criteria/{criterionId}/
pub(crate) async fn read(
    access: Admitted<Criterion, ReadProject>,
) -> Result<CommittedResponse<Json<CriterionView>>> {
    access.show(CriterionView::new(
        &access.target.criterion,
        &access.target.all.interview,
        access.references(),
    ))
}

/// PUT …/criteria/{criterionId}/
pub(crate) async fn replace(
    access: Admitted<Criterion, ChangeProject>,
    body: BodyFields,
) -> Result<CommittedResponse<Json<CriterionView>>> {
    let Criterion { id, revision, position, .. } = access.target.criterion;
    change(&access, NewCriterion::read(body)?.into_criterion(id, revision, position)?).await
}

/// PATCH …/criteria/{criterionId}/
pub(crate) async fn update(
    access: Admitted<Criterion, ChangeProject>,
    body: BodyFields,
) -> Result<CommittedResponse<Json<CriterionView>>> {
    let mut after = access.target.criterion.clone();
    read_criterion_changes(body)?.apply_to(&mut after);
    change(&access, after).await
}

async fn change(
    access: &Admitted<Criterion, ChangeProject>,
    after: Criterion,
) -> Result<CommittedResponse<Json<CriterionView>>> {
    let interview = &access.target.all.interview;
    let view = Json(CriterionView::new(&after, interview, access.references()));
    let after = Interview::clone(interview).with_criterion(after)?;
    access.commit(access.store.save_interview(&access.target.all.project, interview, &after), view).await
}

/// DELETE …/criteria/{criterionId}/
pub(crate) async fn delete(
    access: Admitted<Criterion, ChangeProject>,
) -> Result<CommittedResponse<NoContent>> {
    let before = &access.target.all.interview;
    let after = Interview::clone(before).without_criterion(access.target.criterion.id);
    access.commit(access.store.save_interview(&access.target.all.project, before, &after), NoContent).await
}
