//! Plans the change of each customer of an import: all of them from one read, and again those who have changed before
//! their row is written.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;
use shared::domain::id::CustomerId;
use shared::domain::staff::customer::{AccountType, Customer, LAST_OWNER};
use shared::domain::text::Username;
use shared::error::FieldErrors;
use shared::http::RequestAttempt;
use shared::store::{CustomerChange, VersionedItem};
use shared::{Error, Result};

use super::ImportAccess;
use super::entry::{PrimaryKey, StaffImportEntry, StaffList};

/// The change that an import makes to a customer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(super) enum ImportStatus {
    /// Created and invited.
    Created,
    /// Was inactive and has been activated.
    Activated,
    /// Was active and has been deactivated.
    Deactivated,
    /// Not changed.
    Unchanged,
}

/// The plan of an import for one customer.
pub(super) struct ImportRow {
    pub(super) customer: CustomerId,
    pub(super) username: Username,
    pub(super) status: ImportStatus,
    /// The change to apply; `None` once it is applied, or if nothing changes.
    pub(super) change: Option<CustomerChange>,
    /// The index of the customer's entry; `None` if the customer is not in the list.
    entry: Option<usize>,
}

/// Plans an import. Fails with the errors of all invalid entries, and if the caller may not create, activate or
/// deactivate one of the customers.
pub(super) async fn plan_rows(
    access: &ImportAccess,
    list: StaffList,
    attempt: &RequestAttempt,
) -> Result<Vec<ImportRow>> {
    let staff = attempt.store.all_customers(access.company_id()).await?;
    // Read taken names only to report all of them at once. The conditions of the transaction decide.
    let mut taken = taken_names(access, &list, &staff, attempt).await?;
    let key = list.primary_key;
    let names: BTreeMap<String, CustomerId> =
        staff.iter().flat_map(|customer| key.all_of(customer).map(|name| (name, customer.id))).collect();
    let mut staff: BTreeMap<CustomerId, VersionedItem<Customer>> =
        staff.into_iter().map(|customer| (customer.id, customer)).collect();
    let mut errors = FieldErrors::default();
    let mut rows = Vec::new();
    let mut has_owner = false;
    for (index, entry) in list.entries.into_iter().enumerate() {
        let id = attempt.ids.id(index);
        rows.push(match names.get(&entry.key(key)).and_then(|known| staff.remove(known)) {
            // An earlier attempt at this request has created the customer.
            Some(customer) if customer.id == id => {
                ImportRow::new(Some(index), &customer, ImportStatus::Created, None)
            }
            Some(customer) => {
                has_owner |= will_be_owner(&customer);
                listed_row(access, index, customer, &mut errors)
            }
            None => {
                check_new(access, index, &entry, &mut taken, &mut errors);
                let by = access.caller.customer();
                let customer = entry.into_customer(id, access.company_id(), by, access.now);
                let change = CustomerChange::Create(customer.clone());
                ImportRow::new(Some(index), &customer, ImportStatus::Created, Some(change))
            }
        });
    }
    // The list is the whole staff, so active customers who are not in it are deactivated.
    for customer in staff.into_values().filter(|customer| customer.is_active) {
        rows.push(absent_row(access, customer, &mut errors));
    }
    if !errors.is_empty() {
        return Err(Error::Fields(errors));
    }
    if !has_owner {
        // Without an owner, no user of the company could give access to others again.
        return Err(LAST_OWNER.into());
    }
    Ok(rows)
}

/// Plans a row again with the customer's current state; `None` if they are deleted. Fails like [`plan_rows`], and with
/// [`Error::Changed`] if a customer in the list is deleted.
pub(super) fn plan_again(
    access: &ImportAccess,
    row: &mut ImportRow,
    customer: Option<VersionedItem<Customer>>,
) -> Result<()> {
    let mut errors = FieldErrors::default();
    match (row.entry, customer) {
        (Some(index), Some(customer)) => *row = listed_row(access, index, customer, &mut errors),
        // Whether a new customer can be created depends on all other rows, so the whole import must be planned again.
        (Some(_), None) => return Err(Error::Changed),
        (None, Some(customer)) if customer.is_active => *row = absent_row(access, customer, &mut errors),
        // Another request has deactivated or deleted the customer in the meantime.
        (None, _) => row.change = None,
    }
    if errors.is_empty() { Ok(()) } else { Err(Error::Fields(errors)) }
}

