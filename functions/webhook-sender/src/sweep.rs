//! Serves endpoints whose moment has come, and those that the stream missed.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use serde::Serialize;
use shared::auth::SystemAccess;
use shared::domain::id::{CompanyId, WebhookId};
use shared::store::{DueCursor, DueQueue, EventCounter, VersionedItem};
use shared::{Error, Result};

use crate::sender::{ENDPOINTS, EventSender};

/// About the most endpoints, and the most feeds, of one shard in one run; the next run continues.
const LIMIT: usize = 500;

/// The result of one run.
#[derive(Debug, Default, Serialize)]
pub struct RunSummary {
    /// Endpoints that were looked at.
    pub endpoints: usize,
    /// Endpoints that could not be served, because the storage failed.
    pub failed: usize,
    /// How long the endpoint that has waited longest for the schedule was due.
    pub webhook_delay_seconds: i64,
    /// Whether work may remain for the next run.
    pub more: bool,
}

/// Webhooks to serve, with the moments since when they are due.
type DueWebhooks = Vec<(DateTime<Utc>, (CompanyId, WebhookId))>;

pub(crate) async fn handle(sender: &EventSender<'_>) -> Result<RunSummary> {
    let (now, mut due) = (sender.time(), due_cursors(sender).await?);
    let oldest = due.iter().map(|(since, _)| (now - *since).num_seconds()).max();
    let read = due_feeds(sender).await?.into_iter().map(|feed| async move {
        let webhooks = sender.store().webhooks(&feed.company).await?;
        Ok::<_, Error>((feed, webhooks))
    });
    let mut feeds: Vec<_> = stream::iter(read).buffered(ENDPOINTS).try_collect().await?;
    for (feed, webhooks) in &feeds {
        let since = feed.look_at.unwrap_or(now);
        due.extend(webhooks.iter().map(|webhook| (since, (feed.company.clone(), webhook.id))));
    }
    let endpoints = longest_first(due);
    let summary = RunSummary { endpoints: endpoints.len(), ..RunSummary::default() };
    let unserved = sender.serve_all(endpoints).await;
    feeds.retain(|(feed, _)| !unserved.companies.contains(&feed.company));
    let settled = feeds.into_iter().map(|(feed, webhooks)| async move {
        match sender.store().update_feed_state(&feed, !webhooks.is_empty()).await {
            // The next run looks at the events that have come meanwhile.
            Ok(()) | Err(Error::Changed) => Ok(()),
            Err(error) => Err(error),
        }
    });
    let settled: Vec<Result<()>> = stream::iter(settled).buffer_unordered(ENDPOINTS).collect().await;
    settled.into_iter().collect::<Result<()>>()?;
    let webhook_delay_seconds = oldest.unwrap_or_default().max(0);
    let summary =
        RunSummary { failed: unserved.failed, more: sender.is_over(), webhook_delay_seconds, ..summary };
    Ok(summary.log(sender.system))
}

/// Each webhook once, those first that are due for longest: what was served comes last the next time.
fn longest_first(mut due: DueWebhooks) -> Vec<(CompanyId, WebhookId)> {
    due.sort();
    let mut seen = BTreeSet::new();
    due.into_iter().map(|(_, one)| one).filter(|one| seen.insert(one.clone())).collect()
}

async fn due_cursors(sender: &EventSender<'_>) -> Result<DueWebhooks> {
    let (now, mut cursors) = (sender.time(), DueWebhooks::new());
    for first in DueCursor::all(DueQueue::Webhooks, now) {
        let (mut page, before) = (Some(first), cursors.len());
        while let Some(place) = page {
            let due = sender.store().due_cursors(place).await?;
            cursors.extend(due.rows.iter().map(|cursor| {
                let since = cursor.leased_until.or(cursor.run_at).unwrap_or(now);
                (since, (cursor.company.clone(), cursor.webhook))
            }));
            page = due.next.filter(|_| cursors.len() - before < LIMIT);
        }
    }
    Ok(cursors)
}

async fn due_feeds(sender: &EventSender<'_>) -> Result<Vec<VersionedItem<EventCounter>>> {
    let mut feeds = Vec::new();
    for first in DueCursor::all(DueQueue::Feeds, sender.time()) {
        let (mut page, before) = (Some(first), feeds.len());
        while let Some(cursor) = page {
            let due = sender.store().due_feeds(cursor).await?;
            feeds.extend(due.rows);
            page = due.next.filter(|_| feeds.len() - before < LIMIT);
        }
    }
    Ok(feeds)
}

impl RunSummary {
    pub(crate) fn log(self, system: &SystemAccess) -> Self {
        let Self { endpoints, failed, webhook_delay_seconds, more } = self;
        let usage = system.usage();
        tracing::info!(
            target: "webhooks",
            endpoints,
            failed,
            webhook_delay_seconds,
            more,
            milliseconds = usage.elapsed().as_secs_f64() * 1000.0,
            dynamodb_calls = usage.calls(),
            read_units = usage.read_units(),
            write_units = usage.write_units(),
            "served",
        );
        self
    }
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
