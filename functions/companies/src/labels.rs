//! The labels by which a company sorts its projects.

use axum::Json;
use axum::extract::RawQuery;
use shared::auth::guard::{InCompany, OfCompany};
use shared::auth::policy::{ManageLabels, ReadCompany};
use shared::domain::label::{Label, LabelText};
use shared::http::Fields;
use shared::http::fields::set;
use shared::http::page::{Envelope, ListQuery};
use shared::http::respond::{Created, Done};
use shared::http::view::LabelView;
use shared::{Error, Result};

/// GET …/labels/
pub(crate) async fn list(
    guard: InCompany<ReadCompany>,
    RawQuery(query): RawQuery,
) -> Result<Envelope<LabelView>> {
    let query = ListQuery::parse(query.as_deref())?;
    let (page, total) = guard.store.list_labels(guard.company(), query.page()).await?;
    query.check_range(total)?;
    let page = page.map(|label| LabelView::new(&label, guard.references()));
    Ok(query.envelope(&guard.references().labels(guard.company()), page, total))
}

/// POST …/labels/
pub(crate) async fn create(guard: InCompany<ManageLabels>, body: Fields) -> Result<Created<LabelView>> {
    let text = read_new(body)?;
    let label = Label::new(guard.store.next_id(guard.now), guard.company().clone(), text);
    guard.store.commit(guard.store.create_label(&label)).await?;
    let view = LabelView::new(&label, guard.references());
    Ok(Created(guard.references().label(guard.company(), label.id), view))
}

/// Reads the body of a creation.
pub(crate) fn read_new(mut body: Fields) -> Result<LabelText> {
    let text = body.required("text", LabelText::parse);
    body.finish()?;
    text.ok_or_else(|| Error::internal("a required field was neither read nor refused"))
}

/// Reads the body of a change.
pub(crate) fn read_change(mut body: Fields) -> Result<Option<LabelText>> {
    let text = body.text("text", LabelText::parse);
    body.finish()?;
    Ok(text)
}

/// GET …/labels/{labelId}/
pub(crate) async fn read(guard: OfCompany<Label, ReadCompany>) -> Json<LabelView> {
    Json(LabelView::new(&guard.thing, guard.references()))
}

/// PATCH …/labels/{labelId}/
pub(crate) async fn update(guard: OfCompany<Label, ManageLabels>, body: Fields) -> Result<Json<LabelView>> {
    let text = read_change(body)?;
    let mut after = Label::clone(&guard.thing);
    set(&mut after.text, text);
    if after != *guard.thing {
        guard.store.commit(guard.store.update_label(&guard.thing, &after)).await?;
    }
    Ok(Json(LabelView::new(&after, guard.references())))
}

/// DELETE …/labels/{labelId}/, which takes it from all projects as well
pub(crate) async fn delete(guard: OfCompany<Label, ManageLabels>) -> Result<Done> {
    guard.store.delete_label(&guard.thing, guard.now).await?;
    Ok(Done)
}
