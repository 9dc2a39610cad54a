//! Commands about companies.

use shared::auth::Operator;
use shared::domain::company::Company;
use shared::domain::sender::Sender;
use shared::error::FieldErrors;
use shared::{Error, Result};

use super::{company_id, no_company};
use crate::outcome::{ListedCompany, Outcome};

/// Lists every company.
pub(super) async fn list(operator: &Operator) -> Result<Outcome> {
    let companies = operator.every_company().await?;
    let listed = companies.iter().map(|company| ListedCompany::from(&**company)).collect();
    Ok(Outcome { companies: Some(listed), ..Outcome::default() })
}

/// Replaces the senders that mails in the company's name may come from.
pub(super) async fn verify_senders(
    operator: &Operator,
    company: &str,
    senders: &[String],
) -> Result<Outcome> {
    let mut errors = FieldErrors::default();
    let company = company_id(company, &mut errors);
    let senders = errors.read("senders", Sender::parse_all(senders));
    let (Some(company), Some(senders)) = (company, senders) else { return Err(Error::Fields(errors)) };
    let before = operator.store.company(&company).await?.ok_or_else(no_company)?;
    if before.verified_senders != senders {
        let after = Company { verified_senders: senders, ..Company::clone(&before) };
        operator.commit(operator.store.update_company(&before, &after)).await?;
    }
    Ok(Outcome::of_company(&company))
}
