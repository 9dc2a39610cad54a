//! Guard of a company's webhooks.

use std::marker::PhantomData;

use super::request::PathIds;
use super::{AdmittedRequest, AuthenticatedRequest, RequestGuard, UnauthenticatedRequest, extract};
use crate::domain::id::InvalidId;
use crate::domain::policy::ActionGrant;
use crate::domain::webhook::{DeliveryCursor, Webhook};
use crate::error::Result;
use crate::store::{EventCounter, ItemKey, VersionedItem, keys};

/// A caller who may do `A` with the webhook of the path.
pub struct WebhookAccess<A> {
    /// The webhook.
    pub webhook: VersionedItem<Webhook>,
    /// How far its deliveries have come.
    pub cursor: VersionedItem<DeliveryCursor>,
    /// The numbers of the events.
    pub sequence: EventCounter,
    context: AdmittedRequest,
    action: PhantomData<A>,
}

impl<A: ActionGrant> RequestGuard for WebhookAccess<A> {
    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        let sequence = request.path.company_id().map(|company| keys::sequence(&company));
        vec![request.path.webhook(), request.path.cursor(), sequence]
    }

    async fn load(mut request: AuthenticatedRequest) -> Result<Self> {
        let (webhook, cursor) = (request.take(PathIds::webhook), request.take(PathIds::cursor));
        let (sequence, standing) = (request.take_sequence()?, request.caller().in_company());
        // Only callers who may do this learn whether the webhook exists.
        let context = request.authorise(A::ACTION, &standing)?;
        let (webhook, cursor) = (webhook?, cursor?);
        Ok(Self { context: context.about(&webhook), webhook, cursor, sequence, action: PhantomData })
    }
}

extract!(WebhookAccess<A: ActionGrant>);
