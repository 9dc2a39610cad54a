//! The company and its settings.

use axum::Json;
use shared::Result;
use shared::auth::access::{Admitted, CompanyLogin};
use shared::domain::company::Company;
use shared::domain::policy::{ChangeCompany, ReadCompany};
use shared::http::BodyFields;
use shared::http::exchange::respond::CommittedResponse;

use crate::changes::read_changes;
use crate::view::{CompanyLoginView, CompanyView};

/// GET /companies/{companyId}/
pub(crate) async fn read(
    access: Admitted<Company, ReadCompany>,
) -> Result<CommittedResponse<Json<CompanyView>>> {
    access.show(CompanyView::new(&access.target, access.references()))
}

/// GET /companies/{companyId}/login/
pub(crate) async fn show_login(access: CompanyLogin) -> Result<CommittedResponse<Json<CompanyLoginView>>> {
    access.show(&CompanyLoginView::new(&access.company, &access.sign_in_settings, access.references()))
}

/// PATCH /companies/{companyId}/
pub(crate) async fn update(
    access: Admitted<Company, ChangeCompany>,
    body: BodyFields,
) -> Result<CommittedResponse<Json<CompanyView>>> {
    let mut after = Company::clone(&access.target);
    read_changes(body)?.apply_to(&mut after);
    let view = CompanyView::new(&after, access.references());
    access.commit(access.store.update_company(&access.target, &after), Json(view)).await
}
