//! The company and its settings.

use axum::Json;
use shared::Result;
use shared::auth::access::CompanyAccess;
use shared::domain::company::Company;
use shared::domain::policy::{ChangeCompany, ReadCompany};
use shared::http::Fields;
use shared::http::respond::Answered;

use crate::changes::Changes;
use crate::view::CompanyView;

/// GET /companies/{companyId}/
pub(crate) async fn read(access: CompanyAccess<ReadCompany>) -> Result<Answered<Json<CompanyView>>> {
    access.show(CompanyView::new(&access.company, access.references()))
}

/// PATCH /companies/{companyId}/
pub(crate) async fn update(
    access: CompanyAccess<ChangeCompany>,
    body: Fields,
) -> Result<Answered<Json<CompanyView>>> {
    let mut after = Company::clone(&access.company);
    Changes::read(body)?.apply_to(&mut after);
    let view = CompanyView::new(&after, access.references());
    access.commit(access.store.update_company(&access.company, &after), Json(view)).await
}
