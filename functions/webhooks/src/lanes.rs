//! The events of resources one of whose events the endpoint has refused while it took others.

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

impl Sender<'_> {
    /// Goes on with the lanes that have been due for longest.
    pub(crate) async fn send_lanes(&self, endpoint: &Endpoint) -> Result<Outcome> {
        let (now, at_once) = (self.now(), if endpoint.position.is_down() { 1 } else { AT_ONCE });
        let mut lanes = endpoint.lanes.clone();
        lanes.sort_by_key(|lane| lane.next_try_at);
        let due = lanes.iter().take(at_once).take_while(|lane| lane.next_try_at <= now).count();
        let round = Mutex::new(Round::new(&endpoint.position));
        let sent = lanes.drain(..due).map(|lane| self.send_lane(endpoint, lane, &round));
        let sent: Vec<(Option<Lane>, Vec<Attempt>)> =
            stream::iter(sent.collect::<Vec<_>>()).buffered(AT_ONCE).try_collect().await?;
        let round = round.into_inner().unwrap_or_else(PoisonError::into_inner);
        let position = round.conclude(Position::clone(&endpoint.position), self.now(), self.chance());
        let mut attempts = Vec::new();
        for (lane, mut tried) in sent {
            let next_try_at = lane.as_ref().map(|lane| lane.next_try_at).max(position.next_try_at);
            tried.last_mut().into_iter().for_each(|attempt| attempt.repeat_at(next_try_at));
            attempts.extend(tried);
            lanes.extend(lane);
        }
        Ok(Outcome { position, lanes, attempts, is_gone: round.is_gone() })
    }

    /// Goes on with a lane. Gives none once it has caught up with the position.
    async fn send_lane(
        &self,
        endpoint: &Endpoint,
        mut lane: Lane,
        round: &Mutex<Round>,
    ) -> Result<(Option<Lane>, Vec<Attempt>)> {
        let round = || round.lock().unwrap_or_else(PoisonError::into_inner);
        let (webhook, mut attempts) = (&endpoint.webhook, Vec::new());
        let entries =
            self.store.history_from(&webhook.company, &lane.history, lane.next_version, LOOK).await?;
        let is_all = entries.len() < LOOK;
        for entry in entries {
            let is_passed = entry.sequence.is_some_and(|number| number <= endpoint.position.after);
            let is_event = !entry.change.types.is_empty();
            if is_event && !is_passed {
                return Ok((None, attempts));
            }
            if is_event && webhook.wants(&entry) {
                if attempts.len() == ATTEMPTS || round().is_over() || self.is_late() {
                    return Ok((Some(lane), attempts));
                }
                let (verdict, attempt) = self.attempt(webhook, &entry, lane.attempts + 1).await?;
                match verdict {
                    Verdict::Refused(_) if lane.is_last_try() => attempts.push(attempt.given_up()),
                    Verdict::Refused(wait) => {
                        attempts.push(attempt);
                        return Ok((Some(lane.refused(self.now(), wait, self.chance())), attempts));
                    }
                    Verdict::Taken | Verdict::Down(_) | Verdict::Gone => {
                        attempts.push(attempt);
                        round().note(&lane.history, verdict);
                    }
                }
                if matches!(verdict, Verdict::Down(_) | Verdict::Gone) {
                    return Ok((Some(lane), attempts));
                }
            }
            lane = lane.at(entry.version_after + 1, self.now());
        }
        Ok((Some(lane).filter(|_| !is_all), attempts))
    }
}
