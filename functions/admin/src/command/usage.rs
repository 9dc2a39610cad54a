//! Commands about the usage of companies.

use serde_json::{Value, json};
use shared::auth::OperatorAccess;
use shared::domain::company::Company;
use shared::domain::company::usage::{Month, UsageCounts};
use shared::error::FieldErrors;
use shared::{Error, Result};

use super::{no_company, only_company_id};

/// The header of the CSV.
const HEADINGS: &str = "company,month,is_test,candidates_invited,interviews_completed,answers_converted,seconds_converted,is_final";

/// Shows the usage of each company in a month, as CSV.
pub(super) async fn show(operator: &OperatorAccess, month: &str) -> Result<Value> {
    let mut errors = FieldErrors::default();
    let Some(month) = errors.read("month", month.parse::<Month>()) else { return Err(Error::Fields(errors)) };
    let mut csv = format!("{HEADINGS}\n");
    for company in operator.every_company().await? {
        let used = match operator.store.sequence(&company.id).await? {
            Some(sequence) => operator.store.usage_up_to(&sequence).await?.of_month(month),
            None => UsageCounts::default(),
        };
        csv += &row(&company, month, used, month.is_final(operator.now));
    }
    Ok(json!({ "month": month, "csv": csv }))
}

/// Marks a company as a test, or removes the mark.
pub(super) async fn mark_test(
    operator: &OperatorAccess,
    company: Option<&str>,
    is_test: bool,
) -> Result<Value> {
    let company = only_company_id(company)?;
    let before = operator.store.company(&company).await?.ok_or_else(no_company)?;
    // A repeated command must not even change the company's version.
    if before.is_test != is_test {
        let after = Company { is_test, ..Company::clone(&before) };
        operator.commit(operator.store.update_company(&before, &after)).await?;
    }
    Ok(json!({ "company": company, "is_test": is_test }))
}

fn row(company: &Company, month: Month, used: UsageCounts, is_final: bool) -> String {
    let UsageCounts { candidates_invited, interviews_completed, answers_converted, seconds_converted } = used;
    let (id, is_test) = (cell(company.id.as_str()), company.is_test);
    format!(
        "{id},{month},{is_test},{candidates_invited},{interviews_completed},{answers_converted},{seconds_converted},{is_final}\n"
    )
}

/// Text as a CSV cell that spreadsheets do not interpret as a formula.
// Only an identifier, which may begin with a hyphen, needs this. No cell contains commas or quotation marks.
fn cell(text: &str) -> String {
    if text.starts_with(['=', '+', '-', '@']) { format!("'{text}") } else { text.to_owned() }
}
