//! Serves endpoints whose moment has come, and those that the stream missed.

use std::collections::BTreeSet;

use serde::Serialize;
use shared::auth::System;
use shared::store::{DueCursor, Queue, Sequence, Versioned};
use shared::{Error, Result};

use crate::run::Sender;

/// The most endpoints and feeds of one run; the next run continues.
const LIMIT: usize = 2_000;

/// The result of one run.
#[derive(Debug, Default, Serialize)]
pub struct Summary {
    /// Endpoints that were looked at.
    pub endpoints: usize,
    /// Endpoints that could not be served, because the storage failed.
    pub failed: usize,
    /// How long the endpoint that has waited longest for the schedule was due.
    pub webhook_delay_seconds: i64,
    /// Whether work may remain for the next run.
    pub more: bool,
}

pub(crate) async fn handle(sender: &Sender<'_>) -> Result<Summary> {
    let (mut summary, mut endpoints) = (Summary::default(), BTreeSet::new());
    let now = sender.now();
    for first in DueCursor::all(Queue::Webhooks, now) {
        let mut page = Some(first);
        while let Some(cursor) = page {
            let due = sender.store.due_positions(cursor).await?;
            for position in &due.rows {
                let waited =
                    position.leased_until.or(position.run_at).map_or(0, |at| (now - at).num_seconds());
                summary.webhook_delay_seconds = summary.webhook_delay_seconds.max(waited);
                endpoints.insert((position.company.clone(), position.webhook));
            }
            page = due.next.filter(|_| endpoints.len() < LIMIT);
        }
    }
    let feeds = due_feeds(sender).await?;
    let mut looked_at = Vec::new();
    for feed in feeds {
        let webhooks = sender.store.webhooks(&feed.company).await?;
        endpoints.extend(webhooks.iter().map(|webhook| (feed.company.clone(), webhook.id)));
        looked_at.push((feed, !webhooks.is_empty()));
    }
    summary.endpoints = endpoints.len();
    summary.failed = sender.serve_all(endpoints).await;
    summary.more = sender.is_late();
    if !summary.more && summary.failed == 0 {
        for (feed, has_webhooks) in &looked_at {
            match sender.store.settle_feed(feed, *has_webhooks).await {
                // The next run looks at the events that have come meanwhile.
                Ok(()) | Err(Error::Changed) => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(summary.log(&sender.system))
}

async fn due_feeds(sender: &Sender<'_>) -> Result<Vec<Versioned<Sequence>>> {
    let mut feeds = Vec::new();
    for first in DueCursor::all(Queue::Feeds, sender.now()) {
        let mut page = Some(first);
        while let Some(cursor) = page {
            let due = sender.store.due_feeds(cursor).await?;
            feeds.extend(due.rows);
            page = due.next.filter(|_| feeds.len() < LIMIT);
        }
    }
    Ok(feeds)
}

impl Summary {
    pub(crate) fn log(self, system: &System) -> Self {
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
