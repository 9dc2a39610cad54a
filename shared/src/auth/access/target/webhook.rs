//! A webhook as a target.

use crate::auth::access::{AdmittedRequest, AuthenticatedRequest, RequestTarget, UnauthenticatedRequest};
use crate::domain::id::InvalidId;
use crate::domain::webhook::{DeliveryCursor, Webhook};
use crate::error::Result;
use crate::store::{EventSequence, ItemKey, VersionedItem, keys};

/// A webhook with the state of its deliveries.
pub struct WebhookTarget {
    pub webhook: VersionedItem<Webhook>,
    /// How far its deliveries have come.
    pub cursor: VersionedItem<DeliveryCursor>,
    /// The numbers of the company's events.
    pub sequence: EventSequence,
}

impl RequestTarget for Webhook {
    type Loaded = WebhookTarget;

    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        let sequence = request.path.company_id().map(|company| keys::sequence(&company));
        vec![request.path.webhook(), request.path.cursor(), sequence]
    }

    async fn load(mut request: AuthenticatedRequest) -> Result<(AdmittedRequest, WebhookTarget)> {
        let webhook = request.take(request.path.webhook());
        let cursor = request.take(request.path.cursor());
        let sequence = request.take_event_sequence()?;
        let relation = request.caller().in_company();
        // Only callers who may do this learn whether the webhook exists.
        let request = request.authorise(&relation)?;
        let webhook = webhook?;
        let cursor = cursor?;
        Ok((request.about(&webhook), WebhookTarget { webhook, cursor, sequence }))
    }
}
