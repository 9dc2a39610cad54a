//! The handler's argument that admits a request. It holds the caller and the loaded target.

use std::marker::PhantomData;
use std::ops::Deref;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::admitted_request::AdmittedRequest;
use super::request::UnauthenticatedRequest;
use super::{AdmissionRejection, RequestTarget, admit};
use crate::app::App;
use crate::auth::{AdmissionRule, HasAdmission};
use crate::error::Result;

/// A request for the target `T` whose caller `A` admits. `A` is an action of the policy, or [`AnyCaller`](super::AnyCaller).
pub struct Admitted<T: RequestTarget, A> {
    /// The loaded target of the path, with its parents.
    pub target: T::Loaded,
    request: AdmittedRequest,
    action: PhantomData<fn() -> A>,
}

impl<T: RequestTarget, A> Admitted<T, A> {
    pub(super) fn new(request: AdmittedRequest, target: T::Loaded) -> Self {
        Self { target, request, action: PhantomData }
    }
}

impl<T: RequestTarget, A> Deref for Admitted<T, A> {
    type Target = AdmittedRequest;

    fn deref(&self) -> &AdmittedRequest {
        &self.request
    }
}

impl<T: RequestTarget, A: HasAdmission> HasAdmission for Admitted<T, A> {
    const ADMISSION: AdmissionRule = A::ADMISSION;
}

impl<T: RequestTarget, A: HasAdmission> FromRequestParts<App> for Admitted<T, A> {
    type Rejection = AdmissionRejection;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, AdmissionRejection> {
        admit(UnauthenticatedRequest::new(parts, app).await?).await
    }
}
