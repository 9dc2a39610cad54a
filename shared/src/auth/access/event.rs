//! Guards of a company's events.

use std::marker::PhantomData;

use super::request::PathIds;
use super::{AdmittedRequest, AuthenticatedRequest, RequestGuard, UnauthenticatedRequest, extract};
use crate::domain::history::{EventId, HistoryEntry};
use crate::domain::id::InvalidId;
use crate::domain::policy::ActionGrant;
use crate::error::{Error, Result};
use crate::store::{EventCounter, ItemKey, VersionedItem, keys};

/// A caller who may do `A` with the events of the company of the path.
pub struct EventsAccess<A> {
    /// The numbers of the events.
    pub sequence: EventCounter,
    context: AdmittedRequest,
    action: PhantomData<A>,
}

impl<A: ActionGrant> RequestGuard for EventsAccess<A> {
    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        vec![request.path.company_id().map(|company| keys::sequence(&company))]
    }

    async fn load(mut request: AuthenticatedRequest) -> Result<Self> {
        let (sequence, standing) = (request.take_sequence()?, request.caller().in_company());
        let context = request.authorise(A::ACTION, &standing)?;
        Ok(Self { sequence, context, action: PhantomData })
    }
}

/// A caller who may do `A` with the event of the path.
pub struct EventAccess<A> {
    /// The event.
    pub event: VersionedItem<HistoryEntry>,
    context: AdmittedRequest,
    action: PhantomData<A>,
}

impl<A: ActionGrant> RequestGuard for EventAccess<A> {
    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        vec![request.path.event()]
    }

    async fn load(mut request: AuthenticatedRequest) -> Result<Self> {
        let id = request.path.id::<EventId>("eventId");
        let (event, standing) = (request.take::<HistoryEntry>(PathIds::event), request.caller().in_company());
        // Only callers who may do this learn whether the event exists.
        let context = request.authorise(A::ACTION, &standing)?;
        let event = event?;
        // The identifier holds the second as well: a restored table may have another event in this version.
        if id != Ok(event.id()) || !event.is_event() || !event.is_kept(context.now) {
            return Err(Error::NotFound);
        }
        Ok(Self { context: context.about(&event), event, action: PhantomData })
    }
}

extract!(EventsAccess<A: ActionGrant>);
extract!(EventAccess<A: ActionGrant>);
