//! What has changed in a company, in order and without gaps, and the endpoints to which that is sent.

mod document;
mod feed;
mod view;
mod webhooks;

use shared::RouteReader;
use webhooks::deliveries;
use webhooks::document as described;

/// The routes of this group.
pub fn routes<R: RouteReader>(routes: R) -> R {
    routes
        .group("Events", "What has changed in a company, in order and without gaps.")
        .under("/companies/{companyId}/events/")
        .get("", feed::list, document::list_events)
        .get("{eventId}/", feed::read, document::get_event)
        .group("Webhooks", "Endpoints to which a company's events are sent, and how that goes.")
        .under("/companies/{companyId}/webhooks/")
        .get("", webhooks::list, described::list_webhooks)
        .post("", webhooks::create, described::create_webhook)
        .get("{webhookId}/", webhooks::read, described::get_webhook)
        .patch("{webhookId}/", webhooks::update, described::change_webhook)
        .delete("{webhookId}/", webhooks::delete, described::delete_webhook)
        .post("{webhookId}/secret/", webhooks::rotate, described::rotate_secret)
        .post("{webhookId}/ping/", deliveries::ping, described::ping_webhook)
        .post("{webhookId}/position/", webhooks::move_to, described::set_position)
        .get("{webhookId}/deliveries/", deliveries::list, described::list_deliveries)
        .post("{webhookId}/deliveries/", deliveries::repeat, described::repeat_delivery)
}
