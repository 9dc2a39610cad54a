//! Lists attempts to deliver events to a webhook, and queues deliveries that clients request.

use axum::Json;
use shared::auth::access::Admitted;
use shared::domain::history::{EventId, HistoryEntry};
use shared::domain::parse_enum;
use shared::domain::policy::{ManageWebhooks, ReadWebhooks};
use shared::domain::webhook::{AttemptFilter, DeliveryCursor, DeliveryRequest, Webhook};
use shared::http::exchange::respond::{CommittedResponse, QueuedResponse};
use shared::http::{BodyFields, QueryParameters};
use shared::{Error, Result};

use super::view::{DeliveriesView, QueuedView};

/// GET …/deliveries/
pub(crate) async fn list(
    access: Admitted<Webhook, ReadWebhooks>,
    mut query: QueryParameters,
) -> Result<Json<DeliveriesView>> {
    let filter = AttemptFilter {
        event: query.filter("event", |text| Ok(text.to_owned())),
        outcome: query.filter("outcome", parse_enum),
    };
    let before = query.filter("before", |text| {
        text.parse().map_err(|_| "Invalid position. Follow `next` unchanged.".to_owned())
    });
    let size = query.page_size();
    query.finish()?;
    let webhook = &access.target.webhook;
    let found = access.store.attempts_before(webhook.id, before, size as usize, &filter, access.now).await?;
    Ok(Json(DeliveriesView::new(&found, size, &query)))
}

/// POST …/deliveries/
pub(crate) async fn repeat(
    access: Admitted<Webhook, ManageWebhooks>,
    body: BodyFields,
) -> Result<CommittedResponse<QueuedResponse<QueuedView>>> {
    let event = read_event(body)?;
    let found = match event.parse::<EventId>() {
        Ok(id) => access.store.event(access.company_id(), &id, access.now).await?,
        Err(_) => None,
    };
    // Refuse entries that are no events, and events without a number, which were not sent yet. Refuse events of other
    // projects, because the webhook's owner may be limited to its own.
    let webhook = &access.target.webhook;
    if found.is_none_or(|entry| entry.sequence.is_none() || !webhook.reaches(&entry)) {
        return Err(Error::field(
            "event",
            "There is no such event, or it has been deleted because of its age.",
        ));
    }
    webhook.require_secret()?;
    // Queue the delivery: only `webhook-sender`, which has few permissions, may call servers that clients have chosen.
    let request = DeliveryRequest::Event { event: event.clone() };
    let cursor = DeliveryCursor::clone(&access.target.cursor).add_request(request, access.now)?;
    let queued = QueuedResponse(QueuedView { event });
    access.commit(access.store.update_cursor(&access.target.cursor, &cursor), queued).await
}

/// Reads the identifier of the event to send.
pub(super) fn read_event(mut body: BodyFields) -> Result<String> {
    let event = body.required("event", |text| Ok(text.to_owned()));
    body.finish(|| event)
}

/// POST …/ping/
pub(crate) async fn ping(
    access: Admitted<Webhook, ManageWebhooks>,
) -> Result<CommittedResponse<QueuedResponse<QueuedView>>> {
    let webhook = &access.target.webhook;
    webhook.require_secret()?;
    let now = access.now;
    let cursor = DeliveryCursor::clone(&access.target.cursor).add_ping(now)?;
    let event = HistoryEntry::ping(webhook.company.clone(), webhook.id, now).id().to_string();
    let transaction = access.store.update_cursor(&access.target.cursor, &cursor);
    access.commit(transaction, QueuedResponse(QueuedView { event })).await
}
