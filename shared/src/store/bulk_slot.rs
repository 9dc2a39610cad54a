//! Slots that limit how many bulk requests (about many candidates) of one company run at once. A request leases a slot.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::idempotency::ASK_AGAIN;
use super::table::handle::Store;
use super::table::item::{self, EXPIRES_AT, StoredEntity, VersionedItem, number_in};
use super::table::keys::{self, ItemKey};
use super::table::write::condition::WriteCondition;
use crate::domain::id::CompanyId;
use crate::error::{Error, Result};

/// How many bulk requests of one company run at once.
// Each occupies an execution of the function for up to 29 seconds, and all companies share the executions.
const SLOTS: u8 = 2;
/// How long a request holds its slot unless it releases it.
// Longer than the function may run, so that only a request that died loses its slot to another.
const LEASE: TimeDelta = TimeDelta::seconds(30);

/// A slot that a request holds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct BulkSlot {
    company: CompanyId,
    number: u8,
    until: DateTime<Utc>,
}

impl StoredEntity for BulkSlot {
    fn key(&self) -> ItemKey {
        keys::bulk_slot(&self.company, self.number)
    }

    fn expires_at(&self) -> Option<DateTime<Utc>> {
        Some(self.until)
    }
}

impl Store {
    /// Takes a slot of the company. Fails with [`Error::CompanyBusy`] if other requests hold all slots.
    pub async fn take_bulk_slot(
        &self,
        company: &CompanyId,
        now: DateTime<Utc>,
    ) -> Result<VersionedItem<BulkSlot>> {
        let mut wait = ASK_AGAIN;
        for number in 0..SLOTS {
            let slot = item::first(BulkSlot { company: company.clone(), number, until: now + LEASE })?;
            match self.put_item(slot.stored().clone(), WriteCondition::AbsentOrExpired(now)).await? {
                Ok(()) => return Ok(slot),
                Err(held) => {
                    let end: Option<i64> = held.and_then(|held| number_in(&held, EXPIRES_AT));
                    wait = wait.min(end.map_or(1, |end| end - now.timestamp()));
                }
            }
        }
        Err(Error::CompanyBusy(wait.max(1)))
    }

    /// Releases a slot; only logs an error, because an unreleased slot becomes free when its lease ends.
    pub async fn release_bulk_slot(&self, slot: &VersionedItem<BulkSlot>) {
        if let Err(error) = self.erase(slot).await {
            tracing::warn!(target: "bulk", %error, "a slot was not released");
        }
    }
}
