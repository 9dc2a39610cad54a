//! A step: what is sent to one endpoint between reading its state and writing it.

use shared::domain::effect::Effect;
use shared::domain::id::{CompanyId, WebhookId};
use shared::domain::mail::WebhookMail;
use shared::domain::webhook::{Attempt, Lane, Position, Step, Webhook};
use shared::store::{Endpoint, Progress};
use shared::{Error, Result};

use crate::feed::Events;
use crate::run::Sender;

/// How often the outcome of a step is written anew after concurrent writes of the API.
const ATTEMPTS: usize = 10;

/// How a step went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stepped {
    /// Something was done; there may be more.
    Forward,
    /// There are events that the index does not show yet.
    NotYet,
    /// There is nothing to do now.
    Done,
    /// Another run has the endpoint.
    Busy,
}

/// The outcome of what a step has sent.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// The position, under the step's lease.
    pub(crate) position: Position,
    /// All lanes.
    pub(crate) lanes: Vec<Lane>,
    /// What was sent.
    pub(crate) attempts: Vec<Attempt>,
    /// Whether the endpoint accepts nothing any more.
    pub(crate) is_gone: bool,
}

/// What a step sends.
enum Work {
    Orders,
    Lanes,
    Feed(Events),
}

impl Sender<'_> {
    /// Takes the next step at an endpoint. Fails with `Changed` if another write of the position has come first.
    pub(crate) async fn step(&self, company: &CompanyId, id: WebhookId) -> Result<Stepped> {
        let Some(mut endpoint) = self.store().endpoint(company, id).await? else { return Ok(Stepped::Done) };
        let now = self.now();
        if endpoint.position.is_leased(now) {
            return Ok(Stepped::Busy);
        }
        let work = match endpoint.next_step(now) {
            Some((at, Step::Orders)) if at <= now => Work::Orders,
            Some((at, Step::Lanes)) if at <= now => Work::Lanes,
            Some((at, Step::Feed)) if at <= now => match self.read_feed(&endpoint).await? {
                Some(events) => Work::Feed(events),
                None => return Ok(Stepped::NotYet),
            },
            _ => {
                self.rest(&endpoint).await?;
                return Ok(Stepped::Done);
            }
        };
        let leased = Position::clone(&endpoint.position).leased(now);
        endpoint.position = self.store().save_position(&endpoint.position, leased).await?;
        let outcome = match work {
            Work::Orders => self.send_orders(&endpoint).await?,
            Work::Lanes => self.send_lanes(&endpoint).await?,
            Work::Feed(events) => self.send_feed(&endpoint, events).await?,
        };
        self.finish(endpoint, outcome).await?;
        Ok(Stepped::Forward)
    }

    /// Has the schedule take the next step.
    pub(crate) async fn leave_to_schedule(&self, company: &CompanyId, id: WebhookId) -> Result<Stepped> {
        let Some(endpoint) = self.store().endpoint(company, id).await? else { return Ok(Stepped::Done) };
        if endpoint.position.is_leased(self.now()) {
            return Ok(Stepped::Busy);
        }
        self.rest(&endpoint).await?;
        Ok(Stepped::Done)
    }

    /// Notes when the next step is due, where that has changed without a step.
    async fn rest(&self, endpoint: &Endpoint) -> Result<()> {
        let (position, latest) = (Position::clone(&endpoint.position), endpoint.sequence.last);
        let is_enabled = endpoint.webhook.is_enabled();
        let rested = position.released(is_enabled, latest, &endpoint.lanes, self.now());
        if rested != *endpoint.position {
            self.store().save_position(&endpoint.position, rested).await?;
        }
        Ok(())
    }

    /// Writes the outcome of a step, and gives the lease back. Fails with `Changed` if another run has the endpoint.
    async fn finish(&self, before: Endpoint, outcome: Outcome) -> Result<()> {
        let mut present = before.clone();
        for _ in 0..ATTEMPTS {
            let progress = self.progress(&before, &present, &outcome).await?;
            match self.system.commit(self.store().note_progress(&present, &progress)).await {
                Err(Error::Changed | Error::NotFound) => {}
                settled => return settled,
            }
            // The API has changed something, or the lease has ended and another run has the endpoint.
            match self.store().endpoint(&before.webhook.company, before.webhook.id).await? {
                Some(fresh) if fresh.position.leased_until == before.position.leased_until => present = fresh,
                _ => break,
            }
        }
        Err(Error::Changed)
    }

    /// What a step that began `before` makes of the `present` state.
    async fn progress(&self, before: &Endpoint, present: &Endpoint, outcome: &Outcome) -> Result<Progress> {
        let (now, attempts) = (self.now(), outcome.attempts.clone());
        // A client has set the position, or has had the endpoint tried anew: what the step knows is out of date.
        let is_void = before.position.epoch != present.position.epoch;
        let is_reset = before.position.restarts != present.position.restarts;
        let lanes = if is_void { present.lanes.clone() } else { outcome.lanes.clone() };
        let position = outcome.position.clone();
        let position = position.on_top_of(&before.position, Position::clone(&present.position));
        let is_gone = outcome.is_gone && !is_reset;
        let webhook = Webhook::clone(&present.webhook);
        let (webhook, mail) = webhook.judged(&before.position, &position, is_gone, now);
        let warned_at = if mail == Some(WebhookMail::Failing) { Some(now) } else { position.warned_at };
        let position = Position { lanes: lanes.len() as u32, warned_at, ..position };
        let position = position.released(webhook.is_enabled(), present.sequence.last, &lanes, now);
        let effects = match mail {
            Some(mail) => self.mails(present, mail).await?,
            None => Vec::new(),
        };
        Ok(Progress { webhook, position, lanes, attempts, effects })
    }

    /// The mails about a webhook to the owners of its company.
    async fn mails(&self, endpoint: &Endpoint, mail: WebhookMail) -> Result<Vec<Effect>> {
        let Endpoint { webhook, position, .. } = endpoint;
        let customers = self.store().all_customers(&webhook.company).await?;
        let customers = customers.iter().map(|customer| &**customer);
        Ok(Effect::of_webhook(webhook, mail, customers, position.version() + 1, self.now()))
    }
}
