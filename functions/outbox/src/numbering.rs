//! Assigns numbers to the events that changes have written.
//!
//! A change commits its event without a number: taking a number in the transaction would serialise all changes of a
//! company. The outbox numbers events afterwards, in [`Store::assign_numbers`](shared::store::Store::assign_numbers):
//! those of a company without gaps, except for numbers that a restore skips, and those of a resource in the order of
//! its versions. Each event names its predecessor in the history; the predecessor is numbered first, even if the stream
//! has not delivered it yet.
//!
//! The stream delivers events as they are committed; the schedule finds events that have no number after a minute. Both
//! may number the same event, and a batch may be delivered twice: a number is written only if neither the event nor the
//! company's sequence has changed since they were read, so the slower worker reads again and finds nothing to do.
//! Companies fail independently: the records of a failed company are reported, so that the stream delivers them again.

use std::collections::BTreeMap;

use shared::auth::SystemAccess;
use shared::domain::id::CompanyId;
use shared::store::EntryKey;
use shared::work::DueWork;
use shared::{Error, Result, log_failure};

use crate::outcome::SweepSummary;

/// The number of events that are numbered together.
const TOGETHER: usize = 100;

/// Assigns numbers to events, company by company. Returns the companies whose events could not be numbered, with the
/// errors.
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

/// Assigns numbers to events that the stream has missed.
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
