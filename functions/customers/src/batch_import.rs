//! Making a company's staff those of a list.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use axum::Json;
use chrono::TimeDelta;
use schemars::JsonSchema;
use serde::Serialize;
use shared::auth::access::CompanyAccess;
use shared::domain::customer::{AccountType, Customer, LAST_OWNER};
use shared::domain::id::IdBlock;
use shared::domain::policy::ImportCustomers;
use shared::domain::text::fold_case;
use shared::error::FieldErrors;
use shared::http::respond::Answered;
use shared::http::wire::Uri;
use shared::http::{Entries, Progress, Turn};
use shared::store::{CustomerChange, Store, Versioned};
use shared::{Error, Result};

use crate::changes::{Imported, PrimaryKey};

/// The most entries of one request.
const MAX_ENTRIES: usize = IdBlock::SIZE;
/// How long the storage may be busy before it is left to a repeat.
const PATIENCE: Duration = Duration::from_secs(9);
/// How long after its beginning a request makes another plan. To carry it out still takes some of the seconds that the
/// function has.
const PLANNING: TimeDelta = TimeDelta::seconds(6);
/// How many plans in a row may come to nothing because others change the same customers.
const MAX_IDLE_PLANS: u32 = 10;

/// The result of an import.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "StaffImport")]
pub(crate) struct ImportView {
    /// The number of customers who were created and invited.
    #[schemars(example = 1)]
    created: usize,
    /// The number of customers who were inactive and are active again.
    #[schemars(example = 0)]
    activated: usize,
    /// The number of customers who were deactivated because the list does not contain them.
    #[schemars(example = 0)]
    deactivated: usize,
    /// The number of customers who did not change.
    #[schemars(example = 0)]
    unchanged: usize,
    /// The result for each customer.
    objects: Vec<ImportedView>,
}

/// The result of an import for one customer.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ImportedCustomer")]
struct ImportedView {
    /// The user name.
    #[schemars(example = &"grace")]
    username: String,
    /// The result.
    status: ImportOutcome,
    /// The customer.
    customer: Uri,
}

/// POST …/customers/batch-import/
pub(crate) async fn create(
    access: CompanyAccess<ImportCustomers>,
    Entries(entries): Entries<MAX_ENTRIES>,
) -> Result<Answered<Json<ImportView>>> {
    let list = Imported::read_all(entries)?;
    access.once(PATIENCE, |turn| import(&access, list, turn)).await
}

