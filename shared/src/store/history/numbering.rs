//! Numbers the events of a company: from 1 without gaps, and those of one resource in the order of its versions.
//!
//! Events are numbered after the change, so that changes of a company do not wait for each other. All writes are
//! conditional on versions, so repeated, concurrent and interrupted attempts number nothing twice.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use chrono::{DateTime, Utc};
use serde::Deserialize;

use crate::domain::history::{HistoryEntry, ResourceRef};
use crate::domain::id::CompanyId;
use crate::domain::staff::ended_interviews::EndedInterview;
use crate::domain::staff::notice::InterviewWave;
use crate::domain::text::ExternalId;
use crate::error::Result;
use crate::store::history::{EntryKey, EventSequence};
use crate::store::table::handle::Store;
use crate::store::table::item::VersionedItem;
use crate::store::table::keys::{self, ItemKey};
use crate::store::table::read::projection::ProjectionExpression;
use crate::store::table::retry::RetryPolicy;

/// The most events that one transaction numbers. Three more writes are for the sequence, the wave of ended interviews,
/// and the months that are closed.
const MAX_TOGETHER: usize = 97;

/// How many numbers to leave out: more than a company is given between a backup and its restore.
const LEFT_OUT: u64 = 1_000_000;

/// Events of a company, by history and version.
type EventsByHistory = BTreeMap<(String, u64), VersionedItem<HistoryEntry>>;

impl Store {
    /// Assigns the next numbers to these events of one company at `now`, after numbering all earlier events of the same
    /// resources. Fails with [`crate::Error::Changed`] after too many conflicts with concurrent numbering for the
    /// company.
    pub async fn assign_numbers(
        &self,
        company: &CompanyId,
        entries: &[EntryKey],
        now: DateTime<Utc>,
    ) -> Result<()> {
        self.retry_on_conflict(RetryPolicy::COUNTER, || self.assign_numbers_once(company, entries, now)).await
    }

    /// Leaves out a million numbers, so that none is given twice after a restore of the table. Returns the new last
    /// number; `None` for a company without events.
    pub async fn advance_sequence(&self, company: &CompanyId, now: DateTime<Utc>) -> Result<Option<u64>> {
        self.retry_on_conflict(RetryPolicy::CHANGE, || self.advance_once(company, now)).await
    }

    async fn advance_once(&self, company: &CompanyId, now: DateTime<Utc>) -> Result<Option<u64>> {
        let Some(before) = self.one::<EventSequence>(keys::sequence(company)).await? else { return Ok(None) };
        let mut after = EventSequence::clone(&before);
        // Clients may have seen these numbers before the restore.
        after.advance(LEFT_OUT, now)?;
        let last = after.last;
        self.replace(&before, after).await?;
        Ok(Some(last))
    }

    async fn assign_numbers_once(
        &self,
        company: &CompanyId,
        entries: &[EntryKey],
        now: DateTime<Utc>,
    ) -> Result<()> {
        let sequence = self.one::<EventSequence>(keys::sequence(company));
        let (sequence, events) = tokio::try_join!(sequence, self.unnumbered(company, entries))?;
        let (owners, mut wave) =
            tokio::try_join!(self.owners_of(company, &events), self.wave_before(company, &events))?;
        let mut sequence =
            sequence.unwrap_or_else(|| VersionedItem::not_stored(EventSequence::new(company.clone(), now)));
        for together in in_order(events).chunks(MAX_TOGETHER) {
            let mut transaction = self.transaction();
            let mut after = EventSequence::clone(&sequence);
            let mut numbered = Vec::with_capacity(together.len());
            for event in together {
                let told = owners.tell(after.number(HistoryEntry::clone(event), now)?);
                // Conditional on the versions of entry and sequence, so that concurrent or repeated numbering changes nothing twice.
                transaction.replace(event, &told);
                numbered.push(told);
            }
            self.close_months(&mut transaction, &mut after, now).await?;
            transaction.save(&sequence, &after);
            wave = transaction.note_interviews(wave, &numbered, now)?;
            self.commit(transaction).await?;
            sequence = sequence.followed_by(after)?;
        }
        Ok(())
    }

    /// Reads the company's wave of ended interviews. Makes no call if none of these events is the end of an interview.
    async fn wave_before(
        &self,
        company: &CompanyId,
        events: &EventsByHistory,
    ) -> Result<Option<VersionedItem<InterviewWave>>> {
        if events.values().all(|event| EndedInterview::of_event(event).is_none()) {
            return Ok(None);
        }
        self.interview_wave(company).await
    }

