//! The numbered events of a company, in the order of their numbers.
//!
//! The index that lists them lags behind the table, in any order. But numbers have no gaps: a reader stops before a missing
//! number, and so never passes an event that the index has yet to show.

use chrono::{DateTime, TimeDelta, Utc};

use super::Store;
use super::history::Sequence;
use super::item::{self, Versioned, string};
use super::keys::{self, BY_STATUS};
use super::query::Query;
use crate::domain::history::Entry;
use crate::domain::id::CompanyId;
use crate::error::{Error, Result};

/// The most events that one request looks at, whatever its filter leaves of them.
const MAX_LOOKED_AT: usize = 500;
/// The index lags by less. A number that is missing for longer has expired, or was left out after a restoration.
const SETTLED: TimeDelta = TimeDelta::minutes(10);

/// Events of a company, and how far the request has come.
#[derive(Debug)]
pub struct Feed {
    /// The events that the filter has left.
    pub events: Vec<Versioned<Entry>>,
    /// The number of the last event that was looked at; the requested place if there was none.
    pub reached: u64,
    /// Whether more can be read at once.
    pub more: bool,
}

/// A number that the index shows, and its event unless that was deleted or has expired.
type Row = (u64, Option<Versioned<Entry>>);

impl Store {
    /// Up to `most` wanted events after number `after`, ascending. Fails with [`Error::Expired`] if the events right after
    /// that have expired, and with a message on `after` if there is no such number yet.
    pub async fn events_after(
        &self,
        sequence: &Sequence,
        after: u64,
        most: usize,
        now: DateTime<Utc>,
        is_wanted: impl Fn(&Entry) -> bool,
    ) -> Result<Feed> {
        let Sequence { company, last, at, .. } = sequence;
        if after > *last {
            return Err(Error::field("after", format!("The latest event has the number {last}.")));
        }
        let mut feed = Feed { events: Vec::new(), reached: after, more: false };
        let (mut seen, mut looked_at, mut is_settled) = (after, 0, *at + SETTLED <= now);
        while seen < *last && looked_at < MAX_LOOKED_AT {
            let query = Query::new(BY_STATUS, string(keys::events(company)));
            let rows = self.rows(query.after(keys::event_number(seen)), most, now).await?;
            if rows.is_empty() {
                break;
            }
            for (number, event) in rows {
                looked_at += 1;
                // Expired ones are not missing.
                let is_next = number == std::mem::replace(&mut seen, number) + 1;
                let Some(event) = event else { continue };
                if !is_next && event.numbered_at.is_some_and(|at| at + SETTLED > now) {
                    return Ok(feed);
                }
                if number > after + 1 && feed.reached == after && !self.is_kept(company, after, now).await? {
                    return Err(Error::Expired(number));
                }
                (feed.reached, is_settled) = (number, false);
                feed.events.extend(Some(event).filter(|event| is_wanted(event)));
                if feed.events.len() == most {
                    feed.more = number < *last;
                    return Ok(feed);
                }
            }
        }
        // Nothing is left after that number.
        if is_settled && after < *last && !self.is_kept(company, after, now).await? {
            return Err(Error::Expired(last + 1));
        }
        if is_settled && looked_at == 0 {
            feed.reached = *last;
        }
        feed.more = looked_at >= MAX_LOOKED_AT && feed.reached < *last;
        Ok(feed)
    }

    /// Up to `most` wanted events before number `before`, descending. Events of the last seconds may be missing.
    pub async fn events_before(
        &self,
        company: &CompanyId,
        before: u64,
        most: usize,
        now: DateTime<Utc>,
        is_wanted: impl Fn(&Entry) -> bool,
    ) -> Result<Feed> {
        let mut feed = Feed { events: Vec::new(), reached: before, more: false };
        let mut looked_at = 0;
        while looked_at < MAX_LOOKED_AT {
            let query = Query::new(BY_STATUS, string(keys::events(company)));
            let mut query = query.before(keys::event_number(feed.reached));
            query.backwards = true;
            let rows = self.rows(query, most, now).await?;
            if rows.is_empty() {
                return Ok(feed);
            }
            for (number, event) in rows {
                looked_at += 1;
                feed.reached = number;
                feed.events.extend(event.filter(|event| is_wanted(event)));
                if feed.events.len() == most {
                    feed.more = number > 1;
                    return Ok(feed);
                }
            }
        }
        feed.more = feed.reached > 1;
        Ok(feed)
    }

    /// Whether an event with this number, or an earlier one, is still there. Before the first number, all are.
    async fn is_kept(&self, company: &CompanyId, number: u64, now: DateTime<Utc>) -> Result<bool> {
        let query = Query::new(BY_STATUS, string(keys::events(company)));
        let mut query = query.up_to(keys::event_number(number));
        query.backwards = true;
        Ok(number == 0 || self.rows(query, 1, now).await?.iter().any(|(_, event)| event.is_some()))
    }

    async fn rows(&self, mut query: Query, most: usize, now: DateTime<Utc>) -> Result<Vec<Row>> {
        query.limit = Some(most);
        let found = self.query(&query).await?.rows;
        let keys = item::keys_of(&found)?;
        let mut batch = self.get(keys.iter().cloned()).await?;
        let mut rows = Vec::with_capacity(found.len());
        for (row, key) in found.iter().zip(keys) {
            let number = row.get(BY_STATUS.sk).and_then(|number| number.as_s().ok()?.parse().ok());
            let number = number.ok_or_else(|| Error::internal("an event without a number in the index"))?;
            let event = batch.take::<Entry>(&key)?;
            rows.push((number, event.filter(|event| event.is_kept(now))));
        }
        Ok(rows)
    }
}
