//! The next events of the feed, for which no client waits in particular.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use chrono::TimeDelta;
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use shared::domain::history::Entry;
use shared::domain::webhook::{Attempt, Lane, Position, Round, Verdict};
use shared::store::Endpoint;
use shared::{Error, Result};

use crate::run::Sender;
use crate::step::Outcome;

/// The most events of a step: what a run that breaks off repeats. Their attempts and lanes fit into one transaction.
const PAGE: usize = 32;
/// Resources whose events are sent at once. Those of one resource are sent one after the other.
const AT_ONCE: usize = 8;

/// The next events of the feed for an endpoint.
pub(crate) enum Events {
    /// These, and the number up to which there are no others.
    Wanted(Vec<Entry>, u64),
    /// Those before this number have expired.
    Expired(u64),
}

/// Events of one resource, and the result of sending them.
struct Group {
    history: String,
    events: Vec<Entry>,
    /// How many may be sent.
    limit: usize,
    /// How many the endpoint has accepted.
    taken: usize,
    /// The endpoint has not accepted the next one, and asks for nothing for that long.
    refused: Option<TimeDelta>,
    attempts: Vec<Attempt>,
}

impl Group {
    fn new(history: String, first: Entry) -> Self {
        Self { history, events: vec![first], limit: 0, taken: 0, refused: None, attempts: Vec::new() }
    }
}

impl Sender<'_> {
    /// The next events; none if the index does not show any yet.
    pub(crate) async fn read_feed(&self, endpoint: &Endpoint) -> Result<Option<Events>> {
        let Endpoint { webhook, position, sequence, .. } = endpoint;
        let is_wanted = |entry: &Entry| webhook.wants(entry);
        match self.store().events_after(sequence, position.after, PAGE, self.now(), is_wanted).await {
            Ok(feed) if feed.reached == position.after => Ok(None),
            Ok(feed) => {
                let events = feed.events.iter().map(|event| Entry::clone(event)).collect();
                Ok(Some(Events::Wanted(events, feed.reached)))
            }
            Err(Error::Expired(first)) => Ok(Some(Events::Expired(first))),
            Err(error) => Err(error),
        }
    }

    /// Sends events of the feed, and moves the position past them.
    pub(crate) async fn send_feed(&self, endpoint: &Endpoint, events: Events) -> Result<Outcome> {
        let position = Position::clone(&endpoint.position);
        match events {
            Events::Wanted(events, reached) => self.send_events(endpoint, events, reached).await,
            Events::Expired(first) => {
                let attempt = self.expired(endpoint.webhook.id, None);
                tracing::warn!(target: "webhooks", webhook = %attempt.webhook, after = position.after, first, "expired");
                let position = Position { after: first - 1, ..position };
                Ok(Outcome {
                    position,
                    lanes: endpoint.lanes.clone(),
                    attempts: vec![attempt],
                    is_gone: false,
                })
            }
        }
    }

    async fn send_events(&self, endpoint: &Endpoint, events: Vec<Entry>, reached: u64) -> Result<Outcome> {
        let mut groups = grouped(endpoint, events);
        if endpoint.position.is_down() {
            keep_probe(&mut groups, endpoint.position.failures);
        }
        let round = Mutex::new(Round::of_feed(&endpoint.position, groups.len()));
        let sent = groups.into_iter().map(|group| self.send_group(endpoint, group, &round));
        let groups: Vec<Group> = stream::iter(sent).buffered(AT_ONCE).try_collect().await?;
        let round = round.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(self.conclude(endpoint, groups, round, reached))
    }

    /// Sends events of one resource until one is not accepted.
    async fn send_group(&self, endpoint: &Endpoint, mut group: Group, round: &Mutex<Round>) -> Result<Group> {
        let round = || round.lock().unwrap_or_else(PoisonError::into_inner);
        while group.taken < group.limit && group.refused.is_none() && !round().is_over() && !self.is_late() {
            let number = endpoint.position.failures + 1;
            let event = &group.events[group.taken];
            let (verdict, attempt) = self.attempt(&endpoint.webhook, event, number).await?;
            round().note(&group.history, verdict);
            group.attempts.push(attempt);
            match verdict {
                Verdict::Taken => group.taken += 1,
                Verdict::Refused(wait) | Verdict::Down(wait) => group.refused = Some(wait),
                Verdict::Gone => break,
            }
        }
        Ok(group)
    }

    /// Moves the position past the events that were accepted, or wait in a lane now.
    fn conclude(&self, endpoint: &Endpoint, groups: Vec<Group>, round: Round, reached: u64) -> Outcome {
        let (now, mut lanes) = (self.now(), endpoint.lanes.clone());
        let position = round.conclude(Position::clone(&endpoint.position), now, self.chance());
        let (mut attempts, mut after) = (Vec::new(), reached);
        for Group { history, events, taken, refused, attempts: tried, .. } in groups {
            attempts.extend(tried);
            let Some(next) = events.get(taken) else { continue };
            let next_try_at = match refused {
                Some(wait) if !round.is_down() && !round.is_gone() => {
                    let lane = Lane::new(&position, history, next.version_after, now);
                    lanes.push(lane.refused(now, wait, self.chance()));
                    lanes.last().map(|lane| lane.next_try_at)
                }
                _ => {
                    after = after.min(next.sequence.unwrap_or_default().saturating_sub(1));
                    position.next_try_at
                }
            };
            attempts.last_mut().into_iter().for_each(|attempt| attempt.repeat_at(next_try_at));
        }
        Outcome { position: Position { after, ..position }, lanes, attempts, is_gone: round.is_gone() }
    }
}

/// The events by resource, in the order of the first of each, without those that wait behind a refused one.
fn grouped(endpoint: &Endpoint, events: Vec<Entry>) -> Vec<Group> {
    let waiting: BTreeSet<&str> = endpoint.lanes.iter().map(|lane| lane.history.as_str()).collect();
    let mut groups: Vec<Group> = Vec::new();
    for event in events {
        let history = event.id().history;
        if waiting.contains(history.as_str()) {
            continue;
        }
        match groups.iter_mut().find(|group| group.history == history) {
            Some(group) => group.events.push(event),
            None => groups.push(Group::new(history, event)),
        }
    }
    groups.iter_mut().for_each(|group| group.limit = group.events.len());
    groups
}

/// Leaves one event to be sent. That of another resource each time, so that an event that is refused for ever does not
/// keep the endpoint down.
fn keep_probe(groups: &mut [Group], failures: u32) {
    let probe = failures as usize % groups.len().max(1);
    for (number, group) in groups.iter_mut().enumerate() {
        group.limit = usize::from(number == probe);
    }
}