    /// Reads the events without a number among `entries`, and all such events before them.
    ///
    /// Each event names the previous event of its resource, which was committed first. A consistent read that follows a
    /// read of an event also finds its predecessor. So every earlier event is found, however late its stream record
    /// arrives, and however many entries that are no events lie in between.
    async fn unnumbered(&self, company: &CompanyId, entries: &[EntryKey]) -> Result<EventsByHistory> {
        let mut places: BTreeSet<_> =
            entries.iter().map(|entry| (entry.history_id.clone(), entry.version)).collect();
        let mut found = EventsByHistory::new();
        while !places.is_empty() {
            let keys = places.iter().map(|(history_id, version)| keys::entry(company, history_id, *version));
            let mut batch = self.get(keys).await?;
            let mut earlier = BTreeSet::new();
            for place in places {
                // All events before a numbered event have numbers. If an entry is missing, it has expired, and so have
                // all entries before it.
                let key = keys::entry(company, &place.0, place.1);
                let entry = batch.take_listed::<HistoryEntry>(&key)?;
                let Some(event) = entry.filter(|entry| entry.is_unnumbered()) else { continue };
                earlier.extend(event.event_before.map(|version| (place.0.clone(), version)));
                found.insert(place, event);
            }
            earlier.retain(|place| !found.contains_key(place));
            places = earlier;
        }
        Ok(found)
    }
}

/// The `external_id`s of the candidates and projects that the resources of events belong to.
#[derive(Default)]
struct OwnerKeys(HashMap<ItemKey, ExternalId>);

/// The attributes of candidates and projects that hold their `external_id`.
const EXTERNAL_IDS: ProjectionExpression =
    ProjectionExpression::new("pk, sk, profile.external_id, settings.external_id", &[]);

/// The part of a candidate or a project that holds its `external_id`.
#[derive(Deserialize)]
struct KeyedResource {
    #[serde(alias = "profile", alias = "settings")]
    fields: Option<KeyedFields>,
}

#[derive(Deserialize)]
struct KeyedFields {
    external_id: Option<ExternalId>,
}

impl OwnerKeys {
    /// Adds to an event the `external_id`s of the candidate and project that its resource belongs to.
    fn tell(&self, mut event: HistoryEntry) -> HistoryEntry {
        let [candidate, project] = owners(&event.change.company, event.change.resource);
        let [candidate, project] = [candidate, project].map(|key| self.0.get(&key?).cloned());
        event.change = event.change.with_keys_of_owners(candidate, project);
        event
    }
}

/// The candidate and the project whose `external_id`s an event of this resource shows, besides the resource's own.
fn owners(company: &CompanyId, resource: ResourceRef) -> [Option<ItemKey>; 2] {
    match resource {
        ResourceRef::Candidate { project, .. } => [None, Some(keys::project(company, project))],
        ResourceRef::Interview { project, candidate } => {
            let candidate = keys::candidate(company, project, candidate);
            [Some(candidate), Some(keys::project(company, project))]
        }
        _ => [None, None],
    }
}

impl Store {
    /// Reads the `external_id`s of the candidates and projects that the resources of `events` belong to. Makes no call
    /// if they belong to none.
    // Read when events are numbered, not when they are written: the function that converts takes has no right to read
    // candidates, and schedules have not loaded the project. Events are numbered within a second of the change.
    async fn owners_of(&self, company: &CompanyId, events: &EventsByHistory) -> Result<OwnerKeys> {
        let resources = events.values().map(|event| event.change.resource);
        let wanted: BTreeSet<ItemKey> =
            resources.flat_map(|resource| owners(company, resource)).flatten().collect();
        let mut batch = self.get_attributes(wanted.iter().cloned(), &EXTERNAL_IDS).await?;
        let mut found = OwnerKeys::default();
        for key in wanted {
            let read = batch.take_listed_value::<KeyedResource>(&key)?;
            let external_id = read.and_then(|read| read.fields?.external_id);
            found.0.extend(external_id.map(|external_id| (key, external_id)));
        }
        Ok(found)
    }
}

/// Sorts events by time, but those of one resource by version, even if the clocks of functions disagree.
fn in_order(events: EventsByHistory) -> Vec<VersionedItem<HistoryEntry>> {
    let mut latest = BTreeMap::<String, DateTime<Utc>>::new();
    let mut timed = Vec::with_capacity(events.len());
    for ((history_id, version), event) in events {
        let at = latest.entry(history_id).or_insert(event.origin.at);
        *at = event.origin.at.max(*at);
        timed.push((*at, event.change.resource, version, event));
    }
    timed.sort_by_key(|(at, resource, version, _)| (*at, *resource, *version));
    timed.into_iter().map(|(.., event)| event).collect()
}
