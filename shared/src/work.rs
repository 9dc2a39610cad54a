//! Work that continues later, and the loop in which scheduled functions run it.
//!
//! **Due.** An item with pending work is in the index of due work, under the time when the work may begin. A schedule starts a
//! function every minute or every few minutes. The function reads the due items, companies in turn, and stops when its time is
//! over. The item stays in the index until a write removes or moves it, so one invocation hands nothing to the next.
//!
//! **Lease.** Two invocations may read the same item. If a step is one transaction that requires the version that was read, the
//! slower invocation fails without having done anything. Work that takes longer, or reaches beyond the table, begins with a write
//! that takes a lease: the item's [`WorkState`](crate::domain::work::WorkState) then says until when one worker owns the item. A
//! lease is longer than its worker can run, or than a step that renews the lease. A late worker cannot overwrite its successor's
//! work, because the item's version has changed.
//!
//! **Death.** A process may die at any point. Leased work is due again when its lease ends, and work without a lease in the next
//! invocation. Each step is idempotent: a retry finds it done, or does it again with the same result.
//!
//! **Redelivery.** The table's stream and events of the bucket start some work sooner than the schedule would. They may arrive
//! twice or never: a lease lets only one of them do the work, and the index still has the work of those that never arrive.
//!
//! A failed item never blocks those behind it: the failure is logged and counted, and the item stays due. If another worker or a
//! request was faster, there is nothing to do.
//!
//! Three functions have loops of their own: `export-writer` limits how many archives it writes at once, `retention` runs its work
//! in turns, and `webhook-sender` serves endpoints concurrently. To follow a kind of work, look for the pages of its items in
//! `store`, then for `lease` and `release` of the item.

use std::time::Duration;

use futures_util::TryStreamExt as _;
use futures_util::stream::{self, StreamExt as _};

use crate::auth::SystemAccess;
use crate::error::Result;
use crate::invocation_summary::InvocationSummary;
use crate::store::{DuePages, VersionedItem};

/// One kind of due work, and the limits for running it.
#[derive(Clone, Copy)]
pub struct DueWork<'a> {
    pub system: &'a SystemAccess,
    /// The name of the work in the log.
    pub name: &'static str,
    /// After this time since the start of the invocation, no further item is begun.
    pub time: Duration,
}

impl DueWork<'_> {
    /// Runs `carry_out` for one item after the other until the time is over, and adds each result to `summary`.
    ///
    /// # Errors
    /// If the index cannot be read. Failures of items are only counted.
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

    /// Runs `carry_out` for up to `most` items at a time until the time is over. Runs at least one batch even if the time is
    /// already over, unless the first two pages are empty. `carry_out` records the result of each item.
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
            // There may be thousands of empty pages, for example of a company that has not started, so check the time here too.
            if page.is_empty() && !is_first && self.is_over() {
                summary.note_more();
                return Ok(());
            }
            is_first = false;
            let mut batches = stream::iter(page).chunks(most);
            while let Some(batch) = batches.next().await {
                summary.add(carry_out(batch).await);
                // Check the time only after the first batch, so that each invocation makes progress even if other work always
                // uses up its time.
                if self.is_over() {
                    summary.note_more();
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Whether the time is over, so that nothing new may begin.
    pub fn is_over(&self) -> bool {
        self.system.usage().elapsed() >= self.time
    }
}

/// Items that were already read, as pages for [`DueWork`].
pub fn due_again<'a, T: Send + 'a>(items: Vec<VersionedItem<T>>) -> DuePages<'a, T> {
    stream::iter([Ok(items)]).boxed()
}
