//! Targets that load only their own item: the company, and resources directly below it.

use crate::auth::access::request::PathIds;
use crate::auth::access::{AdmittedRequest, AuthenticatedRequest, RequestTarget, UnauthenticatedRequest};
use crate::auth::caller::Caller;
use crate::domain::company::Company;
use crate::domain::company::label::Label;
use crate::domain::export::CompanyExport;
use crate::domain::history::{EventId, HistoryEntry};
use crate::domain::id::InvalidId;
use crate::domain::policy::CallerRelation;
use crate::domain::staff::named_token::NamedToken;
use crate::error::{Error, Result};
use crate::store::{EventSequence, ItemKey, StoredEntity, VersionedItem, keys};

/// A resource whose item key follows from the path.
trait CompanyResource: StoredEntity + Send {
    fn key_in(path: &PathIds) -> Result<ItemKey, InvalidId>;

    /// Whether the loaded item is the resource that the path names and the caller may see; otherwise the response is 404.
    fn is_target(&self, _request: &AuthenticatedRequest) -> bool {
        true
    }

    /// The caller's relation to resources of this kind.
    fn relation(caller: &Caller) -> CallerRelation {
        caller.in_company()
    }
}

impl CompanyResource for Company {
    fn key_in(path: &PathIds) -> Result<ItemKey, InvalidId> {
        path.company()
    }
}

impl CompanyResource for Label {
    fn key_in(path: &PathIds) -> Result<ItemKey, InvalidId> {
        Ok(keys::label(&path.company_id()?, path.id("labelId")?))
    }
}

impl CompanyResource for NamedToken {
    fn key_in(path: &PathIds) -> Result<ItemKey, InvalidId> {
        Ok(keys::token(&path.company_id()?, path.id("tokenId")?))
    }
}

impl CompanyResource for CompanyExport {
    fn key_in(path: &PathIds) -> Result<ItemKey, InvalidId> {
        Ok(keys::export(&path.company_id()?, path.id("exportId")?))
    }

    fn is_target(&self, _: &AuthenticatedRequest) -> bool {
        self.deleted_at.is_none()
    }
}

impl CompanyResource for HistoryEntry {
    fn key_in(path: &PathIds) -> Result<ItemKey, InvalidId> {
        let EventId { history_id, version, .. } = path.id("eventId")?;
        Ok(keys::entry(&path.company_id()?, &history_id, version))
    }

    fn is_target(&self, request: &AuthenticatedRequest) -> bool {
        // Compare the whole identifier, which contains the event's second: a restored table may assign a version again.
        request.path.id("eventId") == Ok(self.id())
            && self.is_event()
            && self.is_kept(request.now())
            && request.caller().limits().is_none_or(|projects| {
                self.change.resource.project().is_some_and(|project| projects.contains(&project))
            })
    }

    fn relation(caller: &Caller) -> CallerRelation {
        caller.within_limits()
    }
}

impl<R: CompanyResource> RequestTarget for R {
    type Loaded = VersionedItem<R>;

    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        vec![R::key_in(&request.path)]
    }

    async fn load(mut request: AuthenticatedRequest) -> Result<(AdmittedRequest, VersionedItem<R>)> {
        let found = request.take::<R>(R::key_in(&request.path));
        let found =
            found.and_then(|found| if found.is_target(&request) { Ok(found) } else { Err(Error::NotFound) });
        let relation = R::relation(request.caller());
        // Authorise first: only callers with the permission may learn whether the resource exists.
        let request = request.authorise(&relation)?;
        let found = found?;
        Ok((request.about(&found), found))
    }
}

/// The events of a company, loaded as their sequence. Handlers must filter the events for callers with limits.
impl RequestTarget for EventSequence {
    type Loaded = Self;

    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        vec![request.path.company_id().map(|company| keys::sequence(&company))]
    }

    async fn load(mut request: AuthenticatedRequest) -> Result<(AdmittedRequest, Self)> {
        let sequence = request.take_event_sequence()?;
        let relation = request.caller().within_limits();
        Ok((request.authorise(&relation)?, sequence))
    }
}
