//! The usage of a company as a target.

use crate::auth::access::{AdmittedRequest, AuthenticatedRequest, RequestTarget, UnauthenticatedRequest};
use crate::domain::company::Company;
use crate::domain::company::usage::ClosedUsage;
use crate::domain::id::InvalidId;
use crate::error::Result;
use crate::store::{EventSequence, ItemKey, VersionedItem, keys};

/// A company with the numbers of its events, which count the usage of open months. Read closed months after it.
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
