//! Webhooks, which receive a company's events.

mod changes;
pub(crate) mod deliveries;
pub(crate) mod document;
mod view;

use axum::Json;
use chrono::TimeDelta;
use shared::auth::access::{Admitted, AdmittedRequest};
use shared::domain::policy::{ManageWebhooks, ReadWebhooks};
use shared::domain::webhook::{DeliveryCursor, Webhook};
use shared::http::BodyFields;
use shared::http::exchange::respond::{CommittedResponse, Created, NoContent, WithSecret};
use shared::http::page::{ListQuery, PageView};
use shared::store::EventSequence;
use shared::{Error, Result};

use changes::{CreateWebhook, UpdateWebhook, read_grace, read_position};
use view::{NewWebhookView, WebhookView, view};

const NOT_WITHIN: &str = "Name at least one of the token's projects, and no others.";

/// GET …/webhooks/
pub(crate) async fn list(
    access: Admitted<EventSequence, ReadWebhooks>,
    query: ListQuery,
) -> Result<PageView<WebhookView>> {
    // A company has so few webhooks that all of them can be read.
    let mut all = access.store.webhooks(access.company_id()).await?;
    all.retain(|webhook| access.caller.limits().is_none_or(|projects| webhook.is_within(projects)));
    let (page, total) = query.slice(all, |webhook| webhook.id.to_string());
    let cursors = access.store.cursors(page.rows.iter().map(|webhook| webhook.id)).await?;
    // A webhook without a cursor is being deleted, so skip it.
    let page = page.filter_map(|webhook| {
        let cursor = cursors.get(&webhook.id)?;
        Some(WebhookView::new(&webhook, cursor, &access.target, access.references(), access.now))
    });
    query.answer(page, total)
}

/// POST …/webhooks/. The only answer that shows the secret.
pub(crate) async fn create(
    access: Admitted<EventSequence, ManageWebhooks>,
    body: BodyFields,
) -> Result<CommittedResponse<WithSecret<Created<NewWebhookView>, WebhookView>>> {
    let latest = access.target.last;
    let targets = access.config().outgoing_targets;
    let CreateWebhook { url, after, rest } =
        CreateWebhook::read(body, access.company_id(), access.references(), targets, latest)?;
    let id = access.store.next_id(access.now);
    let company = access.company_id().clone();
    let by = access.caller.principal().creator();
    let (secret, sealed) = access.new_signing_secret(id).await?;
    let webhook = Webhook::new(id, company.clone(), url, sealed, by, access.now);
    let webhook = rest.apply_to(webhook)?;
    require_within_limits(&access, &webhook)?;
    // Begin after the latest event by default: clients do not expect the whole feed.
    let cursor = DeliveryCursor::new(id, company, after.unwrap_or(latest), access.now);
    let kept = WebhookView::new(&webhook, &cursor, &access.target, access.references(), access.now);
    let shown = NewWebhookView::new(kept.clone(), &secret);
    let created = Created(shown);
    let transaction = access.store.create_webhook(&webhook, &cursor, access.now);
    access.commit(transaction, WithSecret(created, kept)).await
}

/// Refuses a webhook that would receive events beyond the caller's limits.
fn require_within_limits(access: &AdmittedRequest, webhook: &Webhook) -> Result<()> {
    match access.caller.limits() {
        Some(projects) if !webhook.is_within(projects) => Err(Error::field("projects", NOT_WITHIN)),
        _ => Ok(()),
    }
}

/// GET …/webhooks/{webhookId}/
pub(crate) async fn read(
    access: Admitted<Webhook, ReadWebhooks>,
) -> Result<CommittedResponse<Json<WebhookView>>> {
    access.show(view(&access, &access.target.webhook, &access.target.cursor))
}

/// PATCH …/webhooks/{webhookId}/. Resumes deliveries at once if the URL changes or the webhook is enabled.
pub(crate) async fn update(
    access: Admitted<Webhook, ManageWebhooks>,
    body: BodyFields,
) -> Result<CommittedResponse<Json<WebhookView>>> {
    let targets = access.config().outgoing_targets;
    let changes = UpdateWebhook::read(body, access.company_id(), access.references(), targets)?;
    let before = (&access.target.webhook, &access.target.cursor);
    let after = changes.apply_to(Webhook::clone(before.0))?;
    require_within_limits(&access, &after)?;
    let mut cursor = DeliveryCursor::clone(before.1);
    // The client has changed or enabled the webhook, so former failures no longer count.
    if after.url != before.0.url || after.is_enabled() && !before.0.is_enabled() {
        cursor = cursor.resume(access.now);
    }
    let shown = Json(view(&access, &after, &cursor));
    let transaction = access.store.update_webhook(before.0, &after, before.1, &cursor);
    access.commit(transaction, shown).await
}

/// DELETE …/webhooks/{webhookId}/
pub(crate) async fn delete(
    access: Admitted<Webhook, ManageWebhooks>,
) -> Result<CommittedResponse<NoContent>> {
    access.commit(access.store.delete_webhook(&access.target.webhook), NoContent).await
}

/// POST …/webhooks/{webhookId}/secret/. The only answer that shows the new secret.
pub(crate) async fn rotate(
    access: Admitted<Webhook, ManageWebhooks>,
    body: BodyFields,
) -> Result<CommittedResponse<WithSecret<Json<NewWebhookView>, WebhookView>>> {
    let grace = TimeDelta::hours(read_grace(body)?.into());
    let before = &access.target.webhook;
    let cursor = &access.target.cursor;
    let (secret, sealed) = access.new_signing_secret(before.id).await?;
    let after = Webhook::clone(before).rotated(sealed, grace, access.now);
    // Wake the sender when the grace period ends, to delete the former secret.
    let mut woken = DeliveryCursor::clone(cursor).wake_by(access.now + grace);
    // An imported webhook has no secret and is disabled. Now it has one, so send the events that it has missed.
    if after.is_enabled() && !before.is_enabled() {
        woken = woken.resume(access.now);
    }
    let kept = view(&access, &after, &woken);
    let shown = Json(NewWebhookView::new(kept.clone(), &secret));
    let transaction = access.store.update_webhook(before, &after, cursor, &woken);
    access.commit(transaction, WithSecret(shown, kept)).await
}

/// POST …/webhooks/{webhookId}/position/
pub(crate) async fn move_to(
    access: Admitted<Webhook, ManageWebhooks>,
    body: BodyFields,
) -> Result<CommittedResponse<Json<WebhookView>>> {
    let after = read_position(body, access.target.sequence.last)?;
    let cursor = DeliveryCursor::clone(&access.target.cursor).move_to(after, access.now)?;
    let shown = Json(view(&access, &access.target.webhook, &cursor));
    access.commit(access.store.update_cursor(&access.target.cursor, &cursor), shown).await
}
