//! Imports customers: makes a list the company's active staff.
//!
//! The whole import is planned first and then applied row by row. A customer whom another writer changes at the same
//! time, such as the service when it mails an invitation, is planned again alone.

mod apply;
pub(crate) mod entry;
mod plan;
mod view;

use axum::Json;
use shared::Result;
use shared::auth::access::Admitted;
use shared::domain::company::Company;
use shared::domain::policy::ImportCustomers;
use shared::http::body::import::MAX_ENTRIES;
use shared::http::exchange::respond::CommittedResponse;
use shared::http::view::CustomerView;
use shared::http::{AttemptResult, JsonEntries, RequestAttempt};
use shared::store::IMPORT_PATIENCE;

use apply::apply_rows;
use entry::StaffList;
use plan::plan_rows;
use view::StaffImportResults;

type ImportAccess = Admitted<Company, ImportCustomers>;

/// POST …/customers/batch-import/
pub(crate) async fn create(
    access: ImportAccess,
    JsonEntries { entries, .. }: JsonEntries<CustomerView, MAX_ENTRIES>,
) -> Result<CommittedResponse<Json<StaffImportResults>>> {
    let list = StaffList::read(entries, access.target.default_project_lang)?;
    // Boxed, because the compiler cannot compute the layout of so deeply nested a future.
    access.run_once(IMPORT_PATIENCE, |attempt| Box::pin(import(&access, list, attempt))).await
}

async fn import(
    access: &ImportAccess,
    list: StaffList,
    attempt: RequestAttempt,
) -> Result<AttemptResult<Json<StaffImportResults>>> {
    // Check the whole list before the first write.
    let rows = plan_rows(access, list, &attempt).await?;
    let rows = apply_rows(access, rows, &attempt).await?;
    Ok(AttemptResult::Done(Json(StaffImportResults::new(rows, access))))
}
