//! GET /companies/{companyId}/.

use axum::Json;
use shared::auth::guard::InCompany;
use shared::auth::policy::ReadCompany;

use crate::view::CompanyView;

/// Shows the company.
pub(crate) async fn read(guard: InCompany<ReadCompany>) -> Json<CompanyView> {
    Json(CompanyView::new(&guard.company, guard.references()))
}
