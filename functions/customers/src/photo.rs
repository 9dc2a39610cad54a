//! A customer's photo: fetched by the address that the customer shows, put into the bucket when large.

use axum::Json;
use shared::Result;
use shared::auth::access::{CustomerAccess, FileRedirect, MediaAccess, UploadAccess};
use shared::domain::file::FileKind;
use shared::domain::policy::ReadCompany;
use shared::http::respond::{CommittedResponse, Created};
use shared::http::view::UploadView;
use shared::http::{BodyFields, read_announcement};

/// GET …/customers/{customerId}/photo/{token}/
pub(crate) async fn read(access: MediaAccess<CustomerAccess<ReadCompany>>) -> Result<FileRedirect> {
    access.redirect(access.of.customer.photo, None).await
}

/// POST …/customers/{customerId}/uploads/
pub(crate) async fn announce(
    access: CustomerAccess<ReadCompany>,
    body: BodyFields,
) -> Result<CommittedResponse<Created<UploadView>>> {
    access.require_own_or_managed()?;
    let (kind, announced) = read_announcement(body, &[FileKind::Photo])?;
    let owner = access.customer.owner();
    let (upload, signed) = access.files()?.announce(owner, kind, announced).await?;
    let view = UploadView::new(&upload, access.references()).with_request(&upload, signed);
    let created = Created(access.references().upload(access.company_id(), owner, upload.id), view);
    access.commit(access.store.create_upload(&upload), created).await
}

/// GET …/customers/{customerId}/uploads/{uploadId}/
pub(crate) async fn upload(
    access: UploadAccess<CustomerAccess<ReadCompany>>,
) -> Result<CommittedResponse<Json<UploadView>>> {
    access.of.require_own_or_managed()?;
    access.show(UploadView::new(&access.upload, access.references()))
}
