//! Making the changes of an import, several in one transaction. Rows of a transaction that lost to another write are read
//! and planned again, in smaller and smaller transactions.

use std::collections::HashMap;

use shared::domain::id::CustomerId;
use shared::domain::staff::customer::LAST_OWNER;
use shared::http::RequestAttempt;
use shared::http::body::import::TIME_LIMIT;
use shared::store::{CustomerChange, Store};
use shared::{Error, Result};

use super::ImportAccess;
use super::plan::{ImportRow, plan_again};

/// The most rounds.
// Each row has a transaction of its own from the fourth round on, which loses only to writes of this very customer. The service
// makes one of those for each mail to them, so only other clients can make a row lose them all.
const ROUNDS: u32 = 10;

/// Makes the changes of all rows. Fails with [`Error::Changed`] if other clients keep changing a customer, with
/// [`Error::Busy`] after the time limit, and with the errors of [`plan_again`] and of [`Store::change_customers`]. Changes
/// made until then stay: the same list makes those that are left.
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
                // Rows of a lost transaction stay open for the next round.
                Ok(()) | Err(Error::Changed | Error::NotFound) => {}
                // The owner who stays may be activated by a transaction that has lost.
                Err(Error::Refused(refusal)) if refusal == LAST_OWNER && round + 1 < ROUNDS => {}
                Err(error) => return Err(error),
            }
        }
    }
    if rows.iter().any(|row| row.change.is_some()) { Err(Error::Changed) } else { Ok(rows) }
}

/// Plans the rows again from the table. New customers have nothing to be read.
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

/// Makes the changes of these rows in one transaction.
async fn commit(access: &ImportAccess, group: &mut [&mut ImportRow], attempt: &RequestAttempt) -> Result<()> {
    let changes = group.iter().filter_map(|row| row.change.as_ref());
    attempt.commit(attempt.store.change_customers(access.company_id(), changes, access.now)).await?;
    group.iter_mut().for_each(|row| row.change = None);
    Ok(())
}
