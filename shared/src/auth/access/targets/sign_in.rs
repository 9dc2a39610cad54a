//! The target for a company's sign-in settings.

use crate::auth::access::{AdmittedRequest, AuthenticatedRequest, RequestTarget, UnauthenticatedRequest};
use crate::domain::id::InvalidId;
use crate::domain::staff::sign_in::SignInSettings;
use crate::error::Result;
use crate::store::{ItemKey, VersionedItem, keys};

impl RequestTarget for SignInSettings {
    type Loaded = VersionedItem<SignInSettings>;

    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        vec![request.path.company_id().map(|company| keys::sign_in_settings(&company))]
    }

    async fn load(
        mut request: AuthenticatedRequest,
    ) -> Result<(AdmittedRequest, VersionedItem<SignInSettings>)> {
        let company = request.caller().company().clone();
        let settings = request.batch.take_sign_in_settings(&company)?;
        let relation = request.caller().in_company();
        let request = request.authorise(&relation)?.about(&settings);
        Ok((request, settings))
    }
}
