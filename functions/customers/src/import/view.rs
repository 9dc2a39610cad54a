//! The view of an import.

use schemars::JsonSchema;
use serde::Serialize;
use shared::http::example_uri;
use shared::http::wire::Uri;

use super::ImportAccess;
use super::plan::{ImportRow, ImportStatus};

/// The result of an import.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "StaffImport")]
pub(crate) struct StaffImportResults {
    /// The number of customers who were created and invited.
    #[schemars(example = 1)]
    created: usize,
    /// The number of customers who were activated again.
    #[schemars(example = 0)]
    activated: usize,
    /// The number of customers who were deactivated because the list does not contain them.
    #[schemars(example = 0)]
    deactivated: usize,
    /// The number of customers who did not change.
    #[schemars(example = 0)]
    unchanged: usize,
    /// The result for each customer.
    objects: Vec<StaffImportResult>,
}

/// The result of an import for one customer.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ImportedCustomer")]
struct StaffImportResult {
    /// The user name.
    #[schemars(example = &"grace")]
    username: String,
    /// The outcome for the customer.
    status: ImportStatus,
    /// The URL of the customer.
    #[schemars(example = example_uri::CUSTOMER)]
    customer: Uri,
}

impl StaffImportResults {
    /// The results of applied rows.
    pub(super) fn new(rows: Vec<ImportRow>, access: &ImportAccess) -> Self {
        let count = |status: ImportStatus| rows.iter().filter(|row| row.status == status).count();
        Self {
            created: count(ImportStatus::Created),
            activated: count(ImportStatus::Activated),
            deactivated: count(ImportStatus::Deactivated),
            unchanged: count(ImportStatus::Unchanged),
            objects: rows.iter().map(|row| StaffImportResult::new(row, access)).collect(),
        }
    }
}

impl StaffImportResult {
    fn new(row: &ImportRow, access: &ImportAccess) -> Self {
        Self {
            username: row.username.as_str().to_owned(),
            status: row.status,
            customer: access.references().uri(access.company_id(), row.customer),
        }
    }
}
