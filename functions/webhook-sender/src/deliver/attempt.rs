//! Sends one event once.

use std::time::Duration;

use chrono::{DateTime, Utc};
use shared::clock::Stopwatch;
use shared::domain::history::HistoryEntry;
use shared::domain::id::WebhookId;
use shared::domain::outgoing::OutgoingError;
use shared::domain::webhook::{DeliveryAttempt, DeliveryOutcome, DeliveryVerdict, Webhook, signature};
use shared::http::reference::ReferenceUris;
use shared::http::view::EventView;
use shared::{Error, Result};
use url::Url;

use super::in_flight::EventTransport;
use super::invocation::SenderInvocation;
use shared::outgoing::OutgoingMessage;

impl EventTransport for SenderInvocation<'_> {
    async fn attempt(
        &self,
        webhook: &Webhook,
        event: &HistoryEntry,
        number: u32,
    ) -> Result<(DeliveryVerdict, DeliveryAttempt)> {
        let at = self.now();
        let id = event.id().to_string();
        let view = EventView::new(event, ReferenceUris::new(self.app.config()));
        let body = serde_json::to_string(&view).map_err(Error::internal)?;
        let secrets = self.store().open_signing_secrets(webhook, at).await?;
        let message = OutgoingMessage {
            url: Url::parse(webhook.url.as_str()).map_err(Error::internal)?,
            signature: signature(&secrets, &id, at, body.as_bytes()),
            timestamp: at.timestamp(),
            id: id.clone(),
            body,
        };
        let stopwatch = Stopwatch::start();
        let response = self.outgoing.post(&message).await;
        let milliseconds = u32::try_from(stopwatch.elapsed().as_millis()).unwrap_or(u32::MAX);
        let verdict = DeliveryVerdict::of(&response, self.now());
        let is_accepted = verdict == DeliveryVerdict::Accepted;
        let error = response.as_ref().err().map(|error: &OutgoingError| error.as_str().to_owned());
        let response = response.ok();
        let outcome = if is_accepted { DeliveryOutcome::Delivered } else { DeliveryOutcome::Failed };
        let attempt = DeliveryAttempt {
            attempt: number,
            status_code: response.as_ref().map(|response| response.status),
            error,
            milliseconds,
            response: response.filter(|_| !is_accepted).map(|response| response.start),
            ..DeliveryAttempt::new(self.store().next_id(at), webhook.id, Some(id), outcome, at)
        };
        log(webhook, &attempt);
        Ok((verdict, attempt))
    }

    fn now(&self) -> DateTime<Utc> {
        self.app.now()
    }

    fn random(&self) -> u8 {
        let mut byte = [0];
        self.app.entropy().fill(&mut byte);
        byte[0]
    }

    async fn wait(&self, time: Duration) {
        #[expect(
            clippy::disallowed_methods,
            reason = "endpoints answer in real time, whatever the clock shows"
        )]
        tokio::time::sleep(time).await;
    }

    fn is_over(&self) -> bool {
        self.now() >= self.until
    }
}

impl SenderInvocation<'_> {
    /// Records that an event has expired before it could be sent: `event` if a client requested it, otherwise events of
    /// the feed.
    pub(super) fn note_expired(&self, webhook: WebhookId, event: Option<String>) -> DeliveryAttempt {
        let at = self.now();
        DeliveryAttempt::new(self.store().next_id(at), webhook, event, DeliveryOutcome::Expired, at)
    }
}

/// Logs one line per attempt, without URL and response, which may hold secrets.
fn log(webhook: &Webhook, attempt: &DeliveryAttempt) {
    let company = webhook.company.as_str();
    let webhook = webhook.id;
    let DeliveryAttempt { event, attempt: number, outcome, status_code, error, milliseconds, .. } = attempt;
    let event = event.as_deref();
    let outcome = outcome.as_str();
    let error = error.as_deref();
    tracing::info!(target: "webhooks", company, %webhook, event, attempt = number, outcome, status_code, error, milliseconds, "attempted");
}
