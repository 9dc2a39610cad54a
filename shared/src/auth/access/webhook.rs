//! Guard of a company's webhooks.

use std::marker::PhantomData;

use super::request::Path;
use super::{Authenticated, Context, Guard, Request, extract};
use crate::domain::id::InvalidId;
use crate::domain::policy::Grant;
use crate::domain::webhook::{DeliveryCursor, Webhook};
use crate::error::Result;
use crate::store::{Key, Sequence, Versioned, keys};

/// A caller who may do `A` with the webhook of the path.
pub struct WebhookAccess<A> {
    /// The webhook.
    pub webhook: Versioned<Webhook>,
    /// How far its deliveries have come.
    pub cursor: Versioned<DeliveryCursor>,
    /// The numbers of the events.
    pub sequence: Sequence,
    context: Context,
    action: PhantomData<A>,
}

impl<A: Grant> Guard for WebhookAccess<A> {
    fn keys(request: &Request<'_>) -> Vec<Result<Key, InvalidId>> {
        let sequence = request.path.company_id().map(|company| keys::sequence(&company));
        vec![request.path.webhook(), request.path.cursor(), sequence]
    }

    async fn load(mut request: Authenticated) -> Result<Self> {
        let (webhook, cursor) = (request.take(Path::webhook), request.take(Path::cursor));
        let (sequence, standing) = (request.take_sequence()?, request.caller().in_company());
        // Only callers who may do this learn whether the webhook exists.
        let context = request.authorise(A::ACTION, &standing)?;
        let (webhook, cursor) = (webhook?, cursor?);
        Ok(Self { context: context.about(&webhook), webhook, cursor, sequence, action: PhantomData })
    }
}

extract!(WebhookAccess<A: Grant>);
