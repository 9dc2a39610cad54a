//! Failed conversions of recorded answers.

use serde_json::{Value, json};
use shared::Result;
use shared::auth::OperatorAccess;

use super::{no_company, only_company_id};

/// Retries the failed conversions of a company whose parts are still there.
pub(super) async fn retry(operator: &OperatorAccess, company: Option<&str>) -> Result<Value> {
    let company = only_company_id(company)?;
    operator.store.company(&company).await?.ok_or_else(no_company)?;
    let (store, now) = (&operator.store, operator.now);
    let mut retried = 0;
    for project in store.all_projects(&company).await? {
        retried += store.retry_conversions(&company, project.id, now).await?;
    }
    Ok(json!({ "company": company, "retried": { "conversion": retried } }))
}
