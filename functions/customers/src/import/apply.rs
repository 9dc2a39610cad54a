//! Applies an import, several rows per transaction. Rows of a transaction that failed because of a concurrent write are
//! planned again, in ever smaller transactions.

use std::collections::HashMap;

use shared::domain::id::CustomerId;
use shared::domain::staff::customer::LAST_OWNER;
use shared::http::RequestAttempt;
use shared::http::body::import::TIME_LIMIT;
use shared::store::{CustomerChange, Store};
use shared::{Error, Result};

use super::ImportAccess;
use super::plan::{ImportRow, plan_again};

/// The maximum number of rounds.
// From the fourth round on, each row has its own transaction, which conflicts only with writes of this customer. The
// service makes one such write per mail to the customer, so only other clients can cause ten conflicts.
const ROUNDS: u32 = 10;

/// Applies all rows. Fails with [`Error::Changed`] if other requests keep changing a customer, with [`Error::Busy`]
/// after the time limit, and with the errors of [`plan_again`] and [`Store::change_customers`]. Applied changes stay;
/// sending the same list again applies the rest.
pub(super) async fn apply_rows(
    access: &ImportAccess,
    mut rows: Vec<ImportRow>,
    attempt: &RequestAttempt,
) -> Result<Vec<ImportRow>> {
    for round in 0..ROUNDS {
        let mut open: Vec<&mut ImportRow> = rows.iter_mut().filter(|row| row.change.is_some()).collect();
        if open.is_empty() {
            break;
        }
        if round > 0 {
            attempt.store.back_off(round).await;
        }
        // 14, 7, 3, 1, 1, …
        for group in open.chunks_mut((Store::MAX_CUSTOMERS >> round).max(1)) {
            if access.age() >= TIME_LIMIT {
                return Err(Error::Busy("an import took too long".into()));
            }
            if round > 0 {
                read_again(access, group, attempt).await?;
            }
            match commit(access, group, attempt).await {
                // Rows of a conflicting transaction stay open for the next round.
                Ok(()) | Err(Error::Changed | Error::NotFound) => {}
                // The row that activates the remaining owner may be in a conflicting transaction, to be retried in the
                // next round.
                Err(Error::Refused(refusal)) if refusal == LAST_OWNER && round + 1 < ROUNDS => {}
                Err(error) => return Err(error),
            }
        }
    }
    if rows.iter().any(|row| row.change.is_some()) { Err(Error::Changed) } else { Ok(rows) }
}

/// Plans the rows again after reading the customers. Rows of new customers stay as planned.
async fn read_again(
    access: &ImportAccess,
    group: &mut [&mut ImportRow],
    attempt: &RequestAttempt,
) -> Result<()> {
    let mut group: Vec<_> =
        group.iter_mut().filter(|row| matches!(row.change, Some(CustomerChange::Replace(..)))).collect();
    let known: Vec<CustomerId> = group.iter().map(|row| row.customer).collect();
    let found = attempt.store.customers(access.company_id(), known).await?;
    let mut found: HashMap<CustomerId, _> =
        found.into_iter().map(|customer| (customer.id, customer)).collect();
    for row in &mut group {
        plan_again(access, row, found.remove(&row.customer))?;
    }
    Ok(())
}

/// Applies these rows in one transaction.
async fn commit(access: &ImportAccess, group: &mut [&mut ImportRow], attempt: &RequestAttempt) -> Result<()> {
    let changes = group.iter().filter_map(|row| row.change.as_ref());
    attempt.commit(attempt.store.change_customers(access.company_id(), changes, access.now)).await?;
    group.iter_mut().for_each(|row| row.change = None);
    Ok(())
}
