//! A customer's photo: fetched by the address that the customer shows, put into the bucket when large.

use axum::Json;
use shared::Result;
use shared::auth::guard::{ByAddress, OnCustomer, OnUpload, Redirect};
use shared::auth::policy::ReadCompany;
use shared::domain::file::FileKind;
use shared::http::respond::Created;
use shared::http::view::UploadView;
use shared::http::{Fields, read_announcement};

/// GET …/customers/{customerId}/photo/{token}/
pub(crate) async fn read(guard: ByAddress<OnCustomer<ReadCompany>>) -> Result<Redirect> {
    guard.open(guard.customer.photo, None).await
}

/// POST …/customers/{customerId}/uploads/
pub(crate) async fn announce(guard: OnCustomer<ReadCompany>, body: Fields) -> Result<Created<UploadView>> {
    guard.require_own_or_managed()?;
    let (kind, announced) = read_announcement(body, &[FileKind::Photo])?;
    let owner = guard.customer.owner();
    let (upload, signed) = guard.begin_upload(owner, kind, announced).await?;
    let view = UploadView::new(&upload, guard.references()).with_request(&upload, signed);
    Ok(Created(guard.references().upload(guard.company(), owner, upload.id), view))
}

/// GET …/customers/{customerId}/uploads/{uploadId}/
pub(crate) async fn upload(guard: OnUpload<OnCustomer<ReadCompany>>) -> Result<Json<UploadView>> {
    guard.require_own_or_managed()?;
    Ok(Json(UploadView::new(&guard.upload, guard.references())))
}
