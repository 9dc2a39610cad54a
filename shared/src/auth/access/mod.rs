//! Admission: a handler's first argument names the target of the request and the action on it, such as
//! `Admitted<Label, ManageLabels>`. The handler gets it only if the caller may take the action.
//!
//! Admission takes one round trip: the credential contains the keys of session and user, the path contains those of the
//! target. Targets differ in what they load and in the caller's relation to it.

mod admitted;
mod admitted_request;
mod request;
mod targets;

use axum::http::header::LOCATION;
use axum::response::{IntoResponse, Response};

pub use admitted::Admitted;
pub use admitted_request::{AdmittedRequest, NO_SESSION};
pub(super) use request::UnauthenticatedRequest;
pub use targets::answer_captions::{AnswerCaptionsAccess, AnswerCaptionsTarget};
pub use targets::answers::{
    AnswerTarget, AnswersTarget, CandidateInterview, TakeFileAccess, TakeTarget, WrittenTarget,
};
pub use targets::candidate::{CandidateTarget, ConsentTarget, ShareTarget};
pub use targets::company::legal::PublishedTexts;
pub use targets::company::login::CompanyLogin;
pub use targets::company::logo::PublishedLogo;
pub use targets::customer::CustomerTarget;
pub use targets::evaluation::{CandidateEvaluations, EvaluationTarget, RatedCandidate, VetoTarget};
pub use targets::file::{FileAccess, FileRedirect, UploadTarget};
pub use targets::guest::{GuestLinkTarget, GuestOpening, GuestReview};
pub use targets::own::{AnyCaller, AnyCandidate, OwnAccount, OwnCandidacy};
pub use targets::project::{CountedTarget, ProjectStatusTarget, ProjectTarget, RoleTarget};
pub use targets::questionnaire::{CriterionTarget, QuestionTarget, QuestionnaireTarget};
pub use targets::retention::{ProjectRetentionTarget, RetentionTarget};
pub use targets::usage::UsageTarget;
pub use targets::video::{CaptionsAccess, CaptionsTarget, RenditionAccess};
pub use targets::webhook::WebhookTarget;

use request::AuthenticatedRequest;

use super::HasAdmission;
use crate::domain::id::InvalidId;
use crate::error::{Error, Result};
use crate::store::ItemKey;

/// A type of target: the resource that a request's path names.
pub trait RequestTarget: Sized {
    /// What the handler gets: the stored target and its parents, such as project and company.
    type Loaded: Send;

    /// The keys of the items to load. A key is an error if the path has no valid identifier for it.
    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>>;

    /// Loads the target and authorises the request. Fails with [`Error::NotFound`] if the target does not exist or the
    /// caller must not know that it does.
    fn load(
        request: AuthenticatedRequest,
    ) -> impl Future<Output = Result<(AdmittedRequest, Self::Loaded)>> + Send;

    /// Refuses to replay the response to an earlier request if the resource that it created at `location` has been deleted and
    /// makes the response useless.
    fn check_replay(_target: &Self::Loaded, _location: &str) -> Result<()> {
        Ok(())
    }
}

/// Admits a request and returns the handler's argument. Otherwise returns, in this order: 401, 404 or 403, the stored
/// response of an earlier request, or 412.
async fn admit<T: RequestTarget, A: HasAdmission>(
    request: UnauthenticatedRequest<'_>,
) -> Result<Admitted<T, A>, AdmissionRejection> {
    let keys = T::keys(&request).into_iter().flatten().collect();
    let (request, target) = T::load(request.authenticate(keys, A::ADMISSION).await?).await?;
    // Replay only after admission: a caller who has lost a right must not see its old responses.
    match request.find_replay()? {
        Some(replay) => {
            if let Some(location) = replay.headers().get(LOCATION).and_then(|uri| uri.to_str().ok()) {
                T::check_replay(&target, location)?;
            }
            Err(AdmissionRejection(replay))
        }
        None => Ok(Admitted::new(request, target)),
    }
}

/// The response to a request that does not reach its handler.
#[derive(Debug)]
pub struct AdmissionRejection(Response);

impl From<Error> for AdmissionRejection {
    fn from(error: Error) -> Self {
        Self(error.into_response())
    }
}

impl IntoResponse for AdmissionRejection {
    fn into_response(self) -> Response {
        self.0
    }
}
