//! Mails to the owners of a company about an endpoint that accepts nothing, or is disabled.

use shared::Result;
use shared::domain::effect::Effect;
use shared::domain::webhook::{DisabledReason, HealthJudgement, Webhook, WebhookMail, next_task};
use shared::store::{DeliveryEndpoint, DeliveryProgress};

use super::in_flight::EventTransport as _;
use super::invocation::{InvocationKind, SenderInvocation};

impl SenderInvocation<'_> {
    /// Mails the owners about an endpoint that has accepted nothing for a day, and disables the webhook after five
    /// days.
    pub(super) async fn warn_or_disable(&self, endpoint: &DeliveryEndpoint) -> Result<()> {
        let now = self.now();
        let judgement = endpoint.cursor.health.judge(self.now());
        // An endpoint is not failing if no events wait for it.
        let has_waiting = endpoint.cursor.after < endpoint.sequence.last || !endpoint.stalled.is_empty();
        // Check only in scheduled invocations: once a minute is enough.
        let is_due = self.kind == InvocationKind::Schedule && endpoint.webhook.is_enabled() && has_waiting;
        if !is_due || judgement == HealthJudgement::Tolerable || !self.can_reach_out().await {
            return Ok(());
        }
        let mut progress = DeliveryProgress::of(endpoint);
        let DeliveryProgress { webhook, cursor, stalled, .. } = &mut progress;
        let mail = if judgement == HealthJudgement::Disable {
            webhook.disabled_reason = Some(DisabledReason::Failing);
            cursor.work.due_at =
                next_task(webhook, cursor, stalled, endpoint.sequence.last, now, None).map(|(at, _)| at);
            WebhookMail::Disabled
        } else {
            cursor.health.warned_at = Some(now);
            WebhookMail::Failing
        };
        progress.effects = self.mails_to_owners(endpoint, &progress.webhook, mail).await?;
        self.system.commit(self.store().record_progress(endpoint, &progress)).await
    }

    /// The effects that mail all owners of the company about a webhook.
    pub(super) async fn mails_to_owners(
        &self,
        endpoint: &DeliveryEndpoint,
        webhook: &Webhook,
        mail: WebhookMail,
    ) -> Result<Vec<Effect>> {
        let customers = self.store().all_customers(&webhook.company).await?;
        let customers = customers.iter().map(|customer| &**customer);
        Ok(Effect::of_webhook(webhook, mail, customers, endpoint.cursor.version() + 1, self.now()))
    }
}
