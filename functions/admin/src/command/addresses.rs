//! Commands about addresses whose mails are suppressed.

use serde::Serialize;
use serde_json::{Value, json};
use shared::auth::OperatorAccess;
use shared::domain::candidate::Candidate;
use shared::domain::company::Company;
use shared::domain::mail::suppression::{EmailStatus, Suppression};
use shared::domain::staff::customer::Customer;
use shared::domain::text::Email;
use shared::error::FieldErrors;
use shared::http::wire::Uri;
use shared::store::FoundAccounts;
use shared::{Error, Result};

use super::{company_id, no_company};

/// The holders of an address, by the result for each.
#[derive(Default, Serialize)]
struct AddressHolders {
    /// The holders whose mails are allowed again.
    freed: Vec<Uri>,
    /// The spam complainants whose mails stay suppressed.
    complained: Vec<Uri>,
    /// The number of holders whose mails were allowed already.
    deliverable: usize,
}

/// Allows mails again to every holder of `address`, in one company or in all. Spam complainants are included only with
/// `complaints`.
// SES's own suppression list needs no change: the configuration set disables it for the service's mails.
pub(super) async fn free(
    operator: &OperatorAccess,
    company: Option<&str>,
    address: &str,
    complaints: bool,
) -> Result<Value> {
    let mut errors = FieldErrors::default();
    let address = errors.read("address", Email::parse(address));
    let company = match company {
        None => Some(None),
        Some(_) => company_id(company, &mut errors).map(Some),
    };
    let (Some(address), Some(company)) = (address, company) else { return Err(Error::Fields(errors)) };
    let companies = match &company {
        Some(company) => vec![operator.store.company(company).await?.ok_or_else(no_company)?],
        None => operator.every_company().await?,
    };
    let mut holders = AddressHolders::default();
    for company in &companies {
        free_in(operator, company, &address, complaints, &mut holders).await?;
    }
    if holders.freed.is_empty() && holders.complained.is_empty() && holders.deliverable == 0 {
        return Err(Error::field("address", "No account has this email address."));
    }
    let mut output = json!(holders);
    if let Some(company) = company {
        output["company"] = json!(company);
    }
    Ok(output)
}

async fn free_in(
    operator: &OperatorAccess,
    company: &Company,
    address: &Email,
    complaints: bool,
    holders: &mut AddressHolders,
) -> Result<()> {
    let references = operator.references();
    // Accounts whose address is `address` are among those found by it as a name.
    let FoundAccounts { customers, candidates } =
        operator.store.all_accounts_named(&company.id, address.as_str()).await?;
    for before in &customers {
        // An address that is not confirmed yet gets mails too.
        let Some(held) = before.account_email().held().find(|held| is_same(held, address)) else {
            continue;
        };
        let status = Suppression::status(before.suppression.as_ref(), Some(held));
        if holders.count(status, complaints, references.uri(&company.id, before.id)) {
            let after = Customer::clone(before).with_mails_allowed();
            operator.commit(operator.store.update_customer(before, &after, operator.now)).await?;
        }
    }
    for before in &candidates {
        let Some(held) = before.account_email().held().find(|held| is_same(held, address)) else {
            continue;
        };
        let status = Suppression::status(before.suppression.as_ref(), Some(held));
        let uri = references.uri_in_project(&company.id, before.project, before.id);
        if holders.count(status, complaints, uri) {
            let after = Candidate::clone(before).with_mails_allowed();
            operator.commit(operator.store.change_candidate(before, &after.into(), operator.now)).await?;
        }
    }
    Ok(())
}

fn is_same(held: &Email, address: &Email) -> bool {
    held.as_str().eq_ignore_ascii_case(address.as_str())
}

impl AddressHolders {
    /// Counts a holder; returns whether to allow mails to them again.
    fn count(&mut self, status: EmailStatus, complaints: bool, uri: Uri) -> bool {
        match status {
            EmailStatus::Complained if !complaints => self.complained.push(uri),
            EmailStatus::Bounced | EmailStatus::Complained => {
                self.freed.push(uri);
                return true;
            }
            EmailStatus::Deliverable | EmailStatus::NoAddress => self.deliverable += 1,
        }
        false
    }
}
