//! The usage of a company in each month.
//!
//! The numbering of events counts months that are open in the [`EventSequence`], which each batch writes anyway, so that counting costs
//! no write. The first batch after a month has become final moves it to an item of its own, in its transaction.

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
    /// Reads the usage of the company of `sequence`, up to the last event that this counts.
    // Closed months are read after the sequence: a month that is closed in between is in both, not in none.
    pub async fn usage_up_to(&self, sequence: &EventSequence) -> Result<UsageByMonth> {
        let closed = self.closed_usage(&sequence.company).await?;
        Ok(closed.usage.clone().replaced_by(sequence.usage.clone()))
    }

    async fn closed_usage(&self, company: &CompanyId) -> Result<VersionedItem<ClosedUsage>> {
        let none = ClosedUsage { company: company.clone(), usage: UsageByMonth::default() };
        let found = self.one(none.key()).await?;
        Ok(found.unwrap_or_else(|| VersionedItem::not_stored(none)))
    }

    /// Moves the months that are final at `now` from the sequence, which each batch of events writes, to the item of closed months.
    /// Makes no call if there are none.
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