impl ImportRow {
    fn new(
        entry: Option<usize>,
        customer: &Customer,
        status: ImportStatus,
        change: Option<CustomerChange>,
    ) -> Self {
        Self { customer: customer.id, username: customer.username.clone(), status, change, entry }
    }
}

/// The row of an existing customer who is in the list.
fn listed_row(
    access: &ImportAccess,
    index: usize,
    customer: VersionedItem<Customer>,
    errors: &mut FieldErrors,
) -> ImportRow {
    if customer.is_active {
        return ImportRow::new(Some(index), &customer, ImportStatus::Unchanged, None);
    }
    if access.require_manages(customer.account_type).is_err() {
        let message = "You may not activate customers of this account type.";
        errors.add(&format!("[{index}].account_type"), message);
    }
    let after = Customer::clone(&customer).with_access(true);
    let change = CustomerChange::Replace(Box::new(customer), after.clone());
    ImportRow::new(Some(index), &after, ImportStatus::Activated, Some(change))
}

/// The row of an active customer who is not in the list.
fn absent_row(
    access: &ImportAccess,
    customer: VersionedItem<Customer>,
    errors: &mut FieldErrors,
) -> ImportRow {
    if access.caller.customer() == Some(customer.id) {
        errors.add(FieldErrors::ACROSS, "The list must include your own account.");
    } else if access.require_manages(customer.account_type).is_err() {
        let name = customer.username.as_str();
        let message = format!("The list must include \"{name}\", whom you may not deactivate.");
        errors.add(FieldErrors::ACROSS, message);
    }
    let after = Customer::clone(&customer).with_access(false);
    let change = CustomerChange::Replace(Box::new(customer), after.clone());
    ImportRow::new(None, &after, ImportStatus::Deactivated, Some(change))
}

/// Checks that the caller may create the customer and that their names are free, and adds the names to `taken`.
fn check_new(
    access: &ImportAccess,
    index: usize,
    entry: &StaffImportEntry,
    taken: &mut BTreeSet<String>,
    errors: &mut FieldErrors,
) {
    if access.require_manages(entry.new.account_type).is_err() {
        let message = "You may not create customers of this account type.";
        errors.add(&format!("[{index}].account_type"), message);
    }
    let names = entry.names();
    for (field, _) in names.iter().filter(|(_, name)| taken.contains(name)) {
        errors.add(&format!("[{index}].{field}"), "This value already belongs to another user.");
    }
    taken.extend(names.map(|(_, name)| name));
}

/// The names that new customers cannot have: those of staff, and the names in new entries that candidates have.
async fn taken_names(
    access: &ImportAccess,
    list: &StaffList,
    staff: &[VersionedItem<Customer>],
    attempt: &RequestAttempt,
) -> Result<BTreeSet<String>> {
    let key = list.primary_key;
    let known: BTreeSet<String> = staff.iter().flat_map(|customer| key.all_of(customer)).collect();
    // Look up only the names in new entries, because each costs a read.
    let new = list.entries.iter().filter(|entry| !known.contains(&entry.key(key)));
    let names = new.flat_map(|entry| entry.names().map(|(_, name)| name));
    let mut taken = attempt.store.taken_usernames(access.company_id(), names).await?;
    for customer in staff {
        taken.extend(
            [PrimaryKey::Username, PrimaryKey::Email].into_iter().flat_map(|key| key.all_of(customer)),
        );
    }
    Ok(taken)
}

/// Whether the customer will be an owner who can log in after the import.
fn will_be_owner(customer: &Customer) -> bool {
    customer.account_type == AccountType::Owner && Customer::clone(customer).with_access(true).is_at_work()
}
