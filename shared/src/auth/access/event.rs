//! Guards of a company's events.

use std::marker::PhantomData;

use super::request::Path;
use super::{Authenticated, Context, Guard, Request, extract};
use crate::domain::history::{Entry, EventId};
use crate::domain::id::InvalidId;
use crate::domain::policy::Grant;
use crate::error::{Error, Result};
use crate::store::{Key, Sequence, Versioned, keys};

/// A caller who may do `A` with the events of the company of the path.
pub struct EventsAccess<A> {
    /// The numbers of the events.
    pub sequence: Sequence,
    context: Context,
    action: PhantomData<A>,
}

impl<A: Grant> Guard for EventsAccess<A> {
    fn keys(request: &Request<'_>) -> Vec<Result<Key, InvalidId>> {
        vec![request.path.company_id().map(|company| keys::sequence(&company))]
    }

    async fn load(mut request: Authenticated) -> Result<Self> {
        let (sequence, standing) = (request.take_sequence()?, request.caller().in_company());
        let context = request.authorise(A::ACTION, &standing)?;
        Ok(Self { sequence, context, action: PhantomData })
    }
}

/// A caller who may do `A` with the event of the path.
pub struct EventAccess<A> {
    /// The event.
    pub event: Versioned<Entry>,
    context: Context,
    action: PhantomData<A>,
}

impl<A: Grant> Guard for EventAccess<A> {
    fn keys(request: &Request<'_>) -> Vec<Result<Key, InvalidId>> {
        vec![request.path.event()]
    }

    async fn load(mut request: Authenticated) -> Result<Self> {
        let id = request.path.id::<EventId>("eventId");
        let (event, standing) = (request.take::<Entry>(Path::event), request.caller().in_company());
        // Only callers who may do this learn whether the event exists.
        let context = request.authorise(A::ACTION, &standing)?;
        let event = event?;
        if id != Ok(event.id()) || !event.is_event() || !event.is_kept(context.now) {
            return Err(Error::NotFound);
        }
        Ok(Self { context: context.about(&event), event, action: PhantomData })
    }
}

extract!(EventsAccess<A: Grant>);
extract!(EventAccess<A: Grant>);
