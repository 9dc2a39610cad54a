//! Work that continues later, and the loop in which a scheduled function carries it out.
//!
//! **Due.** An item with work to do is in the index by due date, under the moment when the work may begin. The schedule starts a
//! function every minute or every few; it reads what is due, companies in turn, and stops when its time is over. The item stays in
//! the index until a write takes it out or moves it, so that nothing needs to be handed from one invocation to the next.
//!
//! **Lease.** Two invocations may read the same item. Where a step is one transaction under the version that was read, the slower
//! one fails and has done nothing. Work that takes longer, or reaches beyond the table, begins with a write that leases it: the
//! item's [`WorkState`](crate::domain::work::WorkState) then tells until when one worker has it to itself. A lease is longer than
//! its worker can run, or than a step that renews it; the version alone keeps a late worker from overwriting its successor.
//!
//! **Death.** A process may die anywhere. The index shows leased work again at the end of its lease, and work without a lease in
//! the next invocation. Each step is written so that it can be repeated: what was done is found done, or is done again with the
//! same result.
//!
//! **Redelivery.** The table's stream and events of the bucket also start some work, sooner than the schedule would. They may come
//! twice or never: a lease lets one of them do the work, and the index has what they missed.
//!
//! An item that fails never holds up those behind it: the failure is logged and counted, the item stays due. Where another worker or a
//! request was faster, there is nothing to do.
//!
//! Three functions have loops of their own: `export-writer` limits the archives that are written at once, `retention` gives its runs
//! turns, and `webhook-sender` serves endpoints side by side. To follow any kind of work, look for the pages of its items in
//! `store`, then for `lease` and `release` of the item.

use std::time::Duration;

use futures_util::TryStreamExt as _;
use futures_util::stream::{self, StreamExt as _};

use crate::auth::SystemAccess;
use crate::error::Result;
use crate::invocation_summary::InvocationSummary;
use crate::store::{DuePages, VersionedItem};

/// One kind of work that is due.
#[derive(Clone, Copy)]
pub struct DueWork<'a> {
    pub system: &'a SystemAccess,
    /// The name of this work in the log.
    pub name: &'static str,
    /// The time since the start of the invocation after which no other item is begun.
    pub time: Duration,
}

impl DueWork<'_> {
    /// Carries out one item after the other until the time is over. Adds the result of each to the summary.
    ///
    /// # Errors
    /// If the index cannot be read. Failures at an item are counted.
    pub async fn run<T, S, F>(
        &self,
        due: DuePages<'_, T>,
        summary: &mut S,
        mut carry_out: impl FnMut(VersionedItem<T>) -> F,
    ) -> Result<()>
    where
        T: Clone,
        S: InvocationSummary,
        F: Future<Output = Result<S>>,
    {
        let carry_out_alone = |items: Vec<VersionedItem<T>>| {
            let begun: Vec<_> = items.into_iter().map(|item| (item.clone(), carry_out(item))).collect();
            async {
                let mut ended = S::default();
                for (item, work) in begun {
                    let result = work.await;
                    ended.note_result(self.name, &item, result).into_iter().for_each(|part| ended.add(part));
                }
                ended
            }
        };
        self.run_together(1, due, summary, carry_out_alone).await
    }

    /// Carries out up to `most` items together until the time is over, but once at least, unless the first two pages are empty.
    /// `carry_out` notes the result of each.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub async fn run_together<T, S, F>(
        &self,
        most: usize,
        mut due: DuePages<'_, T>,
        summary: &mut S,
        mut carry_out: impl FnMut(Vec<VersionedItem<T>>) -> F,
    ) -> Result<()>
    where
        S: InvocationSummary,
        F: Future<Output = S>,
    {
        let mut is_first = true;
        while let Some(page) = due.try_next().await? {
            // Pages may be empty, such as those of a company that has not started, and there may be thousands of them.
            if page.is_empty() && !is_first && self.is_over() {
                summary.note_more();
                return Ok(());
            }
            is_first = false;
            let mut batches = stream::iter(page).chunks(most);
            while let Some(batch) = batches.next().await {
                summary.add(carry_out(batch).await);
                // The time is checked after the first item: an invocation whose time others take up every time gets further as
                // well.
                if self.is_over() {
                    summary.note_more();
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Whether nothing new may begin.
    pub fn is_over(&self) -> bool {
        self.system.usage().elapsed() >= self.time
    }
}

/// Items that were read before, as the pages that [`DueWork`] runs over.
pub fn due_again<'a, T: Send + 'a>(items: Vec<VersionedItem<T>>) -> DuePages<'a, T> {
    stream::iter([Ok(items)]).boxed()
}