async fn import(
    access: &CompanyAccess<ImportCustomers>,
    list: (PrimaryKey, Vec<Imported>),
    turn: Turn,
) -> Result<Progress<Json<ImportView>>> {
    let mut done = Done::new();
    let mut idle_plans = 0;
    loop {
        let done_before = done.len();
        let plan = plan(access, list.clone(), &turn).await?;
        match carry_out(access, &plan, &turn, &mut done).await {
            Ok(()) => return Ok(Progress::Done(Json(ImportView::new(plan, done)))),
            // Another write changed a customer, perhaps the service's own when it mailed an invitation: the next plan
            // starts from what is there now.
            Err(Error::Changed | Error::NotFound)
                if idle_plans < MAX_IDLE_PLANS && access.age() < PLANNING =>
            {
                idle_plans = if done.len() > done_before { 0 } else { idle_plans + 1 };
                turn.store.give_way(idle_plans).await;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Checks everything before anything is written.
async fn plan(
    access: &CompanyAccess<ImportCustomers>,
    (primary_key, entries): (PrimaryKey, Vec<Imported>),
    turn: &Turn,
) -> Result<Plan> {
    let staff = turn.store.all_customers(access.company_id()).await?;
    let known: BTreeSet<String> = staff.iter().map(|one| primary_key.of(&one.username, &one.email)).collect();
    let new = entries.iter().filter(|entry| !known.contains(&entry.key(primary_key)));
    let names = new.flat_map(|entry| entry.names().map(|(_, name)| name));
    let taken = turn.store.taken_usernames(access.company_id(), names).await?;
    Plan::new(access, (primary_key, entries), (staff, taken), turn.ids)
}

/// What is done already, by reference, so that the answer tells of it whichever plan it was part of.
type Done = BTreeMap<Uri, ImportedView>;

/// Makes the changes of a plan, and notes in `done` which are made.
async fn carry_out(
    access: &CompanyAccess<ImportCustomers>,
    plan: &Plan,
    turn: &Turn,
    done: &mut Done,
) -> Result<()> {
    for together in plan.changes.chunks(Store::MAX_CUSTOMERS) {
        turn.commit(turn.store.change_customers(access.company_id(), together, access.now)).await?;
        for change in together {
            let view = match change {
                CustomerChange::Create(new) => ImportedView::new(access, new, ImportOutcome::Created),
                CustomerChange::Replace(_, after) if after.is_active => {
                    ImportedView::new(access, after, ImportOutcome::Activated)
                }
                CustomerChange::Replace(_, after) => {
                    ImportedView::new(access, after, ImportOutcome::Deactivated)
                }
            };
            done.insert(view.customer.clone(), view);
        }
    }
    Ok(())
}

impl ImportView {
    fn new(plan: Plan, mut done: Done) -> Self {
        let as_done = |object: ImportedView| done.remove(&object.customer).unwrap_or(object);
        let mut objects: Vec<ImportedView> = plan.objects.into_iter().map(as_done).collect();
        objects.extend(done.into_values());
        let count = |status: ImportOutcome| objects.iter().filter(|object| object.status == status).count();
        Self {
            created: count(ImportOutcome::Created),
            activated: count(ImportOutcome::Activated),
            deactivated: count(ImportOutcome::Deactivated),
            unchanged: count(ImportOutcome::Unchanged),
            objects,
        }
    }
}

impl ImportedView {
    fn new(access: &CompanyAccess<ImportCustomers>, customer: &Customer, status: ImportOutcome) -> Self {
        let username = customer.username.as_str().to_owned();
        let customer = access.references().customer(access.company_id(), customer.id);
        Self { username, status, customer }
    }
}

/// What became of a customer.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum ImportOutcome {
    /// Created and invited.
    Created,
    /// Was inactive and is active again.
    Activated,
    /// Was active and is deactivated.
    Deactivated,
    /// Not changed.
    Unchanged,
}

/// What is to be done so that the company's staff become those of the list.
struct Plan {
    changes: Vec<CustomerChange>,
    objects: Vec<ImportedView>,
}

impl Plan {
    fn new(
        access: &CompanyAccess<ImportCustomers>,
        (primary_key, entries): (PrimaryKey, Vec<Imported>),
        (staff, mut taken): (Vec<Versioned<Customer>>, BTreeSet<String>),
        ids: IdBlock,
    ) -> Result<Self> {
        let mut errors = FieldErrors::default();
        let mut plan = Self { changes: Vec::new(), objects: Vec::new() };
        taken.extend(staff.iter().flat_map(|one| names_of(one)));
        let mut left: BTreeMap<String, Versioned<Customer>> =
            staff.into_iter().map(|one| (primary_key.of(&one.username, &one.email), one)).collect();
        let mut owners = 0;
        for (index, entry) in entries.into_iter().enumerate() {
            match left.remove(&entry.key(primary_key)) {
                Some(known) => {
                    owners += usize::from(will_be_owner(&known));
                    if known.id == ids.id(index) {
                        // By somebody who was at the same request before.
                        plan.add(access, &known, ImportOutcome::Created);
                    } else if known.is_active {
                        plan.add(access, &known, ImportOutcome::Unchanged);
                    } else if access.require_manages(known.account_type).is_err() {
                        let message = "You may not activate customers of this account type.";
                        errors.add(&format!("[{index}].account_type"), message);
                    } else {
                        plan.add(access, &known, ImportOutcome::Activated);
                        let after = Customer::clone(&known).with_access(true);
                        plan.changes.push(CustomerChange::Replace(Box::new(known), after));
                    }
                }
                None => {
                    if access.require_manages(entry.account_type).is_err() {
                        let message = "You may not create customers of this account type.";
                        errors.add(&format!("[{index}].account_type"), message);
                    }
                    let names = entry.names();
                    for (field, _) in names.iter().filter(|(_, name)| taken.contains(name)) {
                        errors.add(
                            &format!("[{index}].{field}"),
                            "This value already belongs to another user.",
                        );
                    }
                    taken.extend(names.map(|(_, name)| name));
                    let by = access.caller.customer();
                    let customer = entry.into_customer(ids.id(index), &access.company, by, access.now);
                    plan.add(access, &customer, ImportOutcome::Created);
                    plan.changes.push(CustomerChange::Create(customer));
                }
            }
        }
        for absent in left.into_values().filter(|absent| absent.is_active) {
            if access.caller.customer() == Some(absent.id) {
                errors.add(FieldErrors::ACROSS, "The list must include your own account.");
            } else if access.require_manages(absent.account_type).is_err() {
                let name = absent.username.as_str();
                let message = format!("The list must include \"{name}\", whom you may not deactivate.");
                errors.add(FieldErrors::ACROSS, message);
            }
            plan.add(access, &absent, ImportOutcome::Deactivated);
            let after = Customer::clone(&absent).with_access(false);
            plan.changes.push(CustomerChange::Replace(Box::new(absent), after));
        }
        if !errors.is_empty() {
            return Err(Error::Fields(errors));
        }
        if owners == 0 {
            return Err(LAST_OWNER.into());
        }
        Ok(plan)
    }

    fn add(&mut self, access: &CompanyAccess<ImportCustomers>, customer: &Customer, status: ImportOutcome) {
        self.objects.push(ImportedView::new(access, customer, status));
    }
}

/// The names that lead to a customer, each once.
fn names_of(customer: &Customer) -> BTreeSet<String> {
    [customer.username.as_str(), customer.email.as_str()].map(fold_case).into()
}

/// Whether a customer on the list is an owner who can log in afterwards.
fn will_be_owner(customer: &Customer) -> bool {
    customer.account_type == AccountType::Owner && Customer::clone(customer).with_access(true).is_at_work()
}
