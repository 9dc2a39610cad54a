//! Mails to a company's owners about its webhooks.

use shared::Result;
use shared::auth::SystemAccess;
use shared::domain::id::{CompanyId, CustomerId, WebhookId};
use shared::domain::webhook::{DisabledReason, WebhookMail};
use shared::mail::{MailOccasion, Mailer};

use crate::mails::account::send_to_customer;
use crate::outcome::EffectResult;

/// Tells an owner about a webhook, unless they are no longer an owner or the webhook has changed.
pub(crate) async fn notify_owner(
    system: &SystemAccess,
    mailer: &Mailer<'_>,
    company: &CompanyId,
    customer: CustomerId,
    webhook: WebhookId,
    mail: WebhookMail,
) -> Result<(EffectResult, String)> {
    let store = &system.store;
    let (customer, webhook, company) = tokio::try_join!(
        store.customer(company, customer),
        store.webhook(company, webhook),
        store.company(company)
    )?;
    let (Some(customer), Some(webhook), Some(company)) = (customer, webhook, company) else {
        return Ok((EffectResult::Outdated, "the customer or the webhook is gone".to_owned()));
    };
    if !customer.is_owner_at_work() || !customer.takes_mail() {
        return Ok((EffectResult::Outdated, "the customer is no owner, or takes no mails".to_owned()));
    }
    // The mail names only host and description: path and query may hold a secret.
    let id = webhook.id;
    let name = webhook.name();
    let occasion = match (mail, webhook.disabled_reason) {
        (WebhookMail::Failing, None) => MailOccasion::WebhookFailing { id, name: &name },
        (WebhookMail::Disabled, Some(reason @ (DisabledReason::Gone | DisabledReason::Failing))) => {
            MailOccasion::WebhookDisabled { id, name: &name, is_gone: reason == DisabledReason::Gone }
        }
        _ => return Ok((EffectResult::Outdated, "the webhook has changed".to_owned())),
    };
    send_to_customer(mailer, &customer, &company, occasion).await
}
