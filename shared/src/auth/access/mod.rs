//! Admission: a handler's first argument names the target of the request and the action on it, such as
//! `Admitted<Label, ManageLabels>`. The handler gets it only if the caller may take the action.
//!
//! All targets are admitted alike, in one round trip: the credential contains the keys of session and user, the path those of
//! the target. They differ in what they load, and in what the caller is to that.

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

/// A type that names the target of a request: what the path is about.
pub trait RequestTarget: Sized {
    /// The value that the handler gets: the stored target and its parents, such as project and company.
    type Loaded: Send;

    /// The keys of the items to load, as far as the request names them.
    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>>;

    /// Loads the target and authorises the request. A target that the caller may not know of is
    /// [`Error::NotFound`], like one that does not exist.
    fn load(
        request: AuthenticatedRequest,
    ) -> impl Future<Output = Result<(AdmittedRequest, Self::Loaded)>> + Send;

    /// Refuses to repeat the response to an earlier request that has created what is at `location`, if the target tells that it
    /// is gone and the response is good for nothing without it.
    fn check_replay(_target: &Self::Loaded, _location: &str) -> Result<()> {
        Ok(())
    }
}

/// Admits a request: returns 401, 404 or 403, the stored response of an earlier request, 412, or what the handler gets.
async fn admit<T: RequestTarget, A: HasAdmission>(
    request: UnauthenticatedRequest<'_>,
) -> Result<Admitted<T, A>, AdmissionRejection> {
    let keys = T::keys(&request).into_iter().flatten().collect();
    let (request, target) = T::load(request.authenticate(keys, A::ADMISSION).await?).await?;
    // The replay comes after admission: a caller who has lost a right does not see its responses replayed either.
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
