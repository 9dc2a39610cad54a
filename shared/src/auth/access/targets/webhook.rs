//! The target for a webhook.

use crate::auth::access::{AdmittedRequest, AuthenticatedRequest, RequestTarget, UnauthenticatedRequest};
use crate::domain::id::InvalidId;
use crate::domain::policy::Action;
use crate::domain::webhook::{DeliveryCursor, Webhook};
use crate::error::{Error, Result};
use crate::store::{EventSequence, ItemKey, VersionedItem, keys};

/// A webhook with the state of its deliveries.
pub struct WebhookTarget {
    pub webhook: VersionedItem<Webhook>,
    /// The position of the webhook's deliveries in the feed.
    pub cursor: VersionedItem<DeliveryCursor>,
    /// The sequence that numbers the company's events.
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
        // Only callers who may read webhooks may learn whether this one exists; callers with limits only if it is within
        // their projects.
        let caller = request.caller();
        let limits = caller.limits();
        let webhook = webhook.and_then(|webhook: VersionedItem<Self>| {
            let is_within = limits.is_none_or(|projects| webhook.is_within(projects));
            if is_within { Ok(webhook) } else { Err(Error::NotFound) }
        });
        let relation = match &webhook {
            // A caller with limits may change only their own webhooks: they must not redirect or stop the deliveries of
            // another webhook, even for the same projects.
            Ok(webhook) if limits.is_some() && !request.is_for(Action::ReadWebhooks) => {
                let is_own =
                    webhook.created_by.is_some() && webhook.created_by == caller.principal().creator();
                if is_own { caller.within_limits() } else { caller.in_company() }
            }
            _ => caller.within_limits(),
        };
        let request = request.authorise(&relation)?;
        let webhook = webhook?;
        let cursor = cursor?;
        Ok((request.about(&webhook), WebhookTarget { webhook, cursor, sequence }))
    }
}
