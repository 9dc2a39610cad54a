//! Serves endpoints that are due or that the stream has missed.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use shared::domain::id::{CompanyId, WebhookId};
use shared::invocation_summary::InvocationSummary;
use shared::store::{DuePages, VersionedItem};
use shared::{Error, Result, invocation_summary};

use crate::deliver::EventTransport as _;
use crate::deliver::{ENDPOINTS, SenderInvocation};

/// The approximate maximum of endpoints, and of feeds, in one invocation; the next invocation continues.
const MAX_PER_INVOCATION: usize = 2000;

invocation_summary! {
    "webhooks", "swept";
    /// The result of one invocation of the schedule.
    pub struct DeliverySummary {
        /// Endpoints that were checked.
        pub endpoints: usize,
        /// How long the most overdue endpoint has been overdue, in seconds.
        pub webhook_delay_seconds: i64,
    }
}

/// Webhooks to serve, and since when they have been due.
type DueWebhooks = Vec<(DateTime<Utc>, (CompanyId, WebhookId))>;

pub(crate) async fn handle(invocation: &SenderInvocation<'_>) -> Result<DeliverySummary> {
    let store = invocation.store();
    let now = invocation.now();
    let cursors = read_due(store.due_cursors(now)).await?;
    let mut due: DueWebhooks = Vec::new();
    for cursor in &cursors {
        let since = cursor.work.indexed_at().unwrap_or(now);
        due.push((since, (cursor.company.clone(), cursor.webhook)));
    }
    let oldest = due.iter().map(|(since, _)| (now - *since).num_seconds()).max();
    let read = read_due(store.due_feeds(now)).await?.into_iter().map(|feed| async move {
        let webhooks = store.webhooks(&feed.company).await?;
        Ok::<_, Error>((feed, webhooks))
    });
    let mut feeds: Vec<_> = stream::iter(read).buffered(ENDPOINTS).try_collect().await?;
    for (feed, webhooks) in &feeds {
        let since = feed.delivery_due_at.unwrap_or(now);
        due.extend(webhooks.iter().map(|webhook| (since, (feed.company.clone(), webhook.id))));
    }
    let endpoints = longest_first(due);
    let webhook_delay_seconds = oldest.unwrap_or_default().max(0);
    let mut summary =
        DeliverySummary { endpoints: endpoints.len(), webhook_delay_seconds, ..DeliverySummary::default() };
    for (company, served) in invocation.serve_all(endpoints).await {
        summary.failed += usize::from(served.is_err());
        summary.moved_on += usize::from(matches!(served, Ok(false)));
        if !matches!(served, Ok(true)) {
            // Keep the feed due: the storage has failed, or another invocation is serving the endpoint and may not know
            // the latest number.
            feeds.retain(|(feed, _)| feed.company != company);
        }
    }
    let started = feeds.into_iter().map(|(feed, webhooks)| async move {
        match store.note_deliveries_started(&feed, !webhooks.is_empty()).await {
            // Events have arrived in the meantime; the next invocation handles them.
            Ok(()) | Err(Error::Changed) => Ok(()),
            Err(error) => Err(error),
        }
    });
    let started: Vec<Result<()>> = stream::iter(started).buffer_unordered(ENDPOINTS).collect().await;
    started.into_iter().collect::<Result<()>>()?;
    summary.more = invocation.is_over();
    summary.log(invocation.system.usage());
    Ok(summary)
}

async fn read_due<T>(mut pages: DuePages<'_, T>) -> Result<Vec<VersionedItem<T>>> {
    let mut due = Vec::new();
    // The limit counts due items, not pages: unreadable items must not hold up those behind them.
    while due.len() < MAX_PER_INVOCATION
        && let Some(page) = pages.try_next().await?
    {
        due.extend(page);
    }
    Ok(due)
}

/// Each webhook once, the longest overdue first, so that those served last come last next time.
fn longest_first(mut due: DueWebhooks) -> Vec<(CompanyId, WebhookId)> {
    due.sort();
    let mut seen = BTreeSet::new();
    due.into_iter().map(|(_, due)| due).filter(|due| seen.insert(due.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_webhook_is_served_once_the_longest_due_first() {
        let second = |number| DateTime::from_timestamp(number, 0).unwrap_or_default();
        let one = |company: &str, text: &str| -> (CompanyId, WebhookId) {
            (company.parse().expect("a company"), text.parse().expect("a webhook"))
        };
        let [a, b] = ["01ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEKTSV4RRFFQ69G5FAW"];
        let due = vec![
            (second(7), one("acme", a)),
            (second(9), one("globex", b)),
            (second(8), one("acme", b)),
            (second(1), one("globex", b)),
        ];
        assert_eq!(longest_first(due), [one("globex", b), one("acme", a), one("acme", b)]);
    }
}
