//! Commands about addresses that get no mails.

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

/// The people with an address.
#[derive(Default, Serialize)]
struct AddressHolders {
    /// The holders who get mails again.
    freed: Vec<Uri>,
    /// The holders who have reported a mail as spam, and still get none.
    complained: Vec<Uri>,
    /// How many already got mails.
    deliverable: usize,
}

/// Allows mails again to everyone with `address`, in one company or in all; to people who have reported a mail as spam
/// only with `complaints`.
// SES's own list needs no change: the configuration set switches it off for the service's mails.
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
    // These are also the accounts whose user name is the address.
    let FoundAccounts { customers, candidates } =
        operator.store.all_accounts_named(&company.id, address.as_str()).await?;
    for before in &customers {
        // One that has yet to be confirmed gets mails as well.
        let Some(held) = before.account_address().held().find(|held| is_same(held, address)) else {
            continue;
        };
        let status = Suppression::status(before.suppression.as_ref(), Some(held));
        if holders.count(status, complaints, references.uri(&company.id, before.id)) {
            let after = Customer::clone(before).with_mails_allowed();
            operator.commit(operator.store.update_customer(before, &after, operator.now)).await?;
        }
    }
    for before in &candidates {
        let Some(held) = before.account_address().held().find(|held| is_same(held, address)) else {
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
    /// Counts a person; returns whether to free them.
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
