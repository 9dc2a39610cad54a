//! The company and its settings.

use axum::Json;
use shared::Result;
use shared::auth::guard::InCompany;
use shared::auth::policy::{ChangeCompany, ReadCompany};
use shared::domain::company::Company;
use shared::http::Fields;

use crate::changes::Changes;
use crate::view::CompanyView;

/// GET /companies/{companyId}/
pub(crate) async fn read(guard: InCompany<ReadCompany>) -> Json<CompanyView> {
    Json(CompanyView::new(&guard.company, guard.references()))
}

/// PATCH /companies/{companyId}/
pub(crate) async fn update(guard: InCompany<ChangeCompany>, body: Fields) -> Result<Json<CompanyView>> {
    let mut after = Company::clone(&guard.company);
    Changes::read(body)?.apply_to(&mut after);
    if after != *guard.company {
        guard.store.commit(guard.store.update_company(&guard.company, &after)).await?;
    }
    Ok(Json(CompanyView::new(&after, guard.references())))
}
