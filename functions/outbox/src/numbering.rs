//! Numbers the events that changes have written.

use std::collections::BTreeMap;

use shared::auth::SystemAccess;
use shared::domain::id::CompanyId;
use shared::store::{DueCursor, DueQueue, EntryKey};
use shared::{Error, Result};

use crate::sweep::RUN;

/// The result of a sweep of events that the stream missed.
#[derive(Default)]
pub(crate) struct NumberingSummary {
    /// Events that were found without a number.
    pub(crate) events: usize,
    /// Companies whose events could not be numbered.
    pub(crate) failed: usize,
    /// The age of the oldest of these events.
    pub(crate) lag_seconds: i64,
}

/// Numbers events, company by company, and returns the companies whose events could not be numbered.
pub(crate) async fn number(
    system: &SystemAccess,
    entries: impl IntoIterator<Item = EntryKey>,
) -> BTreeMap<CompanyId, Error> {
    let mut companies = BTreeMap::<CompanyId, Vec<EntryKey>>::new();
    for entry in entries {
        companies.entry(entry.company.clone()).or_default().push(entry);
    }
    let mut failed = BTreeMap::new();
    for (company, entries) in companies {
        if let Err(error) = system.store.number_events(&company, &entries, system.now).await {
            tracing::error!(target: "outbox", company = company.as_str(), %error, "events were not numbered");
            failed.insert(company, error);
        }
    }
    failed
}

/// Numbers events that the stream missed.
pub(crate) async fn sweep(system: &SystemAccess) -> Result<NumberingSummary> {
    let mut swept = NumberingSummary::default();
    for first in DueCursor::all(DueQueue::Events, system.now) {
        let mut page = Some(first);
        while let Some(cursor) = page {
            let due = system.store.due_events(cursor).await?;
            for event in &due.rows {
                swept.events += 1;
                swept.lag_seconds = swept.lag_seconds.max((system.now - event.origin.at).num_seconds());
            }
            swept.failed += number(system, due.rows.iter().map(|event| EntryKey::of(event))).await.len();
            page = due.next.filter(|_| system.usage().elapsed() < RUN);
        }
    }
    Ok(swept)
}
