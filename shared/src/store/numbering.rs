//! Numbers events: those of a company from 1 without gaps, those of one resource in the order of its versions.
//!
//! Numbers are given after the change, so that changes of a company do not wait for each other. All conditions are versions:
//! a repeated, a concurrent and a broken-off attempt change nothing.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};

use super::Store;
use super::amend::ATTEMPTS;
use super::history::{EntryKey, Sequence};
use super::item::Versioned;
use super::keys;
use crate::domain::history::Entry;
use crate::domain::id::CompanyId;
use crate::error::{Error, Result};

/// The most events that one transaction numbers, besides the sequence.
const MAX_TOGETHER: usize = 99;

/// More numbers than a company is given between a backup and its restoration.
const LEFT_OUT: u64 = 1_000_000;

/// Events of a company, by history and version.
type Events = BTreeMap<(String, u64), Versioned<Entry>>;

impl Store {
    /// Numbers these events of one company at `now`, after all earlier ones of the same resources, and returns how many
    /// got a number. Fails with [`Error::Changed`] after too many conflicts with others that number the same company.
    pub async fn number_events(
        &self,
        company: &CompanyId,
        entries: &[EntryKey],
        now: DateTime<Utc>,
    ) -> Result<usize> {
        let (mut numbered, mut lost) = (0, 0);
        loop {
            match self.number_once(company, entries, now).await {
                Ok(0) => return Ok(numbered),
                Ok(count) => numbered += count,
                Err(Error::Changed | Error::NotFound) if lost < ATTEMPTS => {
                    lost += 1;
                    self.give_way(lost as u32).await;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Leaves out a million numbers, so that none is given again after an earlier state of the table was restored. Returns
    /// the last number since; none for a company without events.
    pub async fn advance_sequence(&self, company: &CompanyId, now: DateTime<Utc>) -> Result<Option<u64>> {
        self.retry(|| self.advance_once(company, now)).await
    }

    async fn advance_once(&self, company: &CompanyId, now: DateTime<Utc>) -> Result<Option<u64>> {
        let Some(before) = self.one::<Sequence>(keys::sequence(company)).await? else { return Ok(None) };
        let last = before.last + LEFT_OUT;
        self.replace(&before, Sequence::clone(&before).up_to(last, now)).await?;
        Ok(Some(last))
    }

    async fn number_once(
        &self,
        company: &CompanyId,
        entries: &[EntryKey],
        now: DateTime<Utc>,
    ) -> Result<usize> {
        let sequence = self.one::<Sequence>(keys::sequence(company));
        let (sequence, events) = tokio::try_join!(sequence, self.unnumbered(company, entries))?;
        let events = in_order(events);
        if events.is_empty() {
            return Ok(0);
        }
        let mut transaction = self.transaction();
        let mut last = sequence.as_ref().map_or(0, |sequence| sequence.last);
        let together = events.len().min(MAX_TOGETHER);
        for event in &events[..together] {
            last += 1;
            transaction.replace(event, &Entry::clone(event).numbered(last, now));
        }
        match &sequence {
            Some(before) => transaction.replace(before, &Sequence::clone(before).up_to(last, now)),
            None => {
                let first = Sequence::new(company.clone(), now).up_to(last, now);
                transaction.create_unless(&first, || Error::Changed);
            }
        }
        self.commit(transaction).await?;
        Ok(together)
    }

    /// The events without a number among `entries` and before them.
    ///
    /// A version can only follow one that is committed, and reads of single items never see less than a commit that came
    /// before what they have seen already. So every earlier event of a resource is found, however late its record comes.
    async fn unnumbered(&self, company: &CompanyId, entries: &[EntryKey]) -> Result<Events> {
        // From each entry downwards: the version to look at next, and how many at once.
        let starts: BTreeSet<_> =
            entries.iter().map(|entry| (entry.history.as_str(), entry.version)).collect();
        let mut walks: Vec<_> = starts.into_iter().rev().map(|(history, from)| (history, from, 2)).collect();
        let mut found = Events::new();
        while !walks.is_empty() {
            let versions = |from: u64, count: u64| (from.saturating_sub(count) + 1..=from).rev();
            let key = |history: &str, version| keys::entry(company, history, version);
            let keys = walks.iter().flat_map(|(history, from, count)| {
                versions(*from, *count).map(move |version| key(history, version))
            });
            let mut batch = self.get(keys.collect::<Vec<_>>()).await?;
            let mut left = Vec::new();
            for (history, from, count) in walks {
                let mut goes_on = from > count;
                for version in versions(from, count) {
                    // Another walk has come here before, or one is numbered and so are all before it, or it is missing: it
                    // has expired, or an older release wrote that version.
                    let entry = batch.take_listed::<Entry>(&key(history, version))?;
                    let Some(entry) = entry.filter(|entry| entry.sequence.is_none()) else {
                        goes_on = false;
                        break;
                    };
                    if entry.is_unnumbered() {
                        found.insert((history.to_owned(), version), entry);
                    }
                }
                if goes_on {
                    left.push((history, from - count, count * 2));
                }
            }
            walks = left;
        }
        Ok(found)
    }
}

/// Events by time, but those of one resource by version, whatever the clocks of their functions said.
fn in_order(events: Events) -> Vec<Versioned<Entry>> {
    let mut latest = BTreeMap::<String, DateTime<Utc>>::new();
    let mut timed = Vec::with_capacity(events.len());
    for ((history, version), event) in events {
        let at = latest.entry(history).or_insert(event.origin.at);
        *at = event.origin.at.max(*at);
        timed.push((*at, event.change.resource, version, event));
    }
    timed.sort_by_key(|(at, resource, version, _)| (*at, *resource, *version));
    timed.into_iter().map(|(.., event)| event).collect()
}
