//! The usage of a company in each month.
//!
//! While a month is open, the numbering of events counts its usage in the [`EventSequence`]: each batch writes that
//! item anyway, so counting costs no extra write. Once a month is final, the next batch moves it to an item of its own,
//! in the batch's transaction.

use chrono::{DateTime, Utc};

use crate::domain::company::usage::{ClosedUsage, UsageByMonth};
use crate::domain::id::CompanyId;
use crate::error::Result;
use crate::store::history::EventSequence;
use crate::store::table::handle::Store;
use crate::store::table::item::{StoredEntity, VersionedItem};
use crate::store::table::keys::{self, ItemKey};
use crate::store::table::write::transaction::Transaction;

impl StoredEntity for ClosedUsage {
    fn key(&self) -> ItemKey {
        keys::closed_usage(&self.company)
    }
}

impl Store {
    /// Reads a company's usage up to the last event that `sequence` counts.
    // Read closed months after the sequence: a month that is closed in between is then in both, not in neither.
    pub async fn usage_up_to(&self, sequence: &EventSequence) -> Result<UsageByMonth> {
        let closed = self.closed_usage(&sequence.company).await?;
        Ok(closed.usage.clone().replaced_by(sequence.usage.clone()))
    }

    async fn closed_usage(&self, company: &CompanyId) -> Result<VersionedItem<ClosedUsage>> {
        let none = ClosedUsage { company: company.clone(), usage: UsageByMonth::default() };
        let found = self.one(none.key()).await?;
        Ok(found.unwrap_or_else(|| VersionedItem::not_stored(none)))
    }

    /// Moves the months that are final at `now` from the sequence to the item of closed months. Makes no call if there are none.
    pub(in crate::store) async fn close_months(
        &self,
        transaction: &mut Transaction,
        sequence: &mut EventSequence,
        now: DateTime<Utc>,
    ) -> Result<()> {
        let closing = sequence.usage.take_final(now);
        if closing.is_empty() {
            return Ok(());
        }
        let before = self.closed_usage(&sequence.company).await?;
        let mut after = ClosedUsage::clone(&before);
        for (month, counts) in closing.months() {
            after.usage.add(month, counts);
        }
        transaction.save(&before, &after);
        Ok(())
    }
}
