//! A customer's photo: a redirect from the URL in the customer's view, and direct uploads of large files.

use axum::Json;
use shared::Result;
use shared::auth::access::{Admitted, FileAccess, FileRedirect, UploadTarget};
use shared::domain::media::file::FileKind;
use shared::domain::policy::ReadCompany;
use shared::domain::staff::customer::Customer;
use shared::http::exchange::respond::{CommittedResponse, Created};
use shared::http::view::UploadView;
use shared::http::{BodyFields, read_announcement};

/// GET …/customers/{customerId}/photo/{token}/
pub(crate) async fn read(access: FileAccess<Customer, ReadCompany>) -> Result<FileRedirect> {
    access.redirect(access.target.customer.photo, None).await
}

/// POST …/customers/{customerId}/uploads/
pub(crate) async fn announce(
    access: Admitted<Customer, ReadCompany>,
    body: BodyFields,
) -> Result<CommittedResponse<Created<UploadView>>> {
    access.require_own_or_managed(&access.target.customer)?;
    let (kind, announced) = read_announcement(body, &[FileKind::Photo])?;
    let owner = access.target.customer.account();
    let (upload, signed) = access.files()?.announce(owner, kind, announced).await?;
    let view = UploadView::new(&upload, access.references()).with_request(&upload, signed);
    let created = Created(view);
    access.commit(access.store.create_upload(&upload), created).await
}

/// GET …/customers/{customerId}/uploads/{uploadId}/
pub(crate) async fn upload(
    access: Admitted<UploadTarget<Customer>, ReadCompany>,
) -> Result<CommittedResponse<Json<UploadView>>> {
    access.require_own_or_managed(&access.target.file_owner.customer)?;
    access.show(UploadView::new(&access.target.upload, access.references()))
}
