//! Commands that correct derived data and the numbers of events.

use shared::auth::OperatorAccess;
use shared::domain::id::ProjectId;
use shared::error::FieldErrors;
use shared::{Error, Result};

use super::{company_id, no_company, only_company_id};
use crate::outcome::CommandOutput;

/// Recounts what tallies count.
pub(super) async fn recount(
    operator: &OperatorAccess,
    company: &str,
    project: Option<&str>,
) -> Result<CommandOutput> {
    let mut errors = FieldErrors::default();
    let company = company_id(company, &mut errors);
    let project = project.map(str::parse::<ProjectId>).transpose();
    let project = errors.read("project", project.map_err(|_| "There is no such project.".to_owned()));
    let (Some(company), Some(project)) = (company, project) else { return Err(Error::Fields(errors)) };
    let recount = operator.recount(&company, project).await?;
    Ok(CommandOutput { recount: Some(recount), ..CommandOutput::of_company(&company) })
}

/// Rebuilds the search entries of all candidates.
pub(super) async fn reindex_search(operator: &OperatorAccess, company: &str) -> Result<CommandOutput> {
    let company = only_company_id(company)?;
    let search = operator.reindex(&company).await?;
    Ok(CommandOutput { search: Some(search), ..CommandOutput::of_company(&company) })
}

/// Leaves out numbers of events that a restored table has taken back.
pub(super) async fn advance_sequence(operator: &OperatorAccess, company: &str) -> Result<CommandOutput> {
    let company = only_company_id(company)?;
    let last = operator.store.advance_sequence(&company, operator.now).await?;
    let last_event = Some(last.ok_or_else(no_company)?);
    Ok(CommandOutput { last_event, ..CommandOutput::of_company(&company) })
}
