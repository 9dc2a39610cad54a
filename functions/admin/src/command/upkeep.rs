//! Commands that correct derived data and the numbers of events.

use serde_json::{Value, json};
use shared::auth::OperatorAccess;
use shared::domain::id::ProjectId;
use shared::error::FieldErrors;
use shared::{Error, Result};

use super::{company_id, no_company, only_company_id};

/// Recounts the tallies and corrects differences.
pub(super) async fn recount(
    operator: &OperatorAccess,
    company: Option<&str>,
    project: Option<&str>,
) -> Result<Value> {
    let mut errors = FieldErrors::default();
    let company = company_id(company, &mut errors);
    let project = project.map(str::parse::<ProjectId>).transpose();
    let project = errors.read("project", project.map_err(|_| "There is no such project.".to_owned()));
    let (Some(company), Some(project)) = (company, project) else { return Err(Error::Fields(errors)) };
    let recount = operator.recount(&company, project).await?;
    Ok(json!({ "company": company, "recount": recount }))
}

/// Rebuilds the search entries of all candidates.
pub(super) async fn reindex_search(operator: &OperatorAccess, company: Option<&str>) -> Result<Value> {
    let company = only_company_id(company)?;
    let search = operator.reindex(&company).await?;
    Ok(json!({ "company": company, "search": search }))
}

/// Encrypts secrets again that are still encrypted with the former key.
pub(super) async fn reseal(operator: &OperatorAccess) -> Result<Value> {
    Ok(json!({ "reseal": operator.reseal().await? }))
}

/// Skips event numbers that were assigned before the table was restored.
pub(super) async fn advance_sequence(operator: &OperatorAccess, company: Option<&str>) -> Result<Value> {
    let company = only_company_id(company)?;
    let last = operator.store.advance_sequence(&company, operator.now).await?;
    Ok(json!({ "company": company, "last_event": last.ok_or_else(no_company)? }))
}
