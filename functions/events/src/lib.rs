//! The feed of a company's changes, in order and without gaps, and the webhooks that receive it.

mod document;
mod feed;
mod receipts;
mod view;
mod webhooks;

use std::convert::identity;

use shared::RouteReader;
use shared::app::App;
use shared::http::{HttpService, RouteGroup};
use webhooks::deliveries;
use webhooks::document as described;

/// The HTTP service that answers the requests of this group.
pub fn service(app: App) -> HttpService {
    routes(RouteGroup::new()).into_service(app)
}

/// The routes of this group.
pub fn routes<R: RouteReader>(routes: R) -> R {
    routes
        .group("Events", "The changes in a company, in order and without gaps.")
        .under("/companies/{companyId}/events/")
        .get("", feed::list, "List events", document::list_events)
        .get("{eventId}/", feed::read, "Get event", identity)
        .get("{eventId}/receipt/", receipts::read, "Get receipt of erasure", document::get_receipt)
        .under("/receipt-keys/")
        .get("", receipts::list_keys, "List receipt keys", document::list_receipt_keys)
        .group("Webhooks", "Endpoints to which a company's events are sent, and how that goes.")
        .under("/companies/{companyId}/webhooks/")
        .get("", webhooks::list, "List webhooks", described::list_webhooks)
        .post("", webhooks::create, "Create webhook", described::create_webhook)
        .get("{webhookId}/", webhooks::read, "Get webhook", described::get_webhook)
        .patch("{webhookId}/", webhooks::update, "Change webhook", described::change_webhook)
        .delete("{webhookId}/", webhooks::delete, "Delete webhook", described::delete_webhook)
        .post("{webhookId}/secret/", webhooks::rotate, "Rotate webhook secret", described::rotate_secret)
        .post("{webhookId}/ping/", deliveries::ping, "Ping webhook", described::ping_webhook)
        .post("{webhookId}/position/", webhooks::move_to, "Set webhook position", described::set_position)
        .get("{webhookId}/deliveries/", deliveries::list, "List deliveries", described::list_deliveries)
        .post("{webhookId}/deliveries/", deliveries::repeat, "Repeat delivery", described::repeat_delivery)
}
