//! Exports of the company. Only owners in person may request and download them.

pub(crate) mod media;
pub(crate) mod view;

use std::time::Duration;

use axum::Json;
use shared::auth::access::{Admitted, AdmittedRequest};
use shared::domain::company::Company;
use shared::domain::effect::Effect;
use shared::domain::export::{CompanyExport, EXPORT_RUNNING, ExportMail, ExportRefusal};
use shared::domain::id::CustomerId;
use shared::domain::policy::{Action, ExportCompany};
use shared::http::exchange::respond::{CommittedResponse, NoContent, Requested, TaggedBy};
use shared::http::page::{ListQuery, PageView};
use shared::{Error, Result};

use view::{ExportFilesView, ExportView};

/// How long a signed URL is valid.
const DOWNLOAD: Duration = Duration::from_secs(15 * 60);

/// The calling owner. Refuses sessions on behalf of an owner.
// An export contains all data of a company, so a service that acts on behalf of staff must not get it unnoticed.
fn require_in_person(access: &AdmittedRequest) -> Result<CustomerId> {
    let owner = access.caller.staff_in_person().map(|own| own.id);
    owner.ok_or_else(|| access.lacks(Action::ExportCompany))
}

/// GET …/exports/
pub(crate) async fn list(
    access: Admitted<Company, ExportCompany>,
    query: ListQuery,
) -> Result<PageView<ExportView>> {
    require_in_person(&access)?;
    let exports = access.store.exports(access.company_id()).await?;
    let shown = exports.all.into_iter().rev().filter(|export| export.deleted_at.is_none()).collect();
    let (page, total) = query.slice_unsorted(shown, |export| export.id.to_string());
    query.answer(page.map(|export| ExportView::new(&export, access.references())), total)
}

/// POST …/exports/
pub(crate) async fn create(
    access: Admitted<Company, ExportCompany>,
) -> Result<CommittedResponse<Requested<ExportView>>> {
    let owner = require_in_person(&access)?;
    let exports = access.store.exports(access.company_id()).await?;
    let checked = CompanyExport::check_request(exports.all.iter().map(|export| &**export), access.now);
    checked.map_err(|refusal| match refusal {
        ExportRefusal::Running => Error::from(EXPORT_RUNNING),
        ExportRefusal::Throttled(wait) => Error::Throttled(wait),
    })?;
    let id = access.store.next_id(access.now);
    let export = CompanyExport::requested(id, access.company_id().clone(), owner, access.now);
    let customers = access.store.all_customers(access.company_id()).await?;
    let owners = customers.iter().map(|customer| &**customer);
    let mails = Effect::of_export(&export, ExportMail::Requested, owners, access.now);
    let view = ExportView::new(&export, access.references());
    access.commit(access.store.create_export(exports, &export, mails), Requested(view)).await
}

/// GET …/exports/{exportId}/
pub(crate) async fn read(
    access: Admitted<CompanyExport, ExportCompany>,
) -> Result<CommittedResponse<TaggedBy<Json<ExportFilesView>, ExportView>>> {
    require_in_person(&access)?;
    let export = &access.target;
    let references = access.references();
    let view = ExportFilesView::new(export, references, &access.objects()?, DOWNLOAD).await?;
    // Exclude the files from the `ETag`: every response has new URLs.
    access.show_tagged_by(TaggedBy(Json(view), ExportView::new(export, references)))
}

/// DELETE …/exports/{exportId}/
pub(crate) async fn delete(
    access: Admitted<CompanyExport, ExportCompany>,
) -> Result<CommittedResponse<NoContent>> {
    require_in_person(&access)?;
    let after = CompanyExport::clone(&access.target).deleted(access.now);
    access.commit(access.store.end_export(&access.target, &after, Vec::new()), NoContent).await
}
