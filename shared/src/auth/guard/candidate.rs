//! The guard of one candidate.

use std::ops::Deref;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::{InProject, Request};
use crate::app::App;
use crate::auth::policy::Grant;
use crate::domain::candidate::Candidate;
use crate::domain::id::CandidateId;
use crate::error::{Error, Result};
use crate::store::{Versioned, keys};

/// A caller who may do `G` with the candidate of the path.
pub struct OnCandidate<G> {
    /// The candidate.
    pub candidate: Versioned<Candidate>,
    inner: InProject<G>,
}

impl<G> Deref for OnCandidate<G> {
    type Target = InProject<G>;

    fn deref(&self) -> &InProject<G> {
        &self.inner
    }
}

impl<G: Grant> FromRequestParts<App> for OnCandidate<G> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let request = Request::new(parts, app).await?;
        let id = request.id::<CandidateId>("candidateId");
        let (inner, mut batch) =
            InProject::admit(&request, |company, project| Ok(vec![keys::candidate(company, project, id?)]))
                .await?;
        let key = keys::candidate(inner.company(), inner.project.id, id.map_err(|_| Error::NotFound)?);
        let candidate = batch.take(&key)?.ok_or(Error::NotFound)?;
        Ok(Self { candidate, inner })
    }
}
