//! The target for a company's usage.

use crate::auth::access::{AdmittedRequest, AuthenticatedRequest, RequestTarget, UnauthenticatedRequest};
use crate::domain::company::Company;
use crate::domain::company::usage::ClosedUsage;
use crate::domain::id::InvalidId;
use crate::error::Result;
use crate::store::{EventSequence, ItemKey, VersionedItem, keys};

/// A company with its event sequence, which counts the usage of open months. Read the closed months afterwards, so that
/// a month that closes in between is not missed.
pub struct UsageTarget {
    pub company: VersionedItem<Company>,
    pub sequence: EventSequence,
}

impl RequestTarget for ClosedUsage {
    type Loaded = UsageTarget;

    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        vec![request.path.company(), request.path.company_id().map(|company| keys::sequence(&company))]
    }

    async fn load(mut request: AuthenticatedRequest) -> Result<(AdmittedRequest, UsageTarget)> {
        let company = request.take::<Company>(request.path.company())?;
        let sequence = request.take_event_sequence()?;
        let relation = request.caller().in_company();
        Ok((request.authorise(&relation)?, UsageTarget { company, sequence }))
    }
}
