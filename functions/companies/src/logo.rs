//! The company's logo. Staff who may change the company set and delete it; anyone with the URL can read it.

use axum::Json;
use axum::body::Bytes;
use axum::response::Response;
use shared::auth::access::{Admitted, PublishedLogo};
use shared::domain::company::Company;
use shared::domain::company::logo::Logo;
use shared::domain::policy::ChangeCompany;
use shared::http::exchange::respond::{CommittedResponse, NoContent};
use shared::http::{BodyFields, FormFields};
use shared::media::logo_picture;
use shared::{Error, Result};

use crate::view::CompanyView;

/// The name of the multipart field.
const FILE: &str = "file";

/// PUT …/logo/
pub(crate) async fn put(
    access: Admitted<Company, ChangeCompany>,
    FormFields(body): FormFields,
) -> Result<CommittedResponse<Json<CompanyView>>> {
    let before = &access.target;
    let png = logo_picture(FILE, read_logo(body)?).await?;
    let id = before.logo.as_ref().map_or_else(|| access.store.next_id(access.now), |logo| logo.id);
    let logo = Logo::new(before.id.clone(), id, &png);
    let after = Company { logo: Some(logo.to_ref()), ..Company::clone(before) };
    let view = CompanyView::new(&after, access.references());
    access.commit(access.store.put_logo(before, &after, &logo), Json(view)).await
}

/// Reads the uploaded logo.
pub(crate) fn read_logo(mut body: BodyFields) -> Result<Bytes> {
    let file = body.required_file(FILE, "Send the logo as a multipart/form-data part with a file name.");
    body.finish(|| file.map(|file| file.bytes))
}

/// DELETE …/logo/
pub(crate) async fn delete(access: Admitted<Company, ChangeCompany>) -> Result<CommittedResponse<NoContent>> {
    let before = &access.target;
    if before.logo.is_none() {
        return Err(Error::NotFound);
    }
    let after = Company { logo: None, ..Company::clone(before) };
    access.commit(access.store.delete_logo(before, &after), NoContent).await
}

/// GET …/logo/{logoId}/
pub(crate) async fn read(access: PublishedLogo) -> Result<Response> {
    access.show()
}
