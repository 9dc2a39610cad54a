//! Commands about companies.

use serde_json::{Value, json};
use shared::auth::OperatorAccess;
use shared::domain::company::Company;
use shared::domain::company::import::CompanyImport;
use shared::domain::mail::sender::SenderAddress;
use shared::error::FieldErrors;
use shared::{Error, Result};

use super::{company_id, no_company};

/// Lists all companies, and the imports that have not been started.
pub(super) async fn list(operator: &OperatorAccess) -> Result<Value> {
    let companies = operator.every_company().await?;
    let listed = companies.iter().map(|company| json!({ "company": company.id, "name": company.name }));
    let imports = operator.every_company_import().await?;
    let waiting = imports.iter().filter(|import| import.awaits_start()).map(|import| {
        let CompanyImport { company, begun_at, stored_at, opened_at, .. } = &**import;
        json!({ "company": company, "begun_at": begun_at, "stored_at": stored_at, "opened_at": opened_at })
    });
    Ok(json!({ "companies": listed.collect::<Vec<_>>(), "imports": waiting.collect::<Vec<_>>() }))
}

/// Replaces the addresses and domains that mails in the company's name may be sent from.
pub(super) async fn verify_senders(
    operator: &OperatorAccess,
    company: Option<&str>,
    senders: &[String],
) -> Result<Value> {
    let mut errors = FieldErrors::default();
    let company = company_id(company, &mut errors);
    let senders = errors.read("senders", SenderAddress::parse_all(senders));
    let (Some(company), Some(senders)) = (company, senders) else { return Err(Error::Fields(errors)) };
    let before = operator.store.company(&company).await?.ok_or_else(no_company)?;
    // A repeated command must not even change the company's version.
    if before.verified_senders != senders {
        let after = Company { verified_senders: senders, ..Company::clone(&before) };
        operator.commit(operator.store.update_company(&before, &after)).await?;
    }
    Ok(json!({ "company": company }))
}
