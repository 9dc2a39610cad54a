//! Reads that run while their caller is being admitted, so that a list costs one round trip.

use std::convert::Infallible;
use std::marker::PhantomData;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::request::PathIds;
use super::{GuardRejection, UnauthenticatedRequest};
use crate::app::App;
use crate::auth::{AdmissionRule, HasAdmission};
use crate::domain::id::{CandidateId, CompanyId, Id, ProjectId};
use crate::error::{Error, Result};
use crate::http::state::RequestState;
use crate::store::Store;

/// A guard that has yet to admit its request, so that a read can run at the same time.
pub struct NotYetAdmitted<G> {
    parts: Parts,
    app: App,
    guard: PhantomData<G>,
}

/// The inputs of a read that runs while the guard admits the caller.
pub struct ReadAheadInputs {
    /// The table.
    pub store: Store,
    /// The company of the path.
    pub company: CompanyId,
    path: PathIds,
}

impl ReadAheadInputs {
    /// The project of the path.
    pub fn project(&self) -> Result<ProjectId> {
        self.id("projectId")
    }

    /// The candidate of the path.
    pub fn candidate(&self) -> Result<CandidateId> {
        self.id("candidateId")
    }

    /// The identifier of this name in the path.
    pub fn id<T>(&self, name: &str) -> Result<Id<T>> {
        self.path.id(name).map_err(|_| Error::NotFound)
    }
}

impl<G: FromRequestParts<App, Rejection = GuardRejection>> NotYetAdmitted<G> {
    /// Admits the caller.
    pub async fn admit(mut self) -> Result<G, GuardRejection> {
        G::from_request_parts(&mut self.parts, &self.app).await
    }

    /// Admits the caller while `read` runs. A rejection ends the read; nothing is read for credentials of other companies.
    pub async fn admit_while<T, F>(
        mut self,
        read: impl FnOnce(ReadAheadInputs) -> F,
    ) -> Result<(G, Option<Result<T>>), GuardRejection>
    where
        F: Future<Output = Result<T>>,
    {
        let Some(ahead) = self.ahead().await else { return Ok((self.admit().await?, None)) };
        let read = read(ahead);
        let (guard, found) = tokio::try_join!(self.admit(), async { Ok(read.await) })?;
        Ok((guard, Some(found)))
    }

    /// None unless the credential claims to belong to the company of the path.
    async fn ahead(&mut self) -> Option<ReadAheadInputs> {
        let store = RequestState::of(&self.parts.extensions).store(&self.app);
        let request = UnauthenticatedRequest::new(&mut self.parts, &self.app).await.ok()?;
        let company = request.path.company_id().ok()?;
        let is_own = request.credential().ok()?.claim().is_none_or(|claim| claim.company == company);
        is_own.then(|| ReadAheadInputs { store, company, path: request.path.clone() })
    }
}

impl<G: HasAdmission> HasAdmission for NotYetAdmitted<G> {
    const ADMISSION: AdmissionRule = G::ADMISSION;
}

impl<G> FromRequestParts<App> for NotYetAdmitted<G> {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Infallible> {
        Ok(Self { parts: parts.clone(), app: app.clone(), guard: PhantomData })
    }
}
