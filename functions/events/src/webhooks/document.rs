//! The documentation of the webhooks' routes.

use serde_json::json;
use shared::domain::outgoing::AllowedTargets;
use shared::domain::webhook::{DeliveryOutcome, NO_SECRET, QUEUE_FULL, TOO_MANY_WEBHOOKS};
use shared::openapi::OperationDoc;

use super::changes::{CreateWebhook, UpdateWebhook, read_grace, read_position};
use super::deliveries::read_event;
use super::view::{QueuedView, WebhookView};

/// The documentation of `after` in a creation.
const AFTER: &str = "The number (`sequence`) of the event after which deliveries begin; 0 sends everything that is kept. By \
                     default the latest one.";

pub(crate) fn list_webhooks(operation: OperationDoc) -> OperationDoc {
    operation.text(
        "Oldest first, without their secrets. A named token with `projects` sees the webhooks that are sent events of these projects \
         alone, and changes and deletes those that it has created.",
    )
}

pub(crate) fn create_webhook(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "Has the company's events sent to an address. Only this answer contains the secret with which they are \
             signed.\n\nIf the answer is lost, nothing else is: a retry with the same `Idempotency-Key` returns the webhook without its \
             secret, and `secret/` makes a new one; events that are signed with the lost secret in the meantime fail at your address and \
             come again. Without a key, a retry creates a second webhook, and every event comes twice: delete one of both.\n\nA named token with `projects` must send \
             some of these as `projects` of the webhook.",
        )
        .body_with_references::<WebhookView, _>(|body, company, references| {
            CreateWebhook::read(body, company, references, AllowedTargets::Public, u32::MAX.into())
        })
        .field("after", AFTER)
        .refuses(&[TOO_MANY_WEBHOOKS])
        .example("all", json!({ "url": "https://hooks.example.com/interviews" }))
        .example(
            "some",
            json!({
                "url": "https://hooks.example.com/interviews",
                "types": ["candidate.interviewed", "candidate.evaluated"],
            }),
        )
}

pub(crate) fn get_webhook(operation: OperationDoc) -> OperationDoc {
    operation.text("Without its secret.")
}

pub(crate) fn change_webhook(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "A webhook that is disabled loses nothing: once it is enabled again, deliveries go on where they \
             stopped, as far back as events are kept. Enabling it and giving it another `url` have it tried at once, \
             waiting resources included. Deliveries that are under way may still arrive at the former `url`.",
        )
        .body_with_references::<WebhookView, _>(|body, company, references| {
            UpdateWebhook::read(body, company, references, AllowedTargets::Public)
        })
        .refuses(&[NO_SECRET])
        .example("disable", json!({ "is_enabled": false }))
}

pub(crate) fn delete_webhook(operation: OperationDoc) -> OperationDoc {
    operation.text("Deliveries that are under way may still arrive.")
}

pub(crate) fn rotate_secret(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "Makes a new secret. For `grace_hours`, deliveries have a second signature by the former one, so that \
             receivers can be changed over without a failure. Only this answer contains the new secret: if it is lost, make another one with \
             `grace_hours` 0.",
        )
        .body::<WebhookView, _>(read_grace)
        .field("grace_hours", "Hours for which the former secret stays valid. By default 24.")
        .example("at once", json!({ "grace_hours": 0 }))
}

pub(crate) fn ping_webhook(operation: OperationDoc) -> OperationDoc {
    operation
        .text("Sends an event of the type `webhook.ping` to this webhook alone, even if it is disabled.")
        .refuses(&[QUEUE_FULL, NO_SECRET])
        .is_limited("Returns 429 within 10 seconds of the last ping.")
}

pub(crate) fn set_position(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "Has deliveries go on after another event: an earlier one to repeat all that followed, the latest one to \
             leave out what has not been sent. Repeated events have the same identifiers. Events of waiting resources \
             up to that one are not sent; to have those tried at once, disable and enable the webhook.",
        )
        .body::<WebhookView, _>(|body| read_position(body, u32::MAX.into()))
        .is_limited("Returns 429 within a minute of the last change of the position.")
        .example("everything", json!({ "after": 0 }))
}

pub(crate) fn list_deliveries(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "Attempts of the last seven days, the latest first. With a filter, a request looks at 500 attempts at most, \
             so a page may be empty although `next` is not null.",
        )
        .query::<String>("event", "Only attempts for the event with this identifier.")
        .query::<DeliveryOutcome>("outcome", "Only attempts with this outcome.")
        .query_as(
            "before",
            "Position in the list. Only the link `next` contains it.",
            json!({ "type": "string" }),
        )
        .query_as(
            "page_size",
            "Number of attempts per page.",
            json!({ "type": "integer", "minimum": 1, "maximum": 100, "default": 20 }),
        )
        .untagged()
}

pub(crate) fn repeat_delivery(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "Sends one event again, with the same identifier, even if the webhook is disabled or not meant for such \
             events. To repeat many, set the position.",
        )
        .body::<QueuedView, _>(read_event)
        .field("event", "The identifier of the event to send.")
        .refuses(&[QUEUE_FULL, NO_SECRET])
        .example("event", json!({ "event": "evt_01JQ8ZB4T1H6W5Y7X3Q9E2G0FA_7_1795293766" }))
}
