//! The events of resources one of whose events the endpoint has refused while it accepted others.

use std::sync::{Mutex, PoisonError};

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use shared::Result;
use shared::domain::webhook::{Attempt, Lane, Position, Round, Verdict};
use shared::store::Endpoint;

use crate::run::Sender;
use crate::step::Outcome;

/// Lanes of a step, which go on at once.
const AT_ONCE: usize = 8;
/// The most attempts of a step in one lane.
const ATTEMPTS: usize = 4;
/// How far a step looks for events in one lane.
const LOOK: usize = 32;

/// How a step has gone on with a lane.
#[derive(Default)]
struct Passage {
    /// What is left of the lane; none once it has caught up with the position.
    lane: Option<Lane>,
    /// The verdict on the lane's next event, if it was not accepted.
    failed: Option<Verdict>,
    attempts: Vec<Attempt>,
}

impl Sender<'_> {
    /// Goes on with the lanes that have been due for longest.
    pub(crate) async fn send_lanes(&self, endpoint: &Endpoint) -> Result<Outcome> {
        let before = &endpoint.position;
        let (now, at_once) = (self.now(), if before.is_down() { 1 } else { AT_ONCE });
        let mut lanes = endpoint.lanes.clone();
        lanes.sort_by_key(|lane| lane.due_at(before));
        let due = lanes.iter().take(at_once).take_while(|lane| lane.due_at(before) <= now).count();
        let round = Mutex::new(Round::of_lanes());
        let sent = lanes.drain(..due).map(|lane| self.send_lane(endpoint, lane, &round));
        let sent: Vec<Passage> =
            stream::iter(sent.collect::<Vec<_>>()).buffered(AT_ONCE).try_collect().await?;
        let round = round.into_inner().unwrap_or_else(PoisonError::into_inner);
        let position = round.conclude(Position::clone(before), self.now(), self.chance());
        let mut attempts = Vec::new();
        for passage in sent {
            let (lane, mut tried) = self.conclude_lane(&position, passage);
            let next_try_at = lane.as_ref().map(|lane| lane.next_try_at).max(position.next_try_at);
            // A lane may have tried nothing.
            tried.last_mut().into_iter().for_each(|attempt| attempt.repeat_at(next_try_at));
            attempts.extend(tried);
            lanes.extend(lane);
        }
        Ok(Outcome { position, lanes, attempts, is_gone: round.is_gone() })
    }

    /// Goes on with a lane until an event is not accepted.
    async fn send_lane(&self, endpoint: &Endpoint, lane: Lane, round: &Mutex<Round>) -> Result<Passage> {
        let round = || round.lock().unwrap_or_else(PoisonError::into_inner);
        let (webhook, position) = (&endpoint.webhook, &endpoint.position);
        let mut lane = Lane { next_try_at: lane.due_at(position), restarts: position.restarts, ..lane };
        let mut attempts = Vec::new();
        let (entries, may_go_on) =
            self.store().history_from(&webhook.company, &lane.history, lane.next_version, LOOK).await?;
        for entry in entries {
            let is_passed = entry.sequence.is_some_and(|number| number <= position.after);
            let is_event = !entry.change.types.is_empty();
            if is_event && !is_passed {
                return Ok(Passage { attempts, ..Passage::default() });
            }
            if is_event && webhook.wants(&entry) {
                if attempts.len() == ATTEMPTS || round().is_over() || self.is_late() {
                    return Ok(Passage { lane: Some(lane), failed: None, attempts });
                }
                let (verdict, attempt) = self.attempt(webhook, &entry, lane.attempts + 1).await?;
                round().note(&lane.history, verdict);
                attempts.push(attempt);
                if verdict != Verdict::Taken {
                    let lane = Lane { next_version: entry.version_after, ..lane };
                    return Ok(Passage { lane: Some(lane), failed: Some(verdict), attempts });
                }
            }
            lane = lane.at(entry.version_after + 1, self.now());
        }
        Ok(Passage { lane: Some(lane).filter(|_| may_go_on), failed: None, attempts })
    }

    /// Has a lane wait whose event was not accepted, or go on with the next if that was the last try.
    fn conclude_lane(&self, position: &Position, passage: Passage) -> (Option<Lane>, Vec<Attempt>) {
        let Passage { lane, failed, mut attempts } = passage;
        let (Some(lane), Some(Verdict::Refused(wait) | Verdict::Down(wait))) = (lane.clone(), failed) else {
            return (lane, attempts);
        };
        let now = self.now();
        let is_unavailable = matches!(failed, Some(Verdict::Down(_)));
        if !lane.gives_up(is_unavailable, position) {
            return (Some(lane.refused(now, wait, self.chance())), attempts);
        }
        let last = attempts.pop().map(Attempt::given_up);
        attempts.extend(last);
        let next = lane.next_version + 1;
        (Some(lane.at(next, now)), attempts)
    }
}
