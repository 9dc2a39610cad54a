//! A company's labels, which group its projects.

use axum::Json;
use shared::Result;
use shared::auth::access::Admitted;
use shared::domain::company::Company;
use shared::domain::company::label::{Label, LabelText};
use shared::domain::policy::{ManageLabels, ReadCompany};
use shared::http::exchange::respond::{CommittedResponse, Created, NoContent};
use shared::http::page::{ListQuery, PageView};
use shared::http::view::LabelView;
use shared::http::{BodyChanges, BodyFields};

/// GET …/labels/
pub(crate) async fn list(
    access: Admitted<Company, ReadCompany>,
    query: ListQuery,
) -> Result<PageView<LabelView>> {
    let (page, total) = access.store.list_labels(access.company_id(), query.page()).await?;
    let page = page.map(|label| LabelView::new(&label, access.references()));
    query.answer(page, total)
}

/// POST …/labels/
pub(crate) async fn create(
    access: Admitted<Company, ManageLabels>,
    body: BodyFields,
) -> Result<CommittedResponse<Created<LabelView>>> {
    let text = read_new(body)?;
    let label = Label::new(access.store.next_id(access.now), access.company_id().clone(), text);
    let created = Created(LabelView::new(&label, access.references()));
    access.commit(access.store.create_label(&label), created).await
}

pub(crate) fn read_new(mut body: BodyFields) -> Result<LabelText> {
    let text = body.required("text", LabelText::parse);
    body.finish(|| text)
}

pub(crate) fn read_changes(mut body: BodyFields) -> Result<BodyChanges<Label>> {
    let mut changes: BodyChanges<Label> = BodyChanges::default();
    changes.set(body.text("text", LabelText::parse), |label| &mut label.text);
    body.finish(|| Some(changes))
}

/// GET …/labels/{labelId}/
pub(crate) async fn read(access: Admitted<Label, ReadCompany>) -> Result<CommittedResponse<Json<LabelView>>> {
    access.show(LabelView::new(&access.target, access.references()))
}

/// PATCH …/labels/{labelId}/
pub(crate) async fn update(
    access: Admitted<Label, ManageLabels>,
    body: BodyFields,
) -> Result<CommittedResponse<Json<LabelView>>> {
    let mut after = Label::clone(&access.target);
    read_changes(body)?.apply_to(&mut after);
    let view = LabelView::new(&after, access.references());
    access.commit(access.store.update_label(&access.target, &after), Json(view)).await
}

/// DELETE …/labels/{labelId}/, which takes it from all projects as well
pub(crate) async fn delete(access: Admitted<Label, ManageLabels>) -> Result<NoContent> {
    // Not one transaction: more projects may have the label than a transaction can change.
    access.store.stepwise(access.now).delete_label(&access.target).await?;
    Ok(NoContent)
}
