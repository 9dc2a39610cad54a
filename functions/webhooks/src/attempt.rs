//! One attempt to send one event.

use shared::clock::Stopwatch;
use shared::domain::history::Entry;
use shared::domain::id::WebhookId;
use shared::domain::webhook::{Answer, Attempt, Failure, Outcome, Verdict, Webhook, signature};
use shared::http::reference::References;
use shared::http::view::EventView;
use shared::{Error, Result};
use url::Url;

use crate::outgoing::Message;
use crate::run::Sender;

impl Sender<'_> {
    /// Sends an event to an endpoint, as the `number`th attempt in a row.
    pub(crate) async fn attempt(
        &self,
        webhook: &Webhook,
        event: &Entry,
        number: u32,
    ) -> Result<(Verdict, Attempt)> {
        let (at, id) = (self.now(), event.id().to_string());
        let view = EventView::new(event, References::new(self.app.config()));
        let body = serde_json::to_string(&view).map_err(Error::internal)?;
        let message = Message {
            url: Url::parse(webhook.url.as_str()).map_err(Error::internal)?,
            signature: signature(webhook.secrets(at), &id, at, body.as_bytes()),
            timestamp: at.timestamp(),
            id: id.clone(),
            body,
        };
        let stopwatch = Stopwatch::start();
        let answer = self.outgoing.post(&message).await;
        let elapsed = stopwatch.elapsed();
        let verdict = Verdict::of(&answer, self.now());
        let is_taken = verdict == Verdict::Taken;
        let (status_code, error) = (answer.as_ref().ok().map(|answer| answer.status), answer.as_ref().err());
        let attempt = Attempt {
            id: self.store().next_id(at),
            webhook: webhook.id,
            event: Some(id),
            attempt: number,
            outcome: if is_taken { Outcome::Delivered } else { Outcome::Failed },
            status_code,
            error: error.map(|failure: &Failure| failure.as_str().to_owned()),
            milliseconds: u32::try_from(elapsed.as_millis()).unwrap_or(u32::MAX),
            response: answer.as_ref().ok().filter(|_| !is_taken).map(|Answer { start, .. }| start.clone()),
            at,
            next_try_at: None,
        };
        log(webhook, &attempt);
        Ok((verdict, attempt))
    }

    /// Notes that events, or one that was ordered, have expired before they could be sent.
    pub(crate) fn expired(&self, webhook: WebhookId, event: Option<String>) -> Attempt {
        let at = self.now();
        Attempt {
            id: self.store().next_id(at),
            webhook,
            event,
            attempt: 1,
            outcome: Outcome::Expired,
            status_code: None,
            error: None,
            milliseconds: 0,
            response: None,
            at,
            next_try_at: None,
        }
    }
}

/// One line for each attempt, without the address and the answer, which may hold secrets.
fn log(webhook: &Webhook, attempt: &Attempt) {
    let (company, webhook) = (webhook.company.as_str(), webhook.id);
    let Attempt { event, attempt: number, outcome, status_code, error, milliseconds, .. } = attempt;
    let (event, outcome, error) = (event.as_deref(), outcome.as_str(), error.as_deref());
    tracing::info!(target: "webhooks", company, %webhook, event, number, outcome, status_code, error, milliseconds, "sent");
}
