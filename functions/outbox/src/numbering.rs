//! Assigns numbers to the events that changes have written.
//!
//! A change commits its event without a number: a number taken in the transaction would make all changes of a
//! company wait for each other. The outbox numbers events afterwards, in
//! [`Store::assign_numbers`](shared::store::Store::assign_numbers): those of a company without gaps, but for
//! the numbers that a restore leaves out, and those of one resource in the order of its versions. Each event
//! names the one before it in its history; that one is numbered first, even if the stream has yet to deliver
//! it.
//!
//! The stream delivers events as they are committed; the schedule finds those that have no number a minute
//! later. Both may number one event at once, and a batch may be delivered twice: a number is written only if
//! neither the event nor the company's sequence has changed since they were read, so the slower one reads
//! again and finds nothing left to do. Companies fail by themselves: the records of a company that failed are
//! reported, so that the stream delivers them again.

use std::collections::BTreeMap;

use shared::auth::SystemAccess;
use shared::domain::id::CompanyId;
use shared::store::EntryKey;
use shared::work::DueWork;
use shared::{Error, Result, log_failure};

use crate::outcome::SweepSummary;

/// Events that are numbered together.
const TOGETHER: usize = 100;

/// Assigns numbers to events, company by company. Returns the companies whose events have none yet.
pub(crate) async fn assign_numbers(
    system: &SystemAccess,
    entries: impl IntoIterator<Item = EntryKey>,
) -> BTreeMap<CompanyId, Error> {
    let mut companies = BTreeMap::<CompanyId, Vec<EntryKey>>::new();
    for entry in entries {
        companies.entry(entry.company.clone()).or_default().push(entry);
    }
    let mut failed = BTreeMap::new();
    for (company, entries) in companies {
        if let Err(error) = system.store.assign_numbers(&company, &entries, system.now).await {
            log_failure!(target: "outbox", &error, company = company.as_str(), "could not number events");
            failed.insert(company, error);
        }
    }
    failed
}

/// Assigns numbers to events that the stream missed.
pub(crate) async fn assign_missing_numbers(work: DueWork<'_>, summary: &mut SweepSummary) -> Result<()> {
    let system = work.system;
    work.run_together(TOGETHER, system.store.due_events(system.now), summary, |events| async move {
        let oldest = events.iter().map(|event| event.origin.at).min();
        let failed = assign_numbers(system, events.iter().map(|event| EntryKey::of(event))).await;
        SweepSummary {
            events: events.len(),
            numbering_lag_seconds: oldest.map_or(0, |at| (system.now - at).num_seconds()),
            failed: failed.len(),
            ..SweepSummary::default()
        }
    })
    .await
}
