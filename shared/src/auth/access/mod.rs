//! Guards: a handler's argument that has authenticated the caller, authorised the action and loaded the resources that
//! the path names.
//!
//! Every guard is admitted in the same way, by `admit`, in one round trip: the credential tells the keys of session and
//! user, the path those of the resources. A guard then differs in what it loads, and in what the caller is to that.

mod caller;
mod candidate;
mod company;
mod context;
mod customer;
mod evaluation;
mod event;
mod file;
mod interview;
mod project;
mod request;
mod video;
mod webhook;

use std::ops::Deref;

use axum::response::{IntoResponse, Response};

pub use caller::{CallerAccess, CandidateSelf};
pub use candidate::{CandidateAccess, ShareAccess};
pub use company::{CompanyAccess, LabelAccess, TokenAccess};
pub use context::{AdmittedRequest, NO_SESSION};
pub use customer::CustomerAccess;
pub use evaluation::{EvaluationAccess, EvaluationsAccess, VetoAccess};
pub use event::{EventAccess, EventsAccess};
pub use file::{FileRedirect, MediaAccess, UploadAccess};
pub use interview::{CriterionAccess, InterviewAccess, QuestionAccess};
pub use project::{CountedProjectAccess, ProjectAccess, RoleAccess};
pub(super) use request::UnauthenticatedRequest;
pub use video::{RenditionAccess, VideoAccess};
pub use webhook::WebhookAccess;

use request::AuthenticatedRequest;

use crate::domain::id::InvalidId;
use crate::error::{Error, Result};
use crate::store::{ItemKey, StoredResponse};

/// A handler's argument that admits its request.
trait RequestGuard: Sized + Deref<Target = AdmittedRequest> {
    /// The keys of the resources that the guard loads, as far as the path names them.
    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>>;

    /// Loads the resources, and authorises the action on them. Resources that the caller may not know of are
    /// [`Error::NotFound`], as those that do not exist.
    fn load(request: AuthenticatedRequest) -> impl Future<Output = Result<Self>> + Send;
}

/// Admits a request: 401, 404 or 403, the replay of an earlier answer, 412, or its guard.
async fn admit<G: RequestGuard>(request: &UnauthenticatedRequest<'_>) -> Result<G, GuardRejection> {
    let keys = G::keys(request).into_iter().flatten().collect();
    let guard = G::load(request.authenticate(keys).await?).await?;
    guard.accept()?;
    Ok(guard)
}

/// A response that a guard gives in place of its handler.
#[derive(Debug)]
pub enum GuardRejection {
    /// The request is refused.
    Refused(Error),
    /// The same request was answered before.
    Replayed(Box<StoredResponse>),
}

impl From<Error> for GuardRejection {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl IntoResponse for GuardRejection {
    fn into_response(self) -> Response {
        match self {
            Self::Refused(error) => error.into_response(),
            Self::Replayed(answer) => answer.replayed(),
        }
    }
}

/// Makes a guard with a field `context` an argument of handlers. A guard that names no admission has a parameter for the
/// action that it allows.
macro_rules! extract {
    ($guard:ident<$action:ident: ActionGrant>) => {
        extract!($guard<$action: ActionGrant>, Action($action::ACTION));
    };
    ($guard:ident$(<$parameter:ident: $bound:ident>)?, $($admission:tt)+) => {
        impl$(<$parameter: $bound>)? $crate::auth::HasAdmission for $guard$(<$parameter>)? {
            const ADMISSION: $crate::auth::AdmissionRule = $crate::auth::AdmissionRule::$($admission)+;
        }

        impl$(<$parameter>)? std::ops::Deref for $guard$(<$parameter>)? {
            type Target = $crate::auth::access::AdmittedRequest;

            fn deref(&self) -> &Self::Target {
                &self.context
            }
        }

        impl$(<$parameter: $bound>)? axum::extract::FromRequestParts<$crate::app::App>
            for $guard$(<$parameter>)?
        {
            type Rejection = $crate::auth::access::GuardRejection;

            async fn from_request_parts(
                parts: &mut axum::http::request::Parts,
                app: &$crate::app::App,
            ) -> Result<Self, Self::Rejection> {
                let request = $crate::auth::access::UnauthenticatedRequest::new(parts, app).await?;
                $crate::auth::access::admit(&request).await
            }
        }
    };
}
use extract;
